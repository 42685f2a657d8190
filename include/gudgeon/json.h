/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_JSON_H
#define GUDGEON_JSON_H

/*
 * JSON for plugin authors: header-only, optional, no part of the ABI, nothing to link with.
 *
 * A value is a gudgeon_str: its own text inside a larger one. gudgeon_json_scan says once whether
 * a text is JSON; walking it then copies nothing and cannot fail, so numbers keep their digits and
 * strings their escapes. Every reader takes the absent value and then gives absent, so look-ups
 * chain. Texts from the host are sound; scan only what comes from elsewhere. (Walking a text that
 * is no JSON gives nonsense, but stays inside it.)
 */

#include <string.h>

#include <gudgeon/buf.h>
#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- is it JSON? -------------------------------------------------------------------------- */

#define GUDGEON_JSON_SOUND  0
#define GUDGEON_JSON_CUT    1 /* it ends too early: so far it was JSON */
#define GUDGEON_JSON_BROKEN 2

/* Flag: strings may hold raw control bytes and bytes that are no UTF-8. */
#define GUDGEON_JSON_LAX 0x1u

#define GUDGEON_JSON_DEPTH 256

/* Names that end in _ are this header's own. */
struct gudgeon_json_scan_ {
    const char *at;
    const char *end;
    uint32_t flags;
    int cut;
};

GUDGEON_UTIL int gudgeon_json_fail_(struct gudgeon_json_scan_ *scan)
{
    scan->cut = scan->at >= scan->end;
    return -1;
}

GUDGEON_UTIL const char *gudgeon_json_space_(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

GUDGEON_UTIL int gudgeon_json_hex_(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* At the byte after a backslash. */
GUDGEON_UTIL int gudgeon_json_escape_(struct gudgeon_json_scan_ *scan)
{
    if (scan->at >= scan->end || *scan->at == '\0' || strchr("\"\\/bfnrtu", *scan->at) == NULL)
        return gudgeon_json_fail_(scan);
    if (*scan->at++ != 'u')
        return 0;
    for (int i = 0; i < 4; i++, scan->at++)
        if (scan->at >= scan->end || gudgeon_json_hex_(*scan->at) < 0)
            return gudgeon_json_fail_(scan);
    return 0;
}

/* At the opening quote. */
GUDGEON_UTIL int gudgeon_json_string_(struct gudgeon_json_scan_ *scan)
{
    scan->at++;
    while (scan->at < scan->end && *scan->at != '"') {
        unsigned char c = (unsigned char)*scan->at;
        if (c == '\\') {
            scan->at++;
            if (gudgeon_json_escape_(scan) != 0)
                return -1;
        } else if ((c >= 0x20 && c < 0x80) || (scan->flags & GUDGEON_JSON_LAX) != 0) {
            scan->at++;
        } else {
            size_t len = c < 0x20 ? 0 : gudgeon_utf8_len(scan->at, scan->end);
            if (len == 0) {
                scan->cut = 0;
                return -1;
            }
            scan->at += len;
        }
    }
    if (scan->at >= scan->end)
        return gudgeon_json_fail_(scan);
    scan->at++;
    return 0;
}

GUDGEON_UTIL int gudgeon_json_digits_(struct gudgeon_json_scan_ *scan)
{
    const char *start = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
        scan->at++;
    return scan->at > start ? 0 : gudgeon_json_fail_(scan);
}

GUDGEON_UTIL int gudgeon_json_number_(struct gudgeon_json_scan_ *scan)
{
    if (*scan->at == '-')
        scan->at++;
    if (scan->at < scan->end && *scan->at == '0')
        scan->at++;
    else if (gudgeon_json_digits_(scan) != 0)
        return -1;
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        if (gudgeon_json_digits_(scan) != 0)
            return -1;
    }
    if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
        scan->at++;
        if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
            scan->at++;
        return gudgeon_json_digits_(scan);
    }
    return 0;
}

GUDGEON_UTIL int gudgeon_json_word_(struct gudgeon_json_scan_ *scan, const char *word)
{
    for (; *word != '\0'; word++, scan->at++)
        if (scan->at >= scan->end || *scan->at != *word)
            return gudgeon_json_fail_(scan);
    return 0;
}

GUDGEON_UTIL int gudgeon_json_scalar_(struct gudgeon_json_scan_ *scan)
{
    switch (*scan->at) {
    case '"':
        return gudgeon_json_string_(scan);
    case 't':
        return gudgeon_json_word_(scan, "true");
    case 'f':
        return gudgeon_json_word_(scan, "false");
    case 'n':
        return gudgeon_json_word_(scan, "null");
    default:
        if (*scan->at != '-' && (*scan->at < '0' || *scan->at > '9')) {
            scan->cut = 0;
            return -1;
        }
        return gudgeon_json_number_(scan);
    }
}

GUDGEON_UTIL void gudgeon_json_skip_space_(struct gudgeon_json_scan_ *scan)
{
    scan->at = gudgeon_json_space_(scan->at, scan->end);
}

GUDGEON_UTIL int gudgeon_json_key_(struct gudgeon_json_scan_ *scan)
{
    gudgeon_json_skip_space_(scan);
    if (scan->at >= scan->end || *scan->at != '"')
        return gudgeon_json_fail_(scan);
    if (gudgeon_json_string_(scan) != 0)
        return -1;
    gudgeon_json_skip_space_(scan);
    if (scan->at >= scan->end || *scan->at != ':')
        return gudgeon_json_fail_(scan);
    scan->at++;
    return 0;
}

GUDGEON_UTIL int gudgeon_json_value_(struct gudgeon_json_scan_ *scan, unsigned depth);

/* After the opening bracket. */
GUDGEON_UTIL int gudgeon_json_members_(struct gudgeon_json_scan_ *scan, char close, unsigned depth)
{
    gudgeon_json_skip_space_(scan);
    if (scan->at < scan->end && *scan->at == close) {
        scan->at++;
        return 0;
    }
    for (;;) {
        if (close == '}' && gudgeon_json_key_(scan) != 0)
            return -1;
        if (gudgeon_json_value_(scan, depth) != 0)
            return -1;
        gudgeon_json_skip_space_(scan);
        if (scan->at >= scan->end || (*scan->at != ',' && *scan->at != close))
            return gudgeon_json_fail_(scan);
        if (*scan->at++ == close)
            return 0;
    }
}

GUDGEON_UTIL int gudgeon_json_value_(struct gudgeon_json_scan_ *scan, unsigned depth)
{
    gudgeon_json_skip_space_(scan);
    if (scan->at >= scan->end)
        return gudgeon_json_fail_(scan);
    if (*scan->at != '{' && *scan->at != '[')
        return gudgeon_json_scalar_(scan);
    if (depth == 0) {
        scan->cut = 0;
        return -1;
    }
    return gudgeon_json_members_(scan, *scan->at++ == '{' ? '}' : ']', depth - 1);
}

/* Whether `text` is one JSON value and nothing else, nested at most GUDGEON_JSON_DEPTH deep. */
GUDGEON_UTIL int gudgeon_json_scan(gudgeon_str text, uint32_t flags)
{
    struct gudgeon_json_scan_ scan = {text.ptr, NULL, flags, 1};
    if (text.ptr == NULL)
        return GUDGEON_JSON_CUT;
    scan.end = text.ptr + text.len;
    if (gudgeon_json_value_(&scan, GUDGEON_JSON_DEPTH) != 0)
        return scan.cut ? GUDGEON_JSON_CUT : GUDGEON_JSON_BROKEN;
    gudgeon_json_skip_space_(&scan);
    return scan.at == scan.end ? GUDGEON_JSON_SOUND : GUDGEON_JSON_BROKEN;
}

/* ---- walking ------------------------------------------------------------------------------ */

/* The closing quote of the string whose first byte after the quote is `at`; `end` if none. */
GUDGEON_UTIL const char *gudgeon_json_quote_(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && (at = (const char *)memchr(at, '"', (size_t)(end - at))) != NULL) {
        const char *back = at;
        while (back > start && back[-1] == '\\')
            back--;
        if ((at - back) % 2 == 0)
            return at;
        at++;
    }
    return end;
}

/* The byte after the value that begins at `at`. */
GUDGEON_UTIL const char *gudgeon_json_after_(const char *at, const char *end)
{
    size_t depth = 0;
    do {
        if (at >= end)
            return end;
        if (*at == '"')
            at = gudgeon_json_quote_(at + 1, end);
        else if (*at == '{' || *at == '[')
            depth++;
        else if ((*at == '}' || *at == ']') && depth > 0)
            depth--;
        else if (depth == 0)
            while (at + 1 < end && strchr(",]} \t\r\n", at[1]) == NULL)
                at++;
        if (at < end)
            at++;
    } while (depth > 0);
    return at;
}

/* '{' '[' '"' 't' 'f' 'n', '0' for a number, 0 for absent. */
GUDGEON_UTIL char gudgeon_json_kind(gudgeon_str value)
{
    if (value.ptr == NULL || value.len == 0)
        return 0;
    char c = value.ptr[0];
    return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

/* The value of a whole text: without the space around it. */
GUDGEON_UTIL gudgeon_str gudgeon_json_root(gudgeon_str text)
{
    if (text.ptr == NULL)
        return text;
    const char *end = text.ptr + text.len, *at = gudgeon_json_space_(text.ptr, end);
    gudgeon_str value = {at, (uint64_t)(gudgeon_json_after_(at, end) - at)};
    return value;
}

typedef struct gudgeon_json_iter {
    const char *at;
    const char *end;
    int object;
    int reserved;
} gudgeon_json_iter;

/* Goes over an object or an array; over anything else, nothing comes. */
GUDGEON_UTIL gudgeon_json_iter gudgeon_json_each(gudgeon_str value)
{
    gudgeon_json_iter iter = {NULL, NULL, 0, 0};
    char kind = gudgeon_json_kind(value);
    if (kind == '{' || kind == '[') {
        iter.at = value.ptr + 1;
        iter.end = value.ptr + value.len;
        iter.object = kind == '{';
    }
    return iter;
}

/* 1 and the next member, or 0. `key` (may be NULL) is as written between its quotes; absent in an
 * array. */
GUDGEON_UTIL int gudgeon_json_next(gudgeon_json_iter *iter, gudgeon_str *key, gudgeon_str *value)
{
    const char *at = iter->at, *end = iter->end;
    gudgeon_str name = {NULL, 0};
    if (at == NULL)
        return 0;
    while (at < end && (*at == ',' || gudgeon_json_space_(at, end) > at))
        at++;
    if (iter->object && at < end && *at == '"') {
        const char *quote = gudgeon_json_quote_(at + 1, end);
        name.ptr = at + 1;
        name.len = (uint64_t)(quote - name.ptr);
        at = quote < end ? gudgeon_json_space_(quote + 1, end) : end;
        at = at < end ? gudgeon_json_space_(at + 1, end) : end; /* past the colon */
    }
    if (at >= end || *at == '}' || *at == ']') {
        iter->at = NULL;
        return 0;
    }
    value->ptr = at;
    iter->at = gudgeon_json_after_(at, end);
    value->len = (uint64_t)(iter->at - at);
    if (key != NULL)
        *key = name;
    return 1;
}

GUDGEON_UTIL int gudgeon_json_key_is_(gudgeon_str key, const char *text);

/* The member of an object; the first, should there be several. */
GUDGEON_UTIL gudgeon_str gudgeon_json_get(gudgeon_str object, const char *key)
{
    gudgeon_json_iter iter = gudgeon_json_each(object);
    gudgeon_str name, value, absent = {NULL, 0};
    if (!iter.object)
        return absent;
    while (gudgeon_json_next(&iter, &name, &value))
        if (gudgeon_json_key_is_(name, key))
            return value;
    return absent;
}

/* Several members of an object in one walk: values[i] becomes the one called keys[i] or absent, as
 * gudgeon_json_get gives it. */
GUDGEON_UTIL void gudgeon_json_pick(gudgeon_str object, const char *const *keys, size_t count,
                                    gudgeon_str *values)
{
    gudgeon_json_iter iter = gudgeon_json_each(object);
    gudgeon_str name, value;
    memset(values, 0, count * sizeof *values);
    if (!iter.object)
        return;
    while (gudgeon_json_next(&iter, &name, &value))
        for (size_t i = 0; i < count; i++)
            if (values[i].ptr == NULL && gudgeon_json_key_is_(name, keys[i]))
                values[i] = value;
}

/* The item of an array. */
GUDGEON_UTIL gudgeon_str gudgeon_json_item(gudgeon_str array, size_t index)
{
    gudgeon_json_iter iter = gudgeon_json_each(array);
    gudgeon_str value, absent = {NULL, 0};
    if (iter.object)
        return absent;
    while (gudgeon_json_next(&iter, NULL, &value))
        if (index-- == 0)
            return value;
    return absent;
}

/* What stands between a string's quotes, escapes as written; absent for other values. */
GUDGEON_UTIL gudgeon_str gudgeon_json_inner(gudgeon_str value)
{
    gudgeon_str inner = {NULL, 0};
    if (gudgeon_json_kind(value) == '"' && value.len >= 2) {
        inner.ptr = value.ptr + 1;
        inner.len = value.len - 2;
    }
    return inner;
}

/* Whether it is that string (a text without anything that JSON would escape). */
GUDGEON_UTIL int gudgeon_json_is(gudgeon_str value, const char *text)
{
    gudgeon_str inner = gudgeon_json_inner(value);
    return inner.ptr != NULL && gudgeon_is(inner, text);
}

GUDGEON_UTIL int gudgeon_json_is_true(gudgeon_str value)
{
    return gudgeon_json_kind(value) == 't';
}

/* 1 and *number when it is an integer from 0 to 2^64 - 1 without exponent (12.0 is one). */
GUDGEON_UTIL int gudgeon_json_u64(gudgeon_str value, uint64_t *number)
{
    uint64_t sum = 0, i = 0;
    if (gudgeon_json_kind(value) != '0' || value.ptr[0] == '-')
        return 0;
    for (; i < value.len && value.ptr[i] >= '0' && value.ptr[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(value.ptr[i] - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    if (i < value.len && value.ptr[i] == '.')
        while (++i < value.len && value.ptr[i] == '0')
            continue;
    if (i < value.len)
        return 0;
    *number = sum;
    return 1;
}

/* ---- strings ------------------------------------------------------------------------------ */

GUDGEON_UTIL uint32_t gudgeon_json_unit_(const char *hex)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++)
        unit = unit << 4 | (uint32_t)(gudgeon_json_hex_(hex[i]) & 0xf);
    return unit;
}

GUDGEON_UTIL void gudgeon_buf_char_(gudgeon_buf *out, uint32_t c)
{
    char bytes[4];
    size_t len = 0;
    if (c < 0x80) {
        bytes[len++] = (char)c;
    } else if (c < 0x800) {
        bytes[len++] = (char)(0xc0 | c >> 6);
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        bytes[len++] = (char)(0xe0 | c >> 12);
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    } else {
        bytes[len++] = (char)(0xf0 | c >> 18);
        bytes[len++] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    }
    gudgeon_buf_add(out, bytes, len);
}

/* At the `u`: adds the character (of a pair, too) and gives the byte after it. */
GUDGEON_UTIL const char *gudgeon_json_unicode_(const char *at, const char *end, gudgeon_buf *out)
{
    if (end - at < 5)
        return end;
    uint32_t c = gudgeon_json_unit_(at + 1);
    at += 5;
    if (c >= 0xd800 && c <= 0xdbff && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        uint32_t low = gudgeon_json_unit_(at + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            at += 6;
        }
    }
    gudgeon_buf_char_(out, c >= 0xd800 && c <= 0xdfff ? 0xfffd : c);
    return at;
}

/* Adds what gudgeon_json_inner gave, decoded. Half a surrogate pair becomes U+FFFD. */
GUDGEON_UTIL void gudgeon_json_decode(gudgeon_str inner, gudgeon_buf *out)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    if (inner.ptr == NULL)
        return;
    const char *at = inner.ptr, *end = at + inner.len;
    while (at < end) {
        const char *slash = (const char *)memchr(at, '\\', (size_t)(end - at));
        gudgeon_buf_add(out, at, (size_t)((slash != NULL ? slash : end) - at));
        if (slash == NULL || slash + 1 >= end)
            return;
        at = slash + 1;
        if (*at == 'u') {
            at = gudgeon_json_unicode_(at, end, out);
        } else {
            const char *name = (const char *)memchr(names, *at, sizeof names - 1);
            if (name != NULL)
                gudgeon_buf_add(out, bytes + (name - names), 1);
            at++;
        }
    }
}

/* A key as written against plain text: writers may escape what they like ("gr\u00f6\u00dfe"). */
GUDGEON_UTIL int gudgeon_json_key_is_(gudgeon_str key, const char *text)
{
    if (key.ptr == NULL || memchr(key.ptr, '\\', (size_t)key.len) == NULL)
        return gudgeon_is(key, text);
    gudgeon_buf decoded;
    memset(&decoded, 0, sizeof decoded);
    gudgeon_json_decode(key, &decoded);
    int same = !decoded.failed && gudgeon_is(gudgeon_buf_str(&decoded), text);
    gudgeon_buf_free(&decoded);
    return same;
}

/* Adds `text` as the inside of a JSON string. Bytes that are no UTF-8 become U+FFFD. */
GUDGEON_UTIL void gudgeon_buf_escape(gudgeon_buf *out, gudgeon_str text)
{
    static const char hex[] = "0123456789abcdef";
    if (text.ptr == NULL)
        return;
    const char *at = text.ptr, *end = at + text.len, *from = at;
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        size_t len = gudgeon_utf8_len(at, end);
        if (len > 0 && c >= 0x20 && c != '"' && c != '\\') {
            at += len;
            continue;
        }
        gudgeon_buf_add(out, from, (size_t)(at - from));
        if (len == 0) {
            gudgeon_buf_add(out, "\xef\xbf\xbd", 3);
        } else if (c >= 0x20) {
            char escape[2] = {'\\', (char)c};
            gudgeon_buf_add(out, escape, sizeof escape);
        } else if (c == '\n') {
            gudgeon_buf_add(out, "\\n", 2);
        } else {
            char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 0xf]};
            gudgeon_buf_add(out, escape, sizeof escape);
        }
        from = ++at;
    }
    if (end > from)
        gudgeon_buf_add(out, from, (size_t)(end - from));
}

/* Adds `text` as a JSON string, quotes included. */
GUDGEON_UTIL void gudgeon_buf_quote(gudgeon_buf *out, gudgeon_str text)
{
    gudgeon_buf_add(out, "\"", 1);
    gudgeon_buf_escape(out, text);
    gudgeon_buf_add(out, "\"", 1);
}

#ifdef __cplusplus
}
#endif
#endif
