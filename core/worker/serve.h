/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_WORKER_SERVE_H
#define GUDGEON_WORKER_SERVE_H

/*
 * The inside of `gudgeon-worker --serve`: one instance, and the lanes on which it is called.
 *
 * Messages are those of plugin/protocol.h. The plugin gets the same call object as in the host
 * (plugin/call.h), so the ABI's rules are kept here first; its cancel and deadline are the lane's
 * slot in the host's page. A socket that ends or fails means that the host is gone: the worker
 * exits at once. Nothing here defends against the plugin: it shares this process.
 */

#include <pthread.h>
#include <stdatomic.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"
#include "plugin/call.h"
#include "plugin/channel.h"
#include "plugin/protocol.h"
#include "plugin/service.h"

struct serve {
    const struct lane_page *page;
    struct channel side;
    pthread_mutex_t side_lock; /* of `side`, a question and its answer included */
    _Atomic(uint64_t) notices; /* that were sent */
    struct channel door;
    _Atomic(uint64_t) last_ask; /* ids of questions are odd */

    gudgeon_host host;
    const gudgeon_component *component;
    void *self;
};

struct lane {
    struct service_scope scope; /* first: how a service finds the lane of a call; else unused */
    struct serve *serve;
    struct channel channel;
    pthread_mutex_t lock; /* of the channel, a question and its answer included */
    const struct lane_slot *slot;
    struct call_control control;
    struct buf request; /* the payload of the op that runs: what the plugin borrows */
    uint64_t call_id;   /* of the op that runs */
};

/* Makes a lane of its two descriptors, which it owns. */
struct lane *lane_new(struct serve *serve, size_t slot, int take_socket, int take_cancel_fd);
/* Takes one request and runs it. */
void lane_serve_one(struct lane *lane);
/* The same for ever. */
void *lane_serve(void *lane);

/* Creates what the message asks for. */
int32_t serve_create(struct serve *serve, struct call *call, const struct msg_create *request);

/* A question to the host and its answer, borrowed until lane_ask_end (which must follow): on the
 * lane of the op that runs, or on the side. Only a lane's answer may bring descriptors. */
void lane_ask(struct lane *lane, const struct msg_ask *ask, struct message *ret_message,
              struct msg_answer *ret);
void lane_ask_end(struct lane *lane);
void side_ask(struct serve *serve, const struct msg_ask *ask, struct msg_answer *ret);

/* The table of a host service, or NULL. */
const void *proxy_service(const char *id);

/* The host is gone, or speaks another protocol. */
_Noreturn void serve_leave(void);

#endif
