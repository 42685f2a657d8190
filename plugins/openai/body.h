/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_BODY_H
#define OPENAI_BODY_H

/*
 * The body of one request, as a list of pieces of text that are sent one after another: literals,
 * encodings that gudgeon.memo/1 keeps, and encodings that live here because it declined. Nothing
 * of the history is copied.
 *
 * Pieces are borrowed until body_fini, which frees what body_own took over. `failed` is set once
 * memory runs out, and then stays set.
 */

#include <gudgeon/json.h>

struct body {
    gudgeon_str *parts;
    size_t count;
    size_t cap;
    char **owned;
    size_t owned_count;
    int failed;
};

void body_fini(struct body *body);
void body_add(struct body *body, gudgeon_str part);
/* Adds a text with static storage. */
void body_puts(struct body *body, const char *literal);
/* Takes the buffer's memory over and gives its text; the buffer is empty afterwards. */
gudgeon_str body_own(struct body *body, gudgeon_buf *take);

#endif
