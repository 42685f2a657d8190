/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_TOOLBOX_H
#define GUDGEON_AGENT_TOOLBOX_H

/*
 * The tools of one run: every instance's list, under names that a model may call, plus the
 * built-in ones.
 *
 * A tool keeps its plugin's name if that is legal everywhere ([a-zA-Z0-9_-]{1,64}), with the
 * entry's name before it when one was given; other characters become "_", and what is too long or
 * clashes after that ends in a hash. What an instance lists twice is taken once; when two entries
 * have tools of one name, opening fails. The order is the definition's, then the plugin's, so that
 * a provider's prompt cache holds. Owns its instances. Listing happens on the run's thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "agent/definition.h"

struct err;
struct instance;
struct instance_options;
struct intake;
struct json_writer;
struct schema;
struct toolbox;

enum effect { EFFECT_READ, EFFECT_IDEMPOTENT, EFFECT_WRITE };
const char *effect_name(enum effect effect);

/* What a built-in tool does is the loop's business; the id says which it is. */
enum builtin { BUILTIN_NONE, BUILTIN_FINAL_ANSWER };

struct tool {
    gudgeon_tool abi;  /* as the model sees it; points into the fields below */
    char *name;        /* as the model calls it */
    char *plugin_name; /* as its instance calls it */
    char *description;
    char *parameters;      /* JSON Schema text */
    struct schema *schema; /* the same, compiled */
    enum effect effect;
    bool needs_approval;
    enum builtin builtin;
    struct instance *instance;       /* NULL for built-in tools */
    const struct tools_entry *entry; /* likewise */
};

/* Opens the instances and lists their tools. `shared` is the template for each instance's options
 * (services, secrets, cancel, log); what tools say of themselves passes `intake`, which learns the
 * secrets of an entry before its tools are listed. Both outlive the toolbox. The error names the
 * entry. */
int toolbox_open(const struct definition *definition, const struct instance_options *shared,
                 struct intake *intake, struct toolbox **ret, struct err *err);
void toolbox_free(struct toolbox *toolbox);

/* Lists the tools of those instances again that said that theirs have changed. True when the list
 * is another one now; then the revision is, too. An instance that cannot list them now keeps the
 * ones it had and is asked again the next time; a tool whose name is taken is left out. Both are
 * said in the log: a tool that fails is no reason to end a run. */
bool toolbox_refresh(struct toolbox *toolbox);
uint64_t toolbox_revision(const struct toolbox *toolbox);
/* Borrowed until the next refresh. */
const gudgeon_tool *const *toolbox_list(const struct toolbox *toolbox, size_t *ret_count);
const struct tool *toolbox_find(const struct toolbox *toolbox, gudgeon_str name);
/* A name near to `name`, or NULL. */
const char *toolbox_nearest(const struct toolbox *toolbox, const char *name);
/* Adds the names, separated by ", ". */
void toolbox_names(const struct toolbox *toolbox, struct buf *out);
/* Writes the fields of tools.listed. */
void toolbox_write(const struct toolbox *toolbox, struct json_writer *writer);

#endif
