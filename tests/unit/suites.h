/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_SUITES_H
#define GUDGEON_TESTS_SUITES_H

/*
 * The public test suites, which the repository holds no copy of.
 *
 * They stand in the directory that $GUDGEON_SUITES names, else in ../shared/suites beside the
 * repository (tests run at its root). Where they are absent a test says so and runs its own cases
 * alone; with CI=true that is a failure.
 */

#include <CUnit/CUnit.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"

/* The path of `name` within the suites, or NULL (said and judged here) when it is not there.
 * Freed by the caller. */
static inline char *suite_path(const char *name)
{
    const char *root = getenv("GUDGEON_SUITES");
    char *path = xasprintf("%s/%s", root != NULL ? root : "../shared/suites", name);
    struct stat found;
    if (stat(path, &found) == 0)
        return path;
    printf("# the suite %s is not here (GUDGEON_SUITES names its place): own cases only\n", path);
    const char *ci = getenv("CI");
    CU_ASSERT(ci == NULL || strcmp(ci, "true") != 0);
    free(path);
    return NULL;
}

/* Reads a whole file into an empty buffer; 0, or -1 when it cannot. */
static inline int suite_read(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return -1;
    char part[4096];
    size_t len;
    while ((len = fread(part, 1, sizeof part, file)) > 0)
        buf_add(out, part, len);
    int status = ferror(file) ? -1 : 0;
    fclose(file);
    return status;
}

static inline int suite_is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Calls `visit(path, name, payload)` for each entry of a directory, in order of names. */
static inline void suite_each(const char *directory,
                              void (*visit)(const char *path, const char *name, void *payload),
                              void *payload)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, suite_is_visible, alphasort);
    CU_ASSERT(count >= 0);
    for (int i = 0; i < count; i++) {
        char *path = xasprintf("%s/%s", directory, entries[i]->d_name);
        visit(path, entries[i]->d_name, payload);
        free(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

#endif
