/* SPDX-License-Identifier: MIT */
#include "event/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "data/digest.h"
#include "event/journal_io.h"

static const char new_name[] = ".new"; /* one is enough: one writer holds the lock */

/* 0 or an errno value. */
static int sync_directory(const struct journal_io *io, const char *path)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || io->fsync(fd) < 0 ? errno : 0;
}

/* Makes RUN/blobs with the first blob. One that stands already is on disk, or the journal, opened
 * again after its maker was killed, syncs the run's directory with its next durable record. */
static int open_directory(const struct journal_io *io, const char *run_directory, bool durable,
                          int *ret, struct err *err)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/blobs", run_directory);
    bool is_new = mkdir(path, 0700) == 0;
    int errnum = is_new || errno == EEXIST ? 0 : errno;
    if (is_new && durable)
        errnum = sync_directory(io, run_directory);
    if (is_new && errnum != 0)
        rmdir(path);
    if (errnum != 0)
        return err_set_errno(err, errnum, "cannot make directory %s", path);
    *ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret < 0 ? err_set_errno(err, errno, "cannot open %s", path) : 0;
}

/* 0 or an errno value. */
static int write_new(const struct journal_io *io, int dir, gudgeon_str bytes, bool durable)
{
    unlinkat(dir, new_name, 0); /* of a writer that was killed, or planted */
    CLEANUP(close_fd)
    int fd = openat(dir, new_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int errnum = journal_io_write(io, fd, bytes, NULL);
    if (errnum == 0 && durable && io->fsync(fd) < 0)
        errnum = errno;
    return errnum;
}

static bool is_kept_already(int dir, const char *name, size_t len)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_size == (off_t)len;
}

int blob_write(const struct journal_io *io, const char *run_directory, gudgeon_str bytes,
               bool durable, char ret_name[BLOB_NAME_SIZE], struct err *err)
{
    _Static_assert((int)BLOB_NAME_SIZE == (int)DIGEST_HEX_SIZE, "a blob's name is its digest");
    CLEANUP(close_fd) int dir = -1;
    int status = open_directory(io, run_directory, durable, &dir, err);
    if (status < 0)
        return status;
    char name[BLOB_NAME_SIZE];
    digest_of(bytes, name);
    int errnum = 0;
    if (!is_kept_already(dir, name, bytes.len)) {
        errnum = write_new(io, dir, bytes, durable);
        if (errnum == 0 && io->renameat(dir, new_name, dir, name) < 0)
            errnum = errno;
    }
    /* Also for one that is kept already: its writer may have ended before this. */
    if (errnum == 0 && durable && io->fsync(dir) < 0)
        errnum = errno;
    if (errnum != 0) {
        unlinkat(dir, new_name, 0);
        return err_set_errno(err, errnum, "cannot keep %llu bytes in %s/blobs",
                             (unsigned long long)bytes.len, run_directory);
    }
    memcpy(ret_name, name, sizeof name);
    return 0;
}

static bool is_blob_name(const char *name)
{
    return strlen(name) == BLOB_NAME_SIZE - 1 &&
           strspn(name, "0123456789abcdef") == BLOB_NAME_SIZE - 1;
}

int blob_read(const char *run_directory, const char *name, int64_t offset, size_t max,
              struct buf *out, int64_t *ret_size, struct err *err)
{
    if (!is_blob_name(name))
        return err_set(err, ERR_NOT_FOUND, "\"%.80s\" is no name of a blob", name);
    CLEANUP(free_ptr) char *path = xasprintf("%s/blobs/%s", run_directory, name);
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "this run has no blob %s", name);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set_errno(err, errno, "cannot open %s", path);
    char chunk[16 << 10];
    size_t added = 0;
    while (added < max) {
        size_t want = max - added < sizeof chunk ? max - added : sizeof chunk;
        ssize_t n = pread(fd, chunk, want, offset + (int64_t)added);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, "cannot read %s", path);
        if (n == 0)
            break;
        if (buf_add(out, chunk, (size_t)n) < 0)
            return err_set(err, ERR_LIMIT, "blob %s is too large for its place", name);
        added += (size_t)n;
    }
    *ret_size = st.st_size;
    return 0;
}
