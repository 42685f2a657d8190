/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_RELAY_H
#define GUDGEON_PLUGIN_RELAY_H

/*
 * Host services for a plugin in a worker: does what an ASK says, with the host's own services, on
 * behalf of the call from which it came, and keeps what they hand out under numbers.
 *
 * Questions of a lane are answered on the thread of its call and may wait; those of the side are
 * short and about processes. Numbers that were never given are a broken protocol. Thread-safe.
 */

#include <pthread.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"
#include "plugin/protocol.h"

struct relay_entry;
struct service_scope;

struct relay {
    const struct service_scope *scope;
    pthread_mutex_t lock; /* of all below; held while a side's question is answered */
    uint64_t last_handle;
    struct relay_entry *entries;
};

/* An answer and what it borrows. */
struct relay_answer {
    struct msg_answer message;
    struct buf list;
    int fds[FRAME_FDS_MAX]; /* the services' */
    size_t fd_count;
    uint64_t passed; /* the process whose pipes these are; 0 = none */
};

void relay_init(struct relay *relay, const struct service_scope *scope);
/* Ends the processes that outlived their calls. */
void relay_fini(struct relay *relay);

/* ERR_PROTOCOL, *ret_fault says why and lives for ever. The answer is to be relay_answer_fini'd
 * once it is sent: then the worker alone has the pipes. */
int relay_ask_lane(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                   struct relay_answer *ret, const char **ret_fault);
int relay_ask_side(struct relay *relay, const struct msg_ask *ask, struct relay_answer *ret,
                   const char **ret_fault);
void relay_answer_fini(struct relay *relay, struct relay_answer *answer);
/* Forgets what belongs to a call that ends; the call itself releases it. */
void relay_end_call(struct relay *relay, const gudgeon_call *call);

#endif
