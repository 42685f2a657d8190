/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_USAGE_H
#define GUDGEON_AGENT_USAGE_H

/*
 * Token counts as providers give them, with a mask of what is known, and their sums.
 * In a journal: {"input":…, "output":…, "cached":…, "cache_write":…, "reasoning":…}, known ones
 * only.
 */

#include <stdint.h>

#include <gudgeon/plugin.h>

struct json_writer;

struct usage {
    unsigned known; /* GUDGEON_USAGE_* */
    int64_t input, output, cached, cache_write, reasoning;
};

struct usage usage_of_reply(const gudgeon_reply *reply);
void usage_add(struct usage *sum, const struct usage *part);
/* Writes `key` and the object; nothing when no count is known. */
void usage_write(struct json_writer *writer, const char *key, const struct usage *usage);
/* Tokens that count against limits.tokens. */
int64_t usage_total(const struct usage *usage);

#endif
