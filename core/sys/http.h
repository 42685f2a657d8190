/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_H
#define GUDGEON_SYS_HTTP_H

/*
 * HTTP for the host: the interface of the private module gudgeon-http.so, loaded on first use so
 * that commands without requests do not pay for libcurl and its TLS library.
 *
 * A client is a pool of connections. A stream is one exchange: a thread opens it, reads and closes
 * it. There is no I/O thread: of the threads that wait for a client's streams one moves the bytes
 * of all, so that an exchange costs no switch between threads; while nobody waits, nothing moves,
 * and a slow reader holds its sender back.
 * Limits: connect, first byte, idle and total each on their own. Nothing is retried, no status is
 * judged. Loopback hosts never go through a proxy. Extra CA files add to the system's. Redirects
 * (at most 5) are followed for GET and HEAD without a body, never from https to http, and another
 * origin gets none of the request's headers but Accept, Accept-Language and User-Agent.
 * Everything is thread-safe but that the reads of one stream must not overlap.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/ext/http.h>

struct cancel;
struct err;
struct http_client;
struct http_stream;

/* Defaults of the limits, in milliseconds and bytes, where a request says 0. */
enum {
    HTTP_CONNECT_MS = 10 * 1000,
    HTTP_FIRST_BYTE_MS = 600 * 1000, /* long thinking before the first byte is normal */
    HTTP_IDLE_MS = 120 * 1000,
    HTTP_MAX_BYTES = 64 << 20,
    HTTP_MAX_UNIT_BYTES = 16 << 20, /* one line, one event */
};

struct http_client_options {
    const char *user_agent;
    const char *ca_file; /* added to the system's store; NULL = SSL_CERT_FILE's, if set */
};

struct http_request {
    const char *method; /* NULL = POST with a body, GET without */
    const char *url;
    const gudgeon_http_header *headers; /* secrets already filled in */
    size_t header_count;
    const gudgeon_str *body; /* parts, sent in order; not copied: must live until open returns */
    size_t body_count;
    const char *ca_file;                                  /* NULL = the client's */
    int64_t connect_ms, first_byte_ms, idle_ms, total_ms; /* 0 = default; total: none */
    int64_t max_bytes;
    int64_t deadline_ns;   /* monotonic; INT64_MAX = none; holds for every wait on the stream */
    struct cancel *cancel; /* may be NULL; must outlive the stream */
    /* Whether a redirect may lead to `url` (without credentials); else open gives ERR_REFUSED.
     * NULL = anywhere. Runs under the client's lock: short, without calls to the client. */
    bool (*may_follow)(void *payload, const char *url);
    void *payload;
};

struct http_ops {
    size_t size;
    int (*client_new)(const struct http_client_options *options, struct http_client **ret,
                      struct err *err);
    /* No stream may be open. */
    void (*client_free)(struct http_client *client);
    /* Sends the request and waits for the head of the (last) response. Codes as in
     * gudgeon/ext/http.h, negated. The message names the host and what failed, no secrets. */
    int (*open)(struct http_client *client, const struct http_request *request,
                struct http_stream **ret, struct err *err);
    const gudgeon_http_head *(*head)(struct http_stream *stream);
    /* As in gudgeon/ext/http.h; part->size is not looked at. */
    int (*read)(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
    int (*read_line)(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
    int (*read_event)(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
    int (*read_all)(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
    void (*close)(struct http_stream *stream); /* NULL is allowed */
    /* The first bytes of the body, not taken; only before the first read. */
    int (*peek)(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
};

/* The module's table; loads it the first time. ERR_NOT_FOUND with the path that was tried. */
int http_load(const struct http_ops **ret, struct err *err);

/* The one symbol that the module exports. */
#define HTTP_MODULE_SYMBOL "gudgeon_http_module"

#endif
