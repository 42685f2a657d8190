/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_REQUEST_H
#define OPENAI_REQUEST_H

/*
 * From gudgeon_generate to the body of a chat completions request.
 *
 * What was encoded for an earlier request comes from gudgeon.memo/1, so encoding costs the new
 * messages, not the history; and earlier messages are sent as the same bytes again, which keeps
 * the provider's prompt cache warm.
 */

#include "body.h"
#include "config.h"

struct request {
    const struct config *config;
    const gudgeon_call *call;
    const gudgeon_generate *generate;
    gudgeon_str extra;  /* generate's, without space around it */
    gudgeon_str origin; /* that replies to this request get */
    int as_text;        /* no tools may be listed, and there is no other way to forbid them */
};

/* Adds the messages array, without its brackets. */
void request_add_messages(const struct request *request, struct body *body);
/* Adds all of it. 0, or a class with the call's error set. */
int32_t request_encode(const struct request *request, struct body *body);

/* The memo's entry or, where there is none, the absent string. */
gudgeon_str request_recall(const struct request *request, uint32_t kind, uint64_t subject,
                           gudgeon_str variant);
/* Gives `encoded` to the memo, or to the body when it declines; the buffer is empty afterwards. */
gudgeon_str request_keep(const struct request *request, struct body *body, uint32_t kind,
                         uint64_t subject, gudgeon_str variant, gudgeon_buf *encoded);

#endif
