/* SPDX-License-Identifier: MIT */
#include "sys/http/stream.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "sys/http/client.h"
#include "sys/http/fault.h"
#include "sys/http/receive.h"
#include "sys/http/setup.h"

#define NUDGE_NS (200 * NS_PER_MS)

enum {
    MAX_REDIRECTS = 5,
    UNREAD_BYTES = 256 << 10, /* body that may lie unread before the sender is held back */
};

/* ---- ends ---------------------------------------------------------------------------------- */

void stream_set_failure(struct http_stream *stream, int code, const char *format, ...)
{
    if (stream->failure.code != 0)
        return;
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err_set(&stream->failure, code, "%s", text);
}

/* Takes the transfer from libcurl, which closes its connection unless it is complete. */
static void stop_transfer(struct http_stream *stream)
{
    if (stream->is_running)
        curl_multi_remove_handle(stream->client->multi, stream->easy);
    stream->is_running = false;
}

void stream_transfer_ended(struct http_stream *stream, CURLcode code)
{
    if (code != CURLE_OK && stream->failure.code == 0)
        fault_describe(stream, code);
    stop_transfer(stream);
    stream->has_ended = true;
    client_touch(stream->client, stream);
}

void stream_abandon(struct http_stream *stream)
{
    stop_transfer(stream);
    stream->has_ended = true;
    client_settle(stream->client);
}

/* ---- limits -------------------------------------------------------------------------------- */

/* What silence in a phase means: `before` HOST `after` DURATION. */
static const struct {
    size_t limit_offset;
    const char *before, *after;
} silences[] = {
    [STREAM_CONNECTING] = {offsetof(struct http_stream, connect_ms), "no connection to ", "within"},
    [STREAM_SENDING] = {offsetof(struct http_stream, idle_ms), "",
                        "took no more of the request for"},
    [STREAM_AWAITING] = {offsetof(struct http_stream, first_byte_ms), "", "did not answer within"},
    [STREAM_RECEIVING] = {offsetof(struct http_stream, idle_ms), "", "sent nothing more for"},
};

static int64_t silence_ms(const struct http_stream *stream)
{
    return *(const int64_t *)((const char *)stream + silences[stream->phase].limit_offset);
}

/* `now` + `ms`, without passing the end of time. */
static int64_t later(int64_t now_ns, int64_t ms)
{
    return ms > (INT64_MAX - now_ns) / NS_PER_MS ? INT64_MAX : now_ns + ms * NS_PER_MS;
}

/* When silence becomes too long. While nobody waits nothing is received, so it counts from the
 * beginning of the wait at the earliest. */
static int64_t silence_until(const struct http_stream *stream, int64_t wait_began_ns)
{
    int64_t since = stream->moved_ns > wait_began_ns ? stream->moved_ns : wait_began_ns;
    return later(since, silence_ms(stream));
}

static int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Sets the failure that ends the wait now, if there is one; else returns when to look again. */
static int64_t check_limits(struct http_stream *stream, int64_t wait_began_ns)
{
    const char *host = stream->url.authority;
    int64_t now = clock_monotonic_ns(), silent_until = silence_until(stream, wait_began_ns);
    char limit[32];
    if (stream->cancel != NULL && cancel_is_set(stream->cancel)) {
        stream_set_failure(stream, ERR_CANCELLED, "cancelled while waiting for %s", host);
    } else if (now >= stream->deadline_ns) {
        stream_set_failure(stream, ERR_TIMEOUT, "the deadline passed while waiting for %s", host);
    } else if (now >= stream->total_until_ns) {
        fault_format_ms(stream->total_ms, limit);
        stream_set_failure(stream, ERR_TIMEOUT, "the exchange with %s took longer than %s", host,
                           limit);
    } else if (now >= silent_until) {
        fault_format_ms(silence_ms(stream), limit);
        stream_set_failure(stream, ERR_TIMEOUT, "%s%s %s %s", silences[stream->phase].before, host,
                           silences[stream->phase].after, limit);
    }
    return earlier_of(silent_until, earlier_of(stream->deadline_ns, stream->total_until_ns));
}

void stream_moved(struct http_stream *stream, enum stream_phase phase)
{
    stream->phase = phase;
    stream->moved_ns = clock_monotonic_ns();
}

static int64_t nudge_at(const struct http_stream *stream)
{
    return stream->phase == STREAM_CONNECTING ? stream->nudged_ns + NUDGE_NS : INT64_MAX;
}

/* libcurl 7.88 gives the first of several addresses its share of the time, and then, on the
 * socket interface, sleeps until the whole time is up instead of trying the next: so a stream that
 * connects is run once in a while. Pausing and resuming is how a transfer is run without an
 * event. */
static void nudge(struct http_stream *stream)
{
    int64_t now = clock_monotonic_ns();
    if (!stream->is_running || now < nudge_at(stream))
        return;
    stream->nudged_ns = now;
    curl_easy_pause(stream->easy, CURLPAUSE_SEND);
    curl_easy_pause(stream->easy, CURLPAUSE_CONT);
    client_settle(stream->client);
}

void stream_wait(struct http_stream *stream, bool (*is_ready)(const struct http_stream *stream))
{
    int64_t began = clock_monotonic_ns();
    while (!stream->has_ended && !is_ready(stream)) {
        int64_t until = check_limits(stream, began);
        if (stream->failure.code != 0) {
            stream_abandon(stream);
        } else {
            client_wait(stream->client, stream, earlier_of(until, nudge_at(stream)));
            nudge(stream);
        }
    }
    client_leave(stream->client);
}

/* ---- holding back -------------------------------------------------------------------------- */

void stream_hold_back(struct http_stream *stream)
{
    if (stream->wants_all || stream->is_held_back || stream->incoming.len < UNREAD_BYTES)
        return;
    stream->is_held_back = true;
    curl_easy_pause(stream->easy, CURLPAUSE_RECV);
}

void stream_go_on(struct http_stream *stream)
{
    if (!stream->is_held_back || !stream->is_running)
        return;
    stream->is_held_back = false;
    curl_easy_pause(stream->easy, CURLPAUSE_CONT);
    client_settle(stream->client);
}

/* ---- opening ------------------------------------------------------------------------------- */

static void on_cancel(void *payload)
{
    struct http_stream *stream = payload;
    pthread_mutex_lock(&stream->client->lock);
    client_wake(stream->client, stream);
    pthread_mutex_unlock(&stream->client->lock);
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value > 0 ? value : otherwise;
}

static void set_limits(struct http_stream *stream, const struct http_request *request)
{
    stream->connect_ms = or_default(request->connect_ms, HTTP_CONNECT_MS);
    stream->first_byte_ms = or_default(request->first_byte_ms, HTTP_FIRST_BYTE_MS);
    stream->idle_ms = or_default(request->idle_ms, HTTP_IDLE_MS);
    stream->total_ms = or_default(request->total_ms, INT64_MAX);
    stream->max_bytes = or_default(request->max_bytes, HTTP_MAX_BYTES);
    stream->total_until_ns = later(clock_monotonic_ns(), stream->total_ms);
    stream->deadline_ns = request->deadline_ns;
}

static struct http_stream *new_stream(struct http_client *client,
                                      const struct http_request *request)
{
    struct http_stream *stream = xcalloc(1, sizeof *stream);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&stream->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    stream->client = client;
    set_limits(stream, request);
    stream->body.parts = request->body;
    stream->body.count = request->body_count;
    buf_init(&stream->body.joined, BUF_MAX_ANY);
    buf_init(&stream->head.text, 0);
    receive_reset_head(&stream->head);
    buf_init(&stream->incoming, BUF_MAX_ANY); /* receive_bytes keeps it below max_bytes */
    buf_init(&stream->taken, BUF_MAX_ANY);
    stream->cancel = request->cancel;
    stream->cancel_watch = (struct cancel_watch){.run = on_cancel, .payload = stream};
    return stream;
}

static bool is_answered(const struct http_stream *stream)
{
    /* An early success leaves the rest of the body to be sent; an early error does not. */
    return stream->head.is_complete &&
           (stream->body.at == stream->body.count || stream->head.head.status >= 300);
}

/* Asks for stream->url and waits for the head. */
static int exchange_head(struct http_stream *stream, const struct http_request *request,
                         bool is_foreign, struct err *err)
{
    int status = setup_request(stream, request, is_foreign, err);
    if (status < 0)
        return status;
    receive_reset_head(&stream->head);
    buf_reset(&stream->incoming);
    stream->received_bytes = 0;
    stream->has_ended = false;
    stream->was_sent = false;
    stream_moved(stream, STREAM_CONNECTING);
    stream->nudged_ns = stream->moved_ns;
    curl_multi_add_handle(stream->client->multi, stream->easy);
    stream->is_running = true;
    client_settle(stream->client);
    stream_wait(stream, is_answered);
    if (stream->head.is_complete)
        return 0;                  /* what went wrong after it is for the reader */
    if (stream->failure.code == 0) /* libcurl takes a close within the head for an end */
        stream_set_failure(stream, ERR_RETRY, "%s closed the connection before it answered",
                           stream->url.authority);
    return err_set(err, stream->failure.code, "%s", stream->failure.text);
}

static const char *find_header(const struct stream_head *head, const char *name)
{
    for (size_t i = 0; i < head->head.header_count; i++)
        if (str_is(head->headers[i].name, name))
            return head->headers[i].value.ptr;
    return NULL;
}

/* Where the answer sends the request on to, or NULL. Only for requests without a body. */
static const char *redirect_target(const struct http_stream *stream,
                                   const struct http_request *request)
{
    static const uint32_t statuses[] = {301, 302, 303, 307, 308};
    const char *method = request->method != NULL ? request->method : "GET";
    if (request->body_count > 0 || (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0))
        return NULL;
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (stream->head.head.status == statuses[i])
            return find_header(&stream->head, "location");
    return NULL;
}

/* Where the request goes on to: *ret, to be freed by url_fini. */
static int follow(const struct http_stream *stream, const struct http_request *request,
                  const char *target, struct url *ret, struct err *err)
{
    int status = url_follow(&stream->url, target, ret, err);
    if (status < 0 || request->may_follow == NULL ||
        request->may_follow(request->payload, ret->shown))
        return status;
    status = err_set(err, ERR_REFUSED, "%s redirects to %s, which is not granted",
                     stream->url.authority, ret->authority);
    url_fini(ret);
    return status;
}

static int exchange_heads(struct http_stream *stream, const struct http_request *request,
                          struct err *err)
{
    bool is_foreign = false;
    for (int hops = 0;; hops++) {
        int status = exchange_head(stream, request, is_foreign, err);
        const char *target = status == 0 ? redirect_target(stream, request) : NULL;
        if (target == NULL)
            return status;
        if (hops == MAX_REDIRECTS)
            return err_set(err, ERR_PROTOCOL, "%s redirects more than %d times",
                           stream->url.authority, MAX_REDIRECTS);
        struct url next;
        status = follow(stream, request, target, &next, err);
        if (status < 0)
            return status;
        stream_abandon(stream);
        is_foreign = is_foreign || !url_same_origin(&stream->url, &next);
        url_fini(&stream->url);
        stream->url = next;
    }
}

int stream_open(struct http_client *client, const struct http_request *request,
                struct http_stream **ret, struct err *err)
{
    struct url url;
    int status = url_parse(request->url, &url, err);
    if (status < 0)
        return status;
    struct http_stream *stream = new_stream(client, request);
    stream->url = url;
    if (stream->cancel != NULL)
        cancel_watch_add(stream->cancel, &stream->cancel_watch);
    pthread_mutex_lock(&client->lock);
    stream->easy = client_take_handle(client);
    status = exchange_heads(stream, request, err);
    stream->body.is_gone = true;
    pthread_mutex_unlock(&client->lock);
    if (status < 0)
        stream_close(stream);
    else
        *ret = stream;
    return status;
}

void stream_close(struct http_stream *stream)
{
    if (stream == NULL)
        return;
    struct http_client *client = stream->client;
    if (stream->cancel != NULL)
        cancel_watch_remove(stream->cancel, &stream->cancel_watch);
    pthread_mutex_lock(&client->lock);
    if (stream->is_running)
        stream_abandon(stream);
    client_give_handle(client, stream->easy, !stream->was_resent);
    pthread_mutex_unlock(&client->lock);
    pthread_cond_destroy(&stream->changed);
    stream_free_reader(stream);
    receive_free_head(&stream->head);
    url_fini(&stream->url);
    curl_slist_free_all(stream->headers);
    buf_fini(&stream->body.joined);
    buf_fini(&stream->incoming);
    free(stream->tried_address);
    free(stream);
}
