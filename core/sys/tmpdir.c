/* SPDX-License-Identifier: MIT */
#include "sys/tmpdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

int tmpdir_new(char **ret, struct err *err)
{
    const char *base = getenv("TMPDIR");
    if (base == NULL || base[0] != '/')
        base = "/tmp";
    CLEANUP(free_ptr) char *path = xasprintf("%s/gudgeon-XXXXXX", base);
    if (mkdtemp(path) == NULL)
        return err_set_errno(err, errno, "cannot make a temporary directory in %s", base);
    *ret = TAKE(path);
    return 0;
}

static void close_directory(DIR **directory)
{
    if (*directory != NULL)
        closedir(*directory);
}

static int open_nofollow(int parent, const char *name, int flags)
{
    return openat(parent, name, flags | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Gives a directory its owner's rights back: programs may have taken them. By way of a descriptor,
 * because fchmodat would follow a link that has taken the directory's place. */
static bool make_accessible(int parent, const char *name)
{
    CLEANUP(close_fd) int fd = open_nofollow(parent, name, O_PATH);
    char by_descriptor[32];
    snprintf(by_descriptor, sizeof by_descriptor, "/proc/self/fd/%d", fd);
    return fd >= 0 && chmod(by_descriptor, 0700) == 0;
}

static DIR *open_directory(int parent, const char *name)
{
    int fd = make_accessible(parent, name) ? open_nofollow(parent, name, O_RDONLY) : -1;
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (directory == NULL)
        close_fd(&fd);
    return directory;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool remove_entry(int directory, const char *name)
{
    return unlinkat(directory, name, 0) == 0 || unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

/* Moves a directory to the top under a name that is free there; that takes the right to write in
 * it, because its ".." changes. */
static bool lift(int from, const char *name, int top, unsigned *counter)
{
    char lifted[32];
    do
        snprintf(lifted, sizeof lifted, ".lifted-%u", ++*counter);
    while (faccessat(top, lifted, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    return make_accessible(from, name) && renameat(from, name, top, lifted) == 0;
}

/* Empties a directory of the top by removing what is no directory and lifting what is one. */
static bool empty_into_top(int top, const char *name, unsigned *counter)
{
    CLEANUP(close_directory) DIR *directory = open_directory(top, name);
    bool progress = false;
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (!is_dots(entry->d_name))
            progress |= remove_entry(dirfd(directory), entry->d_name) ||
                        lift(dirfd(directory), entry->d_name, top, counter);
    return progress;
}

/* One pass over the top; false when nothing could be removed any more. */
static bool remove_pass(DIR *top, unsigned *counter)
{
    bool progress = false;
    struct dirent *entry;
    rewinddir(top);
    while ((entry = readdir(top)) != NULL)
        if (!is_dots(entry->d_name))
            progress |= remove_entry(dirfd(top), entry->d_name) ||
                        empty_into_top(dirfd(top), entry->d_name, counter);
    return progress;
}

void tmpdir_remove(char *take_path)
{
    if (take_path == NULL)
        return;
    CLEANUP(close_directory) DIR *top = open_directory(AT_FDCWD, take_path);
    unsigned counter = 0;
    while (top != NULL && remove_pass(top, &counter))
        ;
    rmdir(take_path);
    free(take_path);
}
