/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_UTIL_H
#define GUDGEON_UTIL_H

/*
 * Conveniences for plugin authors: header-only, optional, no part of the ABI.
 *
 * They make strings from literals, answer a call in one line, and fail with a message.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GUDGEON_UTIL                       static inline __attribute__((unused))
#define GUDGEON_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define GUDGEON_UTIL static inline
#define GUDGEON_PRINTF(format_at, args_at)
#endif

GUDGEON_UTIL gudgeon_str gudgeon_text(const char *text)
{
    gudgeon_str str = {text, text != NULL ? strlen(text) : 0};
    return str;
}

GUDGEON_UTIL int gudgeon_is(gudgeon_str str, const char *text)
{
    return str.len == strlen(text) && (str.len == 0 || memcmp(str.ptr, text, str.len) == 0);
}

/* A result of `len` bytes of plain text, with `flags` 0 or GUDGEON_IS_ERROR. Returns 0, so that
 * an op can `return gudgeon_reply_bytes(…)`. */
GUDGEON_UTIL int32_t gudgeon_reply_bytes(const gudgeon_call *call, uint32_t flags,
                                         const char *bytes, size_t len)
{
    gudgeon_tool_result result;
    memset(&result, 0, sizeof result);
    result.size = sizeof result;
    result.flags = flags;
    result.text.ptr = bytes;
    result.text.len = len;
    return call->result(call, &result);
}

/* The same for a NUL-terminated text. */
GUDGEON_UTIL int32_t gudgeon_reply_text(const gudgeon_call *call, uint32_t flags, const char *text)
{
    return gudgeon_reply_bytes(call, flags, text, strlen(text));
}

/* A result that is a formatted text of up to 4 KiB. */
GUDGEON_PRINTF(3, 4)
GUDGEON_UTIL int32_t gudgeon_replyf(const gudgeon_call *call, uint32_t flags, const char *format,
                                    ...)
{
    char text[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return gudgeon_reply_text(call, flags, text);
}

/* Gives the call's error a message and returns the class. */
GUDGEON_PRINTF(3, 4)
GUDGEON_UTIL int32_t gudgeon_fail(const gudgeon_call *call, int32_t error_class, const char *format,
                                  ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gudgeon_error error;
    memset(&error, 0, sizeof error);
    error.size = sizeof error;
    error.message = gudgeon_text(text);
    call->error(call, &error);
    return error_class;
}

/* The same for GUDGEON_REFUSED, with the JSON of the grant that would allow it. */
GUDGEON_PRINTF(3, 4)
GUDGEON_UTIL int32_t gudgeon_refuse(const gudgeon_call *call, const char *grant, const char *format,
                                    ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gudgeon_error error;
    memset(&error, 0, sizeof error);
    error.size = sizeof error;
    error.message = gudgeon_text(text);
    error.grant = gudgeon_text(grant);
    call->error(call, &error);
    return GUDGEON_REFUSED;
}

/* Streams bytes on a channel (GUDGEON_STDOUT, …). Non-zero = stop. */
GUDGEON_UTIL int32_t gudgeon_stream(const gudgeon_call *call, uint32_t channel, const char *bytes,
                                    size_t len)
{
    gudgeon_delta delta;
    memset(&delta, 0, sizeof delta);
    delta.size = sizeof delta;
    delta.channel = channel;
    delta.bytes.ptr = bytes;
    delta.bytes.len = len;
    return call->delta(call, &delta);
}

GUDGEON_PRINTF(3, 4)
GUDGEON_UTIL void gudgeon_logf(const gudgeon_host *host, uint32_t level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    host->log(host, level, gudgeon_text(text));
}

#ifdef __cplusplus
}
#endif
#endif
