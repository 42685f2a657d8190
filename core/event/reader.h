/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_READER_H
#define GUDGEON_EVENT_READER_H

/*
 * Reads a journal, record by record.
 *
 * Damage never stops the reader and is never silent: what was passed over (torn, NUL runs, welded
 * lines, no JSON, wrong run, repeated or missing seq) is counted and described. Reading takes no
 * lock and works on a journal that is being written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct err;

/* Non-zero stops reading. */
typedef int reader_fn(void *payload, const struct event *event);

struct reader_report {
    size_t records;
    size_t skipped;  /* lines of which something was passed over */
    int64_t missing; /* records that their numbers say there were */
    bool torn;       /* the last line has no end: as after a crash, or while it is being written */
    char first[256]; /* about the first damage, one line; "" = none */
};

/* Calls `each` for every record, in order. 0, also when `each` stopped it; ERR_NOT_FOUND, ERR_IO.
 * `report` may be NULL. */
int reader_run(const char *directory, reader_fn *each, void *payload, struct reader_report *report,
               struct err *err);

#endif
