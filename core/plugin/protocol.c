/* SPDX-License-Identifier: MIT */
#include "plugin/protocol.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"

static_assert(sizeof(struct frame_header) == FRAME_HEADER_SIZE, "a header is its bytes");
static_assert(sizeof(struct lane_page) == 4096, "the slots fill a page");

/* ---- frames -----------------------------------------------------------------------------------
 */

void frame_header_write(const struct frame_header *header, unsigned char out[FRAME_HEADER_SIZE])
{
    memcpy(out, header, FRAME_HEADER_SIZE);
}

static int fault(const char *what, const char **ret_fault)
{
    *ret_fault = what;
    return ERR_PROTOCOL;
}

int frame_header_read(const unsigned char *frame, size_t len, struct frame_header *ret,
                      const char **ret_fault)
{
    struct frame_header header;
    if (len < FRAME_HEADER_SIZE)
        return fault("sent a frame without a header", ret_fault);
    memcpy(&header, frame, FRAME_HEADER_SIZE);
    if (header.length != len - FRAME_HEADER_SIZE || header.length > FRAME_PAYLOAD_MAX)
        return fault("sent a frame of another length than it says", ret_fault);
    if (header.type == 0 || header.type >= FRAME_TYPE_COUNT)
        return fault("sent a frame of a type that there is not", ret_fault);
    if ((header.flags & ~FRAME_MORE) != 0)
        return fault("sent a frame with unknown flags", ret_fault);
    /* So the number of frames bounds the size of a message. */
    if (header.flags == FRAME_MORE && header.length != FRAME_PAYLOAD_MAX)
        return fault("sent a part of a message that is not full", ret_fault);
    *ret = header;
    return 0;
}

/* ---- what messages are made of ----------------------------------------------------------------
 */

enum shape { SHAPE_U32, SHAPE_U64, SHAPE_TEXT, SHAPE_LIST };
struct field {
    size_t offset;
    enum shape shape;
    size_t count; /* 0 = 1; of an array */
};

#define AT(type, member, shape)                                                                    \
    {                                                                                              \
        offsetof(struct type, member), shape, 0                                                    \
    }
#define MANY(type, member, shape, count)                                                           \
    {                                                                                              \
        offsetof(struct type, member), shape, count                                                \
    }

static const struct field create_fields[] = {
    AT(msg_create, version, SHAPE_TEXT), AT(msg_create, path, SHAPE_TEXT),
    AT(msg_create, kind, SHAPE_TEXT),    AT(msg_create, component, SHAPE_TEXT),
    AT(msg_create, name, SHAPE_TEXT),    AT(msg_create, config, SHAPE_TEXT),
    AT(msg_create, grant, SHAPE_TEXT),
};
static const struct field call_fields[] = {
    AT(msg_call, output_max, SHAPE_U64),
    AT(msg_call, id, SHAPE_TEXT),
    AT(msg_call, tool, SHAPE_TEXT),
    AT(msg_call, arguments, SHAPE_TEXT),
};
static const struct field delta_fields[] = {
    AT(msg_delta, channel, SHAPE_U32),
    AT(msg_delta, index, SHAPE_U32),
    AT(msg_delta, name, SHAPE_TEXT),
    AT(msg_delta, bytes, SHAPE_TEXT),
};
static const struct field tool_fields[] = {
    AT(msg_tool, flags, SHAPE_U32),
    AT(msg_tool, name, SHAPE_TEXT),
    AT(msg_tool, description, SHAPE_TEXT),
    AT(msg_tool, parameters, SHAPE_TEXT),
};
static const struct field done_fields[] = {
    AT(msg_done, op_class, SHAPE_U32),       AT(msg_done, has_result, SHAPE_U32),
    AT(msg_done, result_flags, SHAPE_U32),   AT(msg_done, http_status, SHAPE_U32),
    AT(msg_done, retry_after_ms, SHAPE_U64), AT(msg_done, notices, SHAPE_U64),
    AT(msg_done, message, SHAPE_TEXT),       AT(msg_done, provider_code, SHAPE_TEXT),
    AT(msg_done, grant, SHAPE_TEXT),         AT(msg_done, text, SHAPE_TEXT),
    AT(msg_done, content, SHAPE_TEXT),       AT(msg_done, data, SHAPE_TEXT),
};
static const struct field ask_fields[] = {
    AT(msg_ask, op, SHAPE_U32),
    AT(msg_ask, which, SHAPE_U32),
    AT(msg_ask, handle, SHAPE_U64),
    MANY(msg_ask, numbers, SHAPE_U64, ASK_NUMBERS),
    MANY(msg_ask, texts, SHAPE_TEXT, ASK_TEXTS),
    AT(msg_ask, list, SHAPE_LIST),
    AT(msg_ask, more, SHAPE_LIST),
};
static const struct field answer_fields[] = {
    AT(msg_answer, op_class, SHAPE_U32), AT(msg_answer, number, SHAPE_U32),
    AT(msg_answer, handle, SHAPE_U64),   AT(msg_answer, message, SHAPE_TEXT),
    AT(msg_answer, grant, SHAPE_TEXT),   MANY(msg_answer, texts, SHAPE_TEXT, ASK_TEXTS),
    AT(msg_answer, list, SHAPE_LIST),
};
static const struct field log_fields[] = {
    AT(msg_log, level, SHAPE_U32),
    AT(msg_log, text, SHAPE_TEXT),
};

#define ROW(fields)                                                                                \
    {                                                                                              \
        fields, COUNT_OF(fields)                                                                   \
    }
static const struct {
    const struct field *fields;
    size_t count;
} messages[FRAME_TYPE_COUNT] = {
    [FRAME_CREATE] = ROW(create_fields), [FRAME_LIST] = {NULL, 0},
    [FRAME_CALL] = ROW(call_fields),     [FRAME_DESTROY] = {NULL, 0},
    [FRAME_DELTA] = ROW(delta_fields),   [FRAME_TOOL] = ROW(tool_fields),
    [FRAME_DONE] = ROW(done_fields),     [FRAME_ASK] = ROW(ask_fields),
    [FRAME_ANSWER] = ROW(answer_fields), [FRAME_LOG] = ROW(log_fields),
    [FRAME_TOOLS_CHANGED] = {NULL, 0},   [FRAME_LANE] = {NULL, 0},
};

/* A text is its length, its bytes and a NUL; the length of one that is absent: */
#define ABSENT UINT32_MAX

/* ---- writing ----------------------------------------------------------------------------------
 */

static int add_text(struct buf *out, gudgeon_str text)
{
    uint32_t len = text.ptr != NULL ? (uint32_t)text.len : ABSENT;
    if (text.ptr != NULL && text.len >= MESSAGE_MAX)
        return ERR_LIMIT;
    int status = buf_add(out, &len, sizeof len);
    if (status == 0 && text.ptr != NULL)
        status = buf_add(out, text.ptr, text.len);
    if (status == 0 && text.ptr != NULL)
        status = buf_add(out, "", 1);
    return status;
}

static int write_one(enum shape shape, const char *from, struct buf *out)
{
    gudgeon_str text;
    switch (shape) {
    case SHAPE_U32:
        return buf_add(out, from, sizeof(uint32_t));
    case SHAPE_U64:
        return buf_add(out, from, sizeof(uint64_t));
    case SHAPE_TEXT:
    case SHAPE_LIST:
        break;
    }
    memcpy(&text, from, sizeof text);
    return add_text(out, text);
}

static size_t size_of(enum shape shape)
{
    static const size_t sizes[] = {[SHAPE_U32] = sizeof(uint32_t),
                                   [SHAPE_U64] = sizeof(uint64_t),
                                   [SHAPE_TEXT] = sizeof(gudgeon_str),
                                   [SHAPE_LIST] = sizeof(gudgeon_str)};
    return sizes[shape];
}

int message_write(enum frame_type type, const void *from, struct buf *out)
{
    int status = 0;
    for (size_t i = 0; i < messages[type].count && status == 0; i++) {
        const struct field *field = &messages[type].fields[i];
        const char *at = (const char *)from + field->offset;
        for (size_t k = 0; k < (field->count > 0 ? field->count : 1) && status == 0; k++)
            status = write_one(field->shape, at + k * size_of(field->shape), out);
    }
    return status;
}

int list_add(struct buf *list, gudgeon_str text)
{
    return add_text(list, text);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

/* What is left to be read. */
struct reader {
    const char *at;
    size_t left;
};

static bool take(struct reader *reader, void *into, size_t len)
{
    if (reader->left < len)
        return false;
    memcpy(into, reader->at, len);
    reader->at += len;
    reader->left -= len;
    return true;
}

static bool take_text(struct reader *reader, gudgeon_str *ret)
{
    uint32_t len;
    if (!take(reader, &len, sizeof len))
        return false;
    *ret = (gudgeon_str){NULL, 0};
    if (len == ABSENT)
        return true;
    if (reader->left <= len || reader->at[len] != '\0')
        return false;
    *ret = (gudgeon_str){reader->at, len};
    reader->at += (size_t)len + 1;
    reader->left -= (size_t)len + 1;
    return true;
}

static bool is_list(gudgeon_str list)
{
    struct reader reader = {list.ptr, list.len};
    gudgeon_str item;
    for (size_t count = 0; reader.left > 0; count++)
        if (count == LIST_ITEMS_MAX || !take_text(&reader, &item))
            return false;
    return true;
}

static bool read_one(enum shape shape, struct reader *reader, char *into)
{
    gudgeon_str text;
    if (shape == SHAPE_U32 || shape == SHAPE_U64)
        return take(reader, into, size_of(shape));
    if (!take_text(reader, &text) || (shape == SHAPE_LIST && !is_list(text)))
        return false;
    memcpy(into, &text, sizeof text);
    return true;
}

int message_read(enum frame_type type, gudgeon_str payload, void *into)
{
    struct reader reader = {payload.ptr, payload.len};
    for (size_t i = 0; i < messages[type].count; i++) {
        const struct field *field = &messages[type].fields[i];
        char *at = (char *)into + field->offset;
        for (size_t k = 0; k < (field->count > 0 ? field->count : 1); k++)
            if (!read_one(field->shape, &reader, at + k * size_of(field->shape)))
                return ERR_PROTOCOL;
    }
    return reader.left == 0 ? 0 : ERR_PROTOCOL;
}

bool list_next(gudgeon_str list, size_t *at, gudgeon_str *ret)
{
    if (*at >= list.len)
        return false;
    struct reader reader = {list.ptr + *at, list.len - *at};
    if (!take_text(&reader, ret))
        return false;
    *at = list.len - reader.left;
    return true;
}

size_t list_count(gudgeon_str list)
{
    size_t at = 0, count = 0;
    gudgeon_str item;
    while (list_next(list, &at, &item))
        count++;
    return count;
}
