/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_VARS_H
#define GUDGEON_DATA_VARS_H

/*
 * Variables in a file's scalars: the one syntax there is.
 *
 *     ${env:NAME}            the environment's value; a fault when it is not set
 *     ${env:NAME:-default}   the default when it is not set or empty
 *     ${secret:NAME}         becomes {secret:NAME}: filled in by the host where it is used
 *     ${file:PATH}           the file's text, less one line end at its end
 *     $$                     a dollar sign, so $${ is the text "${"
 *
 * They are expanded after parsing, so no value can change the file's structure; in values, not in
 * keys; and once: what a value holds is text. A lone "$" is text. A plain scalar stays plain, so
 * `steps: ${env:STEPS}` can be a number, except that an empty result is an empty text.
 */

#include <stddef.h>

struct diags;
struct yaml_node;

enum { VARS_MAX_BYTES = 16 << 20 }; /* of all expanded scalars of one tree */

/* `path` made absolute against the directory `base`; freed by the caller (sys/paths.h has one). */
typedef char *vars_path_fn(const char *base, const char *path);

/* Expands all scalars below `root`. ${file:} is relative to `directory`. Faults go to `diags`,
 * and the scalars that have them are marked. */
void vars_expand(struct yaml_node *root, const char *directory, vars_path_fn *absolute,
                 struct diags *diags);

#endif
