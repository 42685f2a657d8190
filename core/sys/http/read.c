/* SPDX-License-Identifier: MIT */
/* What the reader of a stream calls; one thread at a time for each stream. */
#include "sys/http/client.h"
#include "sys/http/stream.h"

#include <string.h>

static void lock(struct http_stream *stream)
{
    pthread_mutex_lock(&stream->client->lock);
}

static void unlock(struct http_stream *stream)
{
    pthread_mutex_unlock(&stream->client->lock);
}

static int give_failure(const struct http_stream *stream, struct err *err)
{
    return err_set(err, stream->failure.code, "%s", stream->failure.text);
}

static int give_end(gudgeon_http_part *part)
{
    *part = (gudgeon_http_part){.size = part->size, .end = 1};
    return 0;
}

static int give_data(gudgeon_http_part *part, const char *data, size_t len)
{
    *part = (gudgeon_http_part){.size = part->size, .data = {data, len}};
    return 0;
}

/* Begins a read: the reads of a stream are of one sort, and a cancel ends them. */
static int begin(struct http_stream *stream, enum stream_sort sort, struct err *err)
{
    if (stream->sort != STREAM_UNREAD && stream->sort != sort)
        return err_set(err, ERR_INVALID, "the reads of one stream must be of one sort");
    if (stream->sort == STREAM_UNREAD && sort == STREAM_EVENTS)
        sse_init(&stream->splitter.sse, HTTP_MAX_UNIT_BYTES);
    if (stream->sort == STREAM_UNREAD && sort == STREAM_LINES)
        lines_init(&stream->splitter.lines, HTTP_MAX_UNIT_BYTES);
    stream->sort = sort;
    if (stream->cancel == NULL || !cancel_is_set(stream->cancel))
        return 0;
    lock(stream);
    stream_set_failure(stream, ERR_CANCELLED, "cancelled while reading from %s",
                       stream->url.authority);
    stream_abandon(stream);
    int status = give_failure(stream, err);
    unlock(stream);
    return status;
}

static bool has_bytes(const struct http_stream *stream)
{
    return stream->incoming.len > 0;
}

static void take_incoming(struct http_stream *stream)
{
    struct buf bytes = stream->incoming;
    stream->incoming = stream->taken;
    stream->taken = bytes;
    buf_reset(&stream->incoming);
}

/* Moves the next bytes into `taken`: 1, 0 at the end, or the failure's code. What came before a
 * failure is given before it. */
static int take_bytes(struct http_stream *stream, struct err *err)
{
    lock(stream);
    stream_wait(stream, has_bytes);
    int status = 1;
    if (has_bytes(stream)) {
        take_incoming(stream);
        stream_go_on(stream);
    } else {
        status = stream->failure.code != 0 ? give_failure(stream, err) : 0;
    }
    unlock(stream);
    return status;
}

int stream_read(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    int status = begin(stream, STREAM_BYTES, err);
    if (status == 0)
        status = take_bytes(stream, err);
    if (status == 1)
        return give_data(part, stream->taken.data, stream->taken.len);
    return status == 0 ? give_end(part) : status;
}

/* A copy is shown: what is incoming moves when another thread's wait brings more of it. */
static int show_incoming(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    if (!has_bytes(stream))
        return stream->failure.code != 0 ? give_failure(stream, err) : give_end(part);
    buf_reset(&stream->taken);
    if (buf_add(&stream->taken, stream->incoming.data, stream->incoming.len) < 0)
        return err_set(err, ERR_LIMIT, "too much of the reply to look at");
    return give_data(part, stream->taken.data, stream->taken.len);
}

int stream_peek(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    int status = begin(stream, STREAM_UNREAD, err);
    if (status < 0)
        return status;
    lock(stream);
    stream_wait(stream, has_bytes);
    status = show_incoming(stream, part, err);
    unlock(stream);
    return status;
}

/* A line or an event that is too long ends the exchange. */
static int fail_too_long(struct http_stream *stream, const char *unit, struct err *err)
{
    lock(stream);
    stream_set_failure(stream, ERR_LIMIT, "%s sent %s of more than %d MiB", stream->url.authority,
                       unit, HTTP_MAX_UNIT_BYTES >> 20);
    stream_abandon(stream);
    int status = give_failure(stream, err);
    unlock(stream);
    return status;
}

int stream_read_line(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    struct lines *lines = &stream->splitter.lines;
    gudgeon_str line;
    int found, status = begin(stream, STREAM_LINES, err);
    if (status < 0)
        return status;
    while ((found = lines_next(lines, &line)) == 0) {
        status = take_bytes(stream, err);
        if (status < 0)
            return status;
        if (status == 0)
            break;
        lines_push(lines, stream->taken.data, stream->taken.len);
    }
    if (found == 0)
        found = lines_last(lines, &line);
    if (found < 0)
        return fail_too_long(stream, "a line", err);
    return found ? give_data(part, line.ptr, line.len) : give_end(part);
}

int stream_read_event(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    struct sse *sse = &stream->splitter.sse;
    struct sse_event event;
    int found, status = begin(stream, STREAM_EVENTS, err);
    if (status < 0)
        return status;
    while ((found = sse_next(sse, &event)) == 0) {
        status = take_bytes(stream, err);
        if (status <= 0)
            return status == 0 ? give_end(part) : status;
        sse_push(sse, stream->taken.data, stream->taken.len);
    }
    if (found < 0)
        return fail_too_long(stream, "an event", err);
    *part = (gudgeon_http_part){
        .size = part->size, .type = event.type, .id = event.id, .data = event.data};
    return 0;
}

static bool never(const struct http_stream *stream)
{
    (void)stream;
    return false;
}

int stream_read_all(struct http_stream *stream, gudgeon_http_part *part, struct err *err)
{
    int status = begin(stream, STREAM_BYTES, err);
    if (status < 0)
        return status;
    lock(stream);
    stream->wants_all = true;
    stream_go_on(stream);
    stream_wait(stream, never);
    take_incoming(stream);
    status = stream->failure.code != 0 ? give_failure(stream, err) : 0;
    unlock(stream);
    return status < 0 ? status : give_data(part, stream->taken.data, stream->taken.len);
}

void stream_free_reader(struct http_stream *stream)
{
    if (stream->sort == STREAM_EVENTS)
        sse_fini(&stream->splitter.sse);
    if (stream->sort == STREAM_LINES)
        lines_fini(&stream->splitter.lines);
    buf_fini(&stream->taken);
}
