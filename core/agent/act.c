/* SPDX-License-Identifier: MIT */
/*
 * Acting by tools: the calls of one reply, run to one result each.
 *
 * A call is journaled before it runs and its result as it comes. Calls run side by side up to
 * limits.parallel_tools; on one instance a call waits for the ones before it unless both only
 * read and the instance can do both at once. What cannot run (unknown tool, bad arguments, no
 * approval) gets its error result and the others are not disturbed. Built-in tools are done at
 * once. A call whose turn comes after an interrupt or the step's deadline is not started.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/action.h"
#include "agent/definition.h"
#include "agent/reply.h"
#include "agent/run_internal.h"
#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/json.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"

static bool may_run_beside(const struct action *action, const struct action *earlier)
{
    if (earlier->state == ACTION_FINISHED || earlier->tool->instance != action->tool->instance)
        return true;
    bool overlaps = instance_component(action->tool->instance)->flags & GUDGEON_CONCURRENT;
    return overlaps && action->tool->effect == EFFECT_READ && earlier->tool->effect == EFFECT_READ;
}

static struct action *next_ready(struct turn *turn)
{
    for (size_t i = 0; i < turn->count; i++) {
        struct action *action = &turn->actions[i];
        bool ready = action->state == ACTION_PENDING;
        for (size_t j = 0; ready && j < i; j++)
            ready = may_run_beside(action, &turn->actions[j]);
        if (ready)
            return action;
    }
    return NULL;
}

static size_t count_in(const struct turn *turn, enum action_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < turn->count; i++)
        count += turn->actions[i].state == state;
    return count;
}

static int finish(struct action *action)
{
    if (action->threaded)
        pthread_join(action->thread, NULL);
    action->threaded = false;
    action->state = ACTION_FINISHED;
    return action_journal_finished(action);
}

/* True when it is too late to start a call; then the call says so. */
static bool is_too_late(struct action *action)
{
    struct run *run = action->turn->run;
    if (cancel_is_set(&run->cancel))
        action_refuse(action, "cancelled", xstrdup("The call was not run: it was interrupted."));
    else if (clock_monotonic_ns() >= run->step.deadline_ns)
        action_refuse(action, "timeout", xstrdup("The call was not run: no time was left for it."));
    return action->fault != NULL;
}

/* Starts a call, on a thread of its own unless it is the last one and would be waited for
 * anyway. */
static int start(struct action *action)
{
    struct turn *turn = action->turn;
    if (is_too_late(action))
        return finish(action);
    if (action_prepare(action) < 0)
        return RUN_ENDS;
    action->started_ns = clock_monotonic_ns();
    pthread_mutex_lock(&turn->lock);
    bool alone = count_in(turn, ACTION_PENDING) == 1 && count_in(turn, ACTION_RUNNING) == 0;
    action->state = ACTION_RUNNING;
    pthread_mutex_unlock(&turn->lock);
    action->threaded = !alone && pthread_create(&action->thread, NULL, action_run, action) == 0;
    if (!action->threaded)
        action_run(action);
    return 0;
}

static struct action *wait_for_one(struct turn *turn)
{
    struct action *ran = NULL;
    pthread_mutex_lock(&turn->lock);
    while (ran == NULL) {
        for (size_t i = 0; i < turn->count && ran == NULL; i++)
            if (turn->actions[i].state == ACTION_RAN)
                ran = &turn->actions[i];
        if (ran == NULL)
            pthread_cond_wait(&turn->ran, &turn->lock);
    }
    pthread_mutex_unlock(&turn->lock);
    return ran;
}

static int start_ready(struct turn *turn)
{
    size_t limit = (size_t)turn->run->definition->limits.parallel_tools;
    struct action *action;
    while (true) {
        pthread_mutex_lock(&turn->lock);
        bool room = count_in(turn, ACTION_RUNNING) + count_in(turn, ACTION_RAN) < limit;
        action = room ? next_ready(turn) : NULL;
        pthread_mutex_unlock(&turn->lock);
        if (action == NULL)
            return 0;
        if (start(action) < 0)
            return RUN_ENDS;
    }
}

static bool is_underway(struct turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    bool underway = count_in(turn, ACTION_FINISHED) < turn->count;
    pthread_mutex_unlock(&turn->lock);
    return underway;
}

static bool is_done_at_once(const struct action *action)
{
    return action->fault != NULL || action->tool->builtin != BUILTIN_NONE;
}

static int request_all(struct turn *turn)
{
    int status = 0;
    for (size_t i = 0; i < turn->count && status == 0; i++) {
        if (turn->actions[i].fault == NULL)
            action_resolve(&turn->actions[i]);
        status = action_journal_requested(&turn->actions[i], i);
    }
    for (size_t i = 0; i < turn->count && status == 0; i++)
        if (is_done_at_once(&turn->actions[i]))
            status = finish(&turn->actions[i]);
    return status;
}

static int run_all(struct turn *turn)
{
    while (start_ready(turn) == 0) {
        if (!is_underway(turn))
            return 0;
        if (finish(wait_for_one(turn)) < 0)
            break;
    }
    return RUN_ENDS;
}

static void turn_init(struct turn *turn, struct run *run, const struct reply *reply)
{
    *turn = (struct turn){.run = run, .count = reply->call_count};
    pthread_mutex_init(&turn->lock, NULL);
    pthread_cond_init(&turn->ran, NULL);
    turn->actions = xcalloc(turn->count, sizeof *turn->actions);
    for (size_t i = 0; i < turn->count; i++) {
        turn->actions[i].turn = turn;
        turn->actions[i].asked = &reply->calls[i];
        buf_init(&turn->actions[i].result, BUF_MAX_ANY);
    }
}

/* Threads that are still running when the journal has failed are stopped and waited for. */
static void turn_fini(struct turn *turn)
{
    for (size_t i = 0; i < turn->count; i++) {
        struct action *action = &turn->actions[i];
        if (action->threaded) {
            cancel_set(call_cancel(action->call));
            pthread_join(action->thread, NULL);
        }
        action_fini(action);
    }
    free(turn->actions);
    pthread_cond_destroy(&turn->ran);
    pthread_mutex_destroy(&turn->lock);
}

/* What the first final_answer of the turn said, or NULL; freed by the caller. */
static char *final_answer_of(const struct turn *turn)
{
    for (size_t i = 0; i < turn->count; i++) {
        const struct action *action = &turn->actions[i];
        if (action->is_error || action->tool->builtin != BUILTIN_FINAL_ANSWER)
            continue;
        CLEANUP(json_cleanup) struct json_object *input = NULL;
        if (json_read_object(str_of(action->input), &input, NULL) == 0)
            return str_dup(json_get_str(input, "answer"));
    }
    return NULL;
}

/* The same calls with the same results, again and again: told once, then the run is stuck. */
static int guard_repeats(struct turn *turn)
{
    struct digest digest;
    digest_init(&digest);
    for (size_t i = 0; i < turn->count; i++) {
        const struct action *action = &turn->actions[i];
        const char *input = action->input ? action->input : action->asked->arguments.object;
        digest_update(&digest, action->asked->name, strlen(action->asked->name) + 1);
        digest_update(&digest, input, strlen(input) + 1);
        digest_update(&digest, action->result.data, action->result.len + 1);
    }
    char hex[65];
    digest_hex(&digest, hex);
    return run_repeat(turn->run, hex);
}

/* A turn of which nothing could run was the model's mistake: its results tell it so, a bounded
 * number of times. */
static int count_mistakes(struct turn *turn)
{
    struct run *run = turn->run;
    size_t mistakes = 0;
    for (size_t i = 0; i < turn->count; i++)
        mistakes += turn->actions[i].is_mistake;
    if (mistakes < turn->count) {
        run->recoveries = 0;
        return 0;
    }
    static const char what[] = "no tool call of the reply could be run";
    buf_add_str(&run->step.error, what);
    return run_recover(run, what);
}

/* What a turn whose calls all have their results means for the run. final_answer ends it, after
 * the other calls of its turn have run. */
static int conclude(struct turn *turn)
{
    turn->run->answer = final_answer_of(turn);
    if (turn->run->answer != NULL)
        return run_end(turn->run, RUN_SUCCESS, "%s", "");
    return guard_repeats(turn) < 0 ? RUN_ENDS : count_mistakes(turn);
}

int act(struct run *run, struct reply *reply)
{
    struct turn turn;
    turn_init(&turn, run, reply);
    int status = request_all(&turn);
    if (status == 0)
        status = run_all(&turn);
    if (status == 0)
        status = conclude(&turn);
    turn_fini(&turn);
    return status;
}

static bool is_final_answer(const struct action *action)
{
    const struct tool *tool = toolbox_find(action->turn->run->toolbox, str_of(action->asked->name));
    return tool != NULL && tool->builtin == BUILTIN_FINAL_ANSWER;
}

int refuse_calls(struct run *run, struct reply *reply, const char *why)
{
    struct turn turn;
    turn_init(&turn, run, reply);
    for (size_t i = 0; i < turn.count; i++)
        action_refuse(&turn.actions[i], "refused", xstrdup(why));
    int status = request_all(&turn);
    turn_fini(&turn);
    return status;
}

int act_last(struct run *run, struct reply *reply)
{
    struct turn turn;
    turn_init(&turn, run, reply);
    for (size_t i = 0; i < turn.count; i++)
        if (!is_final_answer(&turn.actions[i]))
            action_refuse(&turn.actions[i], "refused",
                          xstrdup("The call was not run: no steps are left."));
    int status = request_all(&turn);
    if (status == 0)
        run->answer = final_answer_of(&turn);
    turn_fini(&turn);
    return status;
}
