/* SPDX-License-Identifier: MIT */
#include "message.h"

#include "origin.h"

#include <stdio.h>

enum { LENGTH_DIGITS = 10 };

/* Whether the inside of a JSON string is empty or white space; servers refuse such texts. */
static int is_blank(gudgeon_str inner)
{
    uint64_t i = 0;
    while (i < inner.len) {
        if (inner.ptr[i] == ' ')
            i++;
        else if (inner.ptr[i] == '\\' && i + 1 < inner.len && strchr("nrt", inner.ptr[i + 1]))
            i += 2;
        else
            return 0;
    }
    return 1;
}

static gudgeon_str text_of(gudgeon_str block)
{
    return gudgeon_json_inner(gudgeon_json_get(block, "text"));
}

static int is_type(gudgeon_str block, const char *type)
{
    return gudgeon_json_is(gudgeon_json_get(block, "type"), type);
}

/* A text from several pieces, written inside an open JSON string. */
struct joined {
    gudgeon_buf *out;
    size_t start; /* of this text in `out` */
};

static void join_gap(struct joined *joined)
{
    if (joined->out->len > joined->start)
        gudgeon_buf_puts(joined->out, "\\n\\n");
}

static void join_text(struct joined *joined, gudgeon_str inner)
{
    if (is_blank(inner))
        return;
    join_gap(joined);
    gudgeon_buf_put(joined->out, inner);
}

/* ---- parts: text, images, resources -------------------------------------------------------- */

static int is_image(gudgeon_str block)
{
    if (is_type(block, "image"))
        return 1;
    gudgeon_str media = gudgeon_json_inner(gudgeon_json_get(block, "media_type"));
    return is_type(block, "resource") &&
           gudgeon_json_kind(gudgeon_json_get(block, "data")) == '"' && media.len > 6 &&
           memcmp(media.ptr, "image/", 6) == 0;
}

static void add_image_part(gudgeon_buf *out, gudgeon_str block)
{
    gudgeon_str url = gudgeon_json_inner(gudgeon_json_get(block, "url"));
    gudgeon_buf_puts(out, ",{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
    if (url.ptr != NULL) {
        gudgeon_buf_put(out, url);
    } else {
        gudgeon_buf_puts(out, "data:");
        gudgeon_buf_put(out, gudgeon_json_inner(gudgeon_json_get(block, "media_type")));
        gudgeon_buf_puts(out, ";base64,");
        gudgeon_buf_put(out, gudgeon_json_inner(gudgeon_json_get(block, "data")));
    }
    gudgeon_buf_puts(out, "\"}}");
}

static void join_resource(struct joined *joined, gudgeon_str block)
{
    gudgeon_str text = text_of(block);
    join_gap(joined);
    gudgeon_buf_puts(joined->out, "[resource ");
    gudgeon_buf_put(joined->out, gudgeon_json_inner(gudgeon_json_get(block, "uri")));
    gudgeon_buf_puts(joined->out, text.ptr != NULL ? "]\\n" : ": binary, not shown]");
    gudgeon_buf_put(joined->out, text);
}

/* The text of a block that has one. */
static void join_block(struct joined *joined, gudgeon_str block)
{
    if (is_type(block, "text") || is_type(block, "refusal"))
        join_text(joined, text_of(block));
    else if (is_type(block, "resource") && !is_image(block))
        join_resource(joined, block);
}

static size_t count_images(gudgeon_str blocks)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    size_t count = 0;
    while (gudgeon_json_next(&iter, NULL, &block))
        count += (size_t)is_image(block);
    return count;
}

/* All texts of `blocks` as one; `or_else` when there is none. */
static void add_texts(gudgeon_buf *out, gudgeon_str blocks, const char *or_else)
{
    struct joined joined = {out, out->len};
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        join_block(&joined, block);
    if (out->len == joined.start)
        gudgeon_buf_puts(out, or_else);
}

static void add_parts(gudgeon_buf *out, gudgeon_str blocks)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block)) {
        size_t before = out->len;
        if (is_image(block)) {
            add_image_part(out, block);
            continue;
        }
        gudgeon_buf_puts(out, ",{\"type\":\"text\",\"text\":\"");
        struct joined joined = {out, out->len};
        join_block(&joined, block);
        if (out->len == joined.start)
            out->len = before;
        else
            gudgeon_buf_puts(out, "\"}");
    }
}

/* ---- user and system ----------------------------------------------------------------------- */

static void encode_user(gudgeon_str blocks, gudgeon_buf *out)
{
    if (count_images(blocks) == 0) {
        gudgeon_buf_puts(out, "T");
        add_texts(out, blocks, "(empty message)");
    } else {
        gudgeon_buf_puts(out, "P");
        add_parts(out, blocks);
    }
}

/* ---- assistant ----------------------------------------------------------------------------- */

/* Whether a call of the tool, or its result, must be told as text. `name` is a JSON string. */
static int is_told(gudgeon_str name, const struct message_style *style)
{
    gudgeon_str inner = gudgeon_json_inner(name);
    if (style->as_text || style->listed == NULL)
        return style->as_text;
    for (uint64_t i = 0; i < style->listed->tool_count; i++) {
        gudgeon_str listed = style->listed->tools[i]->name;
        if (listed.len == inner.len && memcmp(listed.ptr, inner.ptr, inner.len) == 0)
            return 0;
    }
    return 1;
}

/* A call that stays one. */
static int is_sent_call(gudgeon_str block, const struct message_style *style)
{
    return is_type(block, "tool_call") && !is_told(gudgeon_json_get(block, "name"), style);
}

static void add_call(gudgeon_buf *out, gudgeon_str block, int first)
{
    gudgeon_buf_puts(out, first ? ",\"tool_calls\":[{\"id\":" : ",{\"id\":");
    gudgeon_buf_put(out, gudgeon_json_get(block, "id"));
    gudgeon_buf_puts(out, ",\"type\":\"function\",\"function\":{\"name\":");
    gudgeon_buf_put(out, gudgeon_json_get(block, "name"));
    gudgeon_buf_puts(out, ",\"arguments\":");
    gudgeon_buf_put(out, gudgeon_json_get(block, "arguments"));
    gudgeon_buf_puts(out, "}}");
}

static void add_calls(gudgeon_buf *out, gudgeon_str blocks, const struct message_style *style)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    size_t count = 0;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_sent_call(block, style))
            add_call(out, block, count++ == 0);
    if (count > 0)
        gudgeon_buf_puts(out, "]");
}

static int has_calls(gudgeon_str blocks, const struct message_style *style)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_sent_call(block, style))
            return 1;
    return 0;
}

/* The text, with the calls that must be told as text. */
static void add_said(gudgeon_buf *out, gudgeon_str blocks, const struct message_style *style,
                     const char *or_else)
{
    struct joined joined = {out, out->len};
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block)) {
        join_block(&joined, block);
        if (!is_type(block, "tool_call") || is_sent_call(block, style))
            continue;
        join_gap(&joined);
        gudgeon_buf_puts(out, "[called ");
        gudgeon_buf_put(out, gudgeon_json_inner(gudgeon_json_get(block, "name")));
        gudgeon_buf_puts(out, " with ");
        gudgeon_buf_put(out, gudgeon_json_inner(gudgeon_json_get(block, "arguments")));
        gudgeon_buf_puts(out, "]");
    }
    if (out->len == joined.start)
        gudgeon_buf_puts(out, or_else);
}

static void add_content(gudgeon_buf *out, gudgeon_str blocks, const struct message_style *style,
                        int calls)
{
    size_t start = out->len;
    gudgeon_buf_puts(out, "\"");
    add_said(out, blocks, style, calls ? "" : "(no answer)");
    if (out->len == start + 1 && style->dialect->tool_content == TOOL_CONTENT_NULL) {
        out->len = start;
        gudgeon_buf_puts(out, "null");
    } else {
        gudgeon_buf_puts(out, "\"");
    }
}

/* Data of the opaque block of that kind, as it stands between its quotes; absent if none. */
static gudgeon_str find_opaque(gudgeon_str blocks, const char *kind)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_type(block, "opaque") && gudgeon_json_is(gudgeon_json_get(block, "kind"), kind))
            return gudgeon_json_inner(gudgeon_json_get(block, "data"));
    return (gudgeon_str){NULL, 0};
}

static void add_reasoning_text(gudgeon_buf *out, gudgeon_str blocks)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_type(block, "reasoning"))
            gudgeon_buf_put(out, text_of(block));
}

static void add_reasoning(gudgeon_buf *out, gudgeon_str blocks, const struct message_style *style,
                          int calls)
{
    uint8_t echo = style->dialect->echo_reasoning;
    gudgeon_str given = style->own ? find_opaque(blocks, OPAQUE_FIELD) : (gudgeon_str){NULL, 0};
    int wanted = echo == ECHO_ALWAYS || (echo == ECHO_TOOL_TURNS && calls) ||
                 (echo == ECHO_AUTO && calls && style->own);
    int even_empty = calls && (given.ptr != NULL || echo != ECHO_AUTO);
    if (!wanted)
        return;
    const char *field = "reasoning_content";
    if (style->dialect->reasoning_field == REASONING ||
        (style->dialect->reasoning_field == REASONING_AS_GIVEN && gudgeon_is(given, "reasoning")))
        field = "reasoning";
    size_t before = out->len;
    gudgeon_buf_puts(out, ",\"");
    gudgeon_buf_puts(out, field);
    gudgeon_buf_puts(out, "\":\"");
    size_t start = out->len;
    add_reasoning_text(out, blocks);
    if (out->len == start && !even_empty)
        out->len = before;
    else
        gudgeon_buf_puts(out, "\"");
}

static void encode_assistant(gudgeon_str blocks, const struct message_style *style,
                             gudgeon_buf *out)
{
    int calls = has_calls(blocks, style);
    gudgeon_buf_puts(out, "M,{\"role\":\"assistant\",\"content\":");
    add_content(out, blocks, style, calls);
    add_reasoning(out, blocks, style, calls);
    gudgeon_str details = find_opaque(blocks, OPAQUE_DETAILS);
    if (style->own && details.len > 0 && style->dialect->echo_reasoning != ECHO_NEVER) {
        gudgeon_buf_puts(out, ",\"reasoning_details\":");
        gudgeon_json_decode(details, out);
    }
    if (calls)
        add_calls(out, blocks, style);
    gudgeon_buf_puts(out, "}");
}

/* ---- tool results -------------------------------------------------------------------------- */

static gudgeon_str find_result(gudgeon_str blocks)
{
    gudgeon_json_iter iter = gudgeon_json_each(blocks);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_type(block, "tool_result"))
            return block;
    return (gudgeon_str){NULL, 0};
}

static void add_result_title(gudgeon_buf *out, gudgeon_str result)
{
    gudgeon_buf_puts(out, "[result of ");
    gudgeon_buf_put(out, gudgeon_json_inner(gudgeon_json_get(result, "name")));
    gudgeon_buf_puts(out, "]");
}

/* The result's images as parts of a user message, with their title before them. */
static void add_titled_images(gudgeon_buf *out, gudgeon_str result, gudgeon_str content)
{
    gudgeon_buf_puts(out, ",{\"type\":\"text\",\"text\":\"");
    add_result_title(out, result);
    gudgeon_buf_puts(out, "\"}");
    gudgeon_json_iter iter = gudgeon_json_each(content);
    gudgeon_str block;
    while (gudgeon_json_next(&iter, NULL, &block))
        if (is_image(block))
            add_image_part(out, block);
}

static void encode_result_as_text(gudgeon_str result, gudgeon_str content, int with_images,
                                  gudgeon_buf *out)
{
    gudgeon_buf_puts(out, with_images ? "P,{\"type\":\"text\",\"text\":\"" : "T");
    add_result_title(out, result);
    gudgeon_buf_puts(out, "\\n");
    add_texts(out, content, "(no output)");
    if (!with_images)
        return;
    gudgeon_buf_puts(out, "\"}");
    add_titled_images(out, result, content);
}

static void add_tool_message(gudgeon_buf *out, gudgeon_str result, gudgeon_str content,
                             uint8_t images)
{
    static const char *const instead[] = {
        [IMAGES_FOLLOW] = "(the image follows)", [IMAGES_NONE] = "(an image that cannot be shown)"};
    gudgeon_buf_puts(out, ",{\"role\":\"tool\",\"tool_call_id\":");
    gudgeon_buf_put(out, gudgeon_json_get(result, "id"));
    gudgeon_buf_puts(out, ",\"content\":");
    int some = count_images(content) > 0;
    if (some && images == IMAGES_INLINE) {
        gudgeon_buf_puts(out, "[");
        size_t start = out->len;
        add_parts(out, content);
        if (out->len > start && !out->failed) /* the first part's comma */
            memmove(out->ptr + start, out->ptr + start + 1, --out->len - start);
        gudgeon_buf_puts(out, "]}");
        return;
    }
    gudgeon_buf_puts(out, "\"");
    add_texts(out, content, some ? instead[images] : "(no output)");
    gudgeon_buf_puts(out, "\"}");
}

static void encode_result(gudgeon_str blocks, const struct message_style *style, gudgeon_buf *out)
{
    gudgeon_str result = find_result(blocks), content = gudgeon_json_get(result, "content");
    uint8_t images = style->dialect->tool_images;
    int follow = images != IMAGES_NONE && count_images(content) > 0;
    if (is_told(gudgeon_json_get(result, "name"), style)) {
        encode_result_as_text(result, content, follow, out);
        return;
    }
    gudgeon_buf message = {0};
    add_tool_message(&message, result, content, images);
    out->failed |= message.failed;
    if (!follow || images == IMAGES_INLINE) {
        gudgeon_buf_puts(out, "M");
        gudgeon_buf_put(out, gudgeon_buf_str(&message));
    } else {
        char length[LENGTH_DIGITS + 2];
        snprintf(length, sizeof length, "B%0*u", LENGTH_DIGITS, (unsigned)message.len);
        gudgeon_buf_puts(out, length);
        gudgeon_buf_put(out, gudgeon_buf_str(&message));
        add_titled_images(out, result, content);
    }
    gudgeon_buf_free(&message);
}

/* ---- entries ------------------------------------------------------------------------------- */

void message_encode(const gudgeon_msg *msg, const struct message_style *style, gudgeon_buf *out)
{
    gudgeon_str blocks = gudgeon_json_root(msg->content);
    if (gudgeon_is(msg->role, "assistant"))
        encode_assistant(blocks, style, out);
    else if (gudgeon_is(msg->role, "tool"))
        encode_result(blocks, style, out);
    else
        encode_user(blocks, out);
}

struct message_entry message_split(gudgeon_str entry)
{
    struct message_entry ret = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    if (entry.len == 0)
        return ret;
    gudgeon_str rest = {entry.ptr + 1, entry.len - 1};
    if (*entry.ptr == 'M')
        ret.message = rest;
    else if (*entry.ptr == 'T')
        ret.text = rest;
    else if (*entry.ptr == 'P')
        ret.parts = rest;
    else if (rest.len >= LENGTH_DIGITS) {
        uint64_t len = 0;
        for (int i = 0; i < LENGTH_DIGITS; i++)
            len = len * 10 + (uint64_t)(rest.ptr[i] - '0');
        ret.message = (gudgeon_str){rest.ptr + LENGTH_DIGITS, len};
        ret.parts = (gudgeon_str){ret.message.ptr + len, rest.len - LENGTH_DIGITS - len};
    }
    return ret;
}
