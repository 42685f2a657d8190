/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_ACTION_H
#define GUDGEON_AGENT_ACTION_H

/*
 * One call on its way from what the model wrote to its result, and the turn that it belongs to.
 *
 * act.c decides which action runs when; action.c knows what happens to one. The thread that runs an
 * action owns its status and end until the state is ACTION_RAN; everything else, and every event,
 * is the run's thread's. Internal to the loop.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/run_internal.h"
#include "base/buf.h"

struct call;
struct reply_call;
struct run;
struct tool;

enum action_state { ACTION_PENDING, ACTION_RUNNING, ACTION_RAN, ACTION_FINISHED };

struct action {
    struct turn *turn;
    const struct reply_call *asked;
    const struct tool *tool; /* NULL = unknown */
    char *input;             /* what the tool gets; NULL = it cannot run */
    char *fault;             /* why it cannot, for the model */
    const char *cause;       /* the same for the journal: "invalid", … */
    bool is_mistake;         /* the model's: no such tool, or not with these arguments */
    enum action_state state;
    pthread_t thread;
    bool threaded;
    struct call *call;
    struct deltas deltas;
    int status;
    int64_t started_ns, ended_ns;
    struct buf result; /* JSON array of blocks, as the model is shown it */
    bool is_error;
};

struct turn {
    struct run *run;
    struct action *actions;
    size_t count;
    pthread_mutex_t lock; /* guards the states */
    pthread_cond_t ran;
};

/* Finds the tool and prepares its input; sets the fault when it cannot run. */
void action_resolve(struct action *action);
/* Makes it one that is not run, with a text (taken over) for the model and a cause. Only before it
 * has been started. */
void action_refuse(struct action *action, const char *cause, char *take_fault);
/* Journals call.requested. */
int action_journal_requested(struct action *action, size_t ordinal);
/* Journals call.started, makes everything so far durable before side effects, makes the call. */
int action_prepare(struct action *action);
/* Calls the tool, which is no built-in one; on any thread. Ends as ACTION_RAN. `payload` is the
 * action. */
void *action_run(void *payload);
/* Journals call.finished with the one result, which is never empty. */
int action_journal_finished(struct action *action);
void action_fini(struct action *action);

#endif
