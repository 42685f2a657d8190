/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"

static int too_large(size_t max_bytes, struct err *err)
{
    return err_set(err, ERR_LIMIT, "is too large (%zu bytes at most)", max_bytes);
}

int file_read_fd(int fd, size_t max_bytes, struct buf *out, struct err *err)
{
    char part[16 << 10];
    size_t total = 0;
    for (;;) {
        ssize_t len = read(fd, part, sizeof part);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return err_set_errno(err, errno, "cannot be read");
        if (len == 0)
            return 0;
        total += (size_t)len;
        if (total > max_bytes || buf_add(out, part, (size_t)len) < 0)
            return too_large(max_bytes, err);
    }
}

int file_open(const char *path, int flags, int *ret, struct err *err)
{
    CLEANUP(close_fd) int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, ERR_NOT_FOUND, "no such file");
    struct stat found;
    if (fd < 0 || fstat(fd, &found) < 0)
        return err_set_errno(err, errno, "cannot be opened");
    if (!S_ISREG(found.st_mode))
        return err_set(err, ERR_IO, "is no regular file");
    *ret = fd;
    fd = -1;
    return 0;
}

int file_read(const char *path, size_t max_bytes, struct buf *out, struct err *err)
{
    CLEANUP(close_fd) int fd = -1;
    int status = file_open(path, O_RDONLY, &fd, err);
    return status < 0 ? status : file_read_fd(fd, max_bytes, out, err);
}
