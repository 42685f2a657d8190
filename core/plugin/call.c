/* SPDX-License-Identifier: MIT */
#include "plugin/call.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "plugin/call_op.h"
#include "sys/cancel.h"

enum {
    OUTPUT_MAX = 1 << 20, /* when the options say nothing */
    MESSAGE_MAX = 4096,
    CODE_MAX = 256,
    GRANT_MAX = 64 << 10,
};

enum state { STATE_NEW, STATE_OPEN, STATE_ENDED };

/* The texts that call_error points at. */
enum error_text { ERROR_MESSAGE, ERROR_CODE, ERROR_GRANT, ERROR_TEXT_COUNT };

struct call {
    gudgeon_call abi;
    char *id;
    struct cancel cancel;
    _Atomic(int64_t) deadline_ns;
    call_delta_fn *on_delta;
    void *payload;
    const struct call_control *control; /* NULL = `cancel` and `deadline_ns` count */

    struct call_op op;
    pthread_t thread; /* the one that runs the op; written before the plugin sees the call */
    _Atomic(enum state) state;
    _Atomic(const char *) fault; /* the first rule that was broken */

    /* Below: the op's thread only. */
    bool told_to_stop;
    bool has_shown;
    bool output_is_cut;
    const char *too_large; /* why a result was refused with LIMIT, if one was */
    struct buf output;
    struct result result;
    struct call_error error;
    char *error_texts[ERROR_TEXT_COUNT];

    pthread_mutex_t lock; /* of the list */
    struct call_resource *resources;
};

/* ---- the plugin's side ----------------------------------------------------------------------- */

static void note_fault(struct call *call, const char *fault)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&call->fault, &none, fault);
}

struct call *call_of(const gudgeon_call *abi)
{
    struct call *call = abi->host_data;
    if (atomic_load(&call->state) != STATE_OPEN) {
        note_fault(call, "the plugin used a call whose op is not running");
        return NULL;
    }
    if (!pthread_equal(call->thread, pthread_self())) {
        note_fault(call, "the plugin used a call on another thread than its own");
        return NULL;
    }
    return call;
}

static int64_t abi_deadline_ns(const gudgeon_call *abi)
{
    return call_deadline_ns(abi->host_data);
}

static bool is_cancelled(struct call *call)
{
    if (call->control != NULL)
        return atomic_load(call->control->is_cancelled) != 0;
    return cancel_is_set(&call->cancel);
}

static int32_t abi_cancelled(const gudgeon_call *abi)
{
    return is_cancelled(abi->host_data);
}

static int32_t abi_cancel_fd(const gudgeon_call *abi)
{
    struct call *call = abi->host_data;
    return call->control != NULL ? call->control->cancel_fd : cancel_fd(&call->cancel);
}

/* Which channels are kept in the output and which are shown as the model's words. Channels that
 * this host does not know are passed over. */
static const struct channel {
    bool is_known, is_output, is_shown;
} channels[] = {
    [GUDGEON_TEXT] = {.is_known = true, .is_shown = true},
    [GUDGEON_REASONING] = {.is_known = true, .is_shown = true},
    [GUDGEON_ARGUMENTS] = {.is_known = true, .is_shown = true},
    [GUDGEON_STDOUT] = {.is_known = true, .is_output = true},
    [GUDGEON_STDERR] = {.is_known = true, .is_output = true},
    [GUDGEON_PROGRESS] = {.is_known = true},
};

static bool is_absent_or_real(gudgeon_str text)
{
    return text.ptr != NULL || text.len == 0;
}

/* Keeps what still fits and shortens the delta to it. */
static void keep_output(struct call *call, gudgeon_delta *delta)
{
    size_t room = call->output.max - call->output.len;
    if (delta->bytes.len > room) {
        delta->bytes.len = room;
        call->output_is_cut = true;
    }
    buf_add(&call->output, delta->bytes.ptr, delta->bytes.len);
}

static bool is_over(struct call *call)
{
    return call->told_to_stop || call->output_is_cut || is_cancelled(call) ||
           clock_monotonic_ns() >= call_deadline_ns(call);
}

static int32_t abi_delta(const gudgeon_call *abi, const gudgeon_delta *from)
{
    struct call *call = call_of(abi);
    if (call == NULL)
        return 1;
    if (from == NULL || from->size < sizeof *from || !is_absent_or_real(from->bytes) ||
        !is_absent_or_real(from->name)) {
        note_fault(call, "the plugin gave a malformed delta");
        return 1;
    }
    if (from->channel >= COUNT_OF(channels) || !channels[from->channel].is_known)
        return is_over(call);
    gudgeon_delta delta = *from;
    delta.size = sizeof delta;
    if (channels[delta.channel].is_output)
        keep_output(call, &delta);
    call->has_shown |= channels[delta.channel].is_shown;
    if (call->on_delta != NULL && call->on_delta(call->payload, &delta) != 0)
        call->told_to_stop = true;
    return is_over(call);
}

static int32_t give_tool(struct call *call, const void *from)
{
    CLEANUP(result_fini) struct result tool = {0};
    const char *fault = NULL;
    if (result_copy(RESULT_TOOL, from, &tool, &fault) < 0) {
        note_fault(call, fault);
        return GUDGEON_INVALID;
    }
    if (call->op.on_tool != NULL)
        call->op.on_tool(call->op.payload, &tool.as.tool);
    return GUDGEON_OK;
}

static int32_t abi_result(const gudgeon_call *abi, const void *from)
{
    struct call *call = call_of(abi);
    if (call == NULL)
        return GUDGEON_INVALID;
    if (call->op.gives == RESULT_TOOL)
        return give_tool(call, from);
    if (call->result.kind != RESULT_NONE) {
        note_fault(call, "the plugin answered twice");
        return GUDGEON_INVALID;
    }
    const char *fault = NULL;
    int status = result_copy(call->op.gives, from, &call->result, &fault);
    if (status == ERR_LIMIT) {
        call->too_large = fault; /* a smaller one may follow */
        return GUDGEON_LIMIT;
    }
    if (status < 0)
        note_fault(call, fault);
    return status < 0 ? GUDGEON_INVALID : GUDGEON_OK;
}

/* The grant as it came when it is a JSON object; what is none is left out, because the class that
 * it goes with says more than its fault would. */
static char *grant_or_nothing(gudgeon_str grant)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    if (grant.ptr == NULL || grant.len > GRANT_MAX || json_read_object(grant, &object, NULL) < 0)
        return xstrdup("");
    return str_dup(grant);
}

static void set_error_text(struct call *call, enum error_text which, char *take_text)
{
    free(call->error_texts[which]);
    call->error_texts[which] = take_text;
    call->error.message = call->error_texts[ERROR_MESSAGE];
    call->error.provider_code = call->error_texts[ERROR_CODE];
    call->error.grant = call->error_texts[ERROR_GRANT];
}

static void set_error(struct call *call, const gudgeon_error *from)
{
    call->error.http_status = from->http_status;
    call->error.retry_after_ms = from->retry_after_ms;
    set_error_text(call, ERROR_MESSAGE, utf8_one_line(from->message, MESSAGE_MAX));
    set_error_text(call, ERROR_CODE, utf8_one_line(from->provider_code, CODE_MAX));
    set_error_text(call, ERROR_GRANT, grant_or_nothing(from->grant));
}

static void abi_error(const gudgeon_call *abi, const gudgeon_error *from)
{
    struct call *call = call_of(abi);
    if (call == NULL)
        return;
    if (from == NULL || from->size < sizeof *from || !is_absent_or_real(from->message) ||
        !is_absent_or_real(from->provider_code) || !is_absent_or_real(from->grant))
        note_fault(call, "the plugin gave a malformed error");
    else
        set_error(call, from);
}

/* ---- the host's side ------------------------------------------------------------------------- */

static const gudgeon_error no_error = {.size = sizeof no_error};

struct call *call_new(const struct call_options *options)
{
    struct call *call = xcalloc(1, sizeof *call);
    call->id = options->id != NULL ? xstrdup(options->id) : NULL;
    call->abi = (gudgeon_call){.size = sizeof call->abi,
                               .host_data = call,
                               .id = str_of(call->id),
                               .deadline_ns = abi_deadline_ns,
                               .cancelled = abi_cancelled,
                               .cancel_fd = abi_cancel_fd,
                               .delta = abi_delta,
                               .result = abi_result,
                               .error = abi_error};
    cancel_init(&call->cancel, options->parent);
    call_set_deadline(call, options->deadline_ns);
    call->on_delta = options->on_delta;
    call->payload = options->payload;
    call->control = options->control;
    buf_init(&call->output, options->output_max > 0 ? options->output_max : OUTPUT_MAX);
    set_error(call, &no_error);
    pthread_mutex_init(&call->lock, NULL);
    return call;
}

void call_free(struct call *call)
{
    if (call == NULL)
        return;
    assert(atomic_load(&call->state) != STATE_OPEN);
    pthread_mutex_destroy(&call->lock);
    for (size_t i = 0; i < ERROR_TEXT_COUNT; i++)
        free(call->error_texts[i]);
    result_fini(&call->result);
    buf_fini(&call->output);
    cancel_fini(&call->cancel);
    free(call->id);
    free(call);
}

struct cancel *call_cancel(struct call *call)
{
    return &call->cancel;
}

void call_set_deadline(struct call *call, int64_t deadline_ns)
{
    atomic_store(&call->deadline_ns, deadline_ns > 0 ? deadline_ns : INT64_MAX);
}

int64_t call_deadline_ns(struct call *call)
{
    return atomic_load(call->control != NULL ? call->control->deadline_ns : &call->deadline_ns);
}

size_t call_output_max(const struct call *call)
{
    return call->output.max;
}

const gudgeon_call *call_abi(struct call *call)
{
    return &call->abi;
}

struct service_scope *call_scope(struct call *call)
{
    return call->op.scope;
}

const struct call_error *call_error(const struct call *call)
{
    return &call->error;
}

static const void *result_of(const struct call *call, enum result_kind kind)
{
    return call->result.kind == kind ? &call->result.as : NULL;
}

const gudgeon_reply *call_reply(const struct call *call)
{
    return result_of(call, RESULT_REPLY);
}

const gudgeon_capabilities *call_capabilities(const struct call *call)
{
    return result_of(call, RESULT_CAPABILITIES);
}

const gudgeon_tool_result *call_tool_result(const struct call *call)
{
    return result_of(call, RESULT_TOOL_RESULT);
}

const gudgeon_exec_result *call_exec_result(const struct call *call)
{
    return result_of(call, RESULT_EXEC);
}

gudgeon_str call_output(const struct call *call)
{
    return (gudgeon_str){call->output.data, call->output.len};
}

bool call_output_is_cut(const struct call *call)
{
    return call->output_is_cut;
}

bool call_has_shown(const struct call *call)
{
    return call->has_shown;
}

/* ---- around an op ---------------------------------------------------------------------------- */

void call_begin(struct call *call, const struct call_op *op)
{
    assert(atomic_load(&call->state) == STATE_NEW);
    call->op = *op;
    call->thread = pthread_self();
    atomic_store(&call->state, STATE_OPEN);
}

static struct call_resource *pop_resource(struct call *call)
{
    pthread_mutex_lock(&call->lock);
    struct call_resource *resource = call->resources;
    if (resource != NULL)
        call->resources = resource->next;
    pthread_mutex_unlock(&call->lock);
    return resource;
}

static void release_resources(struct call *call)
{
    struct call_resource *resource;
    while ((resource = pop_resource(call)) != NULL)
        resource->release(resource);
}

static int fail(struct call *call, int code, const char *message)
{
    gudgeon_error error = {.size = sizeof error, .message = str_of(message)};
    set_error(call, &error);
    return code;
}

static bool owes_one(enum result_kind gives)
{
    return gives != RESULT_NONE && gives != RESULT_TOOL;
}

static int judge(struct call *call, int32_t op_class)
{
    const char *fault = atomic_load(&call->fault);
    if (fault != NULL)
        return fail(call, ERR_PROTOCOL, fault);
    if (op_class < 0)
        return fail(call, ERR_PROTOCOL, "the plugin returned a value that is no class");
    if (op_class >= GUDGEON_CLASS_COUNT)
        return call->error.message[0] != '\0'
                   ? ERR_INVALID
                   : fail(call, ERR_INVALID,
                          "the plugin returned a class that this host does not know");
    if (op_class != GUDGEON_OK)
        return -op_class;
    if (!owes_one(call->op.gives) || call->result.kind != RESULT_NONE)
        return 0;
    if (call->too_large != NULL)
        return fail(call, ERR_LIMIT, call->too_large);
    return fail(call, ERR_PROTOCOL, "the plugin returned success without a result");
}

int call_end(struct call *call, int32_t op_class)
{
    atomic_store(&call->state, STATE_ENDED);
    release_resources(call);
    int code = judge(call, op_class);
    if (code < 0)
        result_fini(&call->result);
    return code;
}

int32_t call_take_refusal(struct call *call, const struct err *err, const char *grant)
{
    assert(err->code < 0);
    if (pthread_equal(call->thread, pthread_self())) {
        gudgeon_error error = {
            .size = sizeof error, .message = str_of(err->text), .grant = str_of(grant)};
        set_error(call, &error);
    }
    if (err->code > -GUDGEON_CLASS_COUNT)
        return -err->code;
    return err->code == ERR_NOT_FOUND ? GUDGEON_INVALID : GUDGEON_UNAVAILABLE;
}

int32_t call_take_err(struct call *call, const struct err *err)
{
    return call_take_refusal(call, err, NULL);
}

void call_own(struct call *call, struct call_resource *resource)
{
    pthread_mutex_lock(&call->lock);
    resource->next = call->resources;
    call->resources = resource;
    pthread_mutex_unlock(&call->lock);
}

bool call_disown(struct call *call, struct call_resource *resource)
{
    pthread_mutex_lock(&call->lock);
    struct call_resource **at = &call->resources;
    while (*at != NULL && *at != resource)
        at = &(*at)->next;
    bool found = *at != NULL;
    if (found)
        *at = resource->next;
    pthread_mutex_unlock(&call->lock);
    return found;
}

struct call_resource *call_find(struct call *call, void (*release)(struct call_resource *))
{
    pthread_mutex_lock(&call->lock);
    struct call_resource *at = call->resources;
    while (at != NULL && at->release != release)
        at = at->next;
    pthread_mutex_unlock(&call->lock);
    return at;
}
