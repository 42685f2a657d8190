/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_BLOB_H
#define GUDGEON_EVENT_BLOB_H

/*
 * Content that is too large for a record, kept as RUN/blobs/<SHA-256 in hex>.
 *
 * A blob appears under its name only when it is whole, never changes, and is on disk before
 * blob_write returns (unless `durable` is false): the event that names it comes after it. Equal
 * content is one file. Writers hold the run's lock; readers need none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct buf;
struct err;
struct journal_io;

enum { BLOB_NAME_SIZE = 65 };

/* Makes RUN/blobs with the first blob. ERR_IO; nothing is left behind then. */
int blob_write(const struct journal_io *io, const char *run_directory, gudgeon_str bytes,
               bool durable, char ret_name[BLOB_NAME_SIZE], struct err *err);
/* Adds at most `max` bytes of a blob from `offset` on; *ret_size is the size of the whole.
 * ERR_NOT_FOUND for a name that is none. */
int blob_read(const char *run_directory, const char *name, int64_t offset, size_t max,
              struct buf *out, int64_t *ret_size, struct err *err);

#endif
