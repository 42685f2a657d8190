/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_READER_H
#define GUDGEON_EVENT_READER_H

/*
 * Reads journals: one, record by record, and the list of runs.
 *
 * Damage never stops the reader and is never silent: what was passed over (torn, NUL runs, welded
 * lines, no JSON, wrong run, repeated or missing seq) is counted and described. Reading takes no
 * lock and works on a journal that is being written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/journal.h"

struct err;
struct json_object;

/* One record as read; borrowed for the callback. `fields` is the whole object, envelope included.
 */
struct event {
    struct record record;
    const char *type_name; /* also for types that this version does not know */
    const char *time;
    int64_t at_ms;
    struct json_object *fields;
};

/* Non-zero stops reading. */
typedef int reader_fn(void *payload, const struct event *event);

struct reader_report {
    size_t records;
    size_t skipped;  /* lines passed over */
    bool torn;       /* the last line has no end */
    char first[256]; /* about the first damage, one line; "" = none */
};

int reader_run(const char *directory, reader_fn *each, void *payload, struct reader_report *report,
               struct err *err);
/* Parses one line (as journal_commit gave it) into an event; *ret_fields is to be put. */
int event_parse(gudgeon_str line, struct event *ret, struct err *err);
void event_release(struct event *event);

/* One run as `gudgeon runs` shows it, from the first and last records only. */
struct run_summary {
    char id[64];
    char agent[64];
    char *task;     /* first line, cut */
    char state[32]; /* a final or resting state, "running" (locked), or "interrupted" */
    char started[32];
    int64_t steps;
    int64_t duration_ms;
    int64_t input_tokens, output_tokens;
};

/* Newest first; at most `limit` (0 = all). A run that cannot be read has state "unreadable". */
int runs_list(const char *runs, size_t limit,
              void (*each)(void *payload, const struct run_summary *), void *payload,
              struct err *err);
/* Finds a run by full id, unique prefix or suffix of at least 4 characters, or "last".
 * ERR_NOT_FOUND, ERR_INVALID (several). *ret_id is freed by the caller. */
int runs_find(const char *runs, const char *name, char **ret_id, struct err *err);

#endif
