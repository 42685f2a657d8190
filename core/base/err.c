/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

static const struct {
    int code;
    const char *name;
} names[] = {
    {0, "ok"},
    {ERR_RETRY, "retry"},
    {ERR_UNAVAILABLE, "unavailable"},
    {ERR_OVERFLOW, "overflow"},
    {ERR_QUOTA, "quota"},
    {ERR_AUTH, "auth"},
    {ERR_REFUSED, "refused"},
    {ERR_INVALID, "invalid"},
    {ERR_LIMIT, "limit"},
    {ERR_CANCELLED, "cancelled"},
    {ERR_TIMEOUT, "timeout"},
    {ERR_PROTOCOL, "protocol"},
    {ERR_IO, "io"},
    {ERR_NOT_FOUND, "not_found"},
    {ERR_BUSY, "busy"},
};

/* Ends the text on a character when it had to be cut, and makes it one line: it may quote names
 * and words of others, and is printed as it is. */
static void tidy(struct err *err, int wanted_len)
{
    if (wanted_len >= (int)sizeof err->text) {
        static const char dots[] = "…";
        size_t keep = utf8_cut(err->text, sizeof err->text - sizeof dots);
        memcpy(err->text + keep, dots, sizeof dots);
    }
    utf8_make_line(err->text);
}

int err_set(struct err *err, int code, const char *format, ...)
{
    if (err == NULL)
        return code;
    va_list args;
    va_start(args, format);
    int len = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->code = code;
    tidy(err, len);
    return code;
}

int err_set_errno(struct err *err, int errnum, const char *format, ...)
{
    if (err == NULL)
        return ERR_IO;
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *subject = xvasprintf(format, args);
    va_end(args);
    char reason[128];
    return err_set(err, ERR_IO, "%s: %s", subject, strerror_r(errnum, reason, sizeof reason));
}

int err_prefix(struct err *err, const char *format, ...)
{
    if (err == NULL)
        return ERR_INVALID;
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *prefix = xvasprintf(format, args);
    va_end(args);
    CLEANUP(free_ptr) char *rest = xstrdup(err->text);
    return err_set(err, err->code, "%s: %s", prefix, rest);
}

const char *err_name(int code)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].code == code)
            return names[i].name;
    return "invalid";
}

int err_code_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].code;
    return 0;
}
