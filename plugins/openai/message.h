/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_MESSAGE_H
#define OPENAI_MESSAGE_H

/*
 * The wire form of one message.
 *
 * Strings are carried from one envelope to the other as they are written, escapes and all; nothing
 * is decoded, so arguments and ids arrive byte for byte.
 *
 * An entry is what is kept of a message, a tag and its text:
 *   M  a whole wire message, with a comma before it
 *   T  text for a user or system message: the inside of a JSON string
 *   P  parts for a user message: each with a comma before it
 *   B  both: ten digits, an M text of that many bytes, then a P text
 * T and P become a message together with their neighbours (conversation.c).
 */

#include "config.h"

#include <gudgeon/json.h>

struct message_style {
    const struct dialect *dialect;
    int as_text; /* calls and results are told as text, because no tools may be listed */
    /* The tools that are listed, where calls of others must be told as text; NULL = all may stay.
     */
    const gudgeon_generate *listed;
    int own; /* assistant: this server and model gave it */
};

/* Adds the entry of `msg`. */
void message_encode(const gudgeon_msg *msg, const struct message_style *style, gudgeon_buf *out);

struct message_entry {
    gudgeon_str message; /* M, B: absent for others */
    gudgeon_str text;    /* T */
    gudgeon_str parts;   /* P, B */
};

struct message_entry message_split(gudgeon_str entry);

#endif
