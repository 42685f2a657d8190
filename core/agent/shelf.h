/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_SHELF_H
#define GUDGEON_AGENT_SHELF_H

/*
 * The tools of one instance, as its list gives them and the definition's entry wants them.
 *
 * shelf_fill makes a new shelf, so that a list that fails leaves the old one as it was. It gives
 * each tool a name that every dialect takes, decides its effect and whether its calls need
 * approval, makes its texts safe and compiles its schema. A tool that cannot be taken is left out,
 * which the log says. Owns its tools, not its instance. Internal to the toolbox.
 */

#include <stdbool.h>
#include <stddef.h>

struct err;
struct instance;
struct instance_options;
struct intake;
struct tool;
struct tools_entry;

/* entry and instance are NULL for the built-in tools. */
struct shelf {
    const struct tools_entry *entry;
    struct instance *instance;
    struct tool **tools;
    size_t count;
};

struct shelf_options {
    const struct instance_options *shared; /* cancel and log */
    const struct intake *intake;
    /* Whether a tool of another instance has the name. */
    bool (*is_taken)(void *payload, const char *name);
    void *payload;
};

/* A new shelf in *ret for `old`'s instance. *ret_clash (code 0 = none) is about the first tool that
 * was left out because its name is taken. */
int shelf_fill(const struct shelf *old, const struct shelf_options *options, struct shelf *ret,
               struct err *ret_clash, struct err *err);
void shelf_fini(struct shelf *shelf); /* frees the tools; entry and instance stay */

bool shelf_has(const struct shelf *shelf, const char *name);
/* Finishes a tool whose texts are set and puts it on the shelf. ERR_INVALID: its parameters are no
 * schema, and it is freed. */
int shelf_put(struct shelf *shelf, struct tool *take_tool, struct err *err);

#endif
