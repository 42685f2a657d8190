/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_LINES_H
#define GUDGEON_SYS_LINES_H

/*
 * Lines from bytes that come in slices (newline-delimited JSON).
 *
 * Push a slice, then ask for lines until there are no more, then push the next. A line ends with
 * LF or CRLF, which is not part of it; empty lines are passed over. The last line may lack its
 * end: lines_last gives it. Works on bytes, at a cost linear in the bytes pushed.
 * Pure: no I/O. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"

struct lines {
    gudgeon_str input; /* what is left of the slice; the caller's */
    struct buf line;
    bool given; /* `line` holds a line that the caller may still be reading */
    bool failed;
};

void lines_init(struct lines *lines, size_t max_line_bytes);
void lines_fini(struct lines *lines);
/* The bytes are borrowed until lines_next has returned 0; only then may the next slice come. */
void lines_push(struct lines *lines, const char *bytes, size_t len);
/* 1: *ret is the next line, with a NUL at its end, borrowed until the next call. 0: wants more
 * bytes. ERR_LIMIT: a line over max_line_bytes, for good. */
int lines_next(struct lines *lines, gudgeon_str *ret);
/* At the end of the stream: 1 and what stands after the last line end, or 0. */
int lines_last(struct lines *lines, gudgeon_str *ret);

#endif
