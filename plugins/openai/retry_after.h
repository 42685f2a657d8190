/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_RETRY_AFTER_H
#define OPENAI_RETRY_AFTER_H

/*
 * When a server says to come back, in every form in use: retry-after-ms, retry-after as seconds,
 * decimals or an HTTP date (measured against the reply's own `date`, else this machine's clock),
 * and OpenAI's x-ratelimit-reset-* where nothing is left ("6m0s").
 */

#include <gudgeon/ext/http.h>

enum { RETRY_AFTER_MAX_MS = 24 * 3600 * 1000 };

/* Milliseconds, rounded up, at most RETRY_AFTER_MAX_MS; 0 = unsaid, past or rubbish. */
uint64_t retry_after_ms(const gudgeon_http_head *head);
/* The header's value; absent if it is not there. */
gudgeon_str http_header(const gudgeon_http_head *head, const char *name);

#endif
