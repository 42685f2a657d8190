/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_SSE_H
#define GUDGEON_SYS_SSE_H

/*
 * Server-sent events from bytes, as the WHATWG HTML standard parses them (§9.2.6).
 *
 * Push a slice of the stream, then ask for events until there are no more, then push the next
 * slice. Works on bytes: a slice may end anywhere, inside a character or between CR and LF. The
 * cost is linear in the bytes pushed. An event that has no blank line after it is never given.
 * Beyond the standard: a block without data but with llama.cpp's field `error:` is given as an
 * event of type "error" whose data is that field's value.
 * Pure: no I/O. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"

struct sse {
    gudgeon_str input; /* what is left of the slice; the caller's */
    struct buf line;   /* the start of a line that earlier slices ended in */
    struct buf data;
    struct buf fault; /* value of the field `error` */
    struct buf type;
    struct buf id;
    size_t max_bytes;
    unsigned bom_seen; /* bytes of a byte order mark seen at the start; 3 = past it */
    bool has_data;
    bool has_fault;
    bool after_cr; /* a LF that comes next belongs to the line end before it */
    bool given;    /* the buffers hold an event that the caller may still be reading */
    bool failed;
};

struct sse_event {
    gudgeon_str type; /* absent = "message" */
    gudgeon_str id;   /* the last event id seen; absent = none, or set back to none */
    gudgeon_str data; /* with a NUL at the end */
};

/* `max_bytes` bounds one event: its data, and each line. */
void sse_init(struct sse *sse, size_t max_bytes);
void sse_fini(struct sse *sse);
/* The bytes are borrowed until sse_next has returned 0; only then may the next slice come. */
void sse_push(struct sse *sse, const char *bytes, size_t len);
/* 1: *ret is the next event, borrowed until the next call. 0: wants more bytes. ERR_LIMIT: an
 * event over max_bytes, for good. */
int sse_next(struct sse *sse, struct sse_event *ret);

#endif
