/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_FAULT_H
#define OPENAI_FAULT_H

/*
 * What went wrong, as one of the ABI's classes.
 *
 * Servers name the same fault in many ways, so it is judged in this order: the code or type that
 * the body names, then the HTTP status, then the wording; and `x-should-retry` has a say at the
 * end. Errors inside a stream or in the body of a 200 go the same way.
 */

#include "config.h"

#include <gudgeon/json.h>

struct fault {
    int32_t error_class;
    uint32_t status;         /* HTTP's, or the body's own where that is a 200; 0 = none */
    uint64_t retry_after_ms; /* 0 = unsaid */
    int filtered;            /* a content filter stopped it: a refusal rather than a fault */
    gudgeon_buf message;     /* one line, without the server's name */
    gudgeon_buf code;        /* the server's own */
};

void fault_fini(struct fault *fault);

/* Judges `body` (of any kind: JSON, an event, HTML, nothing). `head` may be NULL. */
void fault_judge(struct fault *fault, const gudgeon_http_head *head, gudgeon_str body);
/* The part of a sound JSON object that reports an error, be it with status 200; absent if none. */
gudgeon_str fault_find(gudgeon_str object);
/* Tells the call and gives the class. */
int32_t fault_report(const struct fault *fault, const struct config *config,
                     const gudgeon_call *call);

#endif
