/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_FILE_H
#define GUDGEON_BASE_FILE_H

/*
 * Files by name, and whole files into memory, with a cap.
 *
 * Only regular files are opened by name, so that no device or pipe can hold the caller up. Messages
 * do not name the file: the caller's prefix does.
 */

#include <stddef.h>

struct buf;
struct err;

/* Opens it with open(2)'s `flags` (and mode 0600, should it be made): a descriptor that the caller
 * closes. ERR_NOT_FOUND, ERR_IO. */
int file_open(const char *path, int flags, int *ret, struct err *err);
/* Adds the file's content to `out`. ERR_NOT_FOUND, ERR_IO, ERR_LIMIT when it has more than
 * `max_bytes`. */
int file_read(const char *path, size_t max_bytes, struct buf *out, struct err *err);
/* The same for a descriptor of any kind, from where it stands to its end. */
int file_read_fd(int fd, size_t max_bytes, struct buf *out, struct err *err);

#endif
