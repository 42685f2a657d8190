/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_INSTANCE_H
#define GUDGEON_PLUGIN_INSTANCE_H

/*
 * An open component: what the agent layer calls. Its plugin runs in this process or in a worker
 * process; callers see no difference, but that a worker's death costs one call.
 *
 * Every operation takes the call on whose behalf it runs, returns 0 or an ERR_ code (the plugin's
 * class, negated; ERR_PROTOCOL for a plugin that broke the ABI's rules) and leaves results and
 * error detail in the call. Texts that are passed end with a NUL, as the ABI promises. Operations
 * of one instance are serialised here unless the component is GUDGEON_CONCURRENT, so callers need
 * no lock. Thread-safe but for open and close.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

#include "plugin/isolation.h"

struct call;
struct cancel;
struct component_info;
struct err;
struct instance;
struct secrets;
struct services;

typedef void instance_log_fn(void *payload, const char *instance, int level, const char *message);

struct instance_options {
    const char *name;
    enum isolation isolation;
    gudgeon_str config;        /* JSON object, validated; holds {secret:NAME} references */
    gudgeon_str grant;         /* JSON object; absent = {} */
    struct services *services; /* shared by all instances of the host; outlives them */
    struct secrets *secrets;   /* what {secret:NAME} means for this run; outlives the instance */
    struct cancel *cancel;     /* stops create; NULL = nothing does */
    /* A plugin's diagnostics: one line of UTF-8, unmasked, no flood; NULL = discarded. May be
     * called on any thread. */
    instance_log_fn *on_log;
    void *payload;
};

int instance_open(const struct component_info *component, const struct instance_options *options,
                  struct instance **ret, struct err *err);
void instance_close(struct instance *instance); /* NULL is allowed; no operation may be running */

const char *instance_name(const struct instance *instance);
const struct component_info *instance_component(const struct instance *instance);

/* kind model */
int instance_generate(struct instance *instance, struct call *call,
                      const gudgeon_generate *request);
/* ERR_NOT_FOUND when the component does not say. */
int instance_capabilities(struct instance *instance, struct call *call, const char *model);
/* Forgets what gudgeon.memo/1 holds for a subject (GUDGEON_MEMO_MESSAGE, GUDGEON_MEMO_TOOLS). */
void instance_forget(struct instance *instance, unsigned kind, uint64_t subject);

/* kind tools. `on_tool` gets each tool, borrowed for the callback, checked (name, schema text). */
typedef void instance_tool_fn(void *payload, const gudgeon_tool *tool);
int instance_list(struct instance *instance, struct call *call, instance_tool_fn *on_tool,
                  void *payload);
int instance_call(struct instance *instance, struct call *call, gudgeon_str tool,
                  gudgeon_str arguments);
/* Whether tools_changed was said since the last list. */
bool instance_tools_changed(const struct instance *instance);

/* kind sink; flush of a component without one succeeds */
int instance_event(struct instance *instance, struct call *call, const gudgeon_event *event);
int instance_flush(struct instance *instance, struct call *call);

#endif
