/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_ABI_H
#define GUDGEON_PLUGIN_ABI_H

/*
 * What makes a descriptor acceptable: negotiation of the version, then the shape of what it
 * offers.
 *
 * Pure functions on a descriptor that somebody else has found; nothing of the plugin is called.
 * They read memory that the plugin wrote, so a bad pointer in it crashes them: only the describing
 * worker meets a descriptor first. The host's version is a parameter, so that the rules of ABI 1.x
 * are tested while the header still says 0.x.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

struct buf;
struct err;
struct kind_row;

struct abi_version {
    unsigned major, minor;
};

/* The version of the header that this host was built with. */
extern const struct abi_version abi_host;

enum {
    ABI_NAME_MAX = 64,       /* bytes of a plugin's or component's name */
    ABI_COMPONENTS_MAX = 64, /* of one plugin: past it, the array's NULL is taken to be missing */
};

/* Whether the text is a name: [a-z0-9_-]+, at most ABI_NAME_MAX long. NULL is none. */
bool abi_is_name(const char *text);

/* Whether a host of that version can use the plugin at all. Major 0: the same minor. From 1 on: the
 * same major, and at least the plugin's minimum_host_minor; a plugin's own minor may be older or
 * newer. ERR_INVALID (no descriptor), ERR_PROTOCOL (another version). */
int abi_negotiate(const struct gudgeon_plugin *plugin, struct abi_version host, struct err *err);
/* Whether a plugin that was negotiated keeps the header's rules: its name (which must be
 * `file_name`, the file's without .so), at least one component, and of each component of a known
 * kind the mandatory fields and ops. What is passed over is added to `warnings`, "; " between.
 * ERR_INVALID names the component and what is wrong with it. */
int abi_check(const struct gudgeon_plugin *plugin, const char *file_name, struct buf *warnings,
              struct err *err);
/* The row of a component's kind, or NULL when the component is to be passed over. */
const struct kind_row *abi_kind(const gudgeon_component *component);

#endif
