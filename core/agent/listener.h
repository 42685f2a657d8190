/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_LISTENER_H
#define GUDGEON_AGENT_LISTENER_H

/*
 * Whoever watches a run: the terminal, a JSON-lines stream, sinks.
 *
 * `event` is called after the record stands in the journal, on the run's thread. `delta` is called
 * as text comes, on the run's thread or a tool's, never two at once. Deltas are not events: they
 * are retracted by a model.failed of the same id and attempt with "shown": true. A listener must
 * not block for long and cannot fail the run.
 */

#include <stdint.h>

#include <gudgeon/plugin.h>

struct event;

struct listener_delta {
    const char *run;
    const char *id;   /* of the model request or the call */
    unsigned attempt; /* from 1 */
    int64_t after;    /* seq of the event it follows */
    const gudgeon_delta *delta;
};

struct listener {
    void (*event)(void *payload, const struct event *event);          /* NULL = not wanted */
    void (*delta)(void *payload, const struct listener_delta *delta); /* NULL = not wanted */
    void *payload;
};

#endif
