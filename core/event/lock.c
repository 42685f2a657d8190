/* SPDX-License-Identifier: MIT */
#include "event/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"

/* l_pid must be 0 for OFD locks; zero start and length mean the whole file. */
static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

int lock_take(const char *run_directory, int *ret_fd, struct err *err)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/lock", run_directory);
    CLEANUP(close_fd) int fd = -1;
    if (file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, &fd, err) < 0)
        return err_prefix(err, "%s", path);
    struct flock lock = whole_file();
    while (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        if (errno == EAGAIN || errno == EACCES)
            return err_set(err, ERR_BUSY,
                           "another process is running it; wait for that, or stop it");
        if (errno != EINTR)
            return err_set_errno(err, errno, "cannot lock %s", path);
    }
    *ret_fd = fd;
    fd = -1;
    return 0;
}

bool lock_is_held(const char *run_directory)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/lock", run_directory);
    CLEANUP(close_fd) int fd = -1;
    struct flock lock = whole_file();
    return file_open(path, O_RDONLY | O_NOFOLLOW, &fd, NULL) == 0 &&
           fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}
