/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_STREAM_H
#define GUDGEON_SYS_HTTP_STREAM_H

/*
 * One exchange, from the request to the last byte of the reply.
 *
 * stream.c opens, waits and closes; setup.c turns a request into libcurl's options; receive.c is
 * what libcurl calls as the exchange moves on; read.c hands out the body; fault.c words failures.
 * Every field is guarded by the client's lock, except those of the reader, which only the reading
 * thread touches. A stream that has ended, well or badly, is no longer known to libcurl.
 */

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/cancel.h"
#include "sys/http.h"
#include "sys/http/url.h"
#include "sys/lines.h"
#include "sys/sse.h"

struct http_client;

/* How far an exchange is; each phase has the limit that rules its silence. */
enum stream_phase {
    STREAM_CONNECTING, /* until the request can be sent */
    STREAM_SENDING,    /* the request's body */
    STREAM_AWAITING,   /* the first byte of the reply */
    STREAM_RECEIVING,
};

/* Which of the read functions the stream is read by. */
enum stream_sort { STREAM_UNREAD, STREAM_BYTES, STREAM_LINES, STREAM_EVENTS };

/* The head of the reply. Its texts stand in one buffer, which moves while it grows. */
struct stream_head {
    gudgeon_http_head head;
    gudgeon_http_header *headers;
    size_t capacity;
    struct buf text;
    bool is_complete;
};

/* The parts of the request's body, as far as they are sent. */
struct stream_body {
    const gudgeon_str *parts;
    size_t count;
    size_t at;         /* index of the part being sent */
    size_t at_offset;  /* bytes of it that are sent */
    struct buf joined; /* a small body in one piece */
    bool is_gone;      /* the parts may be freed by now */
};

struct http_stream {
    struct http_client *client;
    CURL *easy;
    bool is_running; /* known to the multi handle */

    /* Waiting (client.c). */
    pthread_cond_t changed;
    bool is_following, is_touched;
    struct http_stream *next_follower, *previous_follower, *next_touched;

    /* Limits. Instants are monotonic nanoseconds. */
    enum stream_phase phase;
    int64_t moved_ns; /* when the last byte moved or the phase changed */
    int64_t connect_ms, first_byte_ms, idle_ms, total_ms;
    int64_t total_until_ns, deadline_ns;
    int64_t nudged_ns;
    struct cancel *cancel;
    struct cancel_watch cancel_watch;

    /* The request. */
    struct url url;
    struct curl_slist *headers;
    struct stream_body body;
    bool is_idempotent; /* may be sent again over a new connection when a kept one is dead */
    bool was_sent;      /* to the present URL */
    bool was_resent;
    char *tried_address; /* numeric address and port of the last connection attempt, or NULL */

    /* The reply. */
    struct stream_head head;
    struct buf incoming; /* body bytes that nobody has read yet */
    int64_t received_bytes, max_bytes;
    bool is_held_back;
    bool wants_all; /* the reader waits for the whole body: never hold back */
    bool has_ended;
    struct err failure; /* why it ended; code 0 = it is complete */
    char curl_error[CURL_ERROR_SIZE];

    /* The reader. */
    enum stream_sort sort;
    struct buf taken; /* the bytes that the last read gave, or that are being split */
    union {
        struct sse sse;
        struct lines lines;
    } splitter;
};

int stream_open(struct http_client *client, const struct http_request *request,
                struct http_stream **ret, struct err *err);
void stream_close(struct http_stream *stream);

/* All that follows: with the client's lock held. */

/* Waits until `is_ready(stream)` or the end of the exchange, which a limit or a cancel brings
 * about if nothing else does. */
void stream_wait(struct http_stream *stream, bool (*is_ready)(const struct http_stream *stream));
/* Says why the exchange is about to end; the first reason stands. For libcurl's callbacks. */
void stream_set_failure(struct http_stream *stream, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Ends the exchange, if it has not ended, for the failure that is set. Not in callbacks. */
void stream_abandon(struct http_stream *stream);
/* Called by the client when libcurl is done with the transfer. */
void stream_transfer_ended(struct http_stream *stream, CURLcode code);
/* Stops receiving when too much lies unread; stream_go_on resumes. From within the callback that
 * receives, because libcurl reads on as long as there is something to read; and not by refusing
 * the bytes, because libcurl would then keep all that a decoder still gives. */
void stream_hold_back(struct http_stream *stream);
void stream_go_on(struct http_stream *stream);
/* Something moved. */
void stream_moved(struct http_stream *stream, enum stream_phase phase);

/* The reads, without the lock (read.c); as in sys/http.h. */
int stream_read(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
int stream_peek(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
int stream_read_line(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
int stream_read_event(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
int stream_read_all(struct http_stream *stream, gudgeon_http_part *part, struct err *err);
void stream_free_reader(struct http_stream *stream);

#endif
