/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_GRANT_H
#define GUDGEON_PLUGIN_GRANT_H

/*
 * What an instance may reach, as far as host services ask: programs, hosts, variables.
 *
 * Read from the `grant` object of a definition's entry. Members that belong to others (paths,
 * memory) are passed over. Nothing is granted unless it is written. Immutable once it is made.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

struct err;

/* `true`, or a list of names. */
struct grant_list {
    bool is_all;
    char **names;
    size_t count;
};

struct grant {
    struct grant_list exec;    /* programs: a name that PATH finds, or an absolute path */
    struct grant_list network; /* host or host:port */
    struct grant_list env;     /* variables that children get from the host's environment */
};

/* An absent text grants nothing. ERR_INVALID says which member is wrong. On failure nothing is to
 * be freed. */
int grant_init(struct grant *grant, gudgeon_str json, struct err *err);
void grant_fini(struct grant *grant);

void grant_list_add(struct grant_list *list, gudgeon_str name);
bool grant_list_has(const struct grant_list *list, gudgeon_str name); /* by name alone */
void grant_list_fini(struct grant_list *list);

#endif
