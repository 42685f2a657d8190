/* SPDX-License-Identifier: MIT */
#include "plugin/result.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"

enum shape {
    SHAPE_OUTPUT, /* any bytes: made safe at intake */
    SHAPE_LABEL,  /* plain text about the result: made UTF-8 here */
    SHAPE_NAME,   /* must be there, and be UTF-8 */
    SHAPE_JSON,
    SHAPE_OBJECT, /* a JSON object */
    SHAPE_BLOCKS, /* a JSON array of content blocks */
};

struct field {
    size_t offset;
    enum shape shape;
    const char *malformed; /* the fault when it is not of that shape */
};

static const struct field reply_fields[] = {
    {offsetof(gudgeon_reply, finish_raw), SHAPE_LABEL, "malformed finish_raw in the reply"},
    {offsetof(gudgeon_reply, content), SHAPE_BLOCKS,
     "the reply's content is no JSON array of blocks"},
    {offsetof(gudgeon_reply, response_id), SHAPE_LABEL, "malformed response_id in the reply"},
    {offsetof(gudgeon_reply, model_served), SHAPE_LABEL, "malformed model_served in the reply"},
    {offsetof(gudgeon_reply, origin), SHAPE_LABEL, "malformed origin in the reply"},
};

static const struct field tool_result_fields[] = {
    {offsetof(gudgeon_tool_result, text), SHAPE_OUTPUT, "malformed text in the result"},
    {offsetof(gudgeon_tool_result, content), SHAPE_BLOCKS,
     "the result's content is no JSON array of blocks"},
    {offsetof(gudgeon_tool_result, data), SHAPE_JSON, "the result's data is no JSON"},
};

static const struct field exec_fields[] = {
    {offsetof(gudgeon_exec_result, value), SHAPE_JSON, "the block's value is no JSON"},
    {offsetof(gudgeon_exec_result, message), SHAPE_OUTPUT, "malformed message in the result"},
};

static const struct field tool_fields[] = {
    {offsetof(gudgeon_tool, name), SHAPE_NAME, "a listed tool has no proper name"},
    {offsetof(gudgeon_tool, description), SHAPE_LABEL, "malformed description of a listed tool"},
    {offsetof(gudgeon_tool, parameters), SHAPE_OBJECT,
     "the parameters of a listed tool are no JSON object"},
};

static const struct {
    size_t size; /* of the struct in ABI 0.1 */
    const struct field *fields;
    size_t count;
} kinds[RESULT_KIND_COUNT] = {
    [RESULT_REPLY] = {sizeof(gudgeon_reply), reply_fields, COUNT_OF(reply_fields)},
    [RESULT_CAPABILITIES] = {sizeof(gudgeon_capabilities), NULL, 0},
    [RESULT_TOOL_RESULT] = {sizeof(gudgeon_tool_result), tool_result_fields,
                            COUNT_OF(tool_result_fields)},
    [RESULT_EXEC] = {sizeof(gudgeon_exec_result), exec_fields, COUNT_OF(exec_fields)},
    [RESULT_TOOL] = {sizeof(gudgeon_tool), tool_fields, COUNT_OF(tool_fields)},
};

static bool is_block(struct json_object *value)
{
    return json_object_is_type(value, json_type_object) &&
           json_object_is_type(json_get(value, "type"), json_type_string);
}

static bool are_blocks(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_array))
        return false;
    size_t count = json_object_array_length(value);
    for (size_t i = 0; i < count; i++)
        if (!is_block(json_object_array_get_idx(value, i)))
            return false;
    return true;
}

static bool has_json_shape(gudgeon_str text, enum shape shape)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    if (json_read(text, &value, NULL) < 0)
        return false;
    if (shape == SHAPE_OBJECT)
        return json_object_is_type(value, json_type_object);
    return shape == SHAPE_JSON || are_blocks(value);
}

static bool has_shape(gudgeon_str text, enum shape shape)
{
    if (text.ptr == NULL)
        return text.len == 0 && shape != SHAPE_NAME;
    if (shape == SHAPE_OUTPUT || shape == SHAPE_LABEL)
        return true;
    if (shape == SHAPE_NAME)
        return text.len > 0 && utf8_is_valid(text.ptr, text.len);
    return has_json_shape(text, shape);
}

/* A text that is there has a copy with a NUL, also when it is empty. */
static char *copy_text(gudgeon_str text, enum shape shape, uint64_t *ret_len)
{
    *ret_len = text.len;
    if (shape != SHAPE_LABEL || utf8_is_valid(text.ptr, text.len))
        return memcpy(xcalloc(1, text.len + 1), text.ptr, text.len);
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    utf8_sanitise(&safe, text.ptr, text.len);
    *ret_len = safe.len;
    return buf_take(&safe);
}

/* Newer finish reasons and bits that this host does not know must not reach its switches. */
static void drop_unknown(struct result *result)
{
    switch (result->kind) {
    case RESULT_REPLY:
        if (result->as.reply.finish == 0 || result->as.reply.finish > GUDGEON_FINISH_OTHER)
            result->as.reply.finish = GUDGEON_FINISH_OTHER;
        result->as.reply.usage_known &= GUDGEON_USAGE_INPUT | GUDGEON_USAGE_OUTPUT |
                                        GUDGEON_USAGE_CACHED | GUDGEON_USAGE_CACHE_WRITE |
                                        GUDGEON_USAGE_REASONING;
        break;
    case RESULT_TOOL_RESULT:
        result->as.tool_result.flags &= GUDGEON_IS_ERROR;
        break;
    case RESULT_EXEC:
        result->as.exec.flags &= GUDGEON_EXEC_FINAL | GUDGEON_EXEC_ERROR;
        break;
    case RESULT_TOOL:
        result->as.tool.flags &=
            GUDGEON_TOOL_READ | GUDGEON_TOOL_IDEMPOTENT | GUDGEON_TOOL_DESTRUCTIVE;
        break;
    default:
        break;
    }
}

static gudgeon_str *text_at(struct result *result, const struct field *field)
{
    return (gudgeon_str *)((char *)&result->as + field->offset);
}

/* The sizes first: nothing is read of a text before the sum is known to be bearable. */
static int check_sizes(struct result *result, const char **ret_fault)
{
    uint64_t total = 0;
    for (size_t i = 0; i < kinds[result->kind].count; i++) {
        uint64_t len = text_at(result, &kinds[result->kind].fields[i])->len;
        if (len > RESULT_MAX_BYTES || (total += len) > RESULT_MAX_BYTES) {
            *ret_fault = "the result is larger than 64 MiB";
            return ERR_LIMIT;
        }
    }
    return 0;
}

static int check_shapes(struct result *result, const char **ret_fault)
{
    for (size_t i = 0; i < kinds[result->kind].count; i++) {
        const struct field *field = &kinds[result->kind].fields[i];
        if (!has_shape(*text_at(result, field), field->shape)) {
            *ret_fault = field->malformed;
            return ERR_PROTOCOL;
        }
    }
    return 0;
}

static void copy_texts(struct result *result)
{
    for (size_t i = 0; i < kinds[result->kind].count; i++) {
        const struct field *field = &kinds[result->kind].fields[i];
        gudgeon_str *text = text_at(result, field);
        if (text->ptr != NULL)
            text->ptr = result->texts[i] = copy_text(*text, field->shape, &text->len);
    }
    if (result->kind == RESULT_REPLY && result->as.reply.content.ptr == NULL)
        result->as.reply.content = (gudgeon_str){"[]", 2};
}

int result_copy(enum result_kind kind, const void *from, struct result *ret, const char **ret_fault)
{
    uint32_t size = 0; /* the first field of every result */
    if (from != NULL)
        memcpy(&size, from, sizeof size);
    if (kind == RESULT_NONE || size < kinds[kind].size) {
        *ret_fault =
            kind == RESULT_NONE
                ? "the plugin gave a result where none is owed"
                : "the plugin gave a result whose size is too small; set its .size to sizeof";
        return ERR_PROTOCOL;
    }
    struct result copy = {.kind = kind};
    memcpy(&copy.as, from, kinds[kind].size);
    memcpy(&copy.as, &(uint32_t){(uint32_t)kinds[kind].size}, sizeof size);
    int status = check_sizes(&copy, ret_fault);
    if (status == 0)
        status = check_shapes(&copy, ret_fault);
    if (status < 0)
        return status;
    copy_texts(&copy);
    drop_unknown(&copy);
    *ret = copy;
    return 0;
}

void result_fini(struct result *result)
{
    for (size_t i = 0; i < RESULT_TEXT_COUNT; i++)
        free(result->texts[i]);
    *result = (struct result){0};
}
