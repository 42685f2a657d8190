/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_DESCRIPTION_H
#define GUDGEON_PLUGIN_DESCRIPTION_H

/*
 * What the host knows of a plugin without loading it: made from the descriptor in a worker, sent
 * and cached as one JSON object, read back into a struct plugin_info.
 *
 *     {"name":…,"version":…,"licence":…,"abi":[0,1],"warning":…,
 *      "components":[{"kind":"tools/1","name":…,"summary":…,"flags":0,"config_schema":TEXT,
 *                     "needs":TEXT}]}
 *     {"refused":…,"lasting":true,…}
 *
 * The reader takes the text for input, not for our own words: the worker shares its process with
 * the plugin.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct err;
struct json_object;
struct json_writer;
struct plugin_info;

enum { DESCRIPTION_MAX_BYTES = 8 << 20 }; /* of one plugin's JSON */

/* Checks a descriptor (abi.h) and the texts in it, and copies what it says; a plugin that is not
 * acceptable gives an info with `refused`. `path` is not set. */
void description_make(const struct gudgeon_plugin *plugin, const char *file_name,
                      struct plugin_info *ret);
/* The info of a plugin that could not even be loaded, for that reason. */
void description_refuse(const char *file_name, const char *reason, struct plugin_info *ret);
/* `lasting`: whether a refusal is in the file itself, so that only another file can change it. */
void description_write(const struct plugin_info *info, bool lasting, struct json_writer *writer);
/* ERR_INVALID when it is no description. */
int description_read(struct json_object *object, struct plugin_info *ret, struct err *err);
/* Frees what hangs off the struct. */
void plugin_info_fini(struct plugin_info *info);

#endif
