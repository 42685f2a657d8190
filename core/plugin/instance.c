/* SPDX-License-Identifier: MIT */
#include "plugin/instance.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/instance_ops.h"
#include "plugin/memo.h"
#include "sys/cancel.h"

#define CREATE_NS (60 * NS_PER_S)
#define CLOSE_NS  (10 * NS_PER_S)

#define LOG_WINDOW_NS (10 * NS_PER_S)
enum {
    LOG_BURST = 100, /* messages a window */
    LOG_MESSAGE_MAX = 4096,
};

static const struct {
    enum kind kind;
    enum result_kind gives;
} ops[OP_COUNT] = {
    [OP_GENERATE] = {KIND_MODEL, RESULT_REPLY},
    [OP_CAPABILITIES] = {KIND_MODEL, RESULT_CAPABILITIES},
    [OP_LIST] = {KIND_TOOLS, RESULT_TOOL},
    [OP_CALL] = {KIND_TOOLS, RESULT_TOOL_RESULT},
    [OP_EVENT] = {KIND_SINK, RESULT_NONE},
    [OP_FLUSH] = {KIND_SINK, RESULT_NONE},
};

/* ---- opening and closing --------------------------------------------------------------------- */

static struct instance *make(const struct instance_ops *how, const struct component_info *component,
                             const struct instance_options *options)
{
    struct instance *instance = xcalloc(1, how->size);
    instance->ops = how;
    instance->component = component;
    instance->name = xstrdup(options->name);
    turn_init(&instance->turn);
    instance->log.on_log = options->on_log;
    instance->log.payload = options->payload;
    instance->log.window_start_ns = clock_monotonic_ns();
    pthread_mutex_init(&instance->log.lock, NULL);
    return instance;
}

static void unmake(struct instance *instance)
{
    pthread_mutex_destroy(&instance->log.lock);
    turn_fini(&instance->turn);
    free(instance->name);
    free(instance);
}

/* What the operator is told when create failed: the plugin's words, and the grant to add. */
static int explain(struct instance *instance, int code, const struct call_error *error,
                   struct err *err)
{
    const char *message = error->message[0] != '\0' ? error->message : err_name(code);
    if (error->grant[0] != '\0')
        err_set(err, code, "%s; add to its entry: grant: %s", message, error->grant);
    else
        err_set(err, code, "%s", message);
    if (err != NULL)
        err_prefix(err, "%s \"%s\"", kind_name(instance->component->kind), instance->name);
    return code;
}

/* What an implementation holds on to uses the scope, so it goes first. */
static void unmake_opened(struct instance *instance)
{
    if (instance->ops->free != NULL)
        instance->ops->free(instance);
    service_scope_fini(&instance->scope);
    unmake(instance);
}

static gudgeon_str object_or_empty(gudgeon_str json)
{
    return json.ptr != NULL ? json : str_of("{}");
}

static void destroy(struct instance *instance)
{
    const struct call_options options = {.deadline_ns = clock_monotonic_ns() + CLOSE_NS};
    const gudgeon_stop request = {.size = sizeof request};
    struct call *call = call_new(&options);
    call_begin(call, &(struct call_op){.gives = RESULT_NONE, .scope = &instance->scope});
    int code = call_end(call, instance->ops->close(instance, call_abi(call), &request));
    if (code < 0) {
        struct err err;
        err_set(&err, code, "closing failed: %s: %s", err_name(code), call_error(call)->message);
        instance_log(instance, GUDGEON_LOG_WARN, str_of(err.text));
    }
    call_free(call);
}

static int create(struct instance *instance, const struct instance_options *options,
                  struct err *err)
{
    const struct call_options call_options = {.parent = options->cancel,
                                              .deadline_ns = clock_monotonic_ns() + CREATE_NS};
    const gudgeon_create request = {.size = sizeof request,
                                    .name = str_of(instance->name),
                                    .config = object_or_empty(options->config),
                                    .grant = object_or_empty(options->grant)};
    struct call *call = call_new(&call_options);
    call_begin(call, &(struct call_op){.gives = RESULT_NONE, .scope = &instance->scope});
    int32_t op_class = instance->ops->open(instance, call, &request);
    int code = call_end(call, op_class);
    if (code < 0 && op_class == GUDGEON_OK) /* it broke a rule, but it did create something */
        destroy(instance);
    if (code < 0)
        explain(instance, code, call_error(call), err);
    call_free(call);
    return code;
}

int instance_open(const struct component_info *component, const struct instance_options *options,
                  struct instance **ret, struct err *err)
{
    const struct service_scope_options scope = {.kind = component->kind,
                                                .services = options->services,
                                                .secrets = options->secrets,
                                                .config = options->config,
                                                .grant = options->grant};
    bool isolated = options->isolation == ISOLATION_WORKER;
    assert(!isolated || component->kind == KIND_TOOLS);
    struct instance *instance = make(isolated ? &isolated_ops : &inproc_ops, component, options);
    int code = service_scope_init(&instance->scope, &scope, err);
    if (code < 0) {
        if (err != NULL)
            err_prefix(err, "%s \"%s\"", kind_name(component->kind), instance->name);
        unmake(instance);
        return code;
    }
    code = create(instance, options, err);
    if (code < 0) {
        unmake_opened(instance);
        return code;
    }
    *ret = instance;
    return 0;
}

void instance_close(struct instance *instance)
{
    if (instance == NULL)
        return;
    destroy(instance);
    unmake_opened(instance);
}

const char *instance_name(const struct instance *instance)
{
    return instance->name;
}

const struct component_info *instance_component(const struct instance *instance)
{
    return instance->component;
}

/* ---- operations ------------------------------------------------------------------------------ */

static int32_t run_in_turn(struct instance *instance, enum instance_op op, struct call *call,
                           const void *request)
{
    struct err err;
    struct turn_waiter waiter;
    int code = turn_take(&instance->turn, &waiter, call_cancel(call), call_deadline_ns(call));
    if (code < 0) {
        err_set(&err, code, "ended while it waited for another call of this instance");
        return call_take_err(call, &err);
    }
    int32_t op_class = instance->ops->run(instance, op, call_abi(call), request);
    turn_give(&waiter);
    return op_class;
}

static int run(struct instance *instance, enum instance_op op, struct call *call,
               struct call_op call_op, const void *request)
{
    assert(instance->component->kind == ops[op].kind);
    call_op.gives = ops[op].gives;
    call_op.scope = &instance->scope;
    call_begin(call, &call_op);
    int32_t op_class;
    if ((instance->component->flags & GUDGEON_CONCURRENT) == 0)
        op_class = run_in_turn(instance, op, call, request);
    else if (cancel_is_set(call_cancel(call)))
        op_class = GUDGEON_CANCELLED;
    else
        op_class = instance->ops->run(instance, op, call_abi(call), request);
    return call_end(call, op_class);
}

static const struct call_op nothing_more;

int instance_generate(struct instance *instance, struct call *call, const gudgeon_generate *request)
{
    return run(instance, OP_GENERATE, call, nothing_more, request);
}

int instance_capabilities(struct instance *instance, struct call *call, const char *model)
{
    const gudgeon_capabilities_request request = {.size = sizeof request, .model = str_of(model)};
    if (!instance->ops->has(instance, OP_CAPABILITIES))
        return ERR_NOT_FOUND;
    return run(instance, OP_CAPABILITIES, call, nothing_more, &request);
}

void instance_forget(struct instance *instance, unsigned kind, uint64_t subject)
{
    if (instance->scope.memo != NULL)
        memo_forget(instance->scope.memo, kind, subject);
}

int instance_list(struct instance *instance, struct call *call, instance_tool_fn *on_tool,
                  void *payload)
{
    const gudgeon_list request = {.size = sizeof request};
    /* Cleared first: what changes while the list is made calls for another one. */
    bool had_changed = atomic_exchange(&instance->tools_changed, false);
    int code = run(instance, OP_LIST, call,
                   (struct call_op){.on_tool = on_tool, .payload = payload}, &request);
    if (code < 0 && had_changed)
        atomic_store(&instance->tools_changed, true);
    return code;
}

int instance_call(struct instance *instance, struct call *call, gudgeon_str tool,
                  gudgeon_str arguments)
{
    const gudgeon_tool_call request = {
        .size = sizeof request, .tool = tool, .arguments = arguments};
    return run(instance, OP_CALL, call, nothing_more, &request);
}

bool instance_tools_changed(const struct instance *instance)
{
    return atomic_load(&instance->tools_changed);
}

int instance_event(struct instance *instance, struct call *call, const gudgeon_event *event)
{
    return run(instance, OP_EVENT, call, nothing_more, event);
}

int instance_flush(struct instance *instance, struct call *call)
{
    const gudgeon_stop request = {.size = sizeof request};
    if (!instance->ops->has(instance, OP_FLUSH))
        return 0;
    return run(instance, OP_FLUSH, call, nothing_more, &request);
}

/* ---- the log --------------------------------------------------------------------------------- */

/* Whether a message may pass now; *ret_dropped = how many before it did not, when a new window
 * begins with it. */
static bool may_pass(struct instance_log *log, unsigned *ret_dropped)
{
    pthread_mutex_lock(&log->lock);
    int64_t now_ns = clock_monotonic_ns();
    *ret_dropped = 0;
    if (now_ns - log->window_start_ns >= LOG_WINDOW_NS) {
        *ret_dropped = log->dropped;
        log->window_start_ns = now_ns;
        log->passed = log->dropped = 0;
    }
    bool may = log->passed < LOG_BURST;
    log->passed += may;
    log->dropped += !may;
    pthread_mutex_unlock(&log->lock);
    return may;
}

void instance_log(struct instance *instance, unsigned level, gudgeon_str message)
{
    struct instance_log *log = &instance->log;
    unsigned dropped = 0;
    if (log->on_log == NULL || message.ptr == NULL || !may_pass(log, &dropped))
        return;
    if (dropped > 0) {
        CLEANUP(free_ptr)
        char *left_out = xasprintf("%u messages were left out: there were too many", dropped);
        log->on_log(log->payload, instance->name, GUDGEON_LOG_WARN, left_out);
    }
    CLEANUP(free_ptr) char *line = utf8_one_line(message, LOG_MESSAGE_MAX);
    bool is_level = level >= GUDGEON_LOG_ERROR && level <= GUDGEON_LOG_DEBUG;
    log->on_log(log->payload, instance->name, is_level ? (int)level : GUDGEON_LOG_INFO, line);
}
