/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_INTAKE_H
#define GUDGEON_EVENT_INTAKE_H

/*
 * The gate through which every foreign text passes before it becomes an event: what the journal
 * holds and what the model sees are one thing.
 *
 * In order: bytes that are no UTF-8 and NULs become U+FFFD; known secret values become `{secret}`;
 * what is over its cap is kept as head and tail around a line that says how much is left out and
 * where the whole is (a blob of the run's journal). Masking comes before cutting, so no cut leaves
 * half a secret, and before the blob, so no secret is on disk. Provider-opaque data does not pass
 * here. One intake serves one run; the functions on texts only read it, so threads may share it
 * while nobody adds a secret.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

struct buf;
struct err;
struct intake;
struct journal;
struct mask_stream;

/* Of a foreign JSON value; beyond it ERR_LIMIT. A record around it must still be readable. */
enum { INTAKE_MAX_DEPTH = 256, INTAKE_MAX_CONTAINERS = 1 << 18 };
/* What the blocks of one result may hold beside their texts (images); more goes to blobs. */
enum { INTAKE_MAX_MEDIA = 16 << 20 };

struct intake *intake_new(void);
void intake_free(struct intake *intake);
/* A value to mask wherever it occurs, also as JSON escapes it (see mask.h); values under 6 bytes
 * are not masked. Adding the same value twice is harmless. */
void intake_add_secret(struct intake *intake, const char *value);

/* Adds the safe form of `text`; 0 or ERR_LIMIT (of `out`). */
int intake_text(const struct intake *intake, gudgeon_str text, struct buf *out);
/* The same for a message or another text that somebody may have cut before: the beginning of a
 * secret where it ends, or before "…", is masked as well. */
int intake_cut_text(const struct intake *intake, gudgeon_str text, struct buf *out);
/* Whether a secret stands in the text. */
bool intake_finds_secret(const struct intake *intake, gudgeon_str text);
/* The same for what listeners are shown of a text while it comes, without its bytes being made
 * safe: the next part, and the end. See mask.h. */
void intake_stream_add(const struct intake *intake, struct mask_stream *stream, gudgeon_str part,
                       struct buf *out);
void intake_stream_end(const struct intake *intake, struct mask_stream *stream, struct buf *out);

/* Adds the safe form of a JSON value: every string and member name is made safe (escapes of half a
 * surrogate pair become U+FFFD), of equal names the last counts, a number that is a secret becomes
 * a masked string. ERR_INVALID: no JSON. */
int intake_json(const struct intake *intake, gudgeon_str json, struct buf *out, struct err *err);

struct intake_spill {
    char blob[65]; /* "" = nothing was spilled */
    size_t bytes;  /* size of the whole text, after masking */
};

/* The safe form of a result, at most `max_bytes` and the line about the rest: longer text is cut
 * on characters, three quarters from its head and a quarter from its tail, and the whole kept as a
 * blob of `journal`, named in that line. An empty or blank text becomes "(no output)". ERR_IO. */
int intake_result(const struct intake *intake, struct journal *journal, gudgeon_str text,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err);

/* A JSON array of content blocks from a tool: all of it is made safe as by intake_json; the cap
 * holds for the texts of all blocks together, as if they were one text, and the block with the
 * line about the rest gets "blob" and "bytes". Blank text blocks are dropped, all others are kept;
 * an empty array becomes one "(no output)" text block. ERR_INVALID: no array of blocks, the tool's
 * fault; ERR_LIMIT; ERR_IO: the journal. */
int intake_blocks(const struct intake *intake, struct journal *journal, gudgeon_str blocks,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err);

#endif
