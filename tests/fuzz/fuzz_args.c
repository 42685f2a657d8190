/* SPDX-License-Identifier: MIT */

/*
 * gudgeon/json.h and gudgeon/args.h on any bytes: they never leave the text, and where the host's
 * own reader takes it for an object they say the same about every member.
 */

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/args.h>
#include <json-c/json.h>

#include "base/err.h"
#include "data/json.h"
#include "data/json_text.h" /* how a key holds a NUL */

static void walk(gudgeon_str value, int depth)
{
    gudgeon_json_iter iter = gudgeon_json_each(value);
    gudgeon_str key, item;
    gudgeon_buf text = {.max = 1 << 20};
    gudgeon_json_decode(gudgeon_json_inner(value), &text);
    gudgeon_buf_free(&text);
    while (depth > 0 && gudgeon_json_next(&iter, &key, &item)) {
        assert(item.ptr >= value.ptr && item.ptr + item.len <= value.ptr + value.len);
        walk(item, depth - 1);
    }
}

static void compare_text(gudgeon_str object, const char *key, struct json_object *value)
{
    size_t len = (size_t)json_object_get_string_len(value);
    const char *want = json_object_get_string(value);
    gudgeon_buf have = {0};
    assert(gudgeon_arg_bytes(object, key, &have) == GUDGEON_OK);
    assert(have.len == len && memcmp(gudgeon_buf_str(&have).ptr, want, len) == 0);
    char *text = malloc(len + 1);
    int32_t status = gudgeon_arg_text(object, key, text, len + 1);
    assert(status == (memchr(want, '\0', len) != NULL ? GUDGEON_INVALID : GUDGEON_OK));
    assert(gudgeon_arg_text(object, key, text, len) != GUDGEON_OK);
    free(text);
    gudgeon_buf_free(&have);
}

static void compare_number(gudgeon_str object, const char *key, struct json_object *value)
{
    int64_t have = 0;
    double number = 0;
    int32_t status = gudgeon_arg_int(object, key, &have);
    if (json_object_is_type(value, json_type_int))
        assert(status == GUDGEON_OK && have == json_object_get_int64(value));
    if (gudgeon_arg_number(object, key, &number) == GUDGEON_OK)
        assert(number == json_object_get_double(value));
    if (status == GUDGEON_OK && have > -(1LL << 53) && have < (1LL << 53))
        assert((double)have == json_object_get_double(value));
}

static void compare_member(gudgeon_str object, const char *key, struct json_object *value)
{
    int flag = -1;
    assert(gudgeon_arg(object, key).ptr != NULL);
    int32_t bool_status = gudgeon_arg_bool(object, key, &flag);
    assert((bool_status == GUDGEON_OK) == json_object_is_type(value, json_type_boolean));
    if (bool_status == GUDGEON_OK)
        assert(flag == json_object_get_boolean(value));
    if (json_object_is_type(value, json_type_string))
        compare_text(object, key, value);
    if (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double))
        compare_number(object, key, value);
    gudgeon_json_iter iter = gudgeon_json_each(gudgeon_arg(object, key));
    gudgeon_str item;
    size_t count = 0;
    while (gudgeon_json_next(&iter, NULL, &item))
        count++;
    if (json_object_is_type(value, json_type_array))
        assert(count == json_object_array_length(value));
    if (json_object_is_type(value, json_type_object))
        assert(count == (size_t)json_object_object_length(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of its own, so that a read past the end is seen. */
    char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, data, size);
    gudgeon_str text = {copy, size};
    struct json_object *object = NULL;
    uint64_t bytes = 0;
    int64_t number = 0;
    walk(gudgeon_json_root(text), 16);
    gudgeon_arg_size(text, "a", &bytes);
    gudgeon_arg_int(text, "a", &number);
    int sound = gudgeon_json_scan(text, 0);
    if (json_read_object(text, &object, NULL) == 0) {
        assert(sound == GUDGEON_JSON_SOUND);
        json_object_object_foreach(object, key, value)
        {
            if (strlen(key) > 0 && strstr(key, JSON_KEY_NUL) == NULL)
                compare_member(text, key, value);
        }
    }
    json_object_put(object);
    free(copy);
    return 0;
}
