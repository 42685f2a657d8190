/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_FAULT_H
#define GUDGEON_SYS_HTTP_FAULT_H

/*
 * What a failed transfer means: from libcurl's code to a class of gudgeon/ext/http.h and one line
 * for people. One table. Messages name the host and never the path, the query or a header.
 */

#include <curl/curl.h>
#include <stddef.h>
#include <stdint.h>

struct http_stream;

/* Sets the stream's failure. */
void fault_describe(struct http_stream *stream, CURLcode code);
/* "250 ms", "10 s". */
void fault_format_ms(int64_t ms, char out[32]);

#endif
