/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_LOAD_H
#define GUDGEON_PLUGIN_LOAD_H

/*
 * A plugin file, mapped into this process and checked.
 *
 * Path rules first (a regular file, its directories not writable by others, a legal name), then
 * dlopen with RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, then the one symbol, then negotiation: magic,
 * major, minor, minimum host minor, sizes, every component's mandatory fields and ops. Nothing is
 * called. A file is never unloaded. dlopen runs the file's constructors, so the host only loads
 * what a worker has described before.
 */

#include <stddef.h>

#include <gudgeon/plugin.h>

struct err;

/* Only the path rules: ERR_REFUSED with the rule. */
int plugin_check_path(const char *path, struct err *err);
/* Loads and checks. *ret lives for ever. ERR_REFUSED, ERR_INVALID (not a plugin, or broken),
 * ERR_PROTOCOL (another ABI): "libfoo.so.1 is missing", "abi 1.0, this host has 0.1; rebuild it".
 */
int plugin_load(const char *path, const struct gudgeon_plugin **ret, struct err *err);
/* The component of a loaded plugin, or NULL: `kind` as "tools/1". */
const gudgeon_component *plugin_component(const struct gudgeon_plugin *plugin, const char *kind,
                                          const char *name);

#endif
