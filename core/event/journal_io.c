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

int journal_io_write(const struct journal_io *io, int fd, gudgeon_str bytes, size_t *ret_written)
{
    size_t done = 0;
    int errnum = 0;
    while (done < bytes.len && errnum == 0) {
        ssize_t n = io->write(fd, bytes.ptr + done, bytes.len - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0)
            errnum = EIO;
        else if (errno != EINTR)
            errnum = errno;
    }
    if (ret_written != NULL)
        *ret_written = done;
    return errnum;
}
