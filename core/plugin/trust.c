/* SPDX-License-Identifier: MIT */
#include "plugin/trust.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/abi.h"

static bool is_trusted_owner(uid_t owner)
{
    if (owner == 0 || owner == geteuid())
        return true;
    struct stat host;
    return stat("/proc/self/exe", &host) == 0 && host.st_uid == owner;
}

/* The rule that files and directories share. */
static int check_access(const char *path, const struct stat *st, struct err *err)
{
    if (!is_trusted_owner(st->st_uid))
        return err_set(err, ERR_REFUSED, "%s belongs to user %u, who is neither root nor you", path,
                       (unsigned)st->st_uid);
    bool is_private_group = st->st_gid == st->st_uid;
    mode_t forbidden = is_private_group ? S_IWOTH : S_IWOTH | S_IWGRP;
    bool is_sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0;
    if ((st->st_mode & forbidden) != 0 && !is_sticky)
        return err_set(err, ERR_REFUSED, "%s can be written to by others; run: chmod go-w %s", path,
                       path);
    return 0;
}

static int check_one_directory(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set_errno(err, errno, "%s", path);
    if (!S_ISDIR(st.st_mode))
        return err_set(err, ERR_REFUSED, "%s is not a directory", path);
    return check_access(path, &st, err);
}

/* `path` is resolved; from the root down, so that the message names the highest culprit. */
static int check_directories(const char *path, struct err *err)
{
    CLEANUP(free_ptr) char *part = xstrdup(path);
    int status = check_one_directory("/", err);
    for (char *p = part; status == 0 && *p != '\0' && p[1] != '\0';) {
        p += 1 + strcspn(p + 1, "/");
        char separator = *p;
        *p = '\0';
        status = check_one_directory(part, err);
        *p = separator;
    }
    return status;
}

int trust_directory(const char *path, char **ret, struct err *err)
{
    CLEANUP(free_ptr) char *resolved = realpath(path, NULL);
    if (resolved == NULL)
        return err_set_errno(err, errno, "%s", path);
    int status = check_directories(resolved, err);
    if (status == 0)
        *ret = TAKE(resolved);
    return status;
}

/* Follows a link: the target's directories are not those that were looked at. */
static int resolve_link(const char *path, struct stat *st, char **ret, struct err *err)
{
    CLEANUP(free_ptr) char *resolved = realpath(path, NULL);
    if (resolved == NULL || lstat(resolved, st) < 0)
        return err_set_errno(err, errno, "link %s", path);
    char *slash = strrchr(resolved, '/');
    *slash = '\0';
    int status = check_directories(resolved, err);
    *slash = '/';
    if (status == 0)
        *ret = TAKE(resolved);
    return status;
}

int trust_file(const char *path, struct stat *st, char **ret, struct err *err)
{
    CLEANUP(free_ptr) char *resolved = NULL;
    int status = 0;
    if (S_ISLNK(st->st_mode))
        status = resolve_link(path, st, &resolved, err);
    else
        resolved = xstrdup(path);
    if (status == 0 && !S_ISREG(st->st_mode))
        status = err_set(err, ERR_REFUSED, "%s is not a regular file", resolved);
    if (status == 0)
        status = check_access(resolved, st, err);
    if (status == 0)
        *ret = TAKE(resolved);
    return status;
}

int trust_name(const char *path, char **ret, struct err *err)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    CLEANUP(free_ptr) char *name = xstrndup(file, ends_with(file, ".so") ? strlen(file) - 3 : 0);
    if (!abi_is_name(name))
        return err_set(err, ERR_REFUSED,
                       "\"%s\" is no plugin's file name: it must be NAME.so, NAME of a-z, 0-9, _ "
                       "and -",
                       file);
    *ret = TAKE(name);
    return 0;
}
