/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_BUF_H
#define GUDGEON_BASE_BUF_H

/*
 * A growing byte buffer with a mandatory cap.
 *
 * Invariants: `data` is never NULL and data[len] is NUL, also before the first byte is added (an
 * empty buffer points at a shared static). len <= max. An addition that would pass `max` adds
 * nothing and returns ERR_LIMIT; callers whose input is bounded elsewhere may ignore the result.
 * The struct owns its memory; embed it, BUF_INIT it, buf_fini it. Not thread-safe.
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buf {
    char *data;
    size_t len;
    size_t cap; /* allocated bytes; 0 = nothing allocated */
    size_t max; /* the cap on len, in bytes */
};

extern char buf_empty[1];
#define BUF_INIT(max_bytes)                                                                        \
    {                                                                                              \
        .data = buf_empty, .len = 0, .cap = 0, .max = (max_bytes)                                  \
    }

/* For text that the host itself makes and whose size its inputs' own caps bound. */
#define BUF_MAX_ANY ((size_t)1 << 40)

void buf_init(struct buf *buf, size_t max_bytes);
void buf_fini(struct buf *buf);  /* frees; the buffer is empty and usable again */
void buf_reset(struct buf *buf); /* empties, keeps the memory */
/* Makes room for `extra` more bytes; 0 or ERR_LIMIT. */
int buf_reserve(struct buf *buf, size_t extra);
static inline int buf_add(struct buf *buf, const void *bytes, size_t len);
static inline int buf_add_char(struct buf *buf, char c);
int buf_add_str(struct buf *buf, const char *text);
int buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_vaddf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void buf_truncate(struct buf *buf, size_t len); /* len <= buf->len */
void buf_consume(struct buf *buf, size_t len);  /* drops the first `len` bytes */
/* The text, to be freed by the caller; the buffer is empty afterwards. */
char *buf_take(struct buf *buf);

/* Every record and every request goes through these two, piece by piece: they are inline. */
static inline int buf_add(struct buf *buf, const void *bytes, size_t len)
{
    if (len == 0)
        return 0;
    bool has_room = len < buf->cap - buf->len && len <= buf->max - buf->len;
    int status = has_room ? 0 : buf_reserve(buf, len);
    if (status < 0)
        return status;
    memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return 0;
}

static inline int buf_add_char(struct buf *buf, char c)
{
    return buf_add(buf, &c, 1);
}

#endif
