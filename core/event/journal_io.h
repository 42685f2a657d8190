/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_JOURNAL_IO_H
#define GUDGEON_EVENT_JOURNAL_IO_H

/*
 * The system calls by which journals and blobs change the disk, in one table, so that tests can
 * play a full disk, a failing fsync or a power loss.
 *
 * Each has the meaning of its namesake: -1 with errno on failure. A journal keeps the table that
 * stood when it was opened. journal_set_io is global on purpose: a test of the loop fails journals
 * that it does not open itself. Only tests call it, before threads start; NULL gives the system's.
 */

#include <stddef.h>
#include <sys/types.h>

#include <gudgeon/plugin.h>

struct journal_io {
    ssize_t (*write)(int fd, const void *bytes, size_t len);
    int (*ftruncate)(int fd, off_t length);
    int (*fsync)(int fd);
    int (*fdatasync)(int fd);
    int (*renameat)(int from_dir, const char *from, int to_dir, const char *to);
};

const struct journal_io *journal_io(void);
void journal_set_io(const struct journal_io *io);

/* Writes all of it, however many calls that takes; 0 or an errno value. *ret_written (may be NULL)
 * says how much was written, also after a failure. */
int journal_io_write(const struct journal_io *io, int fd, gudgeon_str bytes, size_t *ret_written);

#endif
