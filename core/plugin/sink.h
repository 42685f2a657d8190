/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_SINK_H
#define GUDGEON_PLUGIN_SINK_H

/*
 * A sink instance with its own thread and queue, so that it can never block a run.
 *
 * The queue is bounded: what does not fit or is not taken is dropped and counted, which is said
 * once at the end. A sink that fails is disabled and says so once through the instance's log.
 * sink_push is thread-safe.
 */

#include <gudgeon/plugin.h>

struct component_info;
struct err;
struct instance_options;
struct sink;

/* `run` is copied. */
int sink_open(const struct component_info *component, const struct instance_options *options,
              const char *run, struct sink **ret, struct err *err);
/* Copies `line`, one journal record. */
void sink_push(struct sink *sink, const char *type, gudgeon_str line);
/* Delivers what is queued, flushes, closes. What is still going on after a few seconds is
 * cancelled, and what is still queued is dropped. NULL is allowed. */
void sink_close(struct sink *sink);

#endif
