/* SPDX-License-Identifier: MIT */
/*
 * Asking the model: one request, retried and failed over by policy. Backends classify, HTTP never
 * retries, and this file alone decides what happens next:
 *
 *     retry, protocol, timeout   again after a pause, limits.retries times, then the next model
 *     unavailable, quota         the next model
 *     overflow                   the run ends context_full
 *     anything else              the run ends failed, resumable once the cause is mended
 *
 * An interrupt, the step's deadline and the run's end all of it: then nothing more is asked.
 */
#include "agent/run_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>

#include "agent/definition.h"
#include "agent/memory.h"
#include "agent/models.h"
#include "agent/reply.h"
#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "data/json.h"
#include "event/intake.h"
#include "plugin/call.h"
#include "plugin/instance.h"

enum {
    FIRST_PAUSE_MS = 500,         /* doubled with each attempt */
    LONGEST_PAUSE_MS = 60 * 1000, /* also the cap on what a server may ask for */
};

enum verdict { VERDICT_RETRY, VERDICT_FAIL_OVER, VERDICT_STOP };
static const char *const verdict_names[] = {"retry", "fail_over", "stop"};

struct asking {
    struct run *run;
    char id[CALL_ID_SIZE]; /* of the request; the same for all attempts */
    unsigned attempt;      /* from 1, over all models */
    unsigned tries;        /* at the current model */
    struct deltas deltas;  /* of the attempt */
};

static const char *purpose(const struct run *run)
{
    return run->step.kind == STEP_FINAL ? "final" : "action";
}

static unsigned tool_choice(const struct run *run)
{
    return run->step.kind == STEP_FINAL ? GUDGEON_CHOICE_NONE : GUDGEON_CHOICE_AUTO;
}

static int announce(struct asking *asking, const struct model *model, size_t message_count)
{
    struct run *run = asking->run;
    char digest[65];
    memory_digest(run->memory, digest);
    struct json_writer *writer = emit_begin(run, EVENT_MODEL_REQUESTED);
    json_field_text(writer, "id", asking->id);
    json_field_int(writer, "attempt", asking->attempt);
    json_field_text(writer, "purpose", purpose(run));
    json_field_text(writer, "model", model->label);
    json_field_int(writer, "tools", (int64_t)toolbox_revision(run->toolbox));
    json_field_text(writer, "choice", run->step.kind == STEP_FINAL ? "none" : "auto");
    if (model->entry->max_output_tokens > 0)
        json_field_int(writer, "max_output", model->entry->max_output_tokens);
    json_field_int(writer, "count", (int64_t)message_count);
    json_field_text(writer, "digest", digest);
    json_field_int(writer, "estimate", memory_estimate(run->memory));
    return emit_commit(run);
}

static int on_delta(void *payload, const gudgeon_delta *delta)
{
    struct asking *asking = payload;
    emit_delta(asking->run, &asking->deltas, delta);
    return cancel_is_set(&asking->run->cancel);
}

static struct call *new_call(struct asking *asking)
{
    struct run *run = asking->run;
    CLEANUP(free_ptr) char *id = xasprintf("%s/%s", run_id(run), asking->id);
    return call_new(&(struct call_options){
        .id = id,
        .parent = &run->cancel,
        .deadline_ns = run->step.deadline_ns,
        .on_delta = on_delta,
        .payload = asking,
    });
}

static int generate(struct asking *asking, const struct model *model,
                    const gudgeon_msg *const *messages, size_t count, struct call *call)
{
    struct run *run = asking->run;
    size_t tool_count;
    const gudgeon_tool *const *tools = toolbox_list(run->toolbox, &tool_count);
    gudgeon_generate request = {
        .size = sizeof request,
        .tool_choice = tool_choice(run),
        .model = str_of(model->entry->model),
        .conversation_id = str_of(run_id(run)),
        .msgs = messages,
        .msg_count = count,
        .tools = tools,
        .tool_count = tool_count,
        .tools_revision = toolbox_revision(run->toolbox),
        .parameters = str_of(model->entry->parameters),
        .extra = str_of(model->entry->extra),
        .max_output_tokens = (uint64_t)model->entry->max_output_tokens,
        .stream = model->entry->stream,
    };
    asking->deltas = (struct deltas){.id = asking->id, .attempt = asking->attempt};
    int class = instance_generate(model->instance, call, &request);
    emit_deltas_end(run, &asking->deltas);
    return class;
}

/* A pause before the next try: the server's word when it gave one, else doubling with jitter. */
static int64_t pause_ms(const struct asking *asking, const struct call_error *error)
{
    if (error->retry_after_ms > 0)
        return error->retry_after_ms > LONGEST_PAUSE_MS ? LONGEST_PAUSE_MS
                                                        : (int64_t)error->retry_after_ms;
    int64_t longest = FIRST_PAUSE_MS;
    for (unsigned i = 1; i < asking->tries && longest < LONGEST_PAUSE_MS; i++)
        longest *= 2;
    if (longest > LONGEST_PAUSE_MS)
        longest = LONGEST_PAUSE_MS;
    uint32_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        abort();
    return longest / 2 + random % (longest / 2 + 1);
}

/* Interrupted, or no time is left. */
static bool is_over(struct run *run)
{
    return cancel_is_set(&run->cancel) || clock_monotonic_ns() >= run->step.deadline_ns;
}

static enum verdict judge(const struct asking *asking, int class)
{
    struct run *run = asking->run;
    if (is_over(run))
        return VERDICT_STOP;
    enum verdict next = models_has_next(run->models) ? VERDICT_FAIL_OVER : VERDICT_STOP;
    switch (class) {
    case ERR_RETRY:
    case ERR_PROTOCOL:
    case ERR_TIMEOUT:
        return asking->tries <= run->definition->limits.retries ? VERDICT_RETRY : next;
    case ERR_UNAVAILABLE:
    case ERR_QUOTA:
        return next;
    default:
        return VERDICT_STOP;
    }
}

static int write_failure(struct asking *asking, int class, const struct call *call,
                         const char *message, int64_t retry_ms, enum verdict verdict)
{
    struct json_writer *writer = emit_begin(asking->run, EVENT_MODEL_FAILED);
    json_field_text(writer, "id", asking->id);
    json_field_int(writer, "attempt", asking->attempt);
    json_field_text(writer, "class", err_name(class));
    if (call_error(call)->http_status > 0)
        json_field_int(writer, "http_status", call_error(call)->http_status);
    json_field_text(writer, "message", message);
    if (verdict == VERDICT_RETRY)
        json_field_int(writer, "retry_ms", retry_ms);
    json_field_bool(writer, "shown", call_has_shown(call));
    json_field_text(writer, "then", verdict_names[verdict]);
    return emit_commit(asking->run);
}

/* Waits, unless interrupted or past the step's deadline. */
static void wait_ms(struct run *run, int64_t ms)
{
    int64_t until = clock_monotonic_ns() + ms * NS_PER_MS;
    if (until > run->step.deadline_ns)
        until = run->step.deadline_ns;
    struct pollfd pollfd = {.fd = cancel_fd(&run->cancel), .events = POLLIN};
    int64_t left;
    while ((left = until - clock_monotonic_ns()) > 0 && !cancel_is_set(&run->cancel))
        poll(&pollfd, 1, (int)((left + NS_PER_MS - 1) / NS_PER_MS));
}

/* The end of the asking for a failure that nothing more can be done about: the run's, but for a
 * step that has used up its own time. */
static int give_up(struct asking *asking, int class, const char *message)
{
    struct run *run = asking->run;
    if (cancel_is_set(&run->cancel))
        return run_end(run, RUN_INTERRUPTED, "while the model was answering");
    if (clock_monotonic_ns() >= run->deadline_ns)
        return run_end(run, RUN_BUDGET, "limits.time is used up");
    if (clock_monotonic_ns() >= run->step.deadline_ns) {
        buf_add_str(&run->step.error, "limits.step_time passed while the model was answering");
        return ERR_TIMEOUT;
    }
    const char *label = models_current(run->models)->label;
    if (class == ERR_OVERFLOW)
        return run_end(run, RUN_CONTEXT_FULL, "%s: %s", label, message);
    if (asking->tries > 1)
        return run_end(run, RUN_FAILED, "%s: %s; tried %u times", label, message, asking->tries);
    return run_end(run, RUN_FAILED, "%s: %s", label, message);
}

static int fail_over(struct asking *asking, int class, const char *message)
{
    struct run *run = asking->run;
    struct err err = {0};
    CLEANUP(free_ptr) char *label = xstrdup(models_current(run->models)->label);
    asking->tries = 0;
    int status = models_fail_over(run->models, &err);
    run_learn_secrets(run);
    if (status == 0)
        return 0;
    if (is_over(run))
        return give_up(asking, class, message);
    return run_end(run, RUN_FAILED, "%s: %s; then %s", label, message, err.text);
}

/* Carries the verdict out. 0 = try again. */
static int carry_out(struct asking *asking, enum verdict verdict, int class, const char *message,
                     int64_t retry_ms)
{
    switch (verdict) {
    case VERDICT_FAIL_OVER:
        return fail_over(asking, class, message);
    case VERDICT_RETRY:
        wait_ms(asking->run, retry_ms);
        if (!is_over(asking->run))
            return 0;
        break;
    case VERDICT_STOP:
        break;
    }
    return give_up(asking, class, message);
}

/* Journals a failed attempt and does what follows from it. 0 = try again. `said` is what is wrong
 * when the call itself does not say. */
static int handle_failure(struct asking *asking, int class, const struct call *call,
                          const char *said)
{
    struct run *run = asking->run;
    CLEANUP(buf_fini) struct buf message = BUF_INIT(BUF_MAX_ANY);
    if (call_error(call)->message[0] != '\0')
        said = call_error(call)->message;
    if (said[0] == '\0')
        said = class == ERR_CANCELLED ? "interrupted" : "the backend failed without saying why";
    intake_cut_text(run->intake, str_of(said), &message);
    enum verdict verdict = judge(asking, class);
    int64_t retry_ms = pause_ms(asking, call_error(call));
    if (write_failure(asking, class, call, message.data, retry_ms, verdict) < 0)
        return RUN_ENDS;
    return carry_out(asking, verdict, class, message.data, retry_ms);
}

static int take_reply(struct asking *asking, struct reply *reply)
{
    struct run *run = asking->run;
    usage_add(&run->step.usage, &reply->usage);
    usage_add(&run->usage, &reply->usage);
    struct json_writer *writer = emit_begin(run, EVENT_MODEL_REPLIED);
    json_field_text(writer, "id", asking->id);
    json_field_int(writer, "attempt", asking->attempt);
    reply_write(reply, writer);
    return emit_commit(run);
}

/* One attempt. 0 with *ret = NULL: try again. */
static int attempt(struct asking *asking, struct reply **ret)
{
    struct run *run = asking->run;
    struct err err = {0};
    const gudgeon_msg *const *messages;
    size_t count;
    if (memory_messages(run->memory, &messages, &count, &err) < 0)
        return run_end(run, RUN_FAILED, "memory: %s", err.text);
    const struct model *model = models_current(run->models);
    asking->attempt++;
    asking->tries++;
    if (announce(asking, model, count) < 0)
        return RUN_ENDS;

    struct call *call = new_call(asking);
    int class = generate(asking, model, messages, count, call);
    struct reply *reply = NULL;
    if (class == 0)
        class = reply_read(call_reply(call), run->intake, &reply, &err);
    int status =
        class < 0 ? handle_failure(asking, class, call, err.text) : take_reply(asking, reply);
    call_free(call);
    if (status < 0)
        reply_free(reply);
    else
        *ret = reply;
    return status;
}

int ask(struct run *run, struct reply **ret)
{
    struct asking asking = {.run = run};
    call_id_new(asking.id);
    int status = 0;
    *ret = NULL;
    while (status == 0 && *ret == NULL)
        status = attempt(&asking, ret);
    return status;
}
