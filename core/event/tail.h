/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_TAIL_H
#define GUDGEON_EVENT_TAIL_H

/*
 * The lines of a file from its end backwards, so that the newest records of a long journal cost
 * what they are long and not what the journal is long.
 *
 * The first line given is what follows the last newline: empty when the file ends well. Looks at
 * the file as large as it was at tail_init. Read with pread: the descriptor's position is left
 * alone. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"

struct err;

struct tail {
    int fd;       /* borrowed */
    int64_t size; /* of the file */
    int64_t from; /* where in the file `text` starts */
    struct buf text;
    size_t left; /* text[0..left) is not given yet */
    bool finished;
};

int tail_init(struct tail *tail, int fd, struct err *err);
void tail_fini(struct tail *tail);
/* 1 and the line before the one given last (borrowed until the next call) with its place in the
 * file; 0 when there is none; ERR_IO; ERR_LIMIT for a line over JOURNAL_MAX_LINE. */
int tail_previous(struct tail *tail, gudgeon_str *ret, int64_t *ret_offset, struct err *err);

/* Fills `bytes` from the file at `offset`. A file that has become shorter is an error: ERR_IO. */
int tail_read(int fd, char *bytes, size_t len, int64_t offset, struct err *err);

#endif
