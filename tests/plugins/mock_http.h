/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_MOCK_HTTP_H
#define GUDGEON_TESTS_MOCK_HTTP_H

/*
 * gudgeon.http/1 without a network: one canned reply, served in slices of a chosen size, and what
 * was asked is kept. The service's rules are checked: a reply is read in one sort of read, peeked
 * at only before that, and closed once. Serves one exchange at a time, on one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/ext/http.h>

#include "base/buf.h"
#include "sys/sse.h"

/* How the body ends once its bytes are served. */
enum mock_end {
    MOCK_END,    /* properly */
    MOCK_CUT,    /* the connection breaks: RETRY */
    MOCK_SILENT, /* nothing more comes, the socket stays open: TIMEOUT */
};

struct mock_http {
    /* Set before the exchange. */
    int32_t open_class; /* what open returns instead of a stream; 0 = a stream */
    uint32_t status;
    const char *headers; /* "name: value" lines */
    const char *body;
    size_t body_len;
    size_t slice; /* bytes given at a time; 0 = all at once */
    enum mock_end end;

    /* What was seen. */
    int opened, closed;
    bool waited; /* it was read past its last byte, although the socket stays open */
    struct buf url, sent_headers, sent_body, ca_file, fault;
    size_t sent_parts;
    uint64_t connect_ms, first_byte_ms, idle_ms;

    /* The exchange under way. */
    size_t at; /* bytes of the body that were given */
    int sort;  /* 0 = not read yet */
    struct sse sse;
    struct buf all;
    gudgeon_http_header head_headers[16];
    gudgeon_http_head head;
    char *head_text;
};

void mock_http_init(struct mock_http *http);
void mock_http_fini(struct mock_http *http);

/* The service's table. A call's exchange goes to the mock_http that mock_http_of_call gives,
 * which the test's mock host defines. */
extern const gudgeon_http mock_http_service;
struct mock_http *mock_http_of_call(const gudgeon_call *call);

#endif
