/* SPDX-License-Identifier: MIT */
#ifndef FILES_PATH_H
#define FILES_PATH_H

/*
 * Paths that cannot leave the root.
 *
 * A path is first made plain by its text alone (no empty parts, no `.`, no `..`, no root in front)
 * and then opened by the kernel beneath the root's descriptor: openat2 with RESOLVE_BENEATH, which
 * follows symbolic links only while they stay inside and cannot be raced. Where the kernel lacks
 * it, each part is opened by itself and no symbolic link is followed. Descriptors are close-on-exec
 * and the caller's.
 */

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "files.h"

struct path {
    char text[PATH_MAX]; /* relative to the root; "." is the root itself */
};

/* The part of `path` below `root`, without slashes in front ("" = the root itself), by text alone;
 * NULL when it is not below. */
const char *path_below(const char *root, const char *path);
bool path_has_openat2(int root_fd);

/* Reads the argument `path` (absent = the root). 0, or -1 with the reason. */
int path_argument(const struct files *files, gudgeon_str arguments, struct path *ret,
                  struct reason *why);
/* Puts the words for an errno value about this path into `why`; returns -1. */
int path_fail(const char *path, int error, struct reason *why);
/* "a directory", "a named pipe", …; for what is no regular file. */
const char *path_kind(mode_t mode);
/* Adds a path to what a model is shown. A name may hold anything but a slash and a NUL: a newline
 * in it must not pass for the end of a line. */
void path_add_shown(gudgeon_buf *out, const char *path);

/* A descriptor, or -1 with the reason. A regular file for reading (devices and pipes are never
 * opened); a directory for reading; whichever of the two it is. */
int path_open_file(const struct files *files, const struct path *path, struct stat *ret,
                   struct reason *why);
int path_open_directory(const struct files *files, const struct path *path, struct reason *why);
int path_open_either(const struct files *files, const struct path *path, struct stat *ret,
                     struct reason *why);
/* The directory that holds it, and its own name (borrowed from `path`); `create` makes the
 * directories that are missing. */
int path_open_parent(const struct files *files, const struct path *path, bool create,
                     const char **ret_name, struct reason *why);

#endif
