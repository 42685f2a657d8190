/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_WORKER_PROCESS_H
#define GUDGEON_PLUGIN_WORKER_PROCESS_H

/*
 * One worker process as the host sees it: its sockets, its lanes, its last words, why it died.
 *
 * Started with sockets of its own (plugin/protocol.h) and nothing else of the host's. The keeper's
 * thread listens to its side and to what it prints; the threads of calls use lanes. Whatever it
 * does that the protocol does not allow condemns it: it is killed at once, and every call in it
 * ends with the reason. Nothing that it sends is believed.
 *
 * Counted: the instance holds one reference and each call one; the last to leave kills, reaps and
 * frees. Thread-safe.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "plugin/channel.h"
#include "plugin/keeper.h"
#include "plugin/relay.h"
#include "sys/proc.h"

struct call;
struct err;
struct instance;

struct worker_lane {
    struct channel channel;
    struct lane_slot *slot;
    int cancel_fd; /* an eventfd: set when the worker's op is to stop */
    bool is_busy;
    struct call *served; /* the call for which the host is working now; NULL = none */
};

struct worker_process {
    struct instance *instance;
    struct proc proc;
    struct lane_page *page;
    struct channel door;
    struct relay relay;
    struct keeper_watch death_watch, side_watch, words_watch;
    _Atomic(unsigned) references;
    _Atomic(uint64_t) last_call; /* ids of calls are even */
    _Atomic(uint64_t) notices;   /* that came up the side */

    pthread_mutex_t side_lock; /* of `side` and the order of what comes from it */
    struct channel side;

    pthread_mutex_t lock; /* of what follows */
    struct worker_lane *lanes[LANES_MAX];
    size_t lane_count;
    bool is_dead;
    char *verdict; /* why the host killed it; NULL = it did not */
    int verdict_code;
    struct buf words; /* the last of what it printed */
    struct buf line;  /* the line that it is printing */
};

/* Starts one for the instance. It has one lane and no plugin yet. */
int worker_process_start(struct instance *instance, struct worker_process **ret, struct err *err);
struct worker_process *worker_process_ref(struct worker_process *worker);
void worker_process_unref(struct worker_process *worker); /* NULL is allowed */

/* A lane for one call, or ERR_UNAVAILABLE. Only a CONCURRENT component's worker has more than one.
 */
int worker_process_take_lane(struct worker_process *worker, struct worker_lane **ret,
                             struct err *err);
void worker_process_give_lane(struct worker_process *worker, struct worker_lane *lane);

bool worker_process_has_died(struct worker_process *worker);
/* Kills it. Of several reasons the first one counts. */
void worker_process_condemn(struct worker_process *worker, int code, const char *why);
/* How a worker that has died did so, as an error: "plugin x: its worker was killed by SIGSEGV; it
 * said: …". ERR_UNAVAILABLE when it died by itself, ERR_LIMIT when a limit did it, else the
 * verdict's code. */
int worker_process_explain(struct worker_process *worker, struct err *err);
/* Takes in what has come up the side so far. */
void worker_process_hear(struct worker_process *worker);
/* Around work for a call on behalf of the worker: if it dies meanwhile the call is cancelled. */
void worker_process_serving(struct worker_process *worker, struct worker_lane *lane,
                            struct call *call);

#endif
