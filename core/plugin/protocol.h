/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_PROTOCOL_H
#define GUDGEON_PLUGIN_PROTOCOL_H

/*
 * What the host and a worker say to each other: frames, and the messages in them, as bytes.
 *
 * A worker has three kinds of SOCK_SEQPACKET sockets and a page that the host writes:
 *   lane  one call at a time, each lane with a thread of the worker: CREATE, LIST, CALL and DESTROY
 *         go down; DELTA, TOOL and ASK come up while the op runs; ANSWER goes down; DONE ends it.
 *         A component that is not CONCURRENT has one lane; others get more through the door. So
 *         the kernel holds each stream back by itself, and nothing is interleaved.
 *   side  what is bound to no op: LOG, TOOLS_CHANGED, and ASK about kept handles, at any time.
 *   door  LANE, with the descriptors of a new lane.
 *   page  one slot a lane: the deadline, and whether to stop. An eventfd a lane says the latter
 *         to those who poll. So a plugin sees a cancel without reading a socket, and a moved
 *         deadline needs no message.
 * Host ids of calls are even, a worker's (of ASK) odd, 0 is a notice of the instance. A message
 * larger than a frame comes in full frames with FRAME_MORE and a last one, with nothing between.
 * Both ends run on one machine and are built together, so numbers are in its byte order.
 * Everything here is a pure function on bytes; every length is checked against what is there.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct buf;

enum frame_type {
    FRAME_CREATE = 1,
    FRAME_LIST,
    FRAME_CALL,
    FRAME_DESTROY,
    FRAME_DELTA,
    FRAME_TOOL,
    FRAME_DONE,
    FRAME_ASK,
    FRAME_ANSWER,
    FRAME_LOG,
    FRAME_TOOLS_CHANGED,
    FRAME_LANE,
    FRAME_TYPE_COUNT
};

enum {
    FRAME_MORE = 1, /* the message goes on in the next frame */

    FRAME_HEADER_SIZE = 24,
    FRAME_PAYLOAD_MAX = 60 << 10, /* well below the default send buffer of a socket */
    FRAME_MAX = FRAME_HEADER_SIZE + FRAME_PAYLOAD_MAX,
    MESSAGE_MAX = 66 << 20, /* a result of 64 MiB and what goes with it */
    LIST_ITEMS_MAX = 65536,

    LANES_MAX = 64,
    FRAME_FDS_MAX = 4,
};

struct frame_header {
    uint32_t length; /* bytes of payload in this frame */
    uint16_t type;
    uint16_t flags;
    uint64_t call;
    uint64_t parent; /* of an ASK: the call on whose behalf it is; else 0 */
};

void frame_header_write(const struct frame_header *header, unsigned char out[FRAME_HEADER_SIZE]);
/* Reads and checks the header of a frame of `len` bytes. 0, or ERR_PROTOCOL with what is wrong in
 * *ret_fault, which lives for ever. */
int frame_header_read(const unsigned char *frame, size_t len, struct frame_header *ret,
                      const char **ret_fault);

/* ---- the page ---------------------------------------------------------------------------------
 */

/* Written by the host only; the worker maps it for reading. */
struct lane_slot {
    _Atomic(int64_t) deadline_ns;
    _Atomic(uint32_t) is_cancelled;
    _Atomic(uint32_t) is_told_to_stop; /* a listener wants no more deltas */
    uint64_t unused[6];                /* a cache line each */
};
struct lane_page {
    struct lane_slot slots[LANES_MAX];
};

/* Where a worker finds what it is given. */
enum {
    WORKER_FD_LANE = 3,
    WORKER_FD_CANCEL,
    WORKER_FD_SIDE,
    WORKER_FD_DOOR,
    WORKER_FD_PAGE,
    WORKER_FD_COUNT
};

/* ---- messages ---------------------------------------------------------------------------------
 */

struct msg_create {
    gudgeon_str version; /* the host's: the protocol has none of its own */
    gudgeon_str path, kind, component;
    gudgeon_str name, config, grant;
};

struct msg_call {
    uint64_t output_max;
    gudgeon_str id, tool, arguments;
};

struct msg_delta {
    uint32_t channel, index;
    gudgeon_str name, bytes;
};

struct msg_tool {
    uint32_t flags;
    gudgeon_str name, description, parameters;
};

struct msg_done {
    uint32_t op_class;
    uint32_t has_result;
    uint32_t result_flags;
    uint32_t http_status;
    uint64_t retry_after_ms;
    uint64_t notices; /* how many went up the side before */
    gudgeon_str message, provider_code, grant;
    gudgeon_str text, content, data;
};

enum ask_op {
    ASK_HTTP_OPEN = 1, /* numbers: connect, first byte, idle, total, bytes; texts: method, URL,
                          ca_file; list: name, value, …; more: the body's pieces */
    ASK_HTTP_READ,     /* which: enum ask_read */
    ASK_HTTP_CLOSE,
    ASK_SECRET, /* texts: the text */
    ASK_SPAWN,  /* which: its flags; texts: the directory; list: argv; more: env */
    ASK_SIGNAL, /* which: the signal */
    ASK_WAIT,
    ASK_CLOSE,
    ASK_OP_COUNT
};
enum ask_read { READ_BYTES, READ_LINE, READ_EVENT, READ_ALL, READ_PEEK, READ_COUNT };
enum { ASK_NUMBERS = 5, ASK_TEXTS = 3 };

struct msg_ask {
    uint32_t op;
    uint32_t which;
    uint64_t handle;
    uint64_t numbers[ASK_NUMBERS];
    gudgeon_str texts[ASK_TEXTS];
    gudgeon_str list, more; /* lists, see below */
};

/* The answer to an ASK; `op_class` and the error's detail, then what the op gives. */
struct msg_answer {
    uint32_t op_class;
    uint32_t number; /* HTTP_OPEN: status; HTTP_READ: end; SPAWN: bits of the pipes that follow the
                        pidfd; WAIT: signal */
    uint64_t handle; /* HTTP_OPEN, SPAWN; WAIT: exit status */
    gudgeon_str message, grant;
    gudgeon_str texts[ASK_TEXTS]; /* HTTP_OPEN: URL; HTTP_READ: type, id, data; SECRET: value */
    gudgeon_str list;             /* HTTP_OPEN: the head's names and values */
};

struct msg_log {
    uint32_t level;
    gudgeon_str text;
};

/* Adds the message of a type; `from` is its struct above (NULL for those without one). ERR_LIMIT
 * when the buffer's cap is passed. */
int message_write(enum frame_type type, const void *from, struct buf *out);
/* Reads a payload into the struct of its type. Texts are borrowed from the payload and end with a
 * NUL. ERR_PROTOCOL when anything is missing, left over or out of bounds. */
int message_read(enum frame_type type, gudgeon_str payload, void *into);

/* A list of texts is a text itself. */
int list_add(struct buf *list, gudgeon_str text);
/* The text at *at, which moves on; false at the end. Only for lists that message_read has given. */
bool list_next(gudgeon_str list, size_t *at, gudgeon_str *ret);
size_t list_count(gudgeon_str list);

#endif
