/* SPDX-License-Identifier: MIT */
#include "plugin/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json_object.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "plugin/abi.h"
#include "sys/paths.h"

enum { FORMAT = 1, FILE_MAX_BYTES = 64 << 20 };

struct cache {
    char *directory;             /* NULL = nothing is kept */
    char *describer;             /* who describes, as part of every identity */
    struct json_object *plugins; /* PATH → entry */
    bool is_changed;
};

/* ---- identity ------------------------------------------------------------------------------- */

static int64_t nanoseconds(struct timespec time)
{
    return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* mtime can be set back, ctime cannot. */
static char *identify(const struct stat *st, const char *describer)
{
    return xasprintf("%jx:%jx:%jx:%" PRIx64 ":%" PRIx64 " %s", (uintmax_t)st->st_dev,
                     (uintmax_t)st->st_ino, (uintmax_t)st->st_size,
                     (uint64_t)nanoseconds(st->st_mtim), (uint64_t)nanoseconds(st->st_ctim),
                     describer);
}

static char *identify_describer(const char *worker)
{
    struct stat st = {.st_size = 0};
    (void)stat(worker, &st);
    CLEANUP(free_ptr)
    char *version =
        xasprintf("gudgeon " GUDGEON_VERSION " abi %u.%u", abi_host.major, abi_host.minor);
    return identify(&st, version);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Whether nobody else can have put words into the file. */
static bool is_ours(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0 && st->st_size <= FILE_MAX_BYTES;
}

static bool read_file(const char *path, struct buf *out)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !is_ours(&st))
        return false;
    size_t size = (size_t)st.st_size;
    if (buf_reserve(out, size) < 0)
        return false;
    while (out->len < size) {
        ssize_t got = read(fd, out->data + out->len, size - out->len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        out->len += (size_t)got;
    }
    out->data[out->len] = '\0';
    return true;
}

static char *file_path(const struct cache *cache)
{
    return xasprintf("%s/plugins.json", cache->directory);
}

/* The object of entries, or NULL. */
static struct json_object *read_plugins(const struct cache *cache)
{
    CLEANUP(free_ptr) char *path = file_path(cache);
    CLEANUP(buf_fini) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    CLEANUP(json_cleanup) struct json_object *root = NULL;
    if (!read_file(path, &text) ||
        json_read_object((gudgeon_str){text.data, text.len}, &root, NULL) < 0 ||
        json_get_int(root, "format", 0) != FORMAT)
        return NULL;
    struct json_object *plugins = json_get(root, "plugins");
    return json_object_is_type(plugins, json_type_object) ? json_object_get(plugins) : NULL;
}

struct cache *cache_open(const char *directory, const char *worker)
{
    struct cache *cache = xcalloc(1, sizeof *cache);
    cache->describer = identify_describer(worker);
    if (directory != NULL) {
        cache->directory = xstrdup(directory);
        cache->plugins = read_plugins(cache);
    }
    if (cache->plugins == NULL)
        cache->plugins = json_object_new_object();
    return cache;
}

void cache_free(struct cache *cache)
{
    if (cache == NULL)
        return;
    json_object_put(cache->plugins);
    free(cache->directory);
    free(cache->describer);
    free(cache);
}

struct json_object *cache_get(struct cache *cache, const char *path, const struct stat *st)
{
    struct json_object *entry = json_get(cache->plugins, path);
    CLEANUP(free_ptr) char *identity = identify(st, cache->describer);
    gudgeon_str stored = json_get_str(entry, "identity");
    bool is_same = stored.len == strlen(identity) && strcmp(stored.ptr, identity) == 0;
    return is_same ? json_get(entry, "description") : NULL;
}

/* ---- writing -------------------------------------------------------------------------------- */

void cache_put(struct cache *cache, const char *path, const struct stat *st,
               struct json_object *description)
{
    if (cache->directory == NULL || !utf8_is_valid(path, strlen(path)))
        return;
    CLEANUP(free_ptr) char *identity = identify(st, cache->describer);
    struct json_object *entry = json_object_new_object();
    json_object_object_add(entry, "identity", json_object_new_string(identity));
    json_object_object_add(entry, "description", json_object_get(description));
    json_object_object_add(cache->plugins, path, entry);
    cache->is_changed = true;
}

static bool write_all(int fd, const struct buf *text)
{
    for (size_t done = 0; done < text->len;) {
        ssize_t put = write(fd, text->data + done, text->len - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        done += (size_t)put;
    }
    return true;
}

static void replace_file(const struct cache *cache, const struct buf *text)
{
    CLEANUP(free_ptr) char *path = file_path(cache);
    CLEANUP(free_ptr) char *temporary = xasprintf("%s.XXXXXX", path);
    CLEANUP(close_fd) int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return;
    if (!write_all(fd, text) || rename(temporary, path) < 0)
        unlink(temporary);
}

void cache_save(struct cache *cache)
{
    if (!cache->is_changed || paths_make_directory(cache->directory, NULL) < 0)
        return;
    CLEANUP(buf_fini) struct buf text = BUF_INIT(FILE_MAX_BYTES);
    struct json_writer writer = JSON_WRITER_INIT(&text);
    json_begin_object(&writer);
    json_field_int(&writer, "format", FORMAT);
    json_key(&writer, "plugins");
    json_begin_object(&writer);
    json_object_object_foreach(cache->plugins, path, entry)
    {
        if (access(path, F_OK) == 0) {
            json_key(&writer, path);
            json_add_value(&writer, entry);
        }
    }
    json_end_object(&writer);
    json_end_object(&writer);
    if (writer.status == 0)
        replace_file(cache, &text);
    cache->is_changed = false;
}
