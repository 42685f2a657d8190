/* SPDX-License-Identifier: MIT */
#include "worker/confine.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "sys/sandbox.h"
#include "worker/guard.h"

enum {
    DIRECTORIES_MAX = 16, /* of LD_LIBRARY_PATH */
    FILES = 1024,         /* open at once */
};
/* Of address space, when nothing is granted: language runtimes reserve much that they never touch.
 */
#define MEMORY_BYTES (UINT64_C(4) << 30)

/* Grants say sizes and durations as numbers or as people write them. */
static uint64_t amount(struct json_object *grant, const char *key,
                       int parse(const char *, int64_t *, struct err *))
{
    int64_t value = json_get_int(grant, key, 0);
    gudgeon_str text = json_get_str(grant, key);
    if (text.ptr != NULL && parse(text.ptr, &value, NULL) < 0)
        value = 0;
    return value > 0 ? (uint64_t)value : 0;
}

static struct sandbox_limits limits_of(struct json_object *grant)
{
    uint64_t memory = amount(grant, "memory", parse_size);
    uint64_t cpu_ms = amount(grant, "cpu", parse_duration);
    return (struct sandbox_limits){.memory_bytes = memory > 0 ? memory : MEMORY_BYTES,
                                   .cpu_s = (cpu_ms + 999) / 1000,
                                   .files = FILES};
}

static enum sandbox_network network_of(struct json_object *grant)
{
    struct json_object *network = json_get(grant, "network");
    if (json_object_is_type(network, json_type_array))
        return SANDBOX_NETWORK_HOSTS;
    return json_get_bool(grant, "network", false) ? SANDBOX_NETWORK_FULL : SANDBOX_NETWORK_NONE;
}

/* The paths of a list in the grant, and room for more after them; borrowed from the grant. */
static const char **paths_of(struct json_object *grant, const char *key, size_t more,
                             size_t *ret_count)
{
    struct json_object *list = json_get(grant, key);
    size_t listed = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
    const char **paths = xcalloc(listed + more + 1, sizeof *paths);
    *ret_count = 0;
    for (size_t i = 0; i < listed; i++) {
        gudgeon_str path = json_str(json_object_array_get_idx(list, i));
        if (path.ptr != NULL)
            paths[(*ret_count)++] = path.ptr;
    }
    return paths;
}

int confine(const char *plugin_path, gudgeon_str grant_json, struct sandbox_report *report,
            struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *grant = NULL;
    int status = json_read_object(grant_json, &grant, err);
    if (status < 0)
        return status;
    size_t read_count, write_count;
    CLEANUP(free_ptr) const char **read = paths_of(grant, "read", DIRECTORIES_MAX + 1, &read_count);
    CLEANUP(free_ptr) const char **write = paths_of(grant, "write", 0, &write_count);
    const char *given = getenv("LD_LIBRARY_PATH");
    CLEANUP(free_ptr) char *libraries = given != NULL ? xstrdup(given) : NULL;
    CLEANUP(free_ptr) char *directory = realpath(plugin_path, NULL);
    read_count += guard_split(libraries, read + read_count, DIRECTORIES_MAX);
    if (directory != NULL) {
        strrchr(directory, '/')[1] = '\0';
        read[read_count] = directory;
    }
    const struct sandbox_policy policy = {.read = read,
                                          .write = write,
                                          .tmp = getenv("TMPDIR"),
                                          .network = network_of(grant),
                                          .limits = limits_of(grant)};
    status = guard_enter(&policy, report, err);
    if (status == 0 && json_get(grant, "memory") == NULL)
        report->gaps &= ~(unsigned)SANDBOX_GAP_MEMORY; /* the default is no promise to anybody */
    return status;
}
