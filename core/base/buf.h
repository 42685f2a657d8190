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
#include <stddef.h>

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
int buf_add(struct buf *buf, const void *bytes, size_t len);
int buf_add_char(struct buf *buf, char c);
int buf_add_str(struct buf *buf, const char *text);
int buf_addf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
int buf_vaddf(struct buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void buf_truncate(struct buf *buf, size_t len); /* len <= buf->len */
void buf_consume(struct buf *buf, size_t len);  /* drops the first `len` bytes */
/* The text, to be freed by the caller; the buffer is empty afterwards. */
char *buf_take(struct buf *buf);

#endif
