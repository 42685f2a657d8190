/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_UTF8_H
#define GUDGEON_BASE_UTF8_H

/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
 * Pure functions on bytes; they allocate nothing but through the buffer they are given.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct buf;

/* Decodes the character at text[0..len); returns its length in bytes (1–4) and sets *ret, or 0
 * when the bytes are no valid character (also when it is cut at the end). len > 0. */
size_t utf8_decode(const char *text, size_t len, uint32_t *ret);
/* Encodes one code point (not a surrogate, <= U+10FFFF) into out[4]; returns its length. */
size_t utf8_encode(uint32_t code_point, char out[4]);
/* The offset of the first invalid byte, or `len` when all is valid. */
size_t utf8_valid_prefix(const char *text, size_t len);
bool utf8_is_valid(const char *text, size_t len);
/* The largest n <= len at which valid text can be cut without cutting a character. */
size_t utf8_cut(const char *text, size_t len);
/* The number of code points in valid text. */
size_t utf8_count(const char *text, size_t len);
/* Adds the text with every maximal invalid part and every NUL replaced by U+FFFD; 0 or
 * ERR_LIMIT. */
int utf8_sanitise(struct buf *out, const char *text, size_t len);
/* Whether a character is one to show to people: a terminal does not act on it, and it neither
 * hides nor reorders the text around it. */
bool utf8_is_shown(uint32_t code_point);
/* Makes foreign text fit for a message, in place: what is not shown becomes a space, newlines
 * among it, and a byte that is no UTF-8 becomes "?". */
void utf8_make_line(char *text);
/* A new copy of at most about `max_bytes` of foreign text for a message: sanitised and one line;
 * "" for absent text. */
char *utf8_one_line(gudgeon_str text, size_t max_bytes);

#endif
