/* SPDX-License-Identifier: MIT */
#include "script.h"

#include <poll.h>
#include <time.h>

enum { BYTES_PER_TOKEN = 4 }; /* the usage is a rough one, like everything here */

/* ---- waiting ------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits; CANCELLED or TIMEOUT when the call says so first. */
static int32_t wait_ms(const gudgeon_call *call, uint64_t ms)
{
    enum { DAY_MS = 24 * 3600 * 1000 };
    int64_t end = now_ns() + (int64_t)(ms < DAY_MS ? ms : DAY_MS) * 1000000;
    for (;;) {
        int64_t now = now_ns(), deadline = call->deadline_ns(call);
        if (call->cancelled(call))
            return GUDGEON_CANCELLED;
        if (now >= end)
            return GUDGEON_OK;
        if (now >= deadline)
            return gudgeon_fail(call, GUDGEON_TIMEOUT, "script: the time is up");
        int64_t until = end < deadline ? end : deadline;
        struct pollfd cancel = {.fd = call->cancel_fd(call), .events = POLLIN};
        poll(&cancel, 1, (int)((until - now + 999999) / 1000000));
    }
}

static uint64_t number_of(gudgeon_str object, const char *key)
{
    uint64_t number = 0;
    gudgeon_json_u64(gudgeon_json_get(object, key), &number);
    return number;
}

/* ---- deltas -------------------------------------------------------------------------------- */

struct playing {
    const gudgeon_call *call;
    struct match match;
    gudgeon_str answer; /* the rule's */
    int listening;
    int begun; /* a delta was given: the next one waits for the pace */
    gudgeon_buf blocks;
    uint64_t bytes; /* of output */
};

static int32_t show(struct playing *playing, gudgeon_delta *delta, gudgeon_str bytes)
{
    uint64_t chunk = number_of(playing->answer, "chunk"),
             pace = number_of(playing->answer, "pace_ms");
    playing->bytes += bytes.len;
    if (!playing->listening)
        return GUDGEON_OK;
    do {
        int32_t error_class =
            playing->begun && pace > 0 ? wait_ms(playing->call, pace) : GUDGEON_OK;
        if (error_class != GUDGEON_OK)
            return error_class;
        uint64_t len = chunk > 0 && chunk < bytes.len ? chunk : bytes.len;
        delta->bytes = (gudgeon_str){bytes.ptr, len};
        playing->begun = 1;
        if (playing->call->delta(playing->call, delta) != 0)
            return GUDGEON_CANCELLED;
        delta->name = (gudgeon_str){NULL, 0};
        bytes.ptr += len;
        bytes.len -= len;
    } while (bytes.len > 0);
    return GUDGEON_OK;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void open_block(gudgeon_buf *blocks, const char *type)
{
    gudgeon_buf_puts(blocks, blocks->len > 1 ? ",{\"type\":\"" : "{\"type\":\"");
    gudgeon_buf_puts(blocks, type);
    gudgeon_buf_puts(blocks, "\"");
}

static const struct {
    const char *key, *type;
    uint32_t channel; /* 0 = not shown as it comes */
} texts[] = {
    {"think", "reasoning", GUDGEON_REASONING},
    {"say", "text", GUDGEON_TEXT},
    {"refuse", "refusal", 0},
};

static int32_t play_text(struct playing *playing, size_t which)
{
    gudgeon_buf text = {0};
    int32_t error_class = GUDGEON_OK;
    template_fill(gudgeon_json_get(playing->answer, texts[which].key), &playing->match, &text);
    if (text.len > 0) {
        gudgeon_delta delta = {.size = sizeof delta, .channel = texts[which].channel};
        open_block(&playing->blocks, texts[which].type);
        gudgeon_buf_puts(&playing->blocks, ",\"text\":");
        gudgeon_buf_quote(&playing->blocks, gudgeon_buf_str(&text));
        gudgeon_buf_puts(&playing->blocks, "}");
        if (texts[which].channel != 0)
            error_class = show(playing, &delta, gudgeon_buf_str(&text));
    }
    playing->blocks.failed |= text.failed;
    gudgeon_buf_free(&text);
    return error_class;
}

static void fill_arguments(struct playing *playing, gudgeon_str given, gudgeon_buf *arguments)
{
    if (gudgeon_json_kind(given) == '{')
        template_fill_json(given, &playing->match, arguments);
    else if (gudgeon_json_kind(given) == '"')
        template_fill(given, &playing->match, arguments);
    else
        gudgeon_buf_puts(arguments, "{}");
}

static int32_t play_call(struct playing *playing, gudgeon_str call, uint32_t index)
{
    char id[64];
    gudgeon_buf name = {0}, arguments = {0}, *blocks = &playing->blocks;
    gudgeon_delta delta = {.size = sizeof delta, .channel = GUDGEON_ARGUMENTS, .index = index};
    snprintf(id, sizeof id, "call_%llu_%u", (unsigned long long)playing->match.view->turn, index);
    template_fill(gudgeon_json_get(call, "tool"), &playing->match, &name);
    fill_arguments(playing, gudgeon_json_get(call, "arguments"), &arguments);
    open_block(blocks, "tool_call");
    gudgeon_buf_puts(blocks, ",\"wire_id\":\"");
    gudgeon_buf_puts(blocks, id);
    gudgeon_buf_puts(blocks, "\",\"name\":");
    gudgeon_buf_quote(blocks, gudgeon_buf_str(&name));
    gudgeon_buf_puts(blocks, ",\"arguments\":");
    gudgeon_buf_quote(blocks, gudgeon_buf_str(&arguments));
    gudgeon_buf_puts(blocks, "}");
    blocks->failed |= name.failed | arguments.failed;
    delta.name = gudgeon_buf_str(&name);
    int32_t error_class = show(playing, &delta, gudgeon_buf_str(&arguments));
    gudgeon_buf_free(&name);
    gudgeon_buf_free(&arguments);
    return error_class;
}

static int32_t play_blocks(struct playing *playing)
{
    gudgeon_json_iter iter = gudgeon_json_each(gudgeon_json_get(playing->answer, "calls"));
    gudgeon_str call;
    int32_t error_class = GUDGEON_OK;
    for (size_t i = 0; i < COUNT_OF(texts) && error_class == GUDGEON_OK; i++)
        error_class = play_text(playing, i);
    for (uint32_t i = 0; error_class == GUDGEON_OK && gudgeon_json_next(&iter, NULL, &call); i++)
        error_class = play_call(playing, call, i);
    return error_class;
}

/* ---- how it ends --------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int32_t error_class;
} classes[] = {
    {"retry", GUDGEON_RETRY},         {"unavailable", GUDGEON_UNAVAILABLE},
    {"overflow", GUDGEON_OVERFLOW},   {"quota", GUDGEON_QUOTA},
    {"auth", GUDGEON_AUTH},           {"refused", GUDGEON_REFUSED},
    {"invalid", GUDGEON_INVALID},     {"limit", GUDGEON_LIMIT},
    {"cancelled", GUDGEON_CANCELLED}, {"timeout", GUDGEON_TIMEOUT},
    {"protocol", GUDGEON_PROTOCOL},
};

/* A message is one line. */
static void join_lines(gudgeon_buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if ((unsigned char)text->ptr[i] < ' ')
            text->ptr[i] = ' ';
}

static int32_t play_error(struct playing *playing, gudgeon_str object)
{
    gudgeon_buf message = {0}, code = {0};
    int32_t error_class = GUDGEON_RETRY;
    gudgeon_str name = gudgeon_json_get(object, "class");
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (gudgeon_json_is(name, classes[i].name))
            error_class = classes[i].error_class;
    template_fill(gudgeon_json_get(object, "message"), &playing->match, &message);
    template_fill(gudgeon_json_get(object, "code"), &playing->match, &code);
    join_lines(&message);
    gudgeon_error error = {
        .size = sizeof error,
        .http_status = (uint32_t)number_of(object, "status"),
        .retry_after_ms = number_of(object, "retry_after_ms"),
        .message =
            message.len > 0 ? gudgeon_buf_str(&message) : gudgeon_text("script: an error by rule"),
        .provider_code = code.len > 0 ? gudgeon_buf_str(&code) : (gudgeon_str){NULL, 0},
    };
    playing->call->error(playing->call, &error);
    gudgeon_buf_free(&message);
    gudgeon_buf_free(&code);
    atomic_fetch_add(&playing->match.rule->failed, 1);
    return error_class;
}

static const char *const finish_words[] = {
    [GUDGEON_FINISH_STOP] = "stop",     [GUDGEON_FINISH_CALLS] = "calls",
    [GUDGEON_FINISH_LENGTH] = "length", [GUDGEON_FINISH_REFUSAL] = "refusal",
    [GUDGEON_FINISH_OTHER] = "other",
};

static uint32_t finish_of(gudgeon_str answer)
{
    gudgeon_str word = gudgeon_json_get(answer, "finish");
    for (uint32_t i = GUDGEON_FINISH_STOP; i < COUNT_OF(finish_words); i++)
        if (gudgeon_json_is(word, finish_words[i]))
            return i;
    if (gudgeon_json_item(gudgeon_json_get(answer, "calls"), 0).ptr != NULL)
        return GUDGEON_FINISH_CALLS;
    return gudgeon_json_get(answer, "refuse").ptr != NULL ? GUDGEON_FINISH_REFUSAL
                                                          : GUDGEON_FINISH_STOP;
}

/* A rule that may answer only so often leaves its number in the conversation. */
static void add_mark(struct playing *playing, const struct script *script)
{
    char number[64];
    if (playing->match.rule->times == 0)
        return;
    open_block(&playing->blocks, "opaque");
    snprintf(number, sizeof number, ",\"kind\":\"" MARK_KIND "\",\"data\":\"%zu\"}",
             (size_t)(playing->match.rule - script->rules));
    gudgeon_buf_puts(&playing->blocks, number);
}

static uint64_t tokens(uint64_t bytes)
{
    return (bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN;
}

static uint64_t input_bytes(const gudgeon_generate *request)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < request->msg_count; i++)
        sum += request->msgs[i]->content.len;
    for (uint64_t i = 0; i < request->tool_count; i++)
        sum += request->tools[i]->description.len + request->tools[i]->parameters.len;
    return sum;
}

static int32_t give(struct playing *playing, const gudgeon_generate *request)
{
    if (playing->blocks.failed)
        return gudgeon_fail(playing->call, GUDGEON_LIMIT, "script: the reply is too large");
    uint32_t finish = finish_of(playing->answer);
    gudgeon_reply reply = {
        .size = sizeof reply,
        .finish = finish,
        .finish_raw = gudgeon_text(finish_words[finish]),
        .content = gudgeon_buf_str(&playing->blocks),
        .model_served = gudgeon_text("script"),
        .origin = gudgeon_text("script"),
        .usage_known = GUDGEON_USAGE_INPUT | GUDGEON_USAGE_OUTPUT,
        .input_tokens = tokens(input_bytes(request)),
        .output_tokens = tokens(playing->bytes),
    };
    return playing->call->result(playing->call, &reply);
}

/* ---- the op -------------------------------------------------------------------------------- */

static int32_t play(struct playing *playing, struct script *script, const gudgeon_generate *request)
{
    gudgeon_str error = gudgeon_json_get(playing->answer, "error");
    int32_t error_class = wait_ms(playing->call, number_of(playing->answer, "delay_ms"));
    gudgeon_buf_puts(&playing->blocks, "[");
    if (error_class == GUDGEON_OK)
        error_class = play_blocks(playing);
    if (error_class != GUDGEON_OK)
        return error_class;
    if (gudgeon_json_kind(error) == '{')
        return play_error(playing, error);
    add_mark(playing, script);
    gudgeon_buf_puts(&playing->blocks, "]");
    return give(playing, request);
}

static int32_t fail_unmatched(const struct view *view, const gudgeon_call *call)
{
    enum { SHOWN_BYTES = 120 };
    if (view->count == 0)
        return gudgeon_fail(call, GUDGEON_INVALID,
                            "script: no rule fits an empty conversation; add `default:`");
    const struct subject *last = &view->subjects[view->count - 1];
    gudgeon_str text = gudgeon_buf_str(&last->text);
    uint64_t len = 0;
    for (uint64_t step = 1; step > 0 && len < text.len && len < SHOWN_BYTES; len += step) {
        step = gudgeon_utf8_len(text.ptr + len, text.ptr + text.len);
        if ((unsigned char)text.ptr[len] < ' ')
            step = 0; /* the first line says enough */
    }
    return gudgeon_fail(
        call, GUDGEON_INVALID,
        "script: no rule fits turn %llu, after the %.*s message \"%.*s%s\"; add one "
        "or `default:`",
        (unsigned long long)view->turn, (int)last->role.len, last->role.ptr, (int)len, text.ptr,
        len < text.len ? "…" : "");
}

int32_t script_generate(void *self, const gudgeon_call *call, const gudgeon_generate *request)
{
    struct script *script = self;
    struct view view;
    struct playing playing = {.call = call, .listening = request->stream != 0};
    int32_t error_class;
    view_init(&view, request);
    if (view.failed) {
        error_class = gudgeon_fail(call, GUDGEON_LIMIT, "script: a message is too large");
    } else {
        match_find(&playing.match, script, &view);
        if (playing.match.rule == NULL) {
            error_class = fail_unmatched(&view, call);
        } else {
            playing.answer = playing.match.rule->answer;
            error_class = play(&playing, script, request);
        }
        match_fini(&playing.match);
    }
    gudgeon_buf_free(&playing.blocks);
    view_fini(&view);
    return error_class;
}
