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
/* Loads the file and finds its descriptor, which nobody has looked at yet: for the worker that
 * describes it. ERR_REFUSED (path rules), ERR_INVALID (not a plugin), ERR_NOT_FOUND (a library or
 * a symbol that it needs is missing), ERR_IO (anything else that the loader says). */
int plugin_open(const char *path, const struct gudgeon_plugin **ret, struct err *err);
/* Loads and checks. *ret lives for ever. Codes as plugin_open, and ERR_PROTOCOL (another ABI):
 * "needs libfoo.so.1, which is not installed", "made for ABI 1.0, this host has 0.1; rebuild it
 * with this host's headers". */
int plugin_load(const char *path, const struct gudgeon_plugin **ret, struct err *err);
/* The component of a loaded plugin, or NULL: `kind` as "tools/1". */
const gudgeon_component *plugin_component(const struct gudgeon_plugin *plugin, const char *kind,
                                          const char *name);

#endif
