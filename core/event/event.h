/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_EVENT_H
#define GUDGEON_EVENT_EVENT_H

/*
 * One record of a journal, parsed: the envelope as a struct, the fields as JSON.
 *
 * Everything in `struct event` is borrowed from the line and from `fields`, which the event holds
 * a reference of until event_release. A line should be one record; event_next also finds the
 * records in a line that damage has welded together or filled with NULs, so that the reader and
 * the repair at open agree about what a journal holds. Not thread-safe (json-c values).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "base/err.h"
#include "event/types.h"

struct json_object;

/* `line` is without its newline. */
struct record {
    enum event_type type;
    int64_t seq;
    int64_t step; /* 0 = outside any step */
    gudgeon_str line;
};

struct event {
    struct record record;
    const char *type_name; /* also for types that this version does not know */
    const char *run;
    const char *time;
    int64_t at_ms;
    struct json_object *fields; /* the whole object, envelope included */
};

/* Parses a line that is exactly one record (as journal_commit gave it). ERR_INVALID; ERR_REFUSED
 * for a record of a newer format. */
int event_parse(gudgeon_str line, struct event *ret, struct err *err);
void event_release(struct event *event);

/* A walk over the records of one line. */
struct event_scan {
    gudgeon_str line;
    size_t at;    /* where the last record found ends */
    int attempts; /* false starts so far; bounded, so that the walk is linear */
    struct err
        damage; /* about the first bytes that are no record (as event_parse); code 0 = none */
};

#define EVENT_SCAN_INIT(text)                                                                      \
    {                                                                                              \
        .line = (text)                                                                             \
    }

/* The next record of the line, or false: then nothing is to be released. */
bool event_next(struct event_scan *scan, struct event *ret);

#endif
