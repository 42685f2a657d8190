/* SPDX-License-Identifier: MIT */
#include "mock_host.h"

#include <CUnit/CUnit.h>
#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <gudgeon/ext/process.h>
#include <json-c/json_object.h>

#include "base/alloc.h"
#include "base/err.h"
#include "data/json.h"

enum { ANSWER_MAX = 1 << 26 };

/* A call in the making: what host_data points at. */
struct making {
    struct mock *mock;
    struct answer *answer;
    struct mock_call *how;
    pthread_t thread;
    int64_t deadline_ns;
    int cancel_fd;
    bool is_listing;
    bool is_over;
};

static const size_t answer_buffers[] = {
    offsetof(struct answer, text),    offsetof(struct answer, content),
    offsetof(struct answer, data),    offsetof(struct answer, output),
    offsetof(struct answer, errors),  offsetof(struct answer, merged),
    offsetof(struct answer, message), offsetof(struct answer, grant),
    offsetof(struct answer, fault),
};

static struct buf *answer_buffer(struct answer *answer, size_t index)
{
    return (struct buf *)((char *)answer + answer_buffers[index]);
}

void answer_init(struct answer *answer)
{
    memset(answer, 0, sizeof *answer);
    for (size_t i = 0; i < COUNT_OF(answer_buffers); i++)
        buf_init(answer_buffer(answer, i), ANSWER_MAX);
}

void answer_fini(struct answer *answer)
{
    for (size_t i = 0; i < COUNT_OF(answer_buffers); i++)
        buf_fini(answer_buffer(answer, i));
}

const char *answer_shown(const struct answer *answer)
{
    if (answer->content.len > 0)
        return answer->content.data;
    if (answer->text.len > 0)
        return answer->text.data;
    return answer->merged.len > 0 ? answer->merged.data : "(no output)";
}

/* ---- what the plugin sees of a call ---------------------------------------------------------- */

static struct making *making_of(const gudgeon_call *call)
{
    return call->host_data;
}

struct mock *mock_of_call(const gudgeon_call *call)
{
    return making_of(call)->mock;
}

static void broke(struct making *making, const char *rule)
{
    buf_addf(&making->answer->fault, "%s; ", rule);
}

static void check_thread(struct making *making, const char *what)
{
    if (!pthread_equal(making->thread, pthread_self()))
        broke(making, what);
    if (making->is_over)
        broke(making, "answered after the return");
}

static int64_t call_deadline_ns(const gudgeon_call *call)
{
    return making_of(call)->deadline_ns;
}

static int32_t call_cancelled(const gudgeon_call *call)
{
    eventfd_t ignored;
    int fd = making_of(call)->cancel_fd;
    if (eventfd_read(fd, &ignored) != 0)
        return 0;
    eventfd_write(fd, 1);
    return 1;
}

static int32_t call_cancel_fd(const gudgeon_call *call)
{
    return making_of(call)->cancel_fd;
}

static void keep_output(struct making *making, const gudgeon_delta *delta)
{
    struct answer *answer = making->answer;
    struct buf *channel = delta->channel == GUDGEON_STDOUT ? &answer->output : &answer->errors;
    making->how->output_bytes += delta->bytes.len;
    if (making->how->discard)
        return;
    buf_add(channel, delta->bytes.ptr, delta->bytes.len);
    buf_add(&answer->merged, delta->bytes.ptr, delta->bytes.len);
}

static int32_t call_delta(const gudgeon_call *call, const gudgeon_delta *delta)
{
    struct making *making = making_of(call);
    struct mock_call *how = making->how;
    check_thread(making, "a delta from another thread");
    if (delta->size != sizeof *delta || delta->reserved != 0)
        broke(making, "a delta with a wrong size");
    if (delta->channel != GUDGEON_STDOUT && delta->channel != GUDGEON_STDERR)
        return 0;
    keep_output(making, delta);
    if (how->on_output != NULL)
        how->on_output(how->payload);
    if (how->cancel_at != NULL && strstr(making->answer->merged.data, how->cancel_at) != NULL)
        eventfd_write(making->cancel_fd, 1);
    return how->output_bytes > (how->output_max > 0 ? how->output_max : ANSWER_MAX);
}

static void check_json(struct making *making, gudgeon_str text, const char *rule)
{
    struct json_object *value = NULL;
    struct err err = {0};
    if (text.ptr != NULL && json_read(text, &value, &err) < 0)
        broke(making, rule);
    json_object_put(value);
}

static int32_t take_tool(struct making *making, const gudgeon_tool *tool)
{
    struct mock *mock = making->mock;
    if (tool->size != sizeof *tool)
        broke(making, "a tool with a wrong size");
    check_json(making, tool->parameters, "parameters that are no JSON");
    mock->tools = xreallocarray(mock->tools, mock->tool_count + 1, sizeof *mock->tools);
    mock->tools[mock->tool_count++] = (struct mock_tool){
        .name = xstrndup(tool->name.ptr, tool->name.len),
        .description = xstrndup(tool->description.ptr, tool->description.len),
        .flags = tool->flags,
    };
    return GUDGEON_OK;
}

static int32_t call_result(const gudgeon_call *call, const void *result)
{
    struct making *making = making_of(call);
    check_thread(making, "a result from another thread");
    if (making->is_listing)
        return take_tool(making, result);
    const gudgeon_tool_result *given = result;
    struct answer *answer = making->answer;
    if (given->size != sizeof *given)
        broke(making, "a result with a wrong size");
    if (answer->results++ > 0) {
        broke(making, "a second result");
        return GUDGEON_INVALID;
    }
    check_json(making, given->content, "content that is no JSON");
    check_json(making, given->data, "data that is no JSON");
    answer->flags = given->flags;
    buf_add(&answer->text, given->text.ptr, given->text.len);
    buf_add(&answer->content, given->content.ptr, given->content.len);
    buf_add(&answer->data, given->data.ptr, given->data.len);
    return GUDGEON_OK;
}

static void call_error(const gudgeon_call *call, const gudgeon_error *error)
{
    struct making *making = making_of(call);
    check_json(making, error->grant, "a grant that is no JSON");
    buf_reset(&making->answer->message);
    buf_reset(&making->answer->grant);
    buf_add(&making->answer->message, error->message.ptr, error->message.len);
    buf_add(&making->answer->grant, error->grant.ptr, error->grant.len);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int64_t deadline_after(int64_t timeout_ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + timeout_ms * 1000000;
}

static gudgeon_call begin_call(struct making *making, struct mock *mock, struct mock_call *how,
                               struct answer *answer)
{
    answer_init(answer);
    how->output_bytes = 0;
    *making = (struct making){
        .mock = mock,
        .answer = answer,
        .how = how,
        .thread = pthread_self(),
        .deadline_ns = how->timeout_ms > 0 ? deadline_after(how->timeout_ms) : INT64_MAX,
        .cancel_fd =
            eventfd(how->cancel_at != NULL && *how->cancel_at == '\0', EFD_CLOEXEC | EFD_NONBLOCK),
    };
    return (gudgeon_call){
        .size = sizeof(gudgeon_call),
        .host_data = making,
        .id = {"run/call", 8},
        .deadline_ns = call_deadline_ns,
        .cancelled = call_cancelled,
        .cancel_fd = call_cancel_fd,
        .delta = call_delta,
        .result = call_result,
        .error = call_error,
    };
}

static int32_t end_call(struct making *making, int32_t class, int owed)
{
    making->is_over = true;
    if (class < 0 || class >= GUDGEON_CLASS_COUNT)
        broke(making, "a return value that is no class");
    if (class == GUDGEON_OK && making->answer->results < owed)
        broke(making, "OK without the owed result");
    if (class != GUDGEON_OK && making->answer->message.len == 0 && class != GUDGEON_CANCELLED)
        broke(making, "a class without a message");
    if (making->answer->fault.len > 0)
        printf("#   the plugin broke the rules: %s\n", making->answer->fault.data);
    CU_ASSERT_EQUAL(making->answer->fault.len, 0);
    close(making->cancel_fd);
    making->answer->class = class;
    return class;
}

static gudgeon_str str(const char *text)
{
    return (gudgeon_str){text, strlen(text)};
}

int32_t mock_call(struct mock *mock, const char *tool, const char *arguments, struct mock_call *how,
                  struct answer *answer)
{
    const gudgeon_tools *ops = mock->component->ops;
    struct mock_call ordinary = {0};
    struct making making;
    gudgeon_call call = begin_call(&making, mock, how != NULL ? how : &ordinary, answer);
    gudgeon_tool_call request = {
        .size = sizeof request, .tool = str(tool), .arguments = str(arguments)};
    return end_call(&making, ops->call(mock->self, &call, &request), 1);
}

static void list_tools(struct mock *mock)
{
    const gudgeon_tools *ops = mock->component->ops;
    struct mock_call how = {0};
    struct answer answer;
    struct making making;
    gudgeon_call call = begin_call(&making, mock, &how, &answer);
    gudgeon_list request = {.size = sizeof request};
    making.is_listing = true;
    CU_ASSERT_EQUAL(end_call(&making, ops->list(mock->self, &call, &request), 0), GUDGEON_OK);
    answer_fini(&answer);
}

const struct mock_tool *mock_tool(const struct mock *mock, const char *name)
{
    for (size_t i = 0; i < mock->tool_count; i++)
        if (strcmp(mock->tools[i].name, name) == 0)
            return &mock->tools[i];
    return NULL;
}

/* ---- the host -------------------------------------------------------------------------------- */

static const void *host_service(const gudgeon_host *host, const char *id)
{
    (void)host;
    return strcmp(id, GUDGEON_PROCESS_ID) == 0 ? mock_process_service : NULL;
}

static void host_log(const gudgeon_host *host, uint32_t level, gudgeon_str message)
{
    struct mock *mock = host->host_data;
    buf_addf(&mock->log, "%u %.*s\n", level, (int)message.len, message.ptr);
}

static void host_tools_changed(const gudgeon_host *host)
{
    (void)host;
}

const char *mock_build_directory(void)
{
    static char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    assert(len > 0);
    path[len] = '\0';
    char *tests = strstr(path, "/tests/plugins/");
    assert(tests != NULL);
    *tests = '\0';
    return path;
}

/* `file` with a slash is a path, else the name of a plugin of the build tree. */
static const struct gudgeon_plugin *load(const char *file)
{
    char *path = strchr(file, '/') != NULL
                     ? xstrdup(file)
                     : xasprintf("%s/plugins/%s.so", mock_build_directory(), file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        printf("# %s\n", dlerror());
    assert(library != NULL);
    free(path);
    const struct gudgeon_plugin *plugin = dlsym(library, "gudgeon_plugin");
    assert(plugin != NULL && plugin->magic == GUDGEON_MAGIC);
    assert(plugin->abi_major == GUDGEON_ABI_MAJOR && plugin->abi_minor == GUDGEON_ABI_MINOR);
    return plugin;
}

static void check_component(const gudgeon_component *component)
{
    const char *const texts[] = {component->config_schema, component->needs};
    CU_ASSERT_EQUAL(component->size, sizeof *component);
    CU_ASSERT_STRING_EQUAL(component->kind, "tools/1");
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct json_object *value = NULL;
        struct err err = {0};
        if (texts[i] != NULL)
            CU_ASSERT_EQUAL(json_read_object(str(texts[i]), &value, &err), 0);
        json_object_put(value);
    }
}

int32_t mock_open(struct mock *mock, const char *file, const char *config, const char *grant,
                  struct answer *answer)
{
    *mock = (struct mock){
        .host = {.size = sizeof mock->host,
                 .abi_minor = GUDGEON_ABI_MINOR,
                 .host_data = mock,
                 .version = str("mock"),
                 .service = host_service,
                 .log = host_log,
                 .tools_changed = host_tools_changed},
        .plugin = load(file),
        .log = BUF_INIT(1 << 20),
        .may_exec = strstr(grant, "\"exec\":true") != NULL,
    };
    mock->component = mock->plugin->components[0];
    check_component(mock->component);
    struct mock_call how = {0};
    struct making making;
    gudgeon_call call = begin_call(&making, mock, &how, answer);
    gudgeon_create request = {.size = sizeof request,
                              .host = &mock->host,
                              .name = str(mock->component->name),
                              .config = str(config),
                              .grant = str(grant)};
    void *self = NULL;
    int32_t class = end_call(&making, mock->component->create(&self, &call, &request), 0);
    if (class == GUDGEON_OK) {
        mock->self = self;
        list_tools(mock);
    }
    return class;
}

void mock_close(struct mock *mock)
{
    if (mock->self != NULL) {
        struct mock_call how = {0};
        struct answer answer;
        struct making making;
        gudgeon_call call = begin_call(&making, mock, &how, &answer);
        gudgeon_stop request = {.size = sizeof request};
        end_call(&making, mock->component->destroy(mock->self, &call, &request), 0);
        answer_fini(&answer);
    }
    CU_ASSERT_EQUAL(mock->open_processes, 0);
    for (size_t i = 0; i < mock->tool_count; i++) {
        free(mock->tools[i].name);
        free(mock->tools[i].description);
    }
    free(mock->tools);
    buf_fini(&mock->log);
}
