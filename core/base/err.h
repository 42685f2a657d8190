/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_ERR_H
#define GUDGEON_BASE_ERR_H

/*
 * Errors are values.
 *
 * A function that can fail returns 0 or one of the negative codes below, and takes a caller-owned
 * `struct err *` as its last parameter (NULL = the caller wants no text). The lowest layer that
 * knows sets the message once; layers above prefix it with their subject: `agent "x": …`. A
 * message is one line, for a person, and says what to do next where it can. Library code neither
 * prints nor exits.
 *
 * The codes are the classes of the plugin ABI (gudgeon/plugin.h), negated, and a few that only
 * the host knows.
 */

#include <gudgeon/plugin.h>

enum err_code {
    ERR_RETRY = -GUDGEON_RETRY,
    ERR_UNAVAILABLE = -GUDGEON_UNAVAILABLE,
    ERR_OVERFLOW = -GUDGEON_OVERFLOW,
    ERR_QUOTA = -GUDGEON_QUOTA,
    ERR_AUTH = -GUDGEON_AUTH,
    ERR_REFUSED = -GUDGEON_REFUSED,
    ERR_INVALID = -GUDGEON_INVALID,
    ERR_LIMIT = -GUDGEON_LIMIT,
    ERR_CANCELLED = -GUDGEON_CANCELLED,
    ERR_TIMEOUT = -GUDGEON_TIMEOUT,
    ERR_PROTOCOL = -GUDGEON_PROTOCOL,
    ERR_IO = -100,        /* the operating system said no: the text has its reason */
    ERR_NOT_FOUND = -101, /* a name that nothing answers to */
    ERR_BUSY = -102,      /* held by another process */
};

enum { ERR_TEXT_MAX = 1024 }; /* bytes, with the NUL; longer texts end in "…" */

struct err {
    int code; /* 0 = no error */
    char text[ERR_TEXT_MAX];
};

/* Sets code and text; returns `code`, so that `return err_set(…)` is the usual form. Control
 * characters in the text (a plugin's or a server's words) become spaces: an error is one line. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with ": " and the text of `errnum` (an errno value) at the end; code ERR_IO. */
int err_set_errno(struct err *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "PREFIX: " before the text that stands; returns err->code (ERR_INVALID for NULL err). */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The name of a code in journals and messages: "retry", "io", …; "ok" for 0. */
const char *err_name(int code);
/* The code of a name, or 0 when no code has it. */
int err_code_of(const char *name);

#endif
