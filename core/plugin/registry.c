/* SPDX-License-Identifier: MIT */
#include "plugin/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "plugin/cache.h"
#include "plugin/describe.h"
#include "plugin/description.h"
#include "plugin/search.h"
#include "sys/paths.h"

struct registry {
    struct plugin_info *plugins;
    size_t count;
    char *warning;
};

/* ---- opening -------------------------------------------------------------------------------- */

/* The plugin that an earlier directory has under this name, or NULL. */
static const struct plugin_info *first_of_name(const struct registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->plugins[i].name, name) == 0)
            return &registry->plugins[i];
    return NULL;
}

/* Asks a worker, and keeps the answer when only another file could give another one. */
static int ask_worker(const struct search_hit *hit, struct cache *cache, const char *worker,
                      struct plugin_info *info, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *description = NULL;
    int status = describe_file(worker, hit->path, DESCRIBE_DEADLINE_MS, &description, err);
    if (status == 0)
        status = description_read(description, info, err);
    if (status == 0 && strcmp(info->name, hit->name) != 0)
        status = err_set(err, ERR_INVALID, "its description is of \"%s\"", info->name);
    if (status == 0 && json_get_bool(description, "lasting", true))
        cache_put(cache, hit->path, &hit->st, description);
    return status;
}

static int describe(const struct search_hit *hit, struct cache *cache, const char *worker,
                    struct plugin_info *info, struct err *err)
{
    struct json_object *known = cache_get(cache, hit->path, &hit->st);
    int status = known != NULL ? description_read(known, info, NULL) : ERR_NOT_FOUND;
    if (status < 0)
        status = ask_worker(hit, cache, worker, info, err);
    for (size_t i = 0; i < info->component_count; i++)
        info->components[i].plugin = info;
    return status;
}

/* The usable component of a kind and name in the first `count` plugins, or NULL. */
static const struct component_info *find_among(const struct registry *registry, size_t count,
                                               enum kind kind, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const struct plugin_info *plugin = &registry->plugins[i];
        for (size_t j = 0; plugin->refused == NULL && j < plugin->component_count; j++)
            if (plugin->components[j].kind == kind && strcmp(plugin->components[j].name, name) == 0)
                return &plugin->components[j];
    }
    return NULL;
}

/* Of two plugins that offer one component the first wins as well. */
static void warn_of_hidden(struct registry *registry, size_t index)
{
    struct plugin_info *plugin = &registry->plugins[index];
    for (size_t i = 0; i < plugin->component_count; i++) {
        const struct component_info *mine = &plugin->components[i];
        const struct component_info *first = find_among(registry, index, mine->kind, mine->name);
        if (first == NULL)
            continue;
        char *warning = xasprintf("%s%s%s \"%s\" is hidden by that of %s",
                                  plugin->warning != NULL ? plugin->warning : "",
                                  plugin->warning != NULL ? "; " : "", kind_name(mine->kind),
                                  mine->name, first->plugin->path);
        free(plugin->warning);
        plugin->warning = warning;
    }
}

/* Adds what a hit gives: an info, with `refused` when it cannot be used. */
static void add_plugin(struct registry *registry, const struct search_hit *hit, struct cache *cache,
                       const char *worker)
{
    struct plugin_info *info = &registry->plugins[registry->count];
    const struct plugin_info *first = first_of_name(registry, hit->name);
    struct err err = {0};
    if (hit->refused != NULL) {
        info->refused = xstrdup(hit->refused);
    } else if (first != NULL) {
        info->refused = xasprintf("shadowed by %s", first->path);
    } else if (describe(hit, cache, worker, info, &err) < 0) {
        plugin_info_fini(info);
        info->refused = xstrdup(err.text);
    }
    if (info->name == NULL)
        info->name = xstrdup(hit->name);
    info->path = xstrdup(hit->path);
    warn_of_hidden(registry, registry->count++);
}

int registry_open(const struct registry_options *options, struct registry **ret, struct err *err)
{
    CLEANUP(search_fini) struct search search = {.hits = NULL};
    int status = search_run(options, &search, err);
    if (status < 0)
        return status;
    CLEANUP(free_ptr) char *worker = paths_worker();
    CLEANUP(free_ptr) char *directory = options != NULL && options->no_cache ? NULL : paths_cache();
    struct cache *cache = cache_open(directory, worker);
    struct registry *registry = xcalloc(1, sizeof *registry);
    registry->plugins = xcalloc(search.count + 1, sizeof *registry->plugins);
    registry->warning = TAKE(search.warning);
    for (size_t i = 0; i < search.count; i++)
        add_plugin(registry, &search.hits[i], cache, worker);
    cache_save(cache);
    cache_free(cache);
    *ret = registry;
    return 0;
}

void registry_free(struct registry *registry)
{
    if (registry == NULL)
        return;
    for (size_t i = 0; i < registry->count; i++)
        plugin_info_fini(&registry->plugins[i]);
    free(registry->plugins);
    free(registry->warning);
    free(registry);
}

size_t registry_count(const struct registry *registry)
{
    return registry->count;
}

const struct plugin_info *registry_plugin(const struct registry *registry, size_t index)
{
    return &registry->plugins[index];
}

const char *registry_warning(const struct registry *registry)
{
    return registry->warning;
}

/* ---- finding -------------------------------------------------------------------------------- */

/* The names of all usable components of a kind; the array is freed by the caller. */
static const char **names_of_kind(const struct registry *registry, enum kind kind, size_t *count)
{
    const char **names = NULL;
    *count = 0;
    for (size_t i = 0; i < registry->count; i++) {
        const struct plugin_info *plugin = &registry->plugins[i];
        for (size_t j = 0; plugin->refused == NULL && j < plugin->component_count; j++) {
            if (plugin->components[j].kind != kind)
                continue;
            names = xreallocarray(names, *count + 1, sizeof *names);
            names[(*count)++] = plugin->components[j].name;
        }
    }
    return names;
}

static const struct component_info *find_other_kind(const struct registry *registry,
                                                    const char *name)
{
    const struct component_info *found = NULL;
    for (size_t kind = 0; kind < KIND_COUNT && found == NULL; kind++)
        found = find_among(registry, registry->count, (enum kind)kind, name);
    return found;
}

/* Why there is none: of several reasons the one that says most. */
static void not_found(const struct registry *registry, enum kind kind, const char *name,
                      struct err *err)
{
    size_t count;
    const char **names = names_of_kind(registry, kind, &count);
    const char *near = nearest_name(name, names, count);
    const struct plugin_info *plugin = first_of_name(registry, name);
    const struct component_info *other = find_other_kind(registry, name);
    if (plugin != NULL && plugin->refused != NULL)
        err_set(err, ERR_REFUSED, "no %s \"%s\": %s is refused: %s", kind_name(kind), name,
                plugin->path, plugin->refused);
    else if (other != NULL)
        err_set(err, ERR_NOT_FOUND, "no %s \"%s\": the one in %s is of kind %s", kind_name(kind),
                name, other->plugin->path, kind_name(other->kind));
    else if (plugin != NULL && plugin->warning != NULL)
        err_set(err, ERR_NOT_FOUND, "no %s \"%s\": %s: %s", kind_name(kind), name, plugin->path,
                plugin->warning);
    else if (near != NULL)
        err_set(err, ERR_NOT_FOUND, "no %s \"%s\"; did you mean \"%s\"?", kind_name(kind), name,
                near);
    else
        err_set(err, ERR_NOT_FOUND, "no %s \"%s\"; `gudgeon plugins` lists what there is",
                kind_name(kind), name);
    free(names);
}

const struct component_info *registry_find(const struct registry *registry, enum kind kind,
                                           const char *name, struct err *err)
{
    const struct component_info *found = find_among(registry, registry->count, kind, name);
    if (found == NULL)
        not_found(registry, kind, name, err);
    return found;
}
