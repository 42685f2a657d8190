/* SPDX-License-Identifier: MIT */

/*
 * A plugin that keeps the rules, for the tests of whoever calls it: a model, tools and a sink that
 * say what they were given.
 */

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/ext/memo.h>
#include <gudgeon/ext/process.h>
#include <gudgeon/ext/secret.h>
#include <gudgeon/util.h>

struct self {
    const gudgeon_host *host;
    unsigned events;
};

/* ---- life ------------------------------------------------------------------------------------ */

static int says(gudgeon_str json, const char *what)
{
    return memmem(json.ptr, json.len, what, strlen(what)) != NULL;
}

static int32_t create(void **ret, const gudgeon_call *call, const gudgeon_create *request)
{
    if (says(request->config, "\"class\":4"))
        return gudgeon_fail(call, GUDGEON_QUOTA, "%s has nothing left", request->name.ptr);
    if (says(request->config, "\"answers\":true"))
        gudgeon_reply_text(call, 0, "create owes no result");
    struct self *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    self->host = request->host;
    gudgeon_logf(self->host, GUDGEON_LOG_INFO, "created %s %s %s", request->name.ptr,
                 request->config.ptr, request->grant.ptr);
    *ret = self;
    return GUDGEON_OK;
}

static int32_t destroy(void *data, const gudgeon_call *call, const gudgeon_stop *request)
{
    struct self *self = data;
    (void)call, (void)request;
    gudgeon_logf(self->host, GUDGEON_LOG_INFO, "destroyed");
    free(self);
    return GUDGEON_OK;
}

static int32_t destroy_badly(void *data, const gudgeon_call *call, const gudgeon_stop *request)
{
    destroy(data, call, request);
    return gudgeon_fail(call, GUDGEON_TIMEOUT, "the far side does not listen");
}

/* ---- model: an echo that keeps its encodings ---------------------------------------------------
 */

/* How many of the messages were encoded before. */
static unsigned encode(struct self *self, const gudgeon_call *call, const gudgeon_generate *request)
{
    const gudgeon_memo *memo = self->host->service(self->host, GUDGEON_MEMO_ID);
    unsigned known = 0;
    for (uint64_t i = 0; i < request->msg_count; i++) {
        const gudgeon_msg *msg = request->msgs[i];
        if (memo->get(call, GUDGEON_MEMO_MESSAGE, msg->id, request->model).ptr != NULL)
            known++;
        else
            memo->put(call, GUDGEON_MEMO_MESSAGE, msg->id, request->model, msg->content);
    }
    return known;
}

static int32_t generate(void *data, const gudgeon_call *call, const gudgeon_generate *request)
{
    char content[128];
    unsigned known = encode(data, call, request);
    int len =
        snprintf(content, sizeof content, "[{\"type\":\"text\",\"text\":\"%u known\"}]", known);
    if (request->stream)
        gudgeon_stream(call, GUDGEON_TEXT, "shown", 5);
    gudgeon_reply reply = {.size = sizeof reply,
                           .finish = GUDGEON_FINISH_STOP,
                           .content = {content, (uint64_t)len},
                           .model_served = request->model};
    return call->result(call, &reply);
}

static int32_t capabilities(void *self, const gudgeon_call *call,
                            const gudgeon_capabilities_request *request)
{
    (void)self;
    gudgeon_capabilities result = {
        .size = sizeof result, .can = GUDGEON_IS_SCRIPTED, .window_tokens = request->model.len};
    return call->result(call, &result);
}

/* ---- tools ----------------------------------------------------------------------------------- */

/* Leaves a process running behind and says its descriptor. */
static int32_t leave(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    const gudgeon_process *process = self->host->service(self->host, GUDGEON_PROCESS_ID);
    const gudgeon_str argv[] = {gudgeon_text("sleep"), gudgeon_text("600")};
    gudgeon_process_request spawn = {.size = sizeof spawn, .argv = argv, .argv_count = 2};
    gudgeon_process_handle *handle;
    (void)request;
    int32_t result = process->spawn(call, &spawn, &handle);
    return result != GUDGEON_OK ? result
                                : gudgeon_replyf(call, 0, "%d", (int)process->exit_fd(handle));
}

static int32_t secret(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    const gudgeon_secret *service = self->host->service(self->host, GUDGEON_SECRET_ID);
    gudgeon_str value;
    int32_t result = service->expand(call, request->arguments, &value);
    return result != GUDGEON_OK ? result : gudgeon_reply_bytes(call, 0, value.ptr, value.len);
}

/* Says that it has begun, and waits for the cancel. */
static int32_t wait_for_cancel(struct self *self, const gudgeon_call *call,
                               const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_stream(call, GUDGEON_PROGRESS, "begun", 5);
    struct pollfd wait = {.fd = call->cancel_fd(call), .events = POLLIN};
    poll(&wait, 1, -1);
    return GUDGEON_CANCELLED;
}

static int32_t flood(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)request;
    for (int i = 0; i < 1000; i++)
        gudgeon_logf(self->host, GUDGEON_LOG_DEBUG, "line %d", i);
    return gudgeon_reply_text(call, 0, "said");
}

static int32_t id(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return gudgeon_reply_text(call, 0, call->id.ptr != NULL ? call->id.ptr : "none");
}

static const struct tool {
    const char *name;
    int32_t (*run)(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request);
} tools_table[] = {
    {"leave", leave}, {"secret", secret}, {"wait", wait_for_cancel}, {"flood", flood}, {"id", id},
};

static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    for (size_t i = 0; i < sizeof tools_table / sizeof tools_table[0]; i++)
        if (gudgeon_is(request->tool, tools_table[i].name))
            return tools_table[i].run(self, call, request);
    return gudgeon_fail(call, GUDGEON_INVALID, "no such tool");
}

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    (void)self, (void)request;
    for (size_t i = 0; i < sizeof tools_table / sizeof tools_table[0]; i++) {
        gudgeon_tool tool = {.size = sizeof tool, .name = gudgeon_text(tools_table[i].name)};
        if (call->result(call, &tool) != 0)
            return GUDGEON_INVALID;
    }
    return GUDGEON_OK;
}

/* ---- sink ------------------------------------------------------------------------------------ */

static int32_t event(void *data, const gudgeon_call *call, const gudgeon_event *request)
{
    struct self *self = data;
    (void)call;
    self->events++;
    gudgeon_logf(self->host, GUDGEON_LOG_INFO, "%s %s", request->type.ptr, request->json.ptr);
    return GUDGEON_OK;
}

static int32_t flush(void *data, const gudgeon_call *call, const gudgeon_stop *request)
{
    struct self *self = data;
    (void)request;
    return self->events > 0 ? GUDGEON_OK : gudgeon_fail(call, GUDGEON_UNAVAILABLE, "no events");
}

/* ---- the components ----------------------------------------------------------------------------
 */

static const gudgeon_model model_ops = {
    .size = sizeof model_ops, .generate = generate, .capabilities = capabilities};
static const gudgeon_model silent_ops = {.size = sizeof silent_ops, .generate = generate};
static const gudgeon_tools tools_ops = {.size = sizeof tools_ops, .list = list, .call = call_tool};
static const gudgeon_sink sink_ops = {.size = sizeof sink_ops, .event = event, .flush = flush};
static const gudgeon_sink hasty_ops = {.size = sizeof hasty_ops, .event = event};

#define COMPONENT(variable, component_kind, component_name, how, ops_table)                        \
    static const gudgeon_component variable = {.size = sizeof variable,                            \
                                               .kind = component_kind,                             \
                                               .name = component_name,                             \
                                               .summary = "Says what it was given",                \
                                               .create = create,                                   \
                                               .destroy = how,                                     \
                                               .ops = ops_table}
COMPONENT(model, "model/1", "probe", destroy, &model_ops);
COMPONENT(silent, "model/1", "probe-silent", destroy, &silent_ops);
COMPONENT(tools, "tools/1", "probe", destroy_badly, &tools_ops);
COMPONENT(sink, "sink/1", "probe", destroy, &sink_ops);
COMPONENT(hasty, "sink/1", "probe-hasty", destroy, &hasty_ops);

static const gudgeon_component *const components[] = {&model, &silent, &tools, &sink, &hasty, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "probe", "1.0.0", "MIT", components, 0};
