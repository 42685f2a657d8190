/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/json.h>
#include <gudgeon/util.h>

#include "path.h"

enum {
    NS_PER_MS = 1000000,
    LATE_MS = 100, /* before the deadline: time to say what was found */
};

static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"root\"],\"properties\":{"
    "\"root\":{\"type\":\"string\",\"format\":\"path\",\"description\":"
    "\"The directory that the tools work in. Nothing outside it can be reached.\"},"
    "\"read_only\":{\"type\":\"boolean\",\"description\":"
    "\"true: offer no tool that writes. When unsaid, they are offered if a write grant covers the "
    "root.\"},"
    "\"max_bytes\":{\"type\":[\"integer\",\"string\"],\"minimum\":1,"
    "\"pattern\":\"^[0-9]+(B|KiB|MiB|GiB)?$\",\"default\":\"4MiB\",\"description\":"
    "\"The largest file that is written, edited or searched; at most 256MiB.\"},"
    "\"result_bytes\":{\"type\":[\"integer\",\"string\"],\"minimum\":1024,"
    "\"pattern\":\"^[0-9]+(B|KiB|MiB|GiB)?$\",\"default\":\"24KiB\",\"description\":"
    "\"The longest result of one call, 1KiB to 1MiB; what is longer ends with a line that says how "
    "to go on.\"}}}";

/* ---- replies --------------------------------------------------------------------------------- */

int because(struct reason *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return -1;
}

int32_t reply_reason(const gudgeon_call *call, const struct reason *why)
{
    return gudgeon_reply_text(call, GUDGEON_IS_ERROR, why->text);
}

int32_t reply_bufs(const gudgeon_call *call, const gudgeon_buf *text, const gudgeon_buf *data)
{
    if (text->failed || (data != NULL && data->failed))
        return gudgeon_fail(call, GUDGEON_LIMIT, "the result takes more memory than there is");
    gudgeon_tool_result result = {.size = sizeof result, .text = gudgeon_buf_str(text)};
    if (data != NULL)
        result.data = gudgeon_buf_str(data);
    return call->result(call, &result);
}

int32_t call_state(const gudgeon_call *call)
{
    struct timespec now;
    if (call->cancelled(call))
        return GUDGEON_CANCELLED;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
    return now_ns > call->deadline_ns(call) - LATE_MS * NS_PER_MS ? GUDGEON_TIMEOUT : GUDGEON_OK;
}

int32_t fail_state(const gudgeon_call *call, int32_t state)
{
    return gudgeon_fail(call, state, "%s",
                        state == GUDGEON_TIMEOUT ? "the time for this call is used up"
                                                 : "the call was cancelled");
}

/* ---- grants ---------------------------------------------------------------------------------- */

/* Whether one of the paths that the grant lists under `kind` holds the root. */
static bool grant_covers(gudgeon_str grant, const char *kind, const char *real_root)
{
    gudgeon_json_iter iter = gudgeon_json_each(gudgeon_arg(grant, kind));
    gudgeon_str value;
    bool covers = false;
    while (!covers && gudgeon_json_next(&iter, NULL, &value)) {
        gudgeon_buf listed = {0};
        gudgeon_json_decode(gudgeon_json_inner(value), &listed);
        char *real = listed.len > 0 ? realpath(listed.ptr, NULL) : NULL;
        covers = real != NULL && path_below(real, real_root) != NULL;
        free(real);
        gudgeon_buf_free(&listed);
    }
    return covers;
}

static int32_t refuse_root(const struct files *files, const gudgeon_call *call, const char *kind)
{
    gudgeon_buf grant = {0};
    gudgeon_buf_addf(&grant, "{\"%s\":[", kind);
    gudgeon_buf_quote(&grant, gudgeon_text(files->root));
    gudgeon_buf_puts(&grant, "]}");
    int32_t class = gudgeon_refuse(call, grant.failed ? "{}" : grant.ptr,
                                   "root '%.500s' is not within what may be %s", files->root,
                                   strcmp(kind, "read") == 0 ? "read" : "written");
    gudgeon_buf_free(&grant);
    return class;
}

/* A write grant lets its paths be read as well. Without `read_only` the grant decides whether the
 * tools that write are offered; `read_only: false` insists on it. */
static int32_t take_grants(struct files *files, const gudgeon_call *call,
                           const gudgeon_create *request)
{
    int read_only = 0;
    bool is_said = gudgeon_arg_bool(request->config, "read_only", &read_only) == GUDGEON_OK;
    bool may_write = grant_covers(request->grant, "write", files->real_root);
    if (is_said && !read_only && !may_write)
        return refuse_root(files, call, "write");
    if (!may_write && !grant_covers(request->grant, "read", files->real_root))
        return refuse_root(files, call, "read");
    files->can_write = may_write && !read_only;
    return GUDGEON_OK;
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static int32_t take_size(const gudgeon_call *call, gudgeon_str config, const char *name,
                         const uint64_t bounds[2], uint64_t *size)
{
    int32_t status = gudgeon_arg_size(config, name, size);
    bool is_absent = gudgeon_arg(config, name).ptr == NULL;
    if ((status != GUDGEON_OK && !is_absent) || *size < bounds[0] || *size > bounds[1])
        return gudgeon_fail(call, GUDGEON_INVALID,
                            "%s: give a size from %llu to %llu bytes, such as 64KiB", name,
                            (unsigned long long)bounds[0], (unsigned long long)bounds[1]);
    return GUDGEON_OK;
}

static int32_t open_root(struct files *files, const gudgeon_call *call, gudgeon_str config)
{
    gudgeon_buf root = {.max = PATH_MAX};
    if (gudgeon_arg_bytes(config, "root", &root) != GUDGEON_OK || root.len == 0 ||
        memchr(root.ptr, '\0', root.len) != NULL) {
        gudgeon_buf_free(&root);
        return gudgeon_fail(call, GUDGEON_INVALID, "root: give the path of a directory");
    }
    while (root.len > 1 && root.ptr[root.len - 1] == '/')
        root.ptr[--root.len] = '\0';
    files->root = root.ptr;
    files->root_fd = open(files->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (files->root_fd < 0)
        return gudgeon_fail(call, GUDGEON_INVALID, "root '%.500s': %s", files->root,
                            errno == ENOENT ? "no such directory: create it, or change `root`"
                                            : strerrordesc_np(errno));
    files->real_root = realpath(files->root, NULL);
    if (files->real_root == NULL)
        return gudgeon_fail(call, GUDGEON_INVALID, "root '%.500s': %s", files->root,
                            strerrordesc_np(errno));
    files->has_openat2 = path_has_openat2(files->root_fd);
    return GUDGEON_OK;
}

static void files_free(struct files *files)
{
    if (files->root_fd >= 0)
        close(files->root_fd);
    pthread_mutex_destroy(&files->writing);
    free(files->real_root);
    free(files->root);
    free(files);
}

static int32_t files_setup(struct files *files, const gudgeon_call *call,
                           const gudgeon_create *request)
{
    static const uint64_t max_bounds[] = {1, 256 << 20}, result_bounds[] = {1 << 10, 1 << 20};
    int32_t class = take_size(call, request->config, "max_bytes", max_bounds, &files->max_bytes);
    if (class == GUDGEON_OK)
        class =
            take_size(call, request->config, "result_bytes", result_bounds, &files->result_bytes);
    if (class == GUDGEON_OK)
        class = open_root(files, call, request->config);
    return class == GUDGEON_OK ? take_grants(files, call, request) : class;
}

static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    struct files *files = calloc(1, sizeof *files);
    if (files == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    files->host = request->host;
    files->root_fd = -1;
    files->max_bytes = 4 << 20;
    files->result_bytes = 24 << 10;
    pthread_mutex_init(&files->writing, NULL);
    int32_t class = files_setup(files, call, request);
    if (class != GUDGEON_OK) {
        files_free(files);
        return class;
    }
    *self = files;
    return GUDGEON_OK;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    files_free(self);
    return GUDGEON_OK;
}

/* ---- the tools ------------------------------------------------------------------------------- */

#define PATH_PROPERTY(description)                                                                 \
    "\"path\":{\"type\":\"string\",\"description\":\"" description "\"}"
#define OBJECT(required, properties)                                                               \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required                  \
    "],\"properties\":{" properties "}}"

static const struct tool {
    const char *name;
    uint32_t flags;
    files_tool_fn *run;
    const char *description;
    const char *parameters;
} tools[] = {
    {"list_files", GUDGEON_TOOL_READ, files_list,
     "Lists the files and directories of a directory, with their sizes in bytes.",
     OBJECT("", PATH_PROPERTY(
                    "The directory; the root when left out.") ","
                                                              "\"recursive\":{\"type\":\"boolean\","
                                                              "\"default\":false,\"description\":"
                                                              "\"Go into directories (but not into "
                                                              ".git).\"},"
                                                              "\"glob\":{\"type\":\"string\","
                                                              "\"description\":"
                                                              "\"Only what matches, e.g. *.md, or "
                                                              "src/**/*.c for whole paths below "
                                                              "`path`.\"}")},
    {"read_file", GUDGEON_TOOL_READ, files_read,
     "Reads a text file. A long file comes in parts: the last line says how to go on.",
     OBJECT(
         "\"path\"",
         PATH_PROPERTY("The file.") ","
                                    "\"offset\":{\"type\":\"integer\",\"minimum\":1,\"default\":1,"
                                    "\"description\":"
                                    "\"The first line wanted, from 1.\"},"
                                    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"description\":"
                                    "\"How many lines are wanted at most.\"}")},
    {"search_files", GUDGEON_TOOL_READ, files_search,
     "Finds the lines that contain a text, in one file or in all files below a directory.",
     OBJECT(
         "\"pattern\"",
         "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"description\":"
         "\"The text to find; taken literally unless `regex` is true.\"}," PATH_PROPERTY(
             "A file or a directory; the root when left out.") ","
                                                               "\"glob\":{\"type\":\"string\","
                                                               "\"description\":\"Only files that "
                                                               "match, e.g. *.py\"},"
                                                               "\"regex\":{\"type\":\"boolean\","
                                                               "\"default\":false,\"description\":"
                                                               "\"`pattern` is a POSIX extended "
                                                               "regular expression.\"},"
                                                               "\"ignore_case\":{\"type\":"
                                                               "\"boolean\",\"default\":false,"
                                                               "\"description\":"
                                                               "\"Take upper and lower case as "
                                                               "equal.\"}")},
    {"write_file", GUDGEON_TOOL_IDEMPOTENT | GUDGEON_TOOL_DESTRUCTIVE, files_write,
     "Writes a whole file: creates it, with the directories it needs, or replaces what it holds.",
     OBJECT("\"path\",\"content\"",
            PATH_PROPERTY("The file.") ","
                                       "\"content\":{\"type\":\"string\",\"description\":\"All "
                                       "that it shall hold.\"}")},
    {"edit_file", GUDGEON_TOOL_DESTRUCTIVE, files_edit,
     "Replaces an exact text in a file by another. The old text must occur exactly once, so give "
     "enough of what stands around it.",
     OBJECT("\"path\",\"old\",\"new\"",
            PATH_PROPERTY(
                "The file.") ","
                             "\"old\":{\"type\":\"string\",\"minLength\":1,\"description\":"
                             "\"The text to replace, exactly as the file has it, white space "
                             "included.\"},"
                             "\"new\":{\"type\":\"string\",\"description\":\"What stands there "
                             "afterwards.\"},"
                             "\"all\":{\"type\":\"boolean\",\"default\":false,\"description\":"
                             "\"Replace every occurrence.\"}")},
};

enum { TOOL_COUNT = sizeof tools / sizeof tools[0] };

static bool is_offered(const struct files *files, const struct tool *tool)
{
    return files->can_write || (tool->flags & GUDGEON_TOOL_READ) != 0;
}

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    const struct files *files = self;
    (void)request;
    for (size_t i = 0; i < TOOL_COUNT; i++) {
        char text[PATH_MAX + 512];
        snprintf(text, sizeof text, "%s Paths are relative to %s.", tools[i].description,
                 files->root);
        gudgeon_tool tool = {.size = sizeof tool,
                             .flags = tools[i].flags,
                             .name = gudgeon_text(tools[i].name),
                             .description = gudgeon_text(text),
                             .parameters = gudgeon_text(tools[i].parameters)};
        int32_t class = is_offered(files, &tools[i]) ? call->result(call, &tool) : GUDGEON_OK;
        if (class != GUDGEON_OK)
            return class;
    }
    return GUDGEON_OK;
}

static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (gudgeon_is(request->tool, tools[i].name) && is_offered(self, &tools[i]))
            return tools[i].run(self, call, request->arguments);
    return gudgeon_fail(call, GUDGEON_INVALID, "files has no such tool here");
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    .flags = GUDGEON_CONCURRENT | GUDGEON_REPLICABLE,
    .kind = "tools/1",
    .name = "files",
    .summary = "Reads, writes, lists and searches the files of one directory.",
    .config_schema = config_schema,
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};

static const gudgeon_component *const components[] = {&component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "files", "0.1.0", "MIT", components, 0};
