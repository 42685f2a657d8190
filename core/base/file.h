/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_FILE_H
#define GUDGEON_BASE_FILE_H

/*
 * Whole files into memory, with a cap.
 *
 * Only regular files are read by name, so that no device or pipe can hold the caller up. Messages
 * do not name the file: the caller's prefix does.
 */

#include <stddef.h>

struct buf;
struct err;

/* Adds the file's content to `out`. ERR_NOT_FOUND, ERR_IO, ERR_LIMIT when it has more than
 * `max_bytes`. */
int file_read(const char *path, size_t max_bytes, struct buf *out, struct err *err);
/* The same for a descriptor of any kind, from where it stands to its end. */
int file_read_fd(int fd, size_t max_bytes, struct buf *out, struct err *err);

#endif
