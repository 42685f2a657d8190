/* SPDX-License-Identifier: MIT */
#include "agent/arguments.h"

#include <ctype.h>
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/schema.h"

/* A record around the arguments must still be readable. */
enum { DEPTH_MAX = 256, CONTAINERS_MAX = 1 << 18 };
/* How much of hopeless arguments a fault shows. */
enum { PREVIEW_BYTES = 200 };
/* Python-like text longer than this is not worth a repair. */
enum { LENIENT_MAX_BYTES = 1 << 20 };

static gudgeon_str trim(gudgeon_str text)
{
    while (text.len > 0 && isspace((unsigned char)text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && isspace((unsigned char)text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static char *print(struct json_object *value)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    json_write(&out, value);
    return buf_take(&out);
}

/* The text if it is an object already: valid JSON is never rewritten. */
static char *as_written(gudgeon_str text)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    return json_read_object(text, &value, NULL) == 0 ? str_dup(text) : NULL;
}

/* "{\"a\":1}" as a string: unwrapped once. */
static char *double_encoded(gudgeon_str text)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    if (json_read(text, &value, NULL) < 0 || !json_object_is_type(value, json_type_string))
        return NULL;
    return as_written(trim(json_str(value)));
}

/* {"a":1} close it with } */
static char *before_prose(gudgeon_str text)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    size_t used;
    if (text.ptr[0] != '{' || json_read_first(text, &value, &used, NULL) < 0)
        return NULL;
    gudgeon_str rest = trim((gudgeon_str){text.ptr + used, text.len - used});
    /* A second object is a second call's arguments: half of what was meant must not run. */
    while (rest.len > 0 && strchr(",;\n\t ", rest.ptr[0]) != NULL && rest.ptr[0] != '\0') {
        rest.ptr++;
        rest.len--;
    }
    if (rest.len > 0 && rest.ptr[0] == '{')
        return NULL;
    return xstrndup(text.ptr, used);
}

struct lenient {
    const char *at, *end;
    struct buf out;
};

/* One '…' string, at its opening quote, as a JSON string. False when it has no end. */
static bool copy_single_quoted(struct lenient *in)
{
    in->at++;
    buf_add_char(&in->out, '"');
    for (; in->at < in->end && *in->at != '\''; in->at++) {
        if (*in->at == '"') {
            buf_add_str(&in->out, "\\\"");
        } else if (*in->at == '\\' && in->at + 1 < in->end) {
            if (in->at[1] != '\'') /* \' is no JSON escape */
                buf_add_char(&in->out, '\\');
            buf_add_char(&in->out, *++in->at);
        } else {
            buf_add_char(&in->out, *in->at);
        }
    }
    buf_add_char(&in->out, '"');
    return in->at++ < in->end;
}

static bool copy_double_quoted(struct lenient *in)
{
    const char *start = in->at++;
    while (in->at < in->end && *in->at != '"')
        in->at += *in->at == '\\' && in->at + 1 < in->end ? 2 : 1;
    if (in->at >= in->end)
        return false;
    in->at++;
    buf_add(&in->out, start, (size_t)(in->at - start));
    return true;
}

static void copy_word(struct lenient *in)
{
    static const struct {
        const char *python, *json;
    } words[] = {{"True", "true"}, {"False", "false"}, {"None", "null"}};
    const char *start = in->at;
    while (in->at < in->end && isalpha((unsigned char)*in->at))
        in->at++;
    gudgeon_str word = {start, (size_t)(in->at - start)};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(word, words[i].python)) {
            buf_add_str(&in->out, words[i].json);
            return;
        }
    buf_add(&in->out, word.ptr, word.len);
}

/* {'a': True}: quotes and constants as Python prints them; what comes out must be strict JSON. */
static char *python_like(gudgeon_str text)
{
    if (text.ptr[0] != '{' || text.len > LENIENT_MAX_BYTES)
        return NULL;
    struct lenient in = {.at = text.ptr, .end = text.ptr + text.len};
    buf_init(&in.out, 2 * LENIENT_MAX_BYTES);
    bool whole = true;
    while (whole && in.at < in.end) {
        if (*in.at == '\'')
            whole = copy_single_quoted(&in);
        else if (*in.at == '"')
            whole = copy_double_quoted(&in);
        else if (isalpha((unsigned char)*in.at))
            copy_word(&in);
        else
            buf_add_char(&in.out, *in.at++);
    }
    gudgeon_str repaired = {in.out.data, in.out.len};
    char *object = whole ? as_written(repaired) : NULL;
    buf_fini(&in.out);
    return object;
}

static char *describe_fault(gudgeon_str raw, gudgeon_str text)
{
    struct err err = {0};
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    int status = json_read(text, &value, &err);
    struct buf preview = BUF_INIT(4 * PREVIEW_BYTES);
    utf8_sanitise(&preview, raw.ptr, raw.len < PREVIEW_BYTES ? raw.len : PREVIEW_BYTES);
    char *fault = xasprintf("the arguments must be one JSON object and are not (%s): %s%s (%llu "
                            "bytes)",
                            status < 0 ? err.text : "another JSON value", preview.data,
                            raw.len > PREVIEW_BYTES ? "…" : "", (unsigned long long)raw.len);
    buf_fini(&preview);
    return fault;
}

void arguments_read(gudgeon_str raw, struct arguments *ret)
{
    static char *(*const readings[])(gudgeon_str) = {as_written, double_encoded, before_prose,
                                                     python_like};
    gudgeon_str text = trim(raw);
    *ret = (struct arguments){.valid = true};
    if (text.len == 0 || str_is(text, "null")) {
        ret->object = xstrdup("{}");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(readings) && ret->object == NULL; i++)
        ret->object = readings[i](text);
    if (ret->object != NULL)
        return;
    ret->object = xstrdup("{}");
    ret->valid = false;
    ret->fault = describe_fault(raw, text);
}

void arguments_fini(struct arguments *arguments)
{
    free(arguments->object);
    free(arguments->fault);
    *arguments = (struct arguments){0};
}

/* Counts objects and arrays down to the greatest depth that is taken; false when it is passed. */
static bool is_bearable(struct json_object *value, int depth, size_t *containers)
{
    bool is_array = json_object_is_type(value, json_type_array);
    if (!is_array && !json_object_is_type(value, json_type_object))
        return true;
    if (depth == DEPTH_MAX || ++*containers > CONTAINERS_MAX)
        return false;
    if (is_array) {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            if (!is_bearable(json_object_array_get_idx(value, i), depth + 1, containers))
                return false;
        return true;
    }
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        if (!is_bearable(member, depth + 1, containers))
            return false;
    }
    return true;
}

static int check(const struct schema *schema, struct json_object **value, struct err *err)
{
    int status = schema != NULL ? schema_complete(schema, value, true, err) : 0;
    size_t containers = 0;
    if (status == 0 && !is_bearable(*value, 0, &containers))
        status = err_set(err, ERR_LIMIT, "more than %d levels or %d objects and arrays", DEPTH_MAX,
                         CONTAINERS_MAX);
    return status == 0 && schema != NULL ? schema_check_err(schema, *value, err) : status;
}

char *arguments_check(const char *object, const struct schema *schema, char **ret_fault)
{
    *ret_fault = NULL;
    struct err err = {0};
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    if (json_read_object(str_of(object), &value, &err) < 0 || check(schema, &value, &err) < 0) {
        *ret_fault = xstrdup(err.text);
        return NULL;
    }
    return print(value);
}
