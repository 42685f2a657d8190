/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_SEARCH_H
#define GUDGEON_PLUGIN_SEARCH_H

/*
 * The search path: which plugin files there are, in which order.
 *
 * Directories in order: those of the options, those of $GUDGEON_PLUGIN_PATH (colons between), the
 * build tree's or the installed one. Within a directory every *.so, by name; files that begin
 * with a dot are somebody's temporaries. A file that breaks a path rule (trust.h) is a hit with
 * the reason. The search owns its texts; nothing is opened but the directories.
 */

#include <stddef.h>
#include <sys/stat.h>

struct err;
struct registry_options;

struct search_hit {
    char *path;     /* absolute; the directory's links are resolved, the file itself may be one */
    char *name;     /* of the file, without .so */
    char *refused;  /* NULL = the path rules are kept */
    struct stat st; /* of the file that it leads to, when not refused */
};

struct search {
    struct search_hit *hits;
    size_t count;
    char *warning; /* directories that were asked for and cannot be read; NULL = none */
};

/* ERR_NOT_FOUND when not one directory can be read. */
int search_run(const struct registry_options *options, struct search *ret, struct err *err);
void search_fini(struct search *search);

#endif
