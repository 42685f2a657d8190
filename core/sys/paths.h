/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_PATHS_H
#define GUDGEON_SYS_PATHS_H

/*
 * Where things are: the one place that knows the build tree, the installed tree and the user's
 * directories.
 *
 * When the running binary stands in a build tree (the Makefile leaves the file `.build-tree`
 * beside it), its own modules, worker and plugins are found there; otherwise in the directories
 * that the build was configured with. All results are newly allocated, freed by the caller.
 */

#include <stdbool.h>

struct err;

char *paths_module(const char *file_name); /* a private module, e.g. "gudgeon-http.so" */
char *paths_worker(void);                  /* the gudgeon-worker binary */
char *paths_plugins(void);                 /* the default plugin directory */
/* $GUDGEON_STATE_DIR, else the first of $STATE_DIRECTORY (systemd), else
 * $XDG_STATE_HOME/gudgeon, else ~/.local/state/gudgeon. ERR_NOT_FOUND when nothing says. */
int paths_state(char **ret, struct err *err);
/* $GUDGEON_CACHE_DIR, else $CACHE_DIRECTORY, else $XDG_CACHE_HOME/gudgeon, else ~/.cache/gudgeon;
 * NULL when nothing says: then nothing is cached. */
char *paths_cache(void);
/* Makes a directory and its parents, mode 0700. */
int paths_make_directory(const char *path, struct err *err);
/* `path` made absolute against `base` (a directory) unless it is absolute; "~/" is the home. */
char *paths_absolute(const char *base, const char *path);

#endif
