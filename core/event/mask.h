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

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"

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
/* The same for a text that somebody may have cut: where it ends, and before each "…", the beginning
 * of a value is masked as well, if it is half of the value or more. */
int mask_apply_cut(const struct mask *mask, gudgeon_str text, struct buf *out);
/* Whether a value stands in the text. */
bool mask_finds(const struct mask *mask, gudgeon_str text);

/* A text that comes in parts. What may be the beginning of a value is held until it is known. All
 * zero to begin with. */
struct mask_stream {
    struct buf held;
};

void mask_stream_fini(struct mask_stream *stream);
/* Adds what can be shown of the text so far. */
void mask_stream_add(const struct mask *mask, struct mask_stream *stream, gudgeon_str part,
                     struct buf *out);
/* Adds the rest, as mask_apply_cut; the stream begins anew. */
void mask_stream_end(const struct mask *mask, struct mask_stream *stream, struct buf *out);

#endif
