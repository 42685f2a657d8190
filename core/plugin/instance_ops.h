/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_INSTANCE_OPS_H
#define GUDGEON_PLUGIN_INSTANCE_OPS_H

/*
 * How an instance is run: the table that each way of running one implements.
 *
 * instance.c does what all have in common: it opens and ends calls, serialises, owns the service
 * scope, the log and the flag of changed tools. An implementation's struct begins with struct
 * instance and moves requests and answers: inproc.c calls the plugin directly, isolated.c
 * has it in a worker process. It is never called
 * twice at once unless the component is GUDGEON_CONCURRENT, and `close` only when nothing runs.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/instance.h"
#include "plugin/service.h"
#include "plugin/turn.h"

enum instance_op { OP_GENERATE, OP_CAPABILITIES, OP_LIST, OP_CALL, OP_EVENT, OP_FLUSH, OP_COUNT };

struct instance_ops {
    size_t size; /* of the implementation's struct */
    /* Finds the component and creates it; request->host is the implementation's to set. Returns a
     * class; what it says goes into the call. After a failure close is not called. */
    int32_t (*open)(struct instance *instance, struct call *call, const gudgeon_create *request);
    /* Whether the component has an op that the ABI makes optional. */
    bool (*has)(const struct instance *instance, enum instance_op op);
    /* `request` is the op's struct in gudgeon/plugin.h. Returns what the plugin returned. */
    int32_t (*run)(struct instance *instance, enum instance_op op, const gudgeon_call *call,
                   const void *request);
    int32_t (*close)(struct instance *instance, const gudgeon_call *call,
                     const gudgeon_stop *request);
    /* Frees what open has made, also when it failed; NULL = nothing is to be freed. */
    void (*free)(struct instance *instance);
};

/* Plugins in a loop must not flood the operator: so many messages a window pass. */
struct instance_log {
    instance_log_fn *on_log; /* NULL = discarded */
    void *payload;
    pthread_mutex_t lock;
    int64_t window_start_ns;
    unsigned passed, dropped; /* in this window */
};

struct instance {
    const struct instance_ops *ops;
    const struct component_info *component;
    char *name;
    struct service_scope scope;
    struct turn turn;
    atomic_bool tools_changed;
    struct instance_log log;
};

extern const struct instance_ops inproc_ops;
extern const struct instance_ops isolated_ops;

/* A plugin's diagnostic; any thread. */
void instance_log(struct instance *instance, unsigned level, gudgeon_str message);

#endif
