/* SPDX-License-Identifier: MIT */
/* The table that sys/http_load.c finds: the only symbol that gudgeon-http.so exports. */
#include "sys/http/client.h"
#include "sys/http/stream.h"

static const gudgeon_http_head *get_head(struct http_stream *stream)
{
    return &stream->head.head;
}

extern const struct http_ops gudgeon_http_module;

GUDGEON_VISIBLE const struct http_ops gudgeon_http_module = {
    .size = sizeof(struct http_ops),
    .client_new = client_new,
    .client_free = client_free,
    .open = stream_open,
    .head = get_head,
    .read = stream_read,
    .read_line = stream_read_line,
    .read_event = stream_read_event,
    .read_all = stream_read_all,
    .close = stream_close,
    .peek = stream_peek,
};
