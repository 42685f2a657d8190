/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BUF_H
#define GUDGEON_BUF_H

/*
 * A growing byte buffer for plugin authors: header-only, optional, no part of the ABI.
 *
 * It grows up to its cap. An addition that fails adds nothing and sets `failed`, and so do all
 * later ones: look once, at the end. A buffer that is all zero is empty, with a cap of 64 MiB.
 */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gudgeon_buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max; /* bytes; 0 = 64 MiB */
    int failed; /* the cap was passed, or memory ran out */
    int reserved;
} gudgeon_buf;

GUDGEON_UTIL void gudgeon_buf_free(gudgeon_buf *buf)
{
    free(buf->ptr);
    memset(buf, 0, sizeof *buf);
}

/* Empties it, keeps the memory. */
GUDGEON_UTIL void gudgeon_buf_reset(gudgeon_buf *buf)
{
    buf->len = 0;
    buf->failed = 0;
}

/* Makes room for `extra` bytes and a NUL. 0, or -1 with `failed` set. */
GUDGEON_UTIL int gudgeon_buf_reserve(gudgeon_buf *buf, size_t extra)
{
    size_t max = buf->max != 0 ? buf->max : (size_t)64 << 20;
    if (buf->failed || extra > max || buf->len > max - extra) {
        buf->failed = 1;
        return -1;
    }
    size_t need = buf->len + extra + 1;
    if (need <= buf->cap)
        return 0;
    size_t cap = need < 64 ? 64 : need + need / 2;
    char *grown = (char *)realloc(buf->ptr, cap);
    if (grown == NULL) {
        buf->failed = 1;
        return -1;
    }
    buf->ptr = grown;
    buf->cap = cap;
    return 0;
}

GUDGEON_UTIL void gudgeon_buf_add(gudgeon_buf *buf, const char *bytes, size_t len)
{
    if (gudgeon_buf_reserve(buf, len) != 0)
        return;
    if (len > 0)
        memcpy(buf->ptr + buf->len, bytes, len);
    buf->len += len;
    buf->ptr[buf->len] = '\0';
}

GUDGEON_UTIL void gudgeon_buf_puts(gudgeon_buf *buf, const char *text)
{
    gudgeon_buf_add(buf, text, strlen(text));
}

GUDGEON_UTIL void gudgeon_buf_put(gudgeon_buf *buf, gudgeon_str text)
{
    gudgeon_buf_add(buf, text.ptr, (size_t)text.len);
}

GUDGEON_PRINTF(2, 3)
GUDGEON_UTIL void gudgeon_buf_addf(gudgeon_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0 || gudgeon_buf_reserve(buf, (size_t)len) != 0)
        return;
    va_start(args, format);
    vsnprintf(buf->ptr + buf->len, (size_t)len + 1, format, args);
    va_end(args);
    buf->len += (size_t)len;
}

/* What is in it: borrowed until the next addition. Never absent. */
GUDGEON_UTIL gudgeon_str gudgeon_buf_str(const gudgeon_buf *buf)
{
    gudgeon_str str = {buf->ptr != NULL ? buf->ptr : "", buf->len};
    return str;
}

/* ---- UTF-8 -------------------------------------------------------------------------------- */

/* Length of the character at `at`, 1 to 4 bytes; 0 when the bytes there are no UTF-8 (overlong,
 * surrogate, above U+10FFFF) or stop short. */
GUDGEON_UTIL size_t gudgeon_utf8_len(const char *at, const char *end)
{
    const unsigned char *p = (const unsigned char *)at;
    size_t left = (size_t)(end - at), len;
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    if (left == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        len = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        len = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        len = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 0;
    }
    if (left < len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    return len;
}

#ifdef __cplusplus
}
#endif
#endif
