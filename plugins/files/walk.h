/* SPDX-License-Identifier: MIT */
#ifndef FILES_WALK_H
#define FILES_WALK_H

/*
 * Going over the entries of a directory, in the order of their names, and of those below it.
 *
 * Directories are entered by one name at a time and without following symbolic links, so a walk
 * stays inside whatever is changed meanwhile. It is bounded in depth, in entries and by the call's
 * deadline; `end` says which bound was met, so that no result passes for complete when it is not.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "files.h"

enum walk_end {
    WALK_DONE,
    WALK_ENOUGH,    /* the visitor had enough */
    WALK_MANY,      /* too many entries, or too deep */
    WALK_LATE,      /* the call's time is nearly used up */
    WALK_CANCELLED, /* the call is cancelled */
};

struct entry {
    const char *path; /* relative to the root */
    const char *name;
    int directory_fd; /* holds it */
    struct stat stat; /* of itself, not of what a link leads to */
};

/* False = enough. */
typedef bool walk_fn(void *payload, const struct entry *entry);

struct walk {
    const gudgeon_call *call;
    const char *glob; /* matched below the start; NULL = everything */
    bool is_recursive;
    walk_fn *visit;
    void *payload;
    /* set by walk_directory */
    enum walk_end end;
    bool has_skipped; /* some directory could not be read */
    size_t entries;
    size_t start; /* bytes of `path` before what the glob is matched with */
    char path[PATH_MAX];
};

/* Goes over the directory `fd` (taken over), which is `path` relative to the root. */
void walk_directory(struct walk *walk, int fd, const char *path);
/* The words for an end other than WALK_DONE. */
const char *walk_end_text(enum walk_end end);

#endif
