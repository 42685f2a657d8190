/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_TMPDIR_H
#define GUDGEON_SYS_TMPDIR_H

/*
 * Private temporary directories: made with mode 0700, removed with all that programs left in them.
 *
 * Removal works on descriptors and follows no link, so whoever can write in the directory cannot
 * lead it elsewhere; it needs no depth, however deep the tree is. What cannot be removed (another
 * user's directory, a mount) stays. Thread-safe.
 */

struct err;

/* A new directory below $TMPDIR, else /tmp; its name is freed by tmpdir_remove. */
int tmpdir_new(char **ret, struct err *err);
/* Removes it and frees the name; NULL is allowed. */
void tmpdir_remove(char *take_path);

#endif
