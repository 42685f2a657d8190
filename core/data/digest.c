/* SPDX-License-Identifier: MIT */
#include "data/digest.h"

#include <stdint.h>

void digest_init(struct digest *digest)
{
    SHA256Init(&digest->state);
}

void digest_update(struct digest *digest, const void *bytes, size_t len)
{
    if (len > 0)
        SHA256Update(&digest->state, bytes, len);
}

void digest_copy(struct digest *to, const struct digest *from)
{
    *to = *from;
}

void digest_hex(const struct digest *digest, char out[DIGEST_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    SHA2_CTX state = digest->state; /* finishing changes it */
    uint8_t hash[SHA256_DIGEST_LENGTH];
    SHA256Final(hash, &state);
    for (size_t i = 0; i < sizeof hash; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 0xf];
    }
    out[DIGEST_HEX_SIZE - 1] = '\0';
}

void digest_of(gudgeon_str bytes, char out[DIGEST_HEX_SIZE])
{
    struct digest digest;
    digest_init(&digest);
    digest_update(&digest, bytes.ptr, bytes.len);
    digest_hex(&digest, out);
}
