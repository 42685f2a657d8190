/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_RUN_INTERNAL_H
#define GUDGEON_AGENT_RUN_INTERNAL_H

/*
 * What the files of the loop share: run.c (the loop), ask.c (the model), act.c (the tools),
 * emit.c (events), start.c (the beginning). Nothing else includes it.
 *
 * Functions of the loop return 0 to go on, or negative when the run has to end; then run->state
 * and run->why say how. A journal that cannot be written ends the run at once: nothing is acted
 * on that is not written.
 */

#include <pthread.h>
#include <stdbool.h>

#include "agent/run.h"
#include "base/buf.h"
#include "base/err.h"
#include "event/mask.h"
#include "event/types.h"
#include "sys/cancel.h"

struct intake;
struct journal;
struct json_writer;
struct memory;
struct models;
struct reply;
struct secrets;
struct sink;
struct toolbox;

enum { RUN_ENDS = -1 }; /* what a function of the loop returns then */

enum step_kind { STEP_ACTION, STEP_FINAL };

struct step {
    enum step_kind kind;
    int64_t index;  /* counts every kind, from 1: the events' `step` */
    int64_t number; /* counts action steps, from 1 */
    int64_t started_ns;
    int64_t deadline_ns; /* of the step and the run, whichever is first */
    struct usage usage;
    struct buf error; /* what went wrong in it, one line; empty = nothing */
};

/* What one request or call shows while it goes on, without secrets, also such as come in pieces. */
struct deltas {
    const char *id;
    unsigned attempt;
    uint32_t channel, index; /* of what is held */
    struct mask_stream held;
};

struct run {
    struct run_options options;
    const struct definition *definition;
    struct cancel cancel; /* below options.cancel */
    struct journal *journal;
    struct intake *intake;
    struct intake *log_intake; /* for diagnostics, which come on any thread; under `listening` */
    struct secrets *secrets;
    struct memory *memory;
    struct models *models;
    struct toolbox *toolbox;
    struct sink **sinks;
    size_t sink_count;

    pthread_mutex_t listening; /* deltas and diagnostics come from tool threads, too */
    int64_t last_seq;

    struct step step; /* the one under way */
    int64_t started_ns;
    int64_t deadline_ns;
    struct usage usage;
    int64_t recoveries; /* in a row */
    struct {
        char digest[65]; /* of the last turn's calls and results */
        int64_t count;   /* turns in a row with this digest */
    } repeat;

    enum run_state state; /* RUN_LIVE while going on */
    struct buf why;
    char *answer;
    struct run_result result;
};

/* ---- run.c */
/* Sets the final state and why, unless one is set; always RUN_ENDS, so that `return run_end(…)`
 * ends the loop. */
int run_end(struct run *run, enum run_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts a recovery: 0 while limits.recoveries allows it, else the run is stuck. */
int run_recover(struct run *run, const char *what);
/* Takes the digest of a turn's calls and results; repeated too often, the model is told once, then
 * the run is stuck. */
int run_repeat(struct run *run, const char *digest);

/* ---- start.c */
/* Writes the first events: run.started, tools.listed, the system prompt, the inputs. */
int run_begin(struct run *run);
/* Lets intake mask every secret that has been looked up by now. */
void run_learn_secrets(struct run *run);

/* ---- emit.c */
/* Starts a record of the step under way and gives the writer for its fields. */
struct json_writer *emit_begin(struct run *run, enum event_type type);
/* Writes it to the journal, folds it into memory, tells listeners and sinks. */
int emit_commit(struct run *run);
/* message.added: a text that the host says. */
int emit_message(struct run *run, const char *role, const char *why, const char *text);
/* A delta on its way to the listeners; any thread. */
void emit_delta(struct run *run, struct deltas *deltas, const gudgeon_delta *delta);
/* Gives the listeners what was held. */
void emit_deltas_end(struct run *run, struct deltas *deltas);

/* ---- ask.c */
/* Asks the model, with retries and fail-over. *ret is freed with reply_free. */
int ask(struct run *run, struct reply **ret);

/* ---- act.c */
/* Runs the calls of a reply to their results; a final_answer among them ends the run. */
int act(struct run *run, struct reply *reply);
/* The same when no steps are left: takes a final_answer as the answer, refuses all other calls. */
int act_last(struct run *run, struct reply *reply);
/* Gives each call of a reply an error result that says `why`, running none. */
int refuse_calls(struct run *run, struct reply *reply, const char *why);

#endif
