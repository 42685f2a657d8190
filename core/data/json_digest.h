/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_JSON_DIGEST_H
#define GUDGEON_DATA_JSON_DIGEST_H

/*
 * A hash of a JSON value that agrees with json_equal: equal values have equal hashes, whatever
 * the order of their members and the spelling of their numbers.
 *
 * For finding equal values among many. The hash is not keyed: whoever makes the values can make
 * them collide, so callers bound the comparisons that follow (by `size`). Pure.
 */

#include <stddef.h>
#include <stdint.h>

struct json_object;

struct json_digest {
    uint64_t hash;
    size_t size; /* about the work that visiting the value takes: values within, and their bytes */
};

struct json_digest json_digest(struct json_object *value);

#endif
