/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_GENERATE_H
#define OPENAI_GENERATE_H

/* The op: one request, one reply, or one fault with its class. */

#include <gudgeon/plugin.h>

int32_t generate(void *self, const gudgeon_call *call, const gudgeon_generate *request);

#endif
