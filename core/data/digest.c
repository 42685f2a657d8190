/* SPDX-License-Identifier: MIT */
#include "data/digest.h"

#include <endian.h>
#include <string.h>

enum { BLOCK = sizeof((struct digest *)NULL)->block, ROUNDS = 64, WORDS = 8 };

/* FIPS 180-4, 5.3.3: the fractions of the square roots of the first 8 primes. */
static const uint32_t first_state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* 4.2.2: the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

/* 6.2.2, step 1. */
static void expand(const unsigned char *block, uint32_t words[ROUNDS])
{
    for (int i = 0; i < 16; i++) {
        memcpy(&words[i], block + 4 * i, 4);
        words[i] = be32toh(words[i]);
    }
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t near = words[i - 2], far = words[i - 15];
        words[i] = words[i - 16] + (rotate(far, 7) ^ rotate(far, 18) ^ far >> 3) + words[i - 7] +
                   (rotate(near, 17) ^ rotate(near, 19) ^ near >> 10);
    }
}

/* 6.2.2, steps 2 to 4. */
static void compress(uint32_t state[WORDS], const unsigned char *block)
{
    uint32_t words[ROUNDS];
    expand(block, words);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
             g = state[6], h = state[7];
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t one = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + (g ^ (e & (f ^ g))) +
                       constants[i] + words[i];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + one;
        d = c, c = b, b = a, a = one + two;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void digest_init(struct digest *digest)
{
    *digest = (struct digest){.bytes = 0};
    memcpy(digest->state, first_state, sizeof first_state);
}

void digest_update(struct digest *digest, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    size_t waiting = digest->bytes % BLOCK;
    digest->bytes += len;
    if (waiting > 0) {
        size_t missing = BLOCK - waiting, taken = len < missing ? len : missing;
        if (taken > 0)
            memcpy(digest->block + waiting, at, taken);
        if (taken < missing)
            return;
        compress(digest->state, digest->block);
        at += taken;
        len -= taken;
    }
    for (; len >= BLOCK; at += BLOCK, len -= BLOCK)
        compress(digest->state, at);
    if (len > 0)
        memcpy(digest->block, at, len);
}

void digest_copy(struct digest *to, const struct digest *from)
{
    *to = *from;
}

/* 5.1.1: a one, zeros, and the length in bits, to the end of a block. */
static void pad(struct digest *digest)
{
    static const unsigned char padding[BLOCK] = {0x80};
    uint64_t bits = htobe64(digest->bytes * 8);
    size_t waiting = digest->bytes % BLOCK, end = BLOCK - sizeof bits;
    digest_update(digest, padding, waiting < end ? end - waiting : BLOCK + end - waiting);
    digest_update(digest, &bits, sizeof bits);
}

void digest_hex(const struct digest *digest, char out[DIGEST_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    struct digest whole = *digest;
    pad(&whole);
    for (size_t i = 0; i < DIGEST_HEX_SIZE - 1; i++)
        out[i] = digits[whole.state[i / WORDS] >> (28 - 4 * (i % WORDS)) & 0xf];
    out[DIGEST_HEX_SIZE - 1] = '\0';
}

void digest_of(gudgeon_str bytes, char out[DIGEST_HEX_SIZE])
{
    struct digest digest;
    digest_init(&digest);
    digest_update(&digest, bytes.ptr, bytes.len);
    digest_hex(&digest, out);
}
