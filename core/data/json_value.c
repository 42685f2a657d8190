/* SPDX-License-Identifier: MIT */
#include "data/json.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "data/decimal.h"
#include "data/json_text.h"

void json_cleanup(struct json_object **value)
{
    json_object_put(*value);
    *value = NULL;
}

const char *json_type_name(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return "null";
    case json_type_boolean:
        return "boolean";
    case json_type_int:
        return "integer";
    case json_type_string:
        return "string";
    case json_type_array:
        return "array";
    case json_type_object:
        return "object";
    case json_type_double:
        break;
    }
    struct decimal number;
    decimal_of(value, &number);
    return decimal_is_integer(&number) ? "integer" : "number";
}

/* ---- keys ---------------------------------------------------------------------------------- */

void json_add_key_text(struct buf *out, const char *key)
{
    const char *nul;
    for (; (nul = strstr(key, JSON_KEY_NUL)) != NULL; key = nul + strlen(JSON_KEY_NUL)) {
        buf_add(out, key, (size_t)(nul - key));
        buf_add_char(out, '\0');
    }
    buf_add_str(out, key);
}

/* ---- members ------------------------------------------------------------------------------- */

struct json_object *json_get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    if (json_object_is_type(object, json_type_object))
        json_object_object_get_ex(object, key, &value);
    return value;
}

gudgeon_str json_str(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_string))
        return (gudgeon_str){NULL, 0};
    return (gudgeon_str){json_object_get_string(value),
                         (uint64_t)json_object_get_string_len(value)};
}

gudgeon_str json_get_str(struct json_object *object, const char *key)
{
    return json_str(json_get(object, key));
}

bool json_is_number(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) ||
           json_object_is_type(value, json_type_double);
}

int64_t json_get_int(struct json_object *object, const char *key, int64_t fallback)
{
    struct json_object *value = json_get(object, key);
    int64_t result;
    if (decimal_is_int64(value, &result))
        return result;
    if (!json_is_number(value))
        return fallback;
    struct decimal number;
    decimal_of(value, &number);
    return decimal_to_int64(&number, &result) ? result : fallback;
}

double json_get_double(struct json_object *object, const char *key, double fallback)
{
    struct json_object *value = json_get(object, key);
    return json_is_number(value) ? json_object_get_double(value) : fallback;
}

bool json_get_bool(struct json_object *object, const char *key, bool fallback)
{
    struct json_object *value = json_get(object, key);
    return json_object_is_type(value, json_type_boolean) ? json_object_get_boolean(value)
                                                         : fallback;
}

/* ---- equality ------------------------------------------------------------------------------ */

static bool arrays_equal(struct json_object *a, struct json_object *b)
{
    size_t len = json_object_array_length(a);
    if (json_object_array_length(b) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!json_equal(json_object_array_get_idx(a, i), json_object_array_get_idx(b, i)))
            return false;
    return true;
}

static bool objects_equal(struct json_object *a, struct json_object *b)
{
    if (json_object_object_length(a) != json_object_object_length(b))
        return false;
    json_object_object_foreach(a, key, value)
    {
        struct json_object *other;
        if (!json_object_object_get_ex(b, key, &other) || !json_equal(value, other))
            return false;
    }
    return true;
}

bool json_equal(struct json_object *a, struct json_object *b)
{
    if (json_is_number(a) && json_is_number(b))
        return decimal_order(a, b) == 0;
    enum json_type type = json_object_get_type(a);
    if (json_object_get_type(b) != type)
        return false;
    switch (type) {
    case json_type_boolean:
        return json_object_get_boolean(a) == json_object_get_boolean(b);
    case json_type_string:
        return str_same(json_str(a), json_str(b));
    case json_type_array:
        return arrays_equal(a, b);
    case json_type_object:
        return objects_equal(a, b);
    default:
        return true; /* null, which has one value; numbers are done */
    }
}

/* ---- copies -------------------------------------------------------------------------------- */

struct json_object *json_made(struct json_object *value)
{
    if (value == NULL)
        abort();
    return value;
}

void json_added(int status)
{
    if (status < 0)
        abort();
}

static struct json_object *copy_double(struct json_object *value)
{
    double number = json_object_get_double(value);
    const char *source = json_object_get_userdata(value);
    return json_made(source != NULL ? json_object_new_double_s(number, source)
                                    : json_object_new_double(number));
}

static struct json_object *copy_integer(struct json_object *value)
{
    int64_t number = json_object_get_int64(value);
    if (number == INT64_MAX) /* or beyond */
        return json_made(json_object_new_uint64(json_object_get_uint64(value)));
    return json_made(json_object_new_int64(number));
}

static struct json_object *copy_array(struct json_object *array)
{
    size_t len = json_object_array_length(array);
    struct json_object *copy = json_made(json_object_new_array_ext(len > 0 ? (int)len : 1));
    for (size_t i = 0; i < len; i++)
        json_added(json_object_array_add(copy, json_copy(json_object_array_get_idx(array, i))));
    return copy;
}

static struct json_object *copy_object(struct json_object *object)
{
    struct json_object *copy = json_made(json_object_new_object());
    json_object_object_foreach(object, key, value)
    {
        json_added(
            json_object_object_add_ex(copy, key, json_copy(value), JSON_C_OBJECT_ADD_KEY_IS_NEW));
    }
    return copy;
}

struct json_object *json_copy(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_boolean:
        return json_made(json_object_new_boolean(json_object_get_boolean(value)));
    case json_type_int:
        return copy_integer(value);
    case json_type_double:
        return copy_double(value);
    case json_type_string:
        return json_made(json_object_new_string_len(json_object_get_string(value),
                                                    json_object_get_string_len(value)));
    case json_type_array:
        return copy_array(value);
    case json_type_object:
        return copy_object(value);
    case json_type_null:
        break;
    }
    return NULL;
}
