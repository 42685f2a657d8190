/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_CLI_PROGRESS_H
#define GUDGEON_CLI_PROGRESS_H

/*
 * A run as people see it: each event as a few words on one line.
 *
 * Live on standard error (`gudgeon run`) and afterwards on standard output (`gudgeon log`): the
 * same code prints both, from events alone. As a listener it also streams the model's text when it
 * writes to a terminal; progress_streamed says whether that text is the given answer already.
 */

#include <stdbool.h>

#include "agent/listener.h"
#include "base/buf.h"
#include "cli/terminal.h"

struct event;

enum { PROGRESS_CALLS = 32 }; /* whose names are remembered until their results come */

struct progress {
    struct terminal terminal;
    bool details;        /* whole texts and results instead of one line each */
    bool live;           /* deltas come: text has been shown when its event comes */
    int64_t step_kinds;  /* steps printed so far */
    struct buf streamed; /* text of the reply under way, as it came */
    size_t shown;        /* bytes of it that stand on the terminal: whole characters */
    bool line_open;      /* the cursor is not at the start of a line */
    struct {
        char id[16];
        char tool[64];
    } calls[PROGRESS_CALLS];
    size_t call_count; /* of the step under way */
};

void progress_init(struct progress *progress, FILE *file, bool live);
void progress_fini(struct progress *progress);
void progress_event(struct progress *progress, const struct event *event);
void progress_delta(struct progress *progress, const struct listener_delta *delta);
struct listener progress_listener(struct progress *progress);
/* A plugin's diagnostic, on a line of its own. */
void progress_log(struct progress *progress, const char *instance, int level, const char *message);
bool progress_streamed(const struct progress *progress, const char *answer);

#endif
