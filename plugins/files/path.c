/* SPDX-License-Identifier: MIT */
#include "path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gudgeon/args.h>

enum { MAX_RACES = 64 }; /* openat2 says EAGAIN when a rename crosses its way */

/* ---- by text --------------------------------------------------------------------------------- */

const char *path_below(const char *root, const char *path)
{
    size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(path, root, len) != 0 || (path[len] != '/' && path[len] != '\0'))
        return NULL;
    return path + len + strspn(path + len, "/");
}

/* Adds one part to a plain path; `..` takes one away. -1 = nothing left to take. */
static int add_part(char *plain, const char *part, size_t len)
{
    size_t used = strlen(plain);
    if (len == 0 || (len == 1 && *part == '.'))
        return 0;
    if (len == 2 && part[0] == '.' && part[1] == '.') {
        char *slash = strrchr(plain, '/');
        if (used == 0)
            return -1;
        *(slash != NULL ? slash : plain) = '\0';
        return 0;
    }
    if (used > 0)
        plain[used++] = '/';
    memcpy(plain + used, part, len);
    plain[used + len] = '\0';
    return 0;
}

static int make_plain(const struct files *files, const char *given, struct path *ret,
                      struct reason *why)
{
    const char *rest = given;
    if (*given == '/') {
        rest = path_below(files->root, given);
        if (rest == NULL)
            rest = path_below(files->real_root, given);
        if (rest == NULL)
            return because(why,
                           "'%.300s' is outside the root directory %.300s: give a path below "
                           "it",
                           given, files->root);
    }
    ret->text[0] = '\0';
    for (size_t len; *rest != '\0'; rest += len + (rest[len] == '/')) {
        len = strcspn(rest, "/");
        if (add_part(ret->text, rest, len) < 0)
            return because(why, "'%.300s' leads outside the root directory: give a path below it",
                           given);
    }
    if (ret->text[0] == '\0')
        memcpy(ret->text, ".", 2);
    return 0;
}

int path_argument(const struct files *files, gudgeon_str arguments, struct path *ret,
                  struct reason *why)
{
    char given[PATH_MAX] = ".";
    int32_t status = gudgeon_arg_text(arguments, "path", given, sizeof given);
    if (status == GUDGEON_LIMIT)
        return because(why, "the path is too long: at most %d bytes", PATH_MAX - 1);
    if (status == GUDGEON_INVALID && gudgeon_arg(arguments, "path").ptr != NULL)
        return because(why, "the path is no usable text: it holds a NUL character");
    return make_plain(files, given, ret, why);
}

/* ---- words ----------------------------------------------------------------------------------- */

int path_fail(const char *path, int error, struct reason *why)
{
    static const struct {
        int error;
        const char *text;
    } faults[] = {
        {ENOENT, "does not exist; list_files shows what does"},
        {ENOTDIR, "cannot be reached: a part of the path is no directory"},
        {EXDEV, "leads outside the root directory through a symbolic link"},
        {ELOOP, "leads through a symbolic link that is not followed"},
        {EACCES, "may not be accessed: permission denied"},
        {EPERM, "may not be accessed: permission denied"},
        {ENAMETOOLONG, "is too long a name"},
        {EISDIR, "is a directory, not a file"},
        {EROFS, "cannot be changed: the file system is read-only"},
        {ENOSPC, "cannot be written: the disk is full"},
        {EDQUOT, "cannot be written: the disk quota is used up"},
        {EAGAIN, "is being moved about; try again"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (faults[i].error == error)
            return because(why, "'%.300s' %s", path, faults[i].text);
    return because(why, "'%.300s': %s", path, strerrordesc_np(error));
}

const char *path_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "a file";
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

void path_add_shown(gudgeon_buf *out, const char *path)
{
    for (const char *at = path; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7F)
            gudgeon_buf_addf(out, "\\x%02x", (unsigned)*at);
        else
            gudgeon_buf_add(out, at, 1);
}

/* ---- by the kernel --------------------------------------------------------------------------- */

static int openat2_beneath(int root_fd, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int fd = -1;
    for (int i = 0; i < MAX_RACES; i++) {
        fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd;
}

/* One part at a time, no symbolic links. */
static int walk_beneath(int root_fd, const char *path, int flags)
{
    int fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0) {
        char part[NAME_MAX + 1];
        size_t len = strcspn(path, "/");
        bool is_last = path[len] == '\0';
        int next = -1;
        if (len < sizeof part) {
            memcpy(part, path, len);
            part[len] = '\0';
            next =
                openat(fd, part, (is_last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC);
        } else {
            errno = ENAMETOOLONG;
        }
        int error = errno;
        close(fd);
        errno = error;
        if (is_last)
            return next;
        fd = next;
        path += len + 1;
    }
    return fd;
}

bool path_has_openat2(int root_fd)
{
    int fd = openat2_beneath(root_fd, ".", O_PATH | O_DIRECTORY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A descriptor, or -1 with errno. */
static int open_beneath(const struct files *files, const char *path, int flags)
{
    return files->has_openat2 ? openat2_beneath(files->root_fd, path, flags)
                              : walk_beneath(files->root_fd, path, flags);
}

/* Looks before it opens: opening a device or a pipe can have effects of its own. */
static int open_checked(const struct files *files, const struct path *path, bool may_be_directory,
                        struct stat *ret, struct reason *why)
{
    static const int how[] = {O_PATH, O_RDONLY | O_NONBLOCK | O_NOCTTY};
    int fd = -1;
    for (size_t i = 0; i < 2; i++) {
        if (fd >= 0)
            close(fd);
        fd = open_beneath(files, path->text, how[i]);
        if (fd < 0)
            return path_fail(path->text, errno, why);
        fstat(fd, ret);
        if (S_ISREG(ret->st_mode) || (may_be_directory && S_ISDIR(ret->st_mode)))
            continue;
        close(fd);
        return because(why, "'%.300s' is %s, not a file%s", path->text, path_kind(ret->st_mode),
                       S_ISDIR(ret->st_mode) ? "; list_files shows what is in it" : "");
    }
    return fd;
}

int path_open_file(const struct files *files, const struct path *path, struct stat *ret,
                   struct reason *why)
{
    return open_checked(files, path, false, ret, why);
}

int path_open_either(const struct files *files, const struct path *path, struct stat *ret,
                     struct reason *why)
{
    return open_checked(files, path, true, ret, why);
}

int path_open_directory(const struct files *files, const struct path *path, struct reason *why)
{
    int fd = open_beneath(files, path->text, O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOTDIR)
        return because(why, "'%.300s' is no directory", path->text);
    return fd >= 0 ? fd : path_fail(path->text, errno, why);
}

/* Makes the directories of `path` that are missing; a descriptor of the last, or -1 with errno. */
static int make_directories(const struct files *files, const char *path)
{
    char prefix[PATH_MAX];
    int parent = open_beneath(files, ".", O_RDONLY | O_DIRECTORY);
    for (size_t start = 0, end; parent >= 0; start = end + 1) {
        end = start + strcspn(path + start, "/");
        memcpy(prefix, path, end);
        prefix[end] = '\0';
        int fd = open_beneath(files, prefix, O_RDONLY | O_DIRECTORY);
        if (fd < 0 && errno == ENOENT) {
            const char *name = prefix + start;
            if (mkdirat(parent, name, 0777) == 0 || errno == EEXIST)
                fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        int error = errno;
        close(parent);
        errno = error;
        parent = fd;
        if (path[end] == '\0')
            break;
    }
    return parent;
}

int path_open_parent(const struct files *files, const struct path *path, bool create,
                     const char **ret_name, struct reason *why)
{
    const char *slash = strrchr(path->text, '/');
    char parent[PATH_MAX] = ".";
    if (strcmp(path->text, ".") == 0)
        return path_fail(path->text, EISDIR, why);
    if (slash != NULL) {
        memcpy(parent, path->text, (size_t)(slash - path->text));
        parent[slash - path->text] = '\0';
    }
    int fd = open_beneath(files, parent, O_RDONLY | O_DIRECTORY);
    if (fd < 0 && errno == ENOENT && create)
        fd = make_directories(files, parent);
    if (fd < 0)
        return path_fail(errno == ENOENT ? path->text : parent, errno, why);
    *ret_name = slash != NULL ? slash + 1 : path->text;
    return fd;
}
