/* SPDX-License-Identifier: MIT */

/*
 * A plugin that keeps the ABI's rules and is no easy guest, for the tests of the loop: it takes its
 * time, tells what it should not, and changes its mind about its tools.
 *
 * tools "awkward": the tool `list_as` {"how": …} says what the next lists are:
 *   plain    what is always there
 *   more     also `late`
 *   twice    also `late`, two times, and `a.b` beside `a_b`
 *   broken   none: listing fails
 * sink "awkward": takes no event before it is cancelled or out of time, or, with {"create":
 * "refuse"}, none at all.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <gudgeon/args.h>
#include <gudgeon/ext/secret.h>
#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

struct self {
    const gudgeon_host *host;
    char how[16];
    char create[16], key[256];
};

static void wait_until_stopped(const gudgeon_call *call)
{
    struct pollfd pollfd = {.fd = call->cancel_fd(call), .events = POLLIN};
    struct timespec now;
    do {
        poll(&pollfd, 1, 10);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!call->cancelled(call) &&
             now.tv_sec * INT64_C(1000000000) + now.tv_nsec < call->deadline_ns(call));
}

/* ---- tools ---------------------------------------------------------------------------------- */

static int32_t list_as(struct self *self, const gudgeon_call *call,
                       const gudgeon_tool_call *request)
{
    gudgeon_arg_text(request->arguments, "how", self->how, sizeof self->how);
    self->host->tools_changed(self->host);
    return gudgeon_reply_text(call, 0, "as you like");
}

static int32_t echo(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self;
    return gudgeon_reply_bytes(call, 0, request->arguments.ptr, request->arguments.len);
}

static int32_t no_grant(struct self *self, const gudgeon_call *call,
                        const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return gudgeon_refuse(call, "{\"network\":true}", "there is no way out");
}

/* As much text, blocks and data as the ABI lets pass, each of a kind that JSON makes longer. */
static int32_t too_much(struct self *self, const gudgeon_call *call,
                        const gudgeon_tool_call *request)
{
    enum { BYTES = 12 << 20 };
    (void)self, (void)request;
    char *text = malloc(BYTES);
    if (text == NULL)
        abort();
    memset(text, 1, BYTES);
    int32_t status = gudgeon_reply_bytes(call, 0, text, BYTES);
    free(text);
    return status;
}

static int32_t wait_long(struct self *self, const gudgeon_call *call,
                         const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    wait_until_stopped(call);
    return call->cancelled(call) ? GUDGEON_CANCELLED : GUDGEON_TIMEOUT;
}

static const struct tool {
    const char *name;
    uint32_t flags;
    int32_t (*run)(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request);
} tools[] = {
    {"list_as", 0, list_as},
    {"echo", GUDGEON_TOOL_READ, echo},
    {"no_grant", GUDGEON_TOOL_READ, no_grant},
    {"too_much", GUDGEON_TOOL_READ, too_much},
    {"wait", GUDGEON_TOOL_READ, wait_long},
};

/* With a key, the description and the parameters tell it. */
static void list_one(const struct self *self, const gudgeon_call *call, const char *name,
                     uint32_t flags)
{
    gudgeon_str key = gudgeon_text("tests");
    const gudgeon_secret *secret = self->host->service(self->host, GUDGEON_SECRET_ID);
    if (self->key[0] != '\0')
        secret->expand(call, gudgeon_text(self->key), &key);
    char description[300], parameters[300];
    snprintf(description, sizeof description, "For %s.", key.ptr);
    snprintf(parameters, sizeof parameters, "{\"type\":\"object\", \"title\":\"%s\"}", key.ptr);
    gudgeon_tool tool = {.size = sizeof tool,
                         .flags = flags,
                         .name = gudgeon_text(name),
                         .description = gudgeon_text(description),
                         .parameters = gudgeon_text(parameters)};
    call->result(call, &tool);
}

static int is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static int32_t list(void *data, const gudgeon_call *call, const gudgeon_list *request)
{
    struct self *self = data;
    (void)request;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        list_one(self, call, tools[i].name, tools[i].flags);
    if (is(self->how, "broken"))
        return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "the list is lost");
    if (is(self->how, "more") || is(self->how, "twice"))
        list_one(self, call, "late", 0);
    if (is(self->how, "twice")) {
        list_one(self, call, "late", 0);
        list_one(self, call, "a_b", 0);
        list_one(self, call, "a.b", 0);
    }
    return GUDGEON_OK;
}

static int32_t call_tool(void *data, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (gudgeon_is(request->tool, tools[i].name))
            return tools[i].run(data, call, request);
    return gudgeon_replyf(call, 0, "this is %.*s", (int)request->tool.len, request->tool.ptr);
}

/* ---- a sink ---------------------------------------------------------------------------------- */

static int32_t take_event(void *data, const gudgeon_call *call, const gudgeon_event *event)
{
    const struct self *self = data;
    (void)event;
    if (is(self->create, "refuse"))
        return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "no room");
    wait_until_stopped(call);
    return GUDGEON_RETRY;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Says its key wherever it can. */
static int32_t tell(const struct self *self, const gudgeon_call *call)
{
    const gudgeon_secret *secret = self->host->service(self->host, GUDGEON_SECRET_ID);
    gudgeon_str value;
    int32_t status = secret->expand(call, gudgeon_text(self->key), &value);
    if (status != GUDGEON_OK)
        return status;
    gudgeon_logf(self->host, GUDGEON_LOG_WARN, "my key is %s", value.ptr);
    return gudgeon_fail(call, GUDGEON_INVALID, "I do not like the key %s", value.ptr);
}

static int32_t create(void **ret, const gudgeon_call *call, const gudgeon_create *request)
{
    struct self *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    int32_t status = GUDGEON_OK;
    self->host = request->host;
    gudgeon_arg_text(request->config, "create", self->create, sizeof self->create);
    gudgeon_arg_text(request->config, "key", self->key, sizeof self->key);
    if (is(self->create, "tell"))
        status = tell(self, call);
    if (is(self->create, "wait")) {
        wait_until_stopped(call);
        status = GUDGEON_CANCELLED;
    }
    if (status == GUDGEON_OK)
        *ret = self;
    else
        free(self);
    return status;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call, (void)request;
    free(self);
    return GUDGEON_OK;
}

static const gudgeon_tools tools_ops = {.size = sizeof tools_ops, .list = list, .call = call_tool};
static const gudgeon_sink sink_ops = {.size = sizeof sink_ops, .event = take_event};

static const char schema[] =
    "{\"type\":\"object\",\"properties\":{\"create\":{\"enum\":[\"wait\",\"tell\",\"refuse\"]},"
    "\"key\":{\"type\":\"string\"}},\"additionalProperties\":false}";

static const gudgeon_component tools_component = {.size = sizeof tools_component,
                                                  .kind = "tools/1",
                                                  .name = "awkward",
                                                  .summary = "Tools that are no easy guests",
                                                  .config_schema = schema,
                                                  .create = create,
                                                  .destroy = destroy,
                                                  .ops = &tools_ops};
static const gudgeon_component sink_component = {.size = sizeof sink_component,
                                                 .kind = "sink/1",
                                                 .name = "awkward",
                                                 .summary = "A sink that takes its time",
                                                 .config_schema = schema,
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .ops = &sink_ops};
static const gudgeon_component *const components[] = {&tools_component, &sink_component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "awkward", "1.0.0", "MIT", components, 0};
