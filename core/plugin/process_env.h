/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_PROCESS_ENV_H
#define GUDGEON_PLUGIN_PROCESS_ENV_H

/*
 * The environment of a program that a plugin starts: nothing of the host's but what is listed here
 * and what the grant names, so that no key leaks into a child. A later entry replaces an earlier
 * one of the same name. Values are wiped when freed.
 */

#include <stddef.h>

#include <gudgeon/plugin.h>

struct err;
struct service_scope;

struct process_env {
    char **items; /* "NAME=value", ends with NULL */
    size_t count;
};

/* PATH, HOME, LANG, TZ and LC_* as the host has them, TMPDIR = `temporary`, and what the grant
 * names. */
void process_env_init(struct process_env *env, const struct service_scope *scope,
                      const char *temporary);
void process_env_fini(struct process_env *env);
/* Adds a plugin's "NAME=value" with its secrets filled in. */
int process_env_add(struct process_env *env, struct service_scope *scope, gudgeon_str item,
                    struct err *err);

#endif
