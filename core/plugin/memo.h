/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_MEMO_H
#define GUDGEON_PLUGIN_MEMO_H

/*
 * The cache behind gudgeon.memo/1: one for each model instance.
 *
 * Entries are found by kind, subject and variant, and die with their subject. Each get or put gives
 * a reference; an entry that is replaced or forgotten meanwhile lives on until its last reference
 * is given back, so borrowed bytes never move. All entries together have a cap; a put that would
 * pass it is declined. Thread-safe.
 */

#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct memo;
struct memo_entry;

struct memo_key {
    unsigned kind; /* GUDGEON_MEMO_MESSAGE, GUDGEON_MEMO_TOOLS */
    uint64_t subject;
    gudgeon_str variant;
};

struct memo *memo_new(size_t max_bytes);
void memo_free(struct memo *memo); /* NULL is allowed; no reference may be out */

/* The entry with a reference, or NULL. */
struct memo_entry *memo_get(struct memo *memo, const struct memo_key *key);
/* Keeps a copy, in place of the one that stands. The entry with a reference, or NULL: declined. */
struct memo_entry *memo_put(struct memo *memo, const struct memo_key *key, gudgeon_str bytes);
/* Drops every variant of a subject. */
void memo_forget(struct memo *memo, unsigned kind, uint64_t subject);

/* Never absent; valid while the reference is held. */
gudgeon_str memo_bytes(const struct memo_entry *entry);
void memo_unref(struct memo *memo, struct memo_entry *const *entries, size_t count);

#endif
