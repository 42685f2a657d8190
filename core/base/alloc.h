/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_ALLOC_H
#define GUDGEON_BASE_ALLOC_H

/*
 * The only callers of malloc and its like in the host.
 *
 * Running out of memory aborts the process: the journal makes that safe, and no caller needs a
 * path for it. What grows with *input* is never bounded by memory but by a cap (see buf.h).
 * Everything here is freed with free(). Thread-safe.
 */

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
/* Like realloc for `count` items of `size` bytes; aborts when the product overflows. */
void *xreallocarray(void *ptr, size_t count, size_t size);
char *xstrdup(const char *text);
/* The first `len` bytes of `text` and a NUL. */
char *xstrndup(const char *text, size_t len);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

/* `CLEANUP(free_ptr) char *s = …`: frees at the end of the scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))
void free_ptr(void *address_of_pointer);
void close_fd(int *fd); /* closes and sets to -1; -1 is left alone */

/* Hands the pointer in `lvalue` over and leaves NULL behind, so that CLEANUP does nothing. */
#define TAKE(lvalue)                                                                               \
    __extension__({                                                                                \
        __typeof__(lvalue) taken_ = (lvalue);                                                      \
        (lvalue) = NULL;                                                                           \
        taken_;                                                                                    \
    })

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
