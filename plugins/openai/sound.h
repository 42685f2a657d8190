/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_SOUND_H
#define OPENAI_SOUND_H

/*
 * Makes the inside of a JSON string sound, in place of which servers send: raw control bytes
 * become escapes; bytes that are no UTF-8 and halves of surrogate pairs become U+FFFD. Everything
 * else stays byte for byte.
 */

#include <gudgeon/json.h>

void sound_make(gudgeon_buf *inner);
/* Whether \uD800 to \uDBFF stands at `at`. */
int sound_is_high_half(const char *at, const char *end);

#endif
