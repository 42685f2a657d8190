/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_MASK_H
#define GUDGEON_EVENT_MASK_H

/*
 * Secret values, and texts without them.
 *
 * A value is found as it is and as JSON writers escape it (quotes and backslashes, `\/`, \uXXXX
 * for what is no ASCII). Occurrences that overlap become one mask, so that no part of the longer
 * one is left. Values under MASK_MIN_BYTES are not masked: they would hit words. The masks own
 * copies of the values and wipe them. mask_apply only reads: threads may share a mask that nobody
 * adds to.
 */

#include <stddef.h>

#include <gudgeon/plugin.h>

struct buf;

enum { MASK_MIN_BYTES = 6 };
#define MASK_TEXT "{secret}"

struct mask {
    char **values; /* all forms of all secrets */
    size_t count;
};

void mask_fini(struct mask *mask);
void mask_add(struct mask *mask, const char *value); /* twice is harmless */
/* Adds the text with every value replaced by MASK_TEXT; 0 or ERR_LIMIT. */
int mask_apply(const struct mask *mask, gudgeon_str text, struct buf *out);

#endif
