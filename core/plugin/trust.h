/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_TRUST_H
#define GUDGEON_PLUGIN_TRUST_H

/*
 * The path rules: which files may become plugins at all.
 *
 * A plugin runs with the host's rights, so nobody but those who could change the host anyway may
 * be able to put one there. The rules, for the file and for every directory above it, after
 * symbolic links are resolved:
 *   - its owner is root, the user that the host runs as, or the owner of the host's own binary
 *     (who could change that just as well: a tree mounted into a container);
 *   - others cannot write to it, and its group only when the group has the owner's number, as
 *     private groups have. A directory with the sticky bit may be written to by anybody: they
 *     cannot replace what is not theirs.
 *   - a plugin is a regular file, and is called NAME.so, NAME of [a-z0-9_-] (as found, before
 *     links are resolved).
 * Every refusal says which path and, where it helps, the command that mends it. Thread-safe.
 */

struct err;
struct stat;

/* *ret: the directory with all links resolved, freed by the caller. ERR_REFUSED, or ERR_IO when
 * it cannot be read. */
int trust_directory(const char *path, char **ret, struct err *err);
/* The rules for the file alone, of which lstat gave `st`; its directory has been looked at. For a
 * symbolic link *ret is the target, checked with its own directories; otherwise a copy of `path`.
 * *st becomes that of *ret. */
int trust_file(const char *path, struct stat *st, char **ret, struct err *err);
/* NAME of …/NAME.so, freed by the caller, or ERR_REFUSED. */
int trust_name(const char *path, char **ret, struct err *err);

#endif
