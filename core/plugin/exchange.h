/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_EXCHANGE_H
#define GUDGEON_PLUGIN_EXCHANGE_H

/*
 * One op in a worker: the request goes down a lane, deltas, tools and questions come up, and the
 * last message ends it.
 *
 * It ends in time whatever the worker does. A cancel reaches the plugin at once (descriptor and
 * flag); a deadline is the plugin's to keep, and is told like a cancel EXCHANGE_TELL_NS after it
 * has passed. EXCHANGE_TERM_NS after either, the worker's group gets SIGTERM, EXCHANGE_KILL_NS
 * after it SIGKILL. What was streamed until then is kept in the call.
 */

#include <stdint.h>

#include "base/clock.h"
#include "plugin/protocol.h"

#define EXCHANGE_TELL_NS (100 * NS_PER_MS)
#define EXCHANGE_TERM_NS (500 * NS_PER_MS)
#define EXCHANGE_KILL_NS (1000 * NS_PER_MS)

struct call;
struct worker_lane;
struct worker_process;

struct exchange_request {
    enum frame_type type;
    const void *message; /* its struct */
};

/* Runs it on the call's thread and gives the class for call_end; results and the error's detail are
 * put into the call. */
int32_t exchange(struct worker_process *worker, struct worker_lane *lane, struct call *call,
                 const struct exchange_request *request);

#endif
