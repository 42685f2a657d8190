/* SPDX-License-Identifier: MIT */
#include "plugin/instance_ops.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/exchange.h"
#include "plugin/worker_process.h"

/*
 * An instance whose plugin runs in a worker process. A worker that has died is replaced by the next
 * call; when new ones keep failing, calls fail at once until it is time to try again.
 */
struct isolated {
    struct instance instance;
    char *config, *grant;
    struct turn starting;

    pthread_mutex_t lock;          /* of what follows */
    struct worker_process *worker; /* NULL = none */
    unsigned failures;             /* starts that failed, in a row */
    int64_t not_before_ns;         /* when the next start may be tried */
};

#define CREATE_NS        (60 * NS_PER_S)
#define FIRST_PAUSE_NS   (100 * NS_PER_MS)
#define LONGEST_PAUSE_NS (30 * NS_PER_S)

/* ---- starting a worker ------------------------------------------------------------------------
 */

static int32_t create(struct isolated *isolated, struct worker_process *worker, struct call *call)
{
    struct worker_lane *lane;
    struct err err;
    const struct component_info *component = isolated->instance.component;
    CLEANUP(free_ptr)
    char *kind = xasprintf("%s/%u", kind_name(component->kind), component->kind_version);
    const struct msg_create message = {
        .version = str_of(GUDGEON_VERSION),
        .path = str_of(component->plugin->path),
        .kind = str_of(kind),
        .component = str_of(component->name),
        .name = str_of(isolated->instance.name),
        .config = str_of(isolated->config),
        .grant = str_of(isolated->grant),
    };
    if (worker_process_take_lane(worker, &lane, &err) < 0)
        return call_take_err(call, &err);
    int32_t op_class =
        exchange(worker, lane, call, &(struct exchange_request){FRAME_CREATE, &message});
    worker_process_give_lane(worker, lane);
    return op_class;
}

/* Starts a worker and creates the instance in it, on behalf of `call`, which owes nothing. */
static int32_t start(struct isolated *isolated, struct call *call, struct worker_process **ret)
{
    struct err err;
    struct worker_process *worker = NULL;
    if (worker_process_start(&isolated->instance, &worker, &err) < 0)
        return call_take_err(call, &err);
    int32_t op_class = create(isolated, worker, call);
    if (op_class == GUDGEON_OK)
        *ret = worker;
    else
        worker_process_unref(worker);
    return op_class;
}

static int32_t isolated_open(struct instance *instance, struct call *call,
                             const gudgeon_create *request)
{
    struct isolated *isolated = (struct isolated *)instance;
    isolated->config = str_dup(request->config);
    isolated->grant = str_dup(request->grant);
    turn_init(&isolated->starting);
    pthread_mutex_init(&isolated->lock, NULL);
    return start(isolated, call, &isolated->worker);
}

/* ---- replacing one ----------------------------------------------------------------------------
 */

static int64_t pause_after(unsigned failures)
{
    int64_t pause = FIRST_PAUSE_NS;
    for (unsigned i = 1; i < failures && pause < LONGEST_PAUSE_NS; i++)
        pause *= 2;
    return pause < LONGEST_PAUSE_NS ? pause : LONGEST_PAUSE_NS;
}

/* Another reference to the worker, if it lives. A dead one is let go. */
static struct worker_process *living(struct isolated *isolated)
{
    struct worker_process *worker = NULL, *dead = NULL;
    pthread_mutex_lock(&isolated->lock);
    if (isolated->worker != NULL && worker_process_has_died(isolated->worker))
        dead = TAKE(isolated->worker);
    else if (isolated->worker != NULL)
        worker = worker_process_ref(isolated->worker);
    pthread_mutex_unlock(&isolated->lock);
    worker_process_unref(dead);
    return worker;
}

static int may_start(struct isolated *isolated, struct err *err)
{
    pthread_mutex_lock(&isolated->lock);
    int64_t left_ns = isolated->failures > 0 ? isolated->not_before_ns - clock_monotonic_ns() : 0;
    unsigned failures = isolated->failures;
    pthread_mutex_unlock(&isolated->lock);
    if (left_ns <= 0)
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "its worker failed to start %u times in a row; the next try is in %.1f s",
                   failures, (double)left_ns / (double)NS_PER_S);
}

/* A start that ended with its call says nothing about the next one. */
static void note_start(struct isolated *isolated, struct worker_process *worker, int status)
{
    pthread_mutex_lock(&isolated->lock);
    if (worker != NULL) {
        isolated->worker = worker_process_ref(worker);
        isolated->failures = 0;
    } else if (status != ERR_CANCELLED && status != ERR_TIMEOUT) {
        isolated->not_before_ns = clock_monotonic_ns() + pause_after(++isolated->failures);
    }
    pthread_mutex_unlock(&isolated->lock);
}

/* Starts a new worker within the time that `call` has. */
static int restart(struct isolated *isolated, struct call *call, struct worker_process **ret,
                   struct err *err)
{
    int status = may_start(isolated, err);
    if (status < 0)
        return status;
    int64_t until_ns = clock_monotonic_ns() + CREATE_NS;
    const struct call_options options = {
        .parent = call_cancel(call),
        .deadline_ns = until_ns < call_deadline_ns(call) ? until_ns : call_deadline_ns(call),
    };
    struct call *create_call = call_new(&options);
    struct worker_process *worker = NULL;
    call_begin(create_call,
               &(struct call_op){.gives = RESULT_NONE, .scope = &isolated->instance.scope});
    status = call_end(create_call, start(isolated, create_call, &worker));
    if (status < 0) {
        err_set(err, status, "cannot be started again: %s", call_error(create_call)->message);
        worker_process_unref(TAKE(worker));
    }
    call_free(create_call);
    note_start(isolated, worker, status);
    *ret = worker;
    return status;
}

/* A reference to a worker that lives. */
static int acquire(struct isolated *isolated, struct call *call, struct worker_process **ret,
                   struct err *err)
{
    struct turn_waiter waiter;
    if ((*ret = living(isolated)) != NULL)
        return 0;
    int status = turn_take(&isolated->starting, &waiter, call_cancel(call), call_deadline_ns(call));
    if (status < 0)
        return err_set(err, status, "ended while its worker was started");
    if ((*ret = living(isolated)) == NULL)
        status = restart(isolated, call, ret, err);
    turn_give(&waiter);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------
 */

static bool isolated_has(const struct instance *instance, enum instance_op op)
{
    (void)instance, (void)op; /* those of tools are not optional */
    return true;
}

static int32_t run_on(struct worker_process *worker, struct call *call,
                      const struct exchange_request *request)
{
    struct worker_lane *lane;
    struct err err;
    if (worker_process_take_lane(worker, &lane, &err) < 0)
        return call_take_err(call, &err);
    int32_t op_class = exchange(worker, lane, call, request);
    worker_process_give_lane(worker, lane);
    return op_class;
}

static int32_t run(struct isolated *isolated, struct call *call,
                   const struct exchange_request *request)
{
    struct err err;
    struct worker_process *worker = NULL;
    if (acquire(isolated, call, &worker, &err) < 0)
        return call_take_err(call, &err);
    int32_t op_class = run_on(worker, call, request);
    worker_process_unref(worker);
    return op_class;
}

static int32_t isolated_run(struct instance *instance, enum instance_op op, const gudgeon_call *abi,
                            const void *request)
{
    struct isolated *isolated = (struct isolated *)instance;
    struct call *call = call_of(abi);
    if (op == OP_LIST)
        return run(isolated, call, &(struct exchange_request){FRAME_LIST, NULL});
    if (op != OP_CALL)
        return GUDGEON_INVALID;
    const gudgeon_tool_call *wanted = request;
    /* One byte more than is kept, so that the host sees that there was more. */
    const struct msg_call message = {.output_max = call_output_max(call) + 1,
                                     .id = abi->id,
                                     .tool = wanted->tool,
                                     .arguments = wanted->arguments};
    return run(isolated, call, &(struct exchange_request){FRAME_CALL, &message});
}

static int32_t isolated_close(struct instance *instance, const gudgeon_call *abi,
                              const gudgeon_stop *request)
{
    struct isolated *isolated = (struct isolated *)instance;
    struct worker_process *worker = living(isolated);
    int32_t op_class = GUDGEON_OK;
    (void)request;
    if (worker != NULL)
        op_class = run_on(worker, call_of(abi), &(struct exchange_request){FRAME_DESTROY, NULL});
    worker_process_unref(worker);
    return op_class;
}

static void isolated_free(struct instance *instance)
{
    struct isolated *isolated = (struct isolated *)instance;
    worker_process_unref(isolated->worker);
    pthread_mutex_destroy(&isolated->lock);
    turn_fini(&isolated->starting);
    free(isolated->config);
    free(isolated->grant);
}

const struct instance_ops isolated_ops = {
    .size = sizeof(struct isolated),
    .open = isolated_open,
    .has = isolated_has,
    .run = isolated_run,
    .close = isolated_close,
    .free = isolated_free,
};
