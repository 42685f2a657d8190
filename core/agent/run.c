/* SPDX-License-Identifier: MIT */
/*
 * The loop. One turn of it is a step:
 *
 *     gate        interrupted? budget left?              gate
 *     context     memory → messages                      memory.c, a fold over the events
 *     model       generate, retry, fail over             ask.c
 *     act         validate, run, results in order        act.c, action.c
 *     check       an answer, or a nudge                  take_words
 *     close step  always, success or error               close_step
 *
 * and when the steps are used up, one more request for an answer. Everything that is learnt
 * becomes an event before it is acted on (emit.c).
 */
#include "agent/run_internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/ext/memo.h>

#include "agent/definition.h"
#include "agent/models.h"
#include "agent/prompts.h"
#include "agent/reply.h"
#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/journal.h"
#include "plugin/instance.h"

enum { WHY_BYTES = 500 }; /* of foreign words in `why` */

/* ---- how a run ends ---- */

int run_end(struct run *run, enum run_state state, const char *format, ...)
{
    if (run->state != RUN_LIVE)
        return RUN_ENDS;
    run->state = state;
    va_list args;
    va_start(args, format);
    buf_vaddf(&run->why, format, args);
    va_end(args);
    return RUN_ENDS;
}

int run_recover(struct run *run, const char *what)
{
    if (++run->recoveries > run->definition->limits.recoveries)
        return run_end(run, RUN_STUCK, "%s, %lld times in a row", what, (long long)run->recoveries);
    return 0;
}

int run_repeat(struct run *run, const char *digest)
{
    bool same = strcmp(run->repeat.digest, digest) == 0;
    run->repeat.count = same ? run->repeat.count + 1 : 1;
    memcpy(run->repeat.digest, digest, sizeof run->repeat.digest);
    int64_t limit = run->definition->limits.repeats;
    if (run->repeat.count < limit)
        return 0;
    if (run->repeat.count > limit)
        return run_end(run, RUN_STUCK, "the same call gave the same result %lld times in a row",
                       (long long)run->repeat.count);
    CLEANUP(free_ptr) char *count = xasprintf("%lld", (long long)limit);
    CLEANUP(free_ptr)
    char *text = prompt_render("repeat", (struct prompt_value[]){{"count", count}, {NULL, NULL}});
    return emit_message(run, "user", "repeat", text);
}

/* ---- steps ---- */

static int open_step(struct run *run, enum step_kind kind)
{
    struct step *step = &run->step;
    step->kind = kind;
    step->index++;
    step->number += kind == STEP_ACTION;
    step->started_ns = clock_monotonic_ns();
    step->deadline_ns = run->deadline_ns;
    step->usage = (struct usage){0};
    buf_reset(&step->error);
    int64_t limit_ms = run->definition->limits.step_time_ms;
    if (limit_ms > 0 && step->started_ns + limit_ms * NS_PER_MS < step->deadline_ns)
        step->deadline_ns = step->started_ns + limit_ms * NS_PER_MS;

    struct json_writer *writer = emit_begin(run, EVENT_STEP_STARTED);
    json_field_text(writer, "kind", kind == STEP_FINAL ? "final" : "action");
    if (kind == STEP_ACTION)
        json_field_int(writer, "number", step->number);
    return emit_commit(run);
}

/* Always, success or error. */
static int close_step(struct run *run)
{
    struct step *step = &run->step;
    const char *error = step->error.len > 0 ? step->error.data : run->why.data;
    bool ended_well =
        run->state == RUN_LIVE || run->state == RUN_SUCCESS || run->state == RUN_MAX_STEPS;
    bool failed = step->error.len > 0 || !ended_well;
    int64_t duration_ns = clock_monotonic_ns() - step->started_ns;
    struct json_writer *writer = emit_begin(run, EVENT_STEP_FINISHED);
    json_field_text(writer, "then", run->state == RUN_LIVE ? "step" : "end");
    if (failed)
        json_field_text(writer, "error", error);
    usage_write(writer, "usage", &step->usage);
    json_field_int(writer, "duration_ms", duration_ns / NS_PER_MS);
    int status = emit_commit(run);
    struct err err = {0};
    if (status == 0 && journal_sync(run->journal, &err) < 0)
        status = run_end(run, RUN_FAILED, "%s", err.text);
    return status;
}

/* A nudge: a built-in text that tells the model what was wrong, a bounded number of times. */
static int nudge(struct run *run, const char *prompt, const char *what)
{
    if (run_recover(run, what) < 0)
        return RUN_ENDS;
    const char *finish = run->definition->finish == FINISH_TOOL ? "finish_tool" : "finish_answer";
    CLEANUP(free_ptr) char *how = prompt_render(finish, NULL);
    CLEANUP(free_ptr)
    char *text = prompt_render(prompt, (struct prompt_value[]){{"finish", how}, {NULL, NULL}});
    buf_addf(&run->step.error, "%s", what);
    return emit_message(run, "user", prompt, text);
}

static int take_answer(struct run *run, const struct reply *reply)
{
    run->answer = xstrdup(reply->text.data);
    return run_end(run, RUN_SUCCESS, "%s", "");
}

static const char refused_call[] = "The call was not run: the reply was a refusal.";

/* The model's own words about why it declined, as one line. */
static int take_refusal(struct run *run, const struct reply *reply)
{
    const struct buf *words = reply->refusal.len > 0 ? &reply->refusal : &reply->text;
    CLEANUP(free_ptr) char *line = utf8_one_line((gudgeon_str){words->data, words->len}, WHY_BYTES);
    return run_end(run, RUN_REFUSED, "the model declined%s%s", line[0] != '\0' ? ": " : "", line);
}

/* What a reply without calls to run means. */
static int take_words(struct run *run, const struct reply *reply)
{
    if (reply->dropped_count > 0)
        return nudge(run, "cut_calls", "the reply was cut inside a tool call");
    if (reply->finish == GUDGEON_FINISH_LENGTH)
        return nudge(run, "cut_text", "the reply was cut at the output limit");
    if (reply->empty)
        return nudge(run, "nudge_empty", "the reply was empty");
    if (run->definition->finish == FINISH_TOOL)
        return nudge(run, "nudge_finish", "the reply had no tool call");
    return take_answer(run, reply);
}

/* The calls of a reply that are over what one reply may hold are not forgotten in silence. */
static int tell_dropped(struct run *run, const struct reply *reply)
{
    if (reply->dropped_count == 0)
        return 0;
    CLEANUP(free_ptr) char *count = xasprintf("%zu", reply->dropped_count);
    CLEANUP(free_ptr)
    char *text =
        prompt_render("dropped_calls", (struct prompt_value[]){{"count", count}, {NULL, NULL}});
    return emit_message(run, "user", "dropped_calls", text);
}

static int act_on(struct run *run, struct reply *reply)
{
    if (reply->refused) {
        int status = refuse_calls(run, reply, refused_call);
        return status < 0 ? status : take_refusal(run, reply);
    }
    if (reply->call_count == 0)
        return take_words(run, reply);
    return act(run, reply) < 0 ? RUN_ENDS : tell_dropped(run, reply);
}

/* Infrastructure that makes a step run out of its time counts as a recovery, not as a model's
 * mistake: nothing is said to the model. */
static int after_lost_step(struct run *run)
{
    return run->state == RUN_LIVE ? run_recover(run, run->step.error.data) : RUN_ENDS;
}

static int relist_tools(struct run *run)
{
    uint64_t old_revision = toolbox_revision(run->toolbox);
    if (!toolbox_refresh(run->toolbox))
        return 0;
    instance_forget(models_current(run->models)->instance, GUDGEON_MEMO_TOOLS, old_revision);
    toolbox_write(run->toolbox, emit_begin(run, EVENT_TOOLS_LISTED));
    return emit_commit(run);
}

static void take_step(struct run *run)
{
    struct reply *reply = NULL;
    if (open_step(run, STEP_ACTION) < 0)
        return;
    if (relist_tools(run) == 0 && ask(run, &reply) == 0)
        act_on(run, reply);
    else
        after_lost_step(run);
    close_step(run);
    reply_free(reply);
}

/* Takes the answer from the forced reply; what is wrong with it goes into the step's error. */
static void take_forced(struct run *run, struct reply *reply)
{
    const char *lack = NULL;
    int status = reply->refused ? refuse_calls(run, reply, refused_call) : act_last(run, reply);
    if (status < 0)
        return;
    if (reply->refused)
        lack = "the model declined to give an answer";
    else if (run->answer == NULL && reply->text.len == 0)
        lack = "the model gave no answer";
    else if (run->answer == NULL)
        run->answer = xstrdup(reply->text.data);
    if (lack == NULL && reply->finish == GUDGEON_FINISH_LENGTH)
        lack = "the answer was cut at the output limit";
    if (lack != NULL)
        buf_add_str(&run->step.error, lack);
}

/* The run ends for its steps, however the forced request ended; what ends runs at any time stands,
 * and so does a journal that cannot be written (its failure comes up again at once). */
static void end_for_steps(struct run *run)
{
    if (run->state != RUN_LIVE && run->state != RUN_FAILED && run->state != RUN_CONTEXT_FULL)
        return;
    if (run->step.error.len == 0)
        buf_add(&run->step.error, run->why.data, run->why.len);
    run->state = RUN_LIVE;
    buf_reset(&run->why);
    run_end(run, RUN_MAX_STEPS, "%lld steps used up%s%s", (long long)run->step.number,
            run->step.error.len > 0 ? "; no whole answer could be forced: " : "",
            run->step.error.data);
}

/* The steps are used up: one more request, for an answer from what is known. */
static void force_answer(struct run *run)
{
    struct reply *reply = NULL;
    CLEANUP(free_ptr) char *text = prompt_render("forced_final", NULL);
    if (open_step(run, STEP_FINAL) < 0)
        return;
    if (emit_message(run, "user", "forced_final", text) == 0 && ask(run, &reply) == 0)
        take_forced(run, reply);
    end_for_steps(run);
    close_step(run);
    reply_free(reply);
}

/* Whether another step may be paid for. */
static int gate(struct run *run)
{
    const struct limits *limits = &run->definition->limits;
    if (cancel_is_set(&run->cancel))
        return run_end(run, RUN_INTERRUPTED, "between two steps");
    if (clock_monotonic_ns() >= run->deadline_ns)
        return run_end(run, RUN_BUDGET, "limits.time is used up");
    if (limits->tokens > 0 && usage_total(&run->usage) >= limits->tokens)
        return run_end(run, RUN_BUDGET, "limits.tokens is used up: %lld of %lld",
                       (long long)usage_total(&run->usage), (long long)limits->tokens);
    return 0;
}

static int loop(struct run *run)
{
    while (run->state == RUN_LIVE && gate(run) == 0) {
        if (run->step.number < run->definition->limits.steps)
            take_step(run);
        else
            force_answer(run);
    }
    return run->state;
}

/* ---- the whole ---- */

static int emit_finished(struct run *run)
{
    struct json_writer *writer = emit_begin(run, EVENT_RUN_FINISHED);
    json_field_text(writer, "state", state_info(run->state)->name);
    json_field_text(writer, "why", run->why.data);
    if (run->answer != NULL)
        json_field_text(writer, "answer", run->answer);
    usage_write(writer, "usage", &run->usage);
    json_field_int(writer, "steps", run->step.number);
    json_field_int(writer, "duration_ms", run->result.duration_ms);
    return emit_commit(run);
}

const struct run_result *run_execute(struct run *run)
{
    if (run_begin(run) == 0)
        loop(run);
    run->step.index = 0; /* what follows belongs to no step */
    if (run->state == RUN_INTERRUPTED) {
        json_field_text(emit_begin(run, EVENT_CONTROL), "what", "interrupt");
        emit_commit(run);
    }
    run->result.duration_ms = (clock_monotonic_ns() - run->started_ns) / NS_PER_MS;
    run->result.recorded = emit_finished(run) == 0;
    run->result.state = run->state;
    run->result.answer = run->answer;
    run->result.why = run->why.data;
    run->result.usage = run->usage;
    run->result.steps = run->step.number;
    return &run->result;
}
