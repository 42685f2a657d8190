/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_SETUP_H
#define GUDGEON_SYS_HTTP_SETUP_H

/*
 * From a request to libcurl's options.
 *
 * Handles are used again: what all streams share is set once, when a handle is made; what a
 * request says is set for every request, whether it says it or not. setup_request may be called
 * again for the next hop of a redirect. With the client's lock held.
 */

#include <curl/curl.h>
#include <stdbool.h>

struct err;
struct http_client;
struct http_request;
struct http_stream;

void setup_handle(CURL *easy, struct http_client *client);
/* Sets the stream's handle to ask for stream->url. ERR_INVALID: a bad method, header or CA file.
 * `is_foreign`: a redirect has left the first origin; the request's headers stay behind. */
int setup_request(struct http_stream *stream, const struct http_request *request, bool is_foreign,
                  struct err *err);

#endif
