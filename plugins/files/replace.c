/* SPDX-License-Identifier: MIT */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "path.h"

enum { NAME_TRIES = 16, NAME_SIZE = 40 };

static int refuse_link(const struct target *target, struct reason *why)
{
    char to[PATH_MAX];
    ssize_t len = readlinkat(target->parent_fd, target->name, to, sizeof to);
    return because(why, "'%.300s' is a symbolic link to '%.*s': write to that file instead",
                   target->path,
                   (int)(len < 0     ? 0
                         : len > 300 ? 300
                                     : len),
                   to);
}

/* A rename needs no permission on the file that it replaces, so that is asked for here. */
static int check_permission(const struct target *target, struct reason *why)
{
    int fd = openat(target->parent_fd, target->name,
                    O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES)
        return because(why, "'%.300s' may not be written: it is read-only", target->path);
    if (fd < 0 && errno != ETXTBSY)
        return path_fail(target->path, errno, why);
    if (fd >= 0)
        close(fd);
    return 0;
}

int target_look(struct target *target, struct reason *why)
{
    target->exists =
        fstatat(target->parent_fd, target->name, &target->old, AT_SYMLINK_NOFOLLOW) == 0;
    if (!target->exists)
        return errno == ENOENT ? 0 : path_fail(target->path, errno, why);
    if (S_ISLNK(target->old.st_mode))
        return refuse_link(target, why);
    if (!S_ISREG(target->old.st_mode))
        return because(why, "'%.300s' is %s, not a file", target->path,
                       path_kind(target->old.st_mode));
    return check_permission(target, why);
}

/* What is to be replaced is not readable by others for a moment either. */
static int open_temporary(const struct target *target, char name[NAME_SIZE])
{
    int fd = -1;
    for (int i = 0; i < NAME_TRIES && fd < 0; i++) {
        uint64_t number = 0;
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        snprintf(name, NAME_SIZE, ".gudgeon-%016" PRIx64 ".tmp", number);
        fd = openat(target->parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    target->exists ? 0600 : 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t done = write(fd, bytes, len);
        if (done < 0 && errno != EINTR)
            return -1;
        bytes += done > 0 ? done : 0;
        len -= done > 0 ? (size_t)done : 0;
    }
    return 0;
}

/* The set-id bits are not kept: they vouched for the old content. */
static int keep_mode(const struct target *target, int fd)
{
    if (!target->exists)
        return 0;
    struct stat made;
    if (fstat(fd, &made) != 0)
        return -1;
    bool is_other = made.st_uid != target->old.st_uid || made.st_gid != target->old.st_gid;
    if (is_other && fchown(fd, target->old.st_uid, target->old.st_gid) != 0 && errno != EPERM)
        return -1;
    return fchmod(fd, target->old.st_mode & 0777);
}

static bool is_unchanged(const struct target *target)
{
    struct stat now;
    if (fstatat(target->parent_fd, target->name, &now, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && !target->exists;
    const struct stat *old = &target->old;
    return target->exists && now.st_dev == old->st_dev && now.st_ino == old->st_ino &&
           now.st_size == old->st_size && now.st_mtim.tv_sec == old->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == old->st_mtim.tv_nsec;
}

static int fill_and_rename(const struct target *target, int fd, const char *temporary,
                           gudgeon_str content, struct reason *why)
{
    if (write_all(fd, content.ptr, (size_t)content.len) != 0 || keep_mode(target, fd) != 0 ||
        fsync(fd) != 0)
        return path_fail(target->path, errno, why);
    if (!is_unchanged(target))
        return because(why, "'%.300s' was changed by something else meanwhile: read it again",
                       target->path);
    if (renameat(target->parent_fd, temporary, target->parent_fd, target->name) != 0)
        return path_fail(target->path, errno, why);
    fsync(target->parent_fd);
    return 0;
}

int target_replace(const struct target *target, gudgeon_str content, struct reason *why)
{
    char temporary[NAME_SIZE];
    int fd = open_temporary(target, temporary);
    if (fd < 0)
        return path_fail(target->path, errno, why);
    int status = fill_and_rename(target, fd, temporary, content, why);
    close(fd);
    if (status < 0)
        unlinkat(target->parent_fd, temporary, 0);
    return status;
}
