/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_DISK_H
#define GUDGEON_TESTS_DISK_H

/*
 * A disk that fails when told: a journal_io over the real one. disk_reset() puts it in place and
 * makes it well, disk_end() takes it away.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "event/journal_io.h"

static struct {
    long room;      /* bytes that still fit; -1 = any number */
    size_t most;    /* bytes that one write takes at most; 0 = all */
    int interrupts; /* how many writes say EINTR first */
    bool sync_fails, truncate_fails;
    int writes, fdatasyncs, fsyncs;
    char order[64]; /* w = write, s = fsync, d = fdatasync, r = rename, t = ftruncate */
} disk;

static void disk_note(char what)
{
    size_t len = strlen(disk.order);
    if (len + 1 < sizeof disk.order)
        disk.order[len] = what;
}

static int disk_fail(int errnum)
{
    errno = errnum;
    return -1;
}

static ssize_t disk_write(int fd, const void *bytes, size_t len)
{
    disk_note('w');
    disk.writes++;
    if (disk.interrupts > 0) {
        disk.interrupts--;
        return disk_fail(EINTR);
    }
    if (disk.most > 0 && len > disk.most)
        len = disk.most;
    if (disk.room >= 0 && (long)len > disk.room)
        len = (size_t)disk.room;
    if (len == 0)
        return disk_fail(ENOSPC);
    if (disk.room >= 0)
        disk.room -= (long)len;
    return write(fd, bytes, len);
}

static int disk_ftruncate(int fd, off_t length)
{
    disk_note('t');
    return disk.truncate_fails ? disk_fail(EIO) : ftruncate(fd, length);
}

static int disk_fsync(int fd)
{
    (void)fd;
    disk_note('s');
    disk.fsyncs++;
    return disk.sync_fails ? disk_fail(EIO) : 0;
}

static int disk_fdatasync(int fd)
{
    (void)fd;
    disk_note('d');
    disk.fdatasyncs++;
    return disk.sync_fails ? disk_fail(EIO) : 0;
}

static int disk_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    disk_note('r');
    return renameat(from_dir, from, to_dir, to);
}

static const struct journal_io disk_io = {
    disk_write, disk_ftruncate, disk_fsync, disk_fdatasync, disk_renameat,
};

static void disk_reset(void)
{
    memset(&disk, 0, sizeof disk);
    disk.room = -1;
    journal_set_io(&disk_io);
}

static void disk_end(void)
{
    journal_set_io(NULL);
}

#endif
