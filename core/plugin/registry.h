/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_REGISTRY_H
#define GUDGEON_PLUGIN_REGISTRY_H

/*
 * What plugins there are, without loading any of them.
 *
 * Opening a registry walks the search path (options, $GUDGEON_PLUGIN_PATH, then the build tree's
 * or the installed directory), takes each NAME.so by the path rules, and gets its description:
 * from the cache when device, inode, size and mtime are those it was made from, else from a
 * gudgeon-worker run for that one file. A file that is refused stays in the list with the reason.
 * Of two plugins with one name the first on the path wins, also when it is refused: a broken file
 * is not silently replaced by another one. The other is listed as shadowed. Of two plugins that
 * offer one component the first wins as well, and the other gets a warning.
 * Everything is owned by the registry and immutable once it is open; thread-safe from then on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/kind.h"

struct err;

struct component_info {
    const struct plugin_info *plugin;
    enum kind kind;
    unsigned kind_version;
    char *name;
    char *summary;
    unsigned flags;      /* GUDGEON_CONCURRENT, … */
    char *config_schema; /* JSON text, NULL = takes no configuration */
    char *needs;         /* JSON text of a grant, NULL = nothing */
};

struct plugin_info {
    char *path;    /* absolute */
    char *name;    /* from the file's name when it could not be described */
    char *version; /* NULL when refused before it could be read */
    char *licence;
    unsigned abi_major, abi_minor;
    char *refused; /* why it cannot be used, one line; NULL = fine */
    char *warning; /* one line, e.g. an unknown kind that was passed over; NULL = none */
    struct component_info *components;
    size_t component_count;
};

struct registry_options {
    const char *const *paths; /* directories of --plugin-path, in order */
    size_t path_count;
    bool no_cache;
};

struct registry;

/* options may be NULL. Fails only when no directory at all can be read. */
int registry_open(const struct registry_options *options, struct registry **ret, struct err *err);
void registry_free(struct registry *registry);
/* Directories that were asked for and cannot be read, one line; NULL = none. */
const char *registry_warning(const struct registry *registry);
size_t registry_count(const struct registry *registry);
const struct plugin_info *registry_plugin(const struct registry *registry, size_t index);
/* The component, or NULL with ERR_NOT_FOUND's text: `no model "opnai"; did you mean "openai"?`,
 * or why the plugin of that name was refused. */
const struct component_info *registry_find(const struct registry *registry, enum kind kind,
                                           const char *name, struct err *err);

#endif
