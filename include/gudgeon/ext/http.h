/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EXT_HTTP_H
#define GUDGEON_EXT_HTTP_H

/*
 * gudgeon.http/1: HTTP and HTTPS through the host.
 *
 * Proxies, TLS, pooling, time limits and cancel are the host's; so is masking of secrets. A
 * `{secret:NAME}` in a header value is filled in by the host. It never retries and never judges a
 * status: the plugin classifies. Every wait ends when the call is cancelled or its deadline
 * passes. A handle belongs to the op that opened it: what is still open when the op returns is
 * closed by the host.
 */

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_HTTP_ID "gudgeon.http/1"

typedef struct gudgeon_http_stream gudgeon_http_stream; /* an open exchange */

typedef struct gudgeon_http_header {
    gudgeon_str name;
    gudgeon_str value;
} gudgeon_http_header; /* frozen, arrayable */

typedef struct gudgeon_http_request {
    uint32_t size;
    uint32_t reserved;
    gudgeon_str method; /* absent = POST with a body, GET without */
    gudgeon_str url;
    const gudgeon_http_header *headers;
    uint64_t header_count;
    const gudgeon_str *body; /* sent one after another, not copied: must live until open returns */
    uint64_t body_count;
    gudgeon_str ca_file; /* PEM file whose certificates are trusted beside the system's */
    /* Limits in milliseconds; 0 = the host's default. */
    uint64_t connect_ms;    /* to a usable connection, TLS included (10 s) */
    uint64_t first_byte_ms; /* from the end of the request to the first byte of the head (10 min) */
    uint64_t idle_ms;       /* between two bytes of the reply (2 min) */
    uint64_t total_ms;      /* for all of it (none) */
    uint64_t max_bytes;     /* of the body, after decoding (64 MiB) */
} gudgeon_http_request;

/* Borrowed until the stream is closed. */
typedef struct gudgeon_http_head {
    uint32_t size;
    uint32_t status;                    /* of the last response, after redirects */
    const gudgeon_http_header *headers; /* names in lower case */
    uint64_t header_count;
    gudgeon_str url; /* the one that answered */
} gudgeon_http_head;

/* One part of the reply. Borrowed until the next read on the stream, or close. */
typedef struct gudgeon_http_part {
    uint32_t size;    /* set by the plugin before the read */
    uint32_t end;     /* 1 = the reply is complete; the other fields are absent */
    gudgeon_str type; /* event: the event's type, absent = "message" */
    gudgeon_str id;   /* event: the last event id seen */
    gudgeon_str data; /* the bytes, the line without its end, or the event's data */
} gudgeon_http_part;

typedef struct gudgeon_http {
    uint32_t size;
    uint32_t reserved;
    /* [call] Sends the request, waits for the head of the reply, sets *stream. Classes: RETRY
     * (connection refused, reset, name look-up, TLS handshake cut), UNAVAILABLE (certificate not
     * trusted), TIMEOUT, CANCELLED, REFUSED (not a granted host), INVALID (bad URL or header).
     * Detail is put into the call's error. On failure there is no stream. */
    int32_t (*open)(const gudgeon_call *call, const gudgeon_http_request *request,
                    gudgeon_http_stream **stream);
    /* [any] The head; never fails. */
    const gudgeon_http_head *(*head)(gudgeon_http_stream *stream);
    /* [any] The next bytes as they come. The reads of one stream must not overlap and must all be
     * of one sort. Classes: RETRY (cut before its end), TIMEOUT, CANCELLED, LIMIT. */
    int32_t (*read)(gudgeon_http_stream *stream, gudgeon_http_part *part);
    /* [any] The next line (NDJSON); empty lines are passed over. LIMIT: a line over 16 MiB. */
    int32_t (*read_line)(gudgeon_http_stream *stream, gudgeon_http_part *part);
    /* [any] The next server-sent event, as the WHATWG HTML standard parses them; comments and
     * events without data are passed over. LIMIT: an event over 16 MiB. An event that the end of
     * the reply cut short is not given. */
    int32_t (*read_event)(gudgeon_http_stream *stream, gudgeon_http_part *part);
    /* [any] All that is left of the body in `data`, with end = 0. */
    int32_t (*read_all)(gudgeon_http_stream *stream, gudgeon_http_part *part);
    /* [any] Ends the exchange, cancelling what is still under way. NULL is allowed. */
    void (*close)(gudgeon_http_stream *stream);
    /* [any] Waits for the first bytes of the body and shows them without taking them: the next
     * read, of any sort, gives them again. For replies whose content type cannot be trusted. Only
     * before the first read; end = 1 when the body is empty. Classes as read. */
    int32_t (*peek)(gudgeon_http_stream *stream, gudgeon_http_part *part);
} gudgeon_http;

#ifdef __cplusplus
}
#endif
#endif
