/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_DIGEST_H
#define GUDGEON_DATA_DIGEST_H

/*
 * SHA-256 (FIPS 180-4) in hexadecimal: names of blobs, digests of what a model was sent, identity
 * of definitions.
 *
 * Incremental: digest_hex may be asked at any point and more may be added afterwards, so that the
 * digest of a growing history costs only what is new. A copy of the struct (or digest_copy) is an
 * independent digest. Nothing to free. Not thread-safe.
 */

#include <stddef.h>
#include <sys/types.h>

#include <sha2.h>

#include <gudgeon/plugin.h>

struct digest {
    SHA2_CTX state;
};

enum { DIGEST_HEX_SIZE = 65 }; /* 64 lower-case digits and a NUL */

void digest_init(struct digest *digest);
void digest_update(struct digest *digest, const void *bytes, size_t len);
void digest_copy(struct digest *to, const struct digest *from);
/* The digest of all that was added so far; `digest` is not changed. */
void digest_hex(const struct digest *digest, char out[DIGEST_HEX_SIZE]);
/* All in one. */
void digest_of(gudgeon_str bytes, char out[DIGEST_HEX_SIZE]);

#endif
