/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_RECEIVE_H
#define GUDGEON_SYS_HTTP_RECEIVE_H

/*
 * What libcurl calls while an exchange moves on: each takes the stream as its last argument, runs
 * under the client's lock, and only notes what came; nobody is woken before the next settling.
 */

#include <curl/curl.h>
#include <stddef.h>

struct stream_head;

/* The connection stands and the request is about to be sent (CURLOPT_PREREQFUNCTION). A second
 * time for one request means that a kept connection turned out to be dead: whether the server has
 * seen the request is not known, so only an idempotent one is sent again. */
int receive_connected(void *stream, char *remote_ip, char *local_ip, int remote_port,
                      int local_port);
/* More of the request's body is wanted; or from its start again. */
size_t receive_body_wanted(char *to, size_t size, size_t count, void *stream);
int receive_body_rewind(void *stream, curl_off_t offset, int origin);
/* One line of a head, its end included. */
size_t receive_header(char *line, size_t size, size_t count, void *stream);
/* Bytes of the reply's body. */
size_t receive_bytes(char *bytes, size_t size, size_t count, void *stream);

void receive_reset_head(struct stream_head *head);
void receive_free_head(struct stream_head *head);

#endif
