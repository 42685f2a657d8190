/* SPDX-License-Identifier: MIT */
#include "body.h"

void body_fini(struct body *body)
{
    for (size_t i = 0; i < body->owned_count; i++)
        free(body->owned[i]);
    free(body->owned);
    free(body->parts);
    memset(body, 0, sizeof *body);
}

void body_add(struct body *body, gudgeon_str part)
{
    if (body->count == body->cap) {
        size_t cap = body->cap + body->cap / 2 + 32;
        gudgeon_str *grown = realloc(body->parts, cap * sizeof *grown);
        if (grown == NULL) {
            body->failed = 1;
            return;
        }
        body->parts = grown;
        body->cap = cap;
    }
    body->parts[body->count++] = part;
}

void body_puts(struct body *body, const char *literal)
{
    body_add(body, gudgeon_text(literal));
}

gudgeon_str body_own(struct body *body, gudgeon_buf *take)
{
    gudgeon_str text = gudgeon_buf_str(take);
    char **grown = realloc(body->owned, (body->owned_count + 1) * sizeof *grown);
    if (grown != NULL)
        body->owned = grown;
    if (grown == NULL || take->failed) {
        body->failed = 1;
        gudgeon_buf_free(take);
        return gudgeon_text("");
    }
    body->owned[body->owned_count++] = take->ptr;
    memset(take, 0, sizeof *take);
    return text;
}
