/* SPDX-License-Identifier: MIT */
#include "mock_http.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* gudgeon_http_stream is the mock itself: there is one exchange at a time. */
static struct mock_http *of(gudgeon_http_stream *stream)
{
    return (struct mock_http *)stream;
}

static void blame(struct mock_http *http, const char *rule)
{
    buf_addf(&http->fault, "gudgeon.http/1: %s\n", rule);
}

void mock_http_init(struct mock_http *http)
{
    *http = (struct mock_http){.status = 200, .headers = "content-type: text/event-stream"};
    buf_init(&http->url, 1 << 16);
    buf_init(&http->sent_headers, 1 << 16);
    buf_init(&http->sent_body, 64 << 20);
    buf_init(&http->ca_file, 1 << 16);
    buf_init(&http->fault, 1 << 16);
    buf_init(&http->all, 64 << 20);
    sse_init(&http->sse, 16 << 20);
}

void mock_http_fini(struct mock_http *http)
{
    buf_fini(&http->url);
    buf_fini(&http->sent_headers);
    buf_fini(&http->sent_body);
    buf_fini(&http->ca_file);
    buf_fini(&http->fault);
    buf_fini(&http->all);
    sse_fini(&http->sse);
    free(http->head_text);
}

/* ---- the head ------------------------------------------------------------------------------ */

static void set_head(struct mock_http *http)
{
    free(http->head_text);
    http->head_text = xstrdup(http->headers);
    size_t count = 0;
    for (char *line = http->head_text; line != NULL && *line != '\0';) {
        char *next = strchr(line, '\n'), *colon = strchr(line, ':');
        if (next != NULL)
            *next++ = '\0';
        if (colon != NULL) {
            *colon = '\0';
            http->head_headers[count++] =
                (gudgeon_http_header){{line, strlen(line)}, {colon + 2, strlen(colon + 2)}};
        }
        line = next;
    }
    http->head = (gudgeon_http_head){.size = sizeof http->head,
                                     .status = http->status,
                                     .headers = http->head_headers,
                                     .header_count = count,
                                     .url = {http->url.data, http->url.len}};
}

static void record(struct mock_http *http, const gudgeon_http_request *request)
{
    buf_reset(&http->url);
    buf_reset(&http->sent_headers);
    buf_reset(&http->sent_body);
    buf_reset(&http->ca_file);
    buf_add(&http->url, request->url.ptr, request->url.len);
    buf_add(&http->ca_file, request->ca_file.ptr, request->ca_file.len);
    for (uint64_t i = 0; i < request->header_count; i++) {
        buf_add(&http->sent_headers, request->headers[i].name.ptr, request->headers[i].name.len);
        buf_add_str(&http->sent_headers, ": ");
        buf_add(&http->sent_headers, request->headers[i].value.ptr, request->headers[i].value.len);
        buf_add_str(&http->sent_headers, "\n");
    }
    for (uint64_t i = 0; i < request->body_count; i++)
        buf_add(&http->sent_body, request->body[i].ptr, request->body[i].len);
    http->sent_parts = request->body_count;
    http->connect_ms = request->connect_ms;
    http->first_byte_ms = request->first_byte_ms;
    http->idle_ms = request->idle_ms;
}

static int32_t http_open(const gudgeon_call *call, const gudgeon_http_request *request,
                         gudgeon_http_stream **stream)
{
    struct mock_http *http = mock_http_of_call(call);
    record(http, request);
    http->opened++;
    if (http->open_class != GUDGEON_OK)
        return http->open_class;
    set_head(http);
    http->at = 0;
    http->sort = 0;
    http->waited = false;
    buf_reset(&http->all);
    sse_fini(&http->sse);
    sse_init(&http->sse, 16 << 20);
    *stream = (gudgeon_http_stream *)http;
    return GUDGEON_OK;
}

static const gudgeon_http_head *http_head(gudgeon_http_stream *stream)
{
    return &of(stream)->head;
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The next slice. OK with no bytes: the end. */
static int32_t next_slice(struct mock_http *http, gudgeon_str *bytes)
{
    size_t left = http->body_len - http->at;
    size_t len = http->slice != 0 && http->slice < left ? http->slice : left;
    *bytes = (gudgeon_str){http->body + http->at, len};
    http->at += len;
    if (len > 0 || http->end == MOCK_END)
        return GUDGEON_OK;
    http->waited |= http->end == MOCK_SILENT;
    return http->end == MOCK_CUT ? GUDGEON_RETRY : GUDGEON_TIMEOUT;
}

static void is_of_sort(struct mock_http *http, int sort)
{
    if (http->sort != 0 && http->sort != sort)
        blame(http, "two sorts of read");
    http->sort = sort;
}

static int32_t http_read(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    struct mock_http *http = of(stream);
    is_of_sort(http, 1);
    int32_t error_class = next_slice(http, &part->data);
    part->end = error_class == GUDGEON_OK && part->data.len == 0;
    return error_class;
}

static int32_t http_read_line(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    (void)part;
    blame(of(stream), "read_line is not served here");
    return GUDGEON_INVALID;
}

static int32_t http_read_event(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    struct mock_http *http = of(stream);
    struct sse_event event;
    is_of_sort(http, 2);
    for (;;) {
        int state = sse_next(&http->sse, &event);
        if (state < 0)
            return GUDGEON_LIMIT;
        if (state > 0)
            break;
        gudgeon_str bytes;
        int32_t error_class = next_slice(http, &bytes);
        if (error_class != GUDGEON_OK || bytes.len == 0) {
            part->end = error_class == GUDGEON_OK;
            return error_class;
        }
        sse_push(&http->sse, bytes.ptr, bytes.len);
    }
    part->end = 0;
    part->type = event.type;
    part->id = event.id;
    part->data = event.data;
    return GUDGEON_OK;
}

static int32_t http_read_all(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    struct mock_http *http = of(stream);
    is_of_sort(http, 3);
    gudgeon_str bytes;
    do {
        int32_t error_class = next_slice(http, &bytes);
        if (error_class != GUDGEON_OK)
            return error_class;
        buf_add(&http->all, bytes.ptr, bytes.len);
    } while (bytes.len > 0);
    part->end = 0;
    part->data = (gudgeon_str){http->all.data, http->all.len};
    return GUDGEON_OK;
}

static int32_t http_peek(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    struct mock_http *http = of(stream);
    if (http->sort != 0)
        blame(http, "peek after a read");
    int32_t error_class = next_slice(http, &part->data);
    http->at = 0;
    part->end = error_class == GUDGEON_OK && part->data.len == 0;
    return error_class;
}

static void http_close(gudgeon_http_stream *stream)
{
    of(stream)->closed++;
}

const gudgeon_http mock_http_service = {
    .size = sizeof mock_http_service,
    .open = http_open,
    .head = http_head,
    .read = http_read,
    .read_line = http_read_line,
    .read_event = http_read_event,
    .read_all = http_read_all,
    .close = http_close,
    .peek = http_peek,
};
