/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent/state.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "data/json.h"
#include "event/event.h"
#include "event/lock.h"
#include "event/reader.h"

struct options {
    bool json, full;
};

static const struct option_row rows[] = {
    {"json", NULL, "the records as they stand in the journal", OPTION_FLAG,
     offsetof(struct options, json)},
    {"full", NULL, "whole texts and results instead of one line each", OPTION_FLAG,
     offsetof(struct options, full)},
};

struct showing {
    struct progress progress;
    bool rests; /* the run has come to an end */
};

static int print_event(void *payload, const struct event *event)
{
    struct showing *showing = payload;
    enum event_type type = event->record.type;
    showing->rests = type == EVENT_RUN_FINISHED || type == EVENT_RUN_WAITING ||
                     (showing->rests && type != EVENT_RUN_RESUMED);
    progress_event(&showing->progress, event);
    return ferror(stdout);
}

static int print_record(void *payload, const struct event *event)
{
    (void)payload;
    fwrite(event->record.line.ptr, 1, event->record.line.len, stdout);
    fputc('\n', stdout);
    return ferror(stdout);
}

/* A last line without its end is no damage while somebody writes it. */
static void tell_damage(const struct reader_report *report, bool is_running)
{
    bool is_torn_alone = report->torn && report->skipped == 0 && report->missing == 0;
    if (report->first[0] == '\0' || (is_running && is_torn_alone))
        return;
    CLEANUP(free_ptr) char *more = xasprintf(" (lines passed over: %zu)", report->skipped);
    command_error(0, "log: the journal is damaged: %s%s", report->first,
                  report->skipped > 1 ? more : "");
}

static int run(const void *given, int argc, char **argv)
{
    (void)argc;
    const struct options *options = given;
    CLEANUP(free_ptr) char *directory = NULL;
    int code = setup_run_directory(argv[0], &directory);
    if (code != 0)
        return code;
    struct err err = {0};
    struct reader_report report = {0};
    struct showing showing = {.rests = options->json};
    progress_init(&showing.progress, stdout, false);
    showing.progress.details = options->full;
    int status =
        reader_run(directory, options->json ? print_record : print_event, &showing, &report, &err);
    progress_fini(&showing.progress);
    if (status < 0)
        return command_error(1, "%s", err.text);
    bool is_running = !showing.rests && lock_is_held(directory);
    if (is_running)
        printf("this run is still going on\n");
    else if (!showing.rests && report.skipped == 0)
        printf("this run was cut off: the journal ends here\n");
    tell_damage(&report, is_running);
    return command_finish_output(0);
}

const struct command command_log = {
    .name = "log",
    .arguments = "RUN | last",
    .summary = "Show what happened in a run",
    .details = "RUN is a run's id, the beginning or the end of one, or \"last\".",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .options_size = sizeof(struct options),
    .minimum = 1,
    .maximum = 1,
    .run = run,
};
