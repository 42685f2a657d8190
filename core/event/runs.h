/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_RUNS_H
#define GUDGEON_EVENT_RUNS_H

/*
 * The runs of a directory: the list of them, and one by what a person types.
 *
 * Of each journal only the beginning and the end are read, so that a list costs what it is long.
 * Takes no lock; a run that is being written is shown as it stands. Newest first means by id:
 * ids sort by the time of their creation.
 */

#include <stddef.h>
#include <stdint.h>

struct err;

struct run_summary {
    char id[64];
    char agent[64];
    char task[200];   /* its first line, cut on a character with "…" */
    char state[32];   /* a final or resting state, "running" (somebody holds its lock),
                         "interrupted" (it ended in the middle), or "unreadable" */
    char started[32]; /* UTC */
    int64_t steps;    /* action steps */
    int64_t duration_ms;
    /* -1 = not known: the provider said nothing, or all of the journal would have to be read. */
    int64_t input_tokens, output_tokens;
};

/* Calls `each` for at most `limit` (0 = all) runs, newest first. No directory = no runs. */
int runs_list(const char *runs, size_t limit,
              void (*each)(void *payload, const struct run_summary *), void *payload,
              struct err *err);
/* Finds a run by its full id, a unique prefix or suffix of at least 4 characters, or "last".
 * ERR_NOT_FOUND, ERR_INVALID (several). *ret_id is freed by the caller. */
int runs_find(const char *runs, const char *name, char **ret_id, struct err *err);

#endif
