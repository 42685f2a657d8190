/* SPDX-License-Identifier: MIT */
#ifndef FILES_REPLACE_H
#define FILES_REPLACE_H

/*
 * Writing a file so that it is there whole or not at all.
 *
 * The new content goes into a temporary file in the same directory, is made durable, and takes the
 * name by rename: a reader, a crash or a full disk never meets half of it. The mode of a file that
 * is replaced is kept, its owner where that is allowed. A symbolic link is never written through.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "files.h"

struct target {
    int parent_fd;    /* the directory that holds it; owned */
    const char *name; /* within that directory; borrowed */
    const char *path; /* for messages; borrowed */
    bool exists;
    struct stat old; /* valid if it exists */
};

/* Finds what stands there now; refuses what is no plain file or may not be written. 0, or -1 with
 * the reason. */
int target_look(struct target *target, struct reason *why);
/* Puts `content` in its place, if it is still what target_look found. */
int target_replace(const struct target *target, gudgeon_str content, struct reason *why);

#endif
