/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_RUN_H
#define GUDGEON_AGENT_RUN_H

/*
 * One run: one task given to an agent, from start to a final state.
 *
 * run_open finds every fault that can be found before anything is spent: it opens the models, the
 * tools and the sinks and makes the journal. run_execute goes on to a final state on the calling
 * thread; whatever happens in it is an event first. A run is used by one thread; only its cancel
 * may be set from others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/state.h"
#include "agent/usage.h"

struct cancel;
struct definition;
struct err;
struct listener;
struct run;
struct services;

struct run_options {
    const struct definition *definition; /* outlives the run */
    struct services *services;           /* likewise */
    const char *runs;                    /* the directory that holds the runs' directories */
    const char *task;
    const char *inputs;    /* JSON object, from inputs_resolve; NULL = none */
    struct cancel *cancel; /* set from outside to interrupt; NULL = never */
    const struct listener *listeners;
    size_t listener_count;
    /* Diagnostics of plugins; any thread. NULL = discarded. */
    void (*on_log)(void *payload, const char *instance, int level, const char *message);
    void *log_payload;
};

int run_open(const struct run_options *options, struct run **ret, struct err *err);
void run_free(struct run *run); /* flushes the sinks */

const char *run_id(const struct run *run);
/* The run's directory. */
const char *run_directory(const struct run *run);

struct run_result {
    enum run_state state;
    const char *answer; /* NULL = none */
    const char *why;    /* one line; "" for success */
    struct usage usage;
    int64_t steps; /* action steps */
    int64_t duration_ms;
    bool recorded; /* the journal says so, too; false when it could not be written */
};

/* Runs to the end. Borrowed until run_free. */
const struct run_result *run_execute(struct run *run);

#endif
