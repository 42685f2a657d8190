/* SPDX-License-Identifier: MIT */
#include "script.h"

static int is_type(gudgeon_str block, const char *type)
{
    return gudgeon_json_is(gudgeon_json_get(block, "type"), type);
}

static void add_texts(gudgeon_str blocks, gudgeon_buf *out)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    size_t start = out->len;
    while (gudgeon_json_next(&iter, NULL, &block)) {
        gudgeon_str text = gudgeon_json_inner(gudgeon_json_get(block, "text"));
        if (text.ptr == NULL || is_type(block, "reasoning"))
            continue;
        if (out->len > start)
            gudgeon_buf_puts(out, "\n");
        gudgeon_json_decode(text, out);
    }
}

static void add_subject(struct view *view, const gudgeon_msg *msg)
{
    struct subject *subject = &view->subjects[view->count++];
    gudgeon_str blocks = gudgeon_json_root(msg->content);
    subject->role = msg->role;
    if (gudgeon_is(msg->role, "tool")) {
        gudgeon_str result = gudgeon_json_item(blocks, 0);
        subject->tool = gudgeon_json_inner(gudgeon_json_get(result, "name"));
        subject->is_error = gudgeon_json_is_true(gudgeon_json_get(result, "is_error"));
        blocks = gudgeon_json_get(result, "content");
    }
    add_texts(blocks, &subject->text);
    view->failed |= subject->text.failed;
}

static void count_turns(struct view *view)
{
    const gudgeon_generate *request = view->request;
    view->turn = view->step = 1;
    for (uint64_t i = 0; i < request->msg_count; i++) {
        if (gudgeon_is(request->msgs[i]->role, "user"))
            view->step = 1;
        if (!gudgeon_is(request->msgs[i]->role, "assistant"))
            continue;
        view->turn++;
        view->step++;
    }
}

void view_init(struct view *view, const gudgeon_generate *request)
{
    *view = (struct view){.request = request};
    uint64_t first = request->msg_count;
    while (first > 0 && gudgeon_is(request->msgs[first - 1]->role, "tool"))
        first--;
    if (first == request->msg_count && first > 0)
        first--;
    view->subjects = calloc(request->msg_count - first + 1, sizeof *view->subjects);
    view->failed = view->subjects == NULL;
    for (uint64_t i = first; i < request->msg_count && !view->failed; i++)
        add_subject(view, request->msgs[i]);
    count_turns(view);
}

void view_fini(struct view *view)
{
    for (size_t i = 0; i < view->count; i++)
        gudgeon_buf_free(&view->subjects[i].text);
    free(view->subjects);
}

static int has_mark(gudgeon_str blocks, const char *number)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_type(block, "opaque") && gudgeon_json_is(gudgeon_json_get(block, "kind"), MARK_KIND))
            return gudgeon_json_is(gudgeon_json_get(block, "data"), number);
    return 0;
}

uint64_t view_count_marks(const struct view *view, size_t number)
{
    char text[24];
    uint64_t count = 0;
    snprintf(text, sizeof text, "%zu", number);
    for (uint64_t i = 0; i < view->request->msg_count; i++) {
        const gudgeon_msg *msg = view->request->msgs[i];
        if (gudgeon_is(msg->role, "assistant") && gudgeon_is(msg->origin, "script"))
            count += (uint64_t)has_mark(gudgeon_json_root(msg->content), text);
    }
    return count;
}

void view_add_user(const struct view *view, int latest, gudgeon_buf *out)
{
    const gudgeon_generate *request = view->request;
    for (uint64_t i = 0; i < request->msg_count; i++) {
        const gudgeon_msg *msg = request->msgs[latest ? request->msg_count - 1 - i : i];
        if (!gudgeon_is(msg->role, "user"))
            continue;
        add_texts(gudgeon_json_root(msg->content), out);
        return;
    }
}
