/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_JSON_TEXT_H
#define GUDGEON_DATA_JSON_TEXT_H

/*
 * What the JSON reader and writer share about text: the fast search for the end of a run that
 * needs no escape, and the two bytes that stand for U+0000 in a key.
 * Private to core/data. Pure; eight bytes are looked at in one go where there are eight.
 */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* U+0000 within a key of a json_object (see json.h). */
#define JSON_KEY_NUL "\xc0\x80"

struct buf;
/* Adds an object's key as the text that it stands for. */
void json_add_key_text(struct buf *out, const char *key);

static inline bool json_is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

/* The number of bytes before the first one that cannot stand in a JSON string as it is: a quote,
 * a backslash or a control character. *ret_ascii is set to whether all of them are ASCII. */
static inline size_t json_plain_run(const char *text, size_t len, bool *ret_ascii)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = UINT64_C(0x8080808080808080);
    uint64_t seen = 0;
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, 8);
        word = le64toh(word); /* the first byte is the lowest */
        /* Each term has a high bit set where a byte is below 0x20, or equal, in that order; right
         * up to the lowest of them. */
        uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
        uint64_t special = (word - ones * 0x20) & ~word;
        special |= (quote - ones) & ~quote;
        special |= (backslash - ones) & ~backslash;
        special &= highs;
        if (special != 0) {
            uint64_t lowest = special & -special; /* the bits below it are of the bytes before */
            *ret_ascii = ((seen | (word & (lowest - 1))) & highs) == 0;
            return i + (size_t)__builtin_ctzll(special) / 8;
        }
        seen |= word;
    }
    for (; i < len && json_is_plain((unsigned char)text[i]); i++)
        seen |= (unsigned char)text[i];
    *ret_ascii = (seen & highs) == 0;
    return i;
}

#endif
