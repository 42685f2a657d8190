/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_REPLY_H
#define OPENAI_REPLY_H

/* Gives the host what an assembly holds: blocks, finish, usage, ids. */

#include "assembly.h"
#include "config.h"
#include "request.h"

/* `assembly` must be settled. Gives the call its result; a class when it is too large. */
int32_t reply_give(const struct assembly *assembly, const struct request *request);
/* A reply that is nothing but a refusal with that text: the provider's filter stopped it. */
int32_t reply_give_refusal(const struct request *request, gudgeon_str text, const char *finish_raw);

#endif
