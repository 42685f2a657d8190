/* SPDX-License-Identifier: MIT */
#include "sys/http/receive.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "sys/http/client.h"
#include "sys/http/stream.h"

enum {
    MAX_HEAD_BYTES = 256 << 10,
    MAX_HEADERS = 1000,
};

/* ---- the request's way out ----------------------------------------------------------------- */

static bool is_body_sent(const struct stream_body *body)
{
    return body->at == body->count;
}

int receive_connected(void *payload, char *remote_ip, char *local_ip, int remote_port,
                      int local_port)
{
    (void)remote_ip, (void)local_ip, (void)remote_port, (void)local_port;
    struct http_stream *stream = payload;
    if (stream->was_sent && !stream->is_idempotent) {
        stream_set_failure(stream, ERR_RETRY, "%s closed a kept connection", stream->url.authority);
        return CURL_PREREQFUNC_ABORT;
    }
    stream->was_resent = stream->was_resent || stream->was_sent;
    stream->was_sent = true;
    stream_moved(stream, is_body_sent(&stream->body) ? STREAM_AWAITING : STREAM_SENDING);
    return CURL_PREREQFUNC_OK;
}

size_t receive_body_wanted(char *to, size_t size, size_t count, void *payload)
{
    struct http_stream *stream = payload;
    struct stream_body *body = &stream->body;
    size_t room = size * count, given = 0;
    if (body->is_gone)
        return CURL_READFUNC_ABORT;
    while (given < room && body->at < body->count) {
        const gudgeon_str *part = &body->parts[body->at];
        size_t len = part->len - body->at_offset;
        if (len > room - given)
            len = room - given;
        if (len > 0)
            memcpy(to + given, part->ptr + body->at_offset, len);
        given += len;
        body->at_offset += len;
        if (body->at_offset == part->len) {
            body->at++;
            body->at_offset = 0;
        }
    }
    stream_moved(stream, is_body_sent(body) ? STREAM_AWAITING : STREAM_SENDING);
    client_touch(stream->client, stream);
    return given;
}

int receive_body_rewind(void *payload, curl_off_t offset, int origin)
{
    struct http_stream *stream = payload;
    if (offset != 0 || origin != SEEK_SET || stream->body.is_gone)
        return CURL_SEEKFUNC_FAIL;
    stream->body.at = stream->body.at_offset = 0;
    return CURL_SEEKFUNC_OK;
}

/* ---- the head ------------------------------------------------------------------------------ */

void receive_reset_head(struct stream_head *head)
{
    buf_reset(&head->text);
    head->text.max = MAX_HEAD_BYTES;
    head->head.status = 0;
    head->head.header_count = 0;
    head->is_complete = false;
}

void receive_free_head(struct stream_head *head)
{
    buf_fini(&head->text);
    free(head->headers);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static gudgeon_str trim(gudgeon_str text)
{
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    return text;
}

/* Adds a text with its NUL; its offset stands in the pointer until finish_head. */
static int add_text(struct stream_head *head, gudgeon_str text, gudgeon_str *ret)
{
    size_t offset = head->text.len;
    if (buf_add(&head->text, text.ptr, text.len) < 0 || buf_add_char(&head->text, '\0') < 0)
        return ERR_LIMIT;
    *ret = (gudgeon_str){(const char *)offset, text.len};
    return 0;
}

static void to_lower(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            text[i] = (char)(text[i] - 'A' + 'a');
}

static int add_header(struct stream_head *head, gudgeon_str line)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    if (colon == NULL)
        return 0;
    if (head->head.header_count == MAX_HEADERS)
        return ERR_LIMIT;
    if (head->head.header_count == head->capacity) {
        head->capacity = head->capacity ? head->capacity * 2 : 16;
        head->headers = xreallocarray(head->headers, head->capacity, sizeof *head->headers);
    }
    gudgeon_str name = {line.ptr, (size_t)(colon - line.ptr)};
    gudgeon_str value = {colon + 1, line.len - name.len - 1};
    gudgeon_http_header *header = &head->headers[head->head.header_count];
    if (add_text(head, trim(name), &header->name) < 0 ||
        add_text(head, trim(value), &header->value) < 0)
        return ERR_LIMIT;
    to_lower(head->text.data + (size_t)header->name.ptr, header->name.len);
    head->head.header_count++;
    return 0;
}

/* A line that begins with a space goes on with the value before it (RFC 9112 §5.2). */
static int continue_header(struct stream_head *head, gudgeon_str line)
{
    if (head->head.header_count == 0)
        return 0;
    gudgeon_str *value = &head->headers[head->head.header_count - 1].value, rest = trim(line);
    buf_truncate(&head->text, head->text.len - 1);
    if (buf_add_char(&head->text, ' ') < 0 || buf_add(&head->text, rest.ptr, rest.len) < 0 ||
        buf_add_char(&head->text, '\0') < 0)
        return ERR_LIMIT;
    value->len += 1 + rest.len;
    return 0;
}

static void start_head(struct stream_head *head, gudgeon_str line)
{
    receive_reset_head(head);
    const char *space = memchr(line.ptr, ' ', line.len);
    if (space != NULL) /* the line end stops the number */
        head->head.status = (uint32_t)strtoul(space, NULL, 10);
}

static void place(gudgeon_str *text, const char *base)
{
    text->ptr = base + (size_t)text->ptr;
}

static void finish_head(struct http_stream *stream)
{
    struct stream_head *head = &stream->head;
    for (size_t i = 0; i < head->head.header_count; i++) {
        place(&head->headers[i].name, head->text.data);
        place(&head->headers[i].value, head->text.data);
    }
    head->head.size = sizeof head->head;
    head->head.headers = head->headers;
    head->head.url = str_of(stream->url.shown);
    head->is_complete = true;
    client_touch(stream->client, stream);
}

static int take_header_line(struct http_stream *stream, gudgeon_str line)
{
    struct stream_head *head = &stream->head;
    if (line.len > 5 && memcmp(line.ptr, "HTTP/", 5) == 0) {
        start_head(head, line);
        return 0;
    }
    if (trim(line).len > 0)
        return is_space(line.ptr[0]) ? continue_header(head, line) : add_header(head, line);
    bool is_interim = head->head.status / 100 == 1 && head->head.status != 101;
    if (is_interim) /* "100 Continue" and its like: the reply is still to come */
        stream_moved(stream, STREAM_AWAITING);
    else
        finish_head(stream);
    return 0;
}

size_t receive_header(char *line, size_t size, size_t count, void *payload)
{
    struct http_stream *stream = payload;
    gudgeon_str text = {line, size * count};
    stream_moved(stream, STREAM_RECEIVING);
    if (stream->head.is_complete || text.len == 0) /* trailers say nothing that anybody asks */
        return text.len;
    if (take_header_line(stream, text) < 0) {
        stream_set_failure(stream, ERR_LIMIT, "the head of the reply of %s is too long",
                           stream->url.authority);
        return 0;
    }
    return text.len;
}

/* ---- the body ------------------------------------------------------------------------------ */

size_t receive_bytes(char *bytes, size_t size, size_t count, void *payload)
{
    struct http_stream *stream = payload;
    size_t len = size * count;
    stream_moved(stream, STREAM_RECEIVING);
    stream->received_bytes += (int64_t)len;
    if (stream->received_bytes > stream->max_bytes) {
        stream_set_failure(stream, ERR_LIMIT, "the reply of %s is longer than %" PRId64 " bytes",
                           stream->url.authority, stream->max_bytes);
        return 0;
    }
    buf_add(&stream->incoming, bytes, len);
    stream_hold_back(stream);
    client_touch(stream->client, stream);
    return len;
}
