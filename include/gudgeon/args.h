/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_ARGS_H
#define GUDGEON_ARGS_H

/*
 * The members of a JSON object as C values: for arguments, configuration and grant.
 *
 * Header-only, optional, no part of the ABI. Each reader writes its result and returns GUDGEON_OK,
 * or leaves it alone, so that a default can be set first and the return ignored:
 *
 *     int64_t count = 10;
 *     gudgeon_arg_int(request->arguments, "count", &count);
 *
 * GUDGEON_INVALID: there is no such member or it is of another type (the host has checked types by
 * the schema, so it is absent); GUDGEON_LIMIT: it does not fit. The text is taken to be JSON, as
 * the host's always is; anything else gives nonsense but is never read past its end.
 */

#include <stdlib.h>
#include <string.h>

#include <gudgeon/buf.h>
#include <gudgeon/json.h>
#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The member's JSON text; absent when there is none. */
GUDGEON_UTIL gudgeon_str gudgeon_arg(gudgeon_str object, const char *name)
{
    const char *start = object.ptr;
    if (start != NULL) {
        object.ptr = gudgeon_json_space_(start, start + object.len);
        object.len -= (uint64_t)(object.ptr - start);
    }
    return gudgeon_json_get(object, name);
}

/* Adds a string member, decoded, to `out`. LIMIT: it passes the buffer's cap. */
GUDGEON_UTIL int32_t gudgeon_arg_bytes(gudgeon_str object, const char *name, gudgeon_buf *out)
{
    gudgeon_str inner = gudgeon_json_inner(gudgeon_arg(object, name));
    if (inner.ptr == NULL)
        return GUDGEON_INVALID;
    gudgeon_json_decode(inner, out);
    return out->failed ? GUDGEON_LIMIT : GUDGEON_OK;
}

/* A string as C text into `cap` bytes, its NUL included. INVALID also for a text that holds
 * U+0000, because it would seem to end there. */
GUDGEON_UTIL int32_t gudgeon_arg_text(gudgeon_str object, const char *name, char *text, size_t cap)
{
    gudgeon_buf buf;
    memset(&buf, 0, sizeof buf);
    int32_t status = gudgeon_arg_bytes(object, name, &buf);
    if (status == GUDGEON_OK && buf.len >= cap)
        status = GUDGEON_LIMIT;
    if (status == GUDGEON_OK && buf.len > 0 && memchr(buf.ptr, '\0', buf.len) != NULL)
        status = GUDGEON_INVALID;
    if (status == GUDGEON_OK) {
        memcpy(text, gudgeon_buf_str(&buf).ptr, buf.len);
        text[buf.len] = '\0';
    }
    gudgeon_buf_free(&buf);
    return status;
}

GUDGEON_UTIL int32_t gudgeon_arg_bool(gudgeon_str object, const char *name, int *out)
{
    char kind = gudgeon_json_kind(gudgeon_arg(object, name));
    if (kind != 't' && kind != 'f')
        return GUDGEON_INVALID;
    *out = kind == 't';
    return GUDGEON_OK;
}

/* A number's digits without the zeros at their end, at most 19 of them (else LIMIT); the value is
 * digits × 10^exponent. */
GUDGEON_UTIL int32_t gudgeon_arg_digits_(gudgeon_str number, uint64_t *digits, int64_t *exponent)
{
    const char *at = number.ptr, *end = number.ptr + number.len;
    int64_t zeros = 0, power = 0;
    int count = 0, in_fraction = 0;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        in_fraction |= *at == '.';
        if (*at < '0' || *at > '9')
            continue;
        *exponent -= in_fraction;
        zeros += *at != '0' || *digits != 0;
        for (; *at != '0' && zeros > 0; zeros--, *digits *= 10)
            if (++count > 19)
                return GUDGEON_LIMIT;
        *digits += (uint64_t)(*at - '0');
    }
    int is_negative = end - at > 1 && at[1] == '-';
    for (; at < end; at++)
        if (*at >= '0' && *at <= '9' && power < INT64_C(1000000000000))
            power = power * 10 + (*at - '0');
    *exponent += zeros + (is_negative ? -power : power);
    return GUDGEON_OK;
}

/* An integer, in whatever way JSON writes it: 5, 5.0, 5e2. */
GUDGEON_UTIL int32_t gudgeon_arg_int(gudgeon_str object, const char *name, int64_t *out)
{
    gudgeon_str number = gudgeon_arg(object, name);
    int64_t exponent = 0;
    uint64_t magnitude = 0;
    if (gudgeon_json_kind(number) != '0')
        return GUDGEON_INVALID;
    int is_negative = number.ptr[0] == '-';
    if (gudgeon_arg_digits_(number, &magnitude, &exponent) != GUDGEON_OK)
        return GUDGEON_LIMIT;
    if (magnitude != 0 && exponent < 0)
        return GUDGEON_INVALID;
    for (; magnitude != 0 && exponent > 0; exponent--) {
        if (magnitude > UINT64_MAX / 10)
            return GUDGEON_LIMIT;
        magnitude *= 10;
    }
    if (magnitude > (uint64_t)INT64_MAX + (uint64_t)is_negative)
        return GUDGEON_LIMIT;
    *out = is_negative && magnitude > 0 ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return GUDGEON_OK;
}

/* Any number. LIMIT: over 400 characters, or too large for a double. */
GUDGEON_UTIL int32_t gudgeon_arg_number(gudgeon_str object, const char *name, double *out)
{
    gudgeon_str number = gudgeon_arg(object, name);
    char text[401];
    if (gudgeon_json_kind(number) != '0')
        return GUDGEON_INVALID;
    if (number.len >= sizeof text)
        return GUDGEON_LIMIT;
    memcpy(text, number.ptr, (size_t)number.len);
    text[number.len] = '\0';
    double value = strtod(text, NULL);
    if (value - value != 0)
        return GUDGEON_LIMIT;
    *out = value;
    return GUDGEON_OK;
}

/* A size in bytes: a number, or a text such as "64KiB" (B, KiB, MiB, GiB). */
GUDGEON_UTIL int32_t gudgeon_arg_size(gudgeon_str object, const char *name, uint64_t *bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int64_t number = -1;
    char text[32], *unit;
    if (gudgeon_arg_int(object, name, &number) == GUDGEON_OK) {
        if (number < 0)
            return GUDGEON_INVALID;
        *bytes = (uint64_t)number;
        return GUDGEON_OK;
    }
    if (gudgeon_arg_text(object, name, text, sizeof text) != GUDGEON_OK || *text < '0' ||
        *text > '9')
        return GUDGEON_INVALID;
    unsigned long long count = strtoull(text, &unit, 10);
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(unit, units[i]) == 0 || (i == 0 && *unit == '\0')) {
            if (count > (unsigned long long)INT64_MAX >> (10 * i))
                return GUDGEON_LIMIT;
            *bytes = (uint64_t)count << (10 * i);
            return GUDGEON_OK;
        }
    return GUDGEON_INVALID;
}

#ifdef __cplusplus
}
#endif
#endif
