/* SPDX-License-Identifier: MIT */
#include "data/json.h"

#include <assert.h>
#include <inttypes.h>
#include <json-c/linkhash.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json_text.h"

/* ---- scalars ------------------------------------------------------------------------------- */

static int add_escaped(struct buf *out, unsigned char c)
{
    static const char meanings[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *meaning = c != '\0' ? strchr(meanings, c) : NULL;
    if (meaning == NULL)
        return buf_addf(out, "\\u%04x", c);
    const char text[] = {'\\', letters[meaning - meanings]};
    return buf_add(out, text, sizeof text);
}

/* The text without its quotes. */
static int add_string_body(struct buf *out, const char *text, size_t len)
{
    bool is_ascii;
    int status = 0;
    for (size_t i = 0; i < len && status == 0; i++) {
        size_t run = json_plain_run(text + i, len - i, &is_ascii);
        status = buf_add(out, text + i, run);
        i += run;
        if (i < len && status == 0)
            status = add_escaped(out, (unsigned char)text[i]);
    }
    return status;
}

static int add_string(struct buf *out, const char *text, size_t len)
{
    if (buf_reserve(out, len + 2) < 0)
        return ERR_LIMIT;
    buf_add_char(out, '"');
    int status = add_string_body(out, text, len);
    return status < 0 ? status : buf_add_char(out, '"');
}

static int add_key_body(struct buf *out, const char *key)
{
    size_t len = strlen(key);
    bool is_ascii;
    if (json_plain_run(key, len, &is_ascii) == len && is_ascii)
        return buf_add(out, key, len);
    const char *nul;
    int status = 0;
    for (; status == 0 && (nul = strstr(key, JSON_KEY_NUL)) != NULL; key = nul + 2) {
        status = add_string_body(out, key, (size_t)(nul - key));
        if (status == 0)
            status = buf_add_str(out, "\\u0000");
    }
    return status < 0 ? status : add_string_body(out, key, strlen(key));
}

/* A member's name and its colon. */
static int add_key(struct buf *out, const char *key)
{
    int status = buf_add_char(out, '"');
    if (status == 0)
        status = add_key_body(out, key);
    return status < 0 ? status : buf_add(out, "\":", 2);
}

static int add_int(struct buf *out, int64_t number)
{
    char digits[24], *at = digits + sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--at = '-';
    return buf_add(out, at, (size_t)(digits + sizeof digits - at));
}

static int add_integer_value(struct buf *out, struct json_object *value)
{
    int64_t number = json_object_get_int64(value);
    if (number == INT64_MAX) /* or beyond: json-c has uint64 too */
        return buf_addf(out, "%" PRIu64, json_object_get_uint64(value));
    return add_int(out, number);
}

static int add_double(struct buf *out, struct json_object *value)
{
    const char *source = json_object_get_userdata(value);
    if (source != NULL)
        return buf_add_str(out, source);
    double number = json_object_get_double(value);
    if (!isfinite(number))
        return buf_add(out, "null", 4);
    char digits[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number)
            break;
    }
    return buf_add_str(out, digits);
}

/* ---- trees --------------------------------------------------------------------------------- */

static int add_object(struct buf *out, struct json_object *object)
{
    int status = buf_add_char(out, '{');
    bool comma = false;
    json_object_object_foreach(object, key, value)
    {
        if (status == 0 && comma)
            status = buf_add_char(out, ',');
        if (status == 0)
            status = add_key(out, key);
        if (status == 0)
            status = json_write(out, value);
        if (status < 0)
            return status;
        comma = true;
    }
    return status < 0 ? status : buf_add_char(out, '}');
}

static int add_array(struct buf *out, struct json_object *array)
{
    int status = buf_add_char(out, '[');
    size_t len = json_object_array_length(array);
    for (size_t i = 0; i < len && status == 0; i++) {
        if (i > 0)
            status = buf_add_char(out, ',');
        if (status == 0)
            status = json_write(out, json_object_array_get_idx(array, i));
    }
    return status < 0 ? status : buf_add_char(out, ']');
}

int json_write(struct buf *out, struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return buf_add(out, "null", 4);
    case json_type_boolean:
        return buf_add_str(out, json_object_get_boolean(value) ? "true" : "false");
    case json_type_int:
        return add_integer_value(out, value);
    case json_type_double:
        return add_double(out, value);
    case json_type_string:
        return add_string(out, json_object_get_string(value),
                          (size_t)json_object_get_string_len(value));
    case json_type_array:
        return add_array(out, value);
    case json_type_object:
        return add_object(out, value);
    }
    return 0;
}

/* ---- previews ------------------------------------------------------------------------------ */

/* Cuts what was written at JSON_PREVIEW_SIZE. The buffer's own cap is above that, so that text
 * which just fits is told from text that was cut. */
static void copy_preview(const struct buf *text, int status, char out[JSON_PREVIEW_SIZE])
{
    static const char dots[] = "…";
    size_t len = text->len;
    bool cut = status < 0 || len >= JSON_PREVIEW_SIZE;
    if (cut && len > JSON_PREVIEW_SIZE - sizeof dots)
        len = utf8_cut(text->data, JSON_PREVIEW_SIZE - sizeof dots);
    memcpy(out, text->data, len);
    memcpy(out + len, cut ? dots : "", cut ? sizeof dots : 1);
}

/* A long string gives its beginning, though it would not fit into the buffer. */
static gudgeon_str cut_string(gudgeon_str text, bool *ret_cut)
{
    *ret_cut = text.len > JSON_PREVIEW_SIZE;
    if (*ret_cut)
        text.len = utf8_cut(text.ptr, JSON_PREVIEW_SIZE);
    return text;
}

void json_preview(struct json_object *value, char out[JSON_PREVIEW_SIZE])
{
    struct buf text = BUF_INIT(8 * (size_t)JSON_PREVIEW_SIZE);
    bool cut = false;
    gudgeon_str string = cut_string(json_str(value), &cut);
    int status =
        string.ptr != NULL ? add_string(&text, string.ptr, string.len) : json_write(&text, value);
    copy_preview(&text, cut ? ERR_LIMIT : status, out);
    buf_fini(&text);
}

void json_preview_key(const char *key, char out[JSON_PREVIEW_SIZE])
{
    struct buf text = BUF_INIT(8 * (size_t)JSON_PREVIEW_SIZE);
    bool cut;
    gudgeon_str whole = cut_string(str_of(key), &cut);
    CLEANUP(free_ptr) char *name = str_dup(whole);
    int status = add_key(&text, name);
    if (status == 0)
        buf_truncate(&text, text.len - 1); /* the colon */
    copy_preview(&text, cut ? ERR_LIMIT : status, out);
    buf_fini(&text);
}

/* ---- the streaming writer ------------------------------------------------------------------ */

static uint64_t level_bit(const struct json_writer *w)
{
    return UINT64_C(1) << (w->depth - 1);
}

static void keep(struct json_writer *w, int status)
{
    if (w->status == 0)
        w->status = status;
}

/* Before a value or a key: the comma, where one is due. */
static void separate(struct json_writer *w)
{
    if (w->depth > 0 && (w->has_items & level_bit(w)) && w->status == 0)
        keep(w, buf_add_char(w->out, ','));
    if (w->depth > 0)
        w->has_items |= level_bit(w);
}

/* Before a value; whether it can be added. */
static bool begin_value(struct json_writer *w)
{
    bool in_object = w->depth > 0 && (w->is_object & level_bit(w));
    assert(in_object == w->after_key);
    if (!w->after_key)
        separate(w);
    w->after_key = false;
    return w->status == 0;
}

static void begin(struct json_writer *w, char bracket)
{
    assert(w->depth < JSON_WRITER_DEPTH);
    if (begin_value(w))
        keep(w, buf_add_char(w->out, bracket));
    w->depth++;
    w->has_items &= ~level_bit(w);
    if (bracket == '{')
        w->is_object |= level_bit(w);
    else
        w->is_object &= ~level_bit(w);
}

static void end(struct json_writer *w, char bracket)
{
    assert(w->depth > 0 && !w->after_key);
    assert(((w->is_object & level_bit(w)) != 0) == (bracket == '}'));
    w->depth--;
    if (w->status == 0)
        keep(w, buf_add_char(w->out, bracket));
}

void json_begin_object(struct json_writer *w)
{
    begin(w, '{');
}

void json_end_object(struct json_writer *w)
{
    end(w, '}');
}

void json_begin_array(struct json_writer *w)
{
    begin(w, '[');
}

void json_end_array(struct json_writer *w)
{
    end(w, ']');
}

void json_key(struct json_writer *w, const char *key)
{
    assert(w->depth > 0 && (w->is_object & level_bit(w)) && !w->after_key);
    separate(w);
    if (w->status == 0)
        keep(w, add_key(w->out, key));
    w->after_key = true;
}

void json_add_str(struct json_writer *w, gudgeon_str text)
{
    if (begin_value(w))
        keep(w, add_string(w->out, text.ptr, text.len));
}

void json_add_int(struct json_writer *w, int64_t number)
{
    if (begin_value(w))
        keep(w, add_int(w->out, number));
}

void json_add_bool(struct json_writer *w, bool value)
{
    if (begin_value(w))
        keep(w, buf_add_str(w->out, value ? "true" : "false"));
}

void json_add_null(struct json_writer *w)
{
    if (begin_value(w))
        keep(w, buf_add(w->out, "null", 4));
}

void json_add_raw(struct json_writer *w, gudgeon_str json)
{
    if (begin_value(w))
        keep(w, buf_add(w->out, json.ptr, json.len));
}

void json_add_value(struct json_writer *w, struct json_object *value)
{
    if (begin_value(w))
        keep(w, json_write(w->out, value));
}

void json_field_str(struct json_writer *w, const char *key, gudgeon_str text)
{
    if (text.ptr == NULL)
        return;
    json_key(w, key);
    json_add_str(w, text);
}

void json_field_text(struct json_writer *w, const char *key, const char *text)
{
    json_field_str(w, key, str_of(text));
}

void json_field_int(struct json_writer *w, const char *key, int64_t number)
{
    json_key(w, key);
    json_add_int(w, number);
}

void json_field_bool(struct json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_add_bool(w, value);
}

void json_field_raw(struct json_writer *w, const char *key, gudgeon_str json)
{
    if (json.ptr == NULL)
        return;
    json_key(w, key);
    json_add_raw(w, json);
}
