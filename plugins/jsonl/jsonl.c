/* SPDX-License-Identifier: MIT */
/*
 * sink "jsonl": appends every event of a run to one file, a JSON object a line.
 *
 * Many runs and hosts may share a file: each event is one write on O_APPEND. The file is opened for
 * each event only when it has been moved away (log rotation), which the inode tells.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

struct sink {
    char path[PATH_MAX];
    int fd; /* -1 = not open */
};

static int open_file(struct sink *sink)
{
    if (sink->fd >= 0)
        close(sink->fd);
    sink->fd = open(sink->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    return sink->fd;
}

static int was_moved(const struct sink *sink)
{
    struct stat open_file_stat, path_stat;
    return fstat(sink->fd, &open_file_stat) < 0 || stat(sink->path, &path_stat) < 0 ||
           open_file_stat.st_ino != path_stat.st_ino || open_file_stat.st_dev != path_stat.st_dev;
}

static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    struct sink *sink = calloc(1, sizeof *sink);
    if (sink == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    sink->fd = -1;
    if (gudgeon_arg_text(request->config, "path", sink->path, sizeof sink->path) != GUDGEON_OK) {
        free(sink);
        return gudgeon_fail(call, GUDGEON_INVALID, "`path` is no usable file name");
    }
    if (open_file(sink) < 0) {
        int32_t status =
            gudgeon_fail(call, GUDGEON_INVALID, "cannot open %s: %s", sink->path, strerror(errno));
        free(sink);
        return status;
    }
    *self = sink;
    return GUDGEON_OK;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    struct sink *sink = self;
    if (sink->fd >= 0)
        close(sink->fd);
    free(sink);
    return GUDGEON_OK;
}

static int32_t event(void *self, const gudgeon_call *call, const gudgeon_event *request)
{
    struct sink *sink = self;
    if (was_moved(sink) && open_file(sink) < 0)
        return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "cannot open %s: %s", sink->path,
                            strerror(errno));
    struct iovec parts[] = {
        {(void *)(uintptr_t)request->json.ptr, request->json.len},
        {(void *)(uintptr_t) "\n", 1},
    };
    ssize_t written = writev(sink->fd, parts, 2);
    if (written == (ssize_t)request->json.len + 1)
        return GUDGEON_OK;
    return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "cannot write %s: %s", sink->path,
                        written < 0 ? strerror(errno) : "cut short");
}

static const gudgeon_sink ops = {.size = sizeof ops, .event = event};

static const gudgeon_component jsonl = {
    .size = sizeof jsonl,
    .kind = "sink/1",
    .name = "jsonl",
    .summary = "Appends the events of runs to a file, one JSON object a line",
    .config_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"path\"],"
        "\"properties\":{\"path\":{\"type\":\"string\",\"format\":\"path\",\"minLength\":"
        "1,\"description\":\"The file; made when missing, mode 0600.\"}}}",
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};

static const gudgeon_component *const components[] = {&jsonl, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "jsonl", "0.1.0", "MIT", components, 0,
};
