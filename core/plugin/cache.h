/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_CACHE_H
#define GUDGEON_PLUGIN_CACHE_H

/*
 * Descriptions that need not be made again.
 *
 * One file, CACHE/plugins.json: {"format":1,"plugins":{PATH:{"identity":TEXT,"description":{…}}}}.
 * The identity is the file's device, inode, size, mtime and ctime, and who described it: the
 * host's version and ABI and the worker binary's own identity. So another file, another host or
 * another worker all miss. A file that cannot be read, is not ours or is damaged counts as empty;
 * no failure here is ever an error. It is replaced as a whole by rename; of two hosts that write
 * at once the later wins, and what the other had learnt is described again. Not thread-safe.
 */

#include <sys/stat.h>

struct cache;
struct json_object;

/* `directory` NULL = nothing is kept. `worker` is the path of the gudgeon-worker binary. */
struct cache *cache_open(const char *directory, const char *worker);
void cache_free(struct cache *cache);
/* The description of the file at `path` that is now `st`, borrowed; NULL = not known. */
struct json_object *cache_get(struct cache *cache, const char *path, const struct stat *st);
void cache_put(struct cache *cache, const char *path, const struct stat *st,
               struct json_object *description);
/* Writes the file if anything was put, without the plugins that are gone. */
void cache_save(struct cache *cache);

#endif
