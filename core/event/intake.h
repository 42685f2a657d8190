/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_INTAKE_H
#define GUDGEON_EVENT_INTAKE_H

/*
 * The gate through which every foreign text passes before it becomes an event: what the journal
 * holds and what the model sees are one thing.
 *
 * In order: bytes that are no UTF-8 and NULs become U+FFFD; known secret values become
 * `{secret:NAME}`-like masks; what is over its cap is kept as head and tail around a line that says
 * how much is left out and where the whole is (a blob of the run's journal). Provider-opaque data
 * does not pass here. One intake serves one run; not thread-safe (the run's thread owns it).
 */

#include <stddef.h>

#include <gudgeon/plugin.h>

struct buf;
struct err;
struct intake;
struct journal;

struct intake *intake_new(void);
void intake_free(struct intake *intake);
/* A value to mask wherever it occurs; values under 6 bytes are not masked (they would hit words).
 * Adding the same value twice is harmless. Also masks its JSON-escaped form. */
void intake_add_secret(struct intake *intake, const char *value);

/* Adds the safe form of `text`. */
int intake_text(struct intake *intake, gudgeon_str text, struct buf *out);

struct intake_spill {
    char blob[65]; /* "" = nothing was spilled */
    size_t bytes;  /* size of the whole, after masking */
};

/* The safe form of a result, at most about `max_bytes`: longer text is cut on characters and the
 * whole kept as a blob of `journal`, named in the text. An empty or blank text becomes
 * "(no output)". */
int intake_result(struct intake *intake, struct journal *journal, gudgeon_str text,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err);

/* A JSON array of content blocks from a tool: each text is made safe and capped as above (the cap
 * holds for all text together), images are kept, unknown blocks are kept, blank text blocks are
 * dropped; an empty array becomes one "(no output)" text block. */
int intake_blocks(struct intake *intake, struct journal *journal, gudgeon_str blocks,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err);

#endif
