/* SPDX-License-Identifier: MIT */
#include "event/journal_io.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static const struct journal_io system_io = {
    .write = write,
    .ftruncate = ftruncate,
    .fsync = fsync,
    .fdatasync = fdatasync,
    .renameat = renameat,
};

static const struct journal_io *current = &system_io;

const struct journal_io *journal_io(void)
{
    return current;
}

void journal_set_io(const struct journal_io *io)
{
    current = io != NULL ? io : &system_io;
}

int journal_io_write(const struct journal_io *io, int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = io->write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}
