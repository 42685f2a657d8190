/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"

enum { FIRST_CAPACITY = 64 };

char buf_empty[1] = "";

void buf_init(struct buf *buf, size_t max_bytes)
{
    *buf = (struct buf)BUF_INIT(max_bytes);
}

void buf_fini(struct buf *buf)
{
    if (buf->cap > 0)
        free(buf->data);
    buf_init(buf, buf->max);
}

void buf_reset(struct buf *buf)
{
    buf_truncate(buf, 0);
}

int buf_reserve(struct buf *buf, size_t extra)
{
    if (extra > buf->max - buf->len)
        return ERR_LIMIT;
    size_t need = buf->len + extra + 1;
    if (need <= buf->cap)
        return 0;
    size_t cap = buf->cap ? buf->cap : FIRST_CAPACITY;
    while (cap < need)
        cap *= 2;
    buf->data = xrealloc(buf->cap ? buf->data : NULL, cap);
    buf->cap = cap;
    buf->data[buf->len] = '\0';
    return 0;
}

int buf_add_str(struct buf *buf, const char *text)
{
    return buf_add(buf, text, strlen(text));
}

int buf_vaddf(struct buf *buf, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    assert(len >= 0);
    int status = buf_reserve(buf, (size_t)len);
    if (status == 0 && len > 0) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    return status;
}

int buf_addf(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int status = buf_vaddf(buf, format, args);
    va_end(args);
    return status;
}

void buf_truncate(struct buf *buf, size_t len)
{
    assert(len <= buf->len);
    buf->len = len;
    if (buf->cap > 0)
        buf->data[len] = '\0';
}

void buf_consume(struct buf *buf, size_t len)
{
    assert(len <= buf->len);
    if (len == 0)
        return;
    memmove(buf->data, buf->data + len, buf->len - len);
    buf_truncate(buf, buf->len - len);
}

char *buf_take(struct buf *buf)
{
    char *text = buf->cap ? buf->data : xstrdup("");
    buf_init(buf, buf->max);
    return text;
}
