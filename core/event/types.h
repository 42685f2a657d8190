/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_TYPES_H
#define GUDGEON_EVENT_TYPES_H

/*
 * The table of event types: one row each. config/journal.schema.json describes their fields, and
 * a test says that the two agree.
 *
 * Bump rules of the envelope's `v`: a new optional field or a new type changes nothing (readers
 * pass over what they do not know); a new type or field that a reader must understand to go on
 * carries "must": true; anything else is a new `v`.
 */

#include <stdbool.h>
#include <stddef.h>

enum { JOURNAL_VERSION = 1 };

enum event_type {
    EVENT_RUN_STARTED,
    EVENT_RUN_WAITING,
    EVENT_RUN_RESUMED,
    EVENT_RUN_FINISHED,
    EVENT_TOOLS_LISTED,
    EVENT_STEP_STARTED,
    EVENT_STEP_FINISHED,
    EVENT_MODEL_REQUESTED,
    EVENT_MODEL_REPLIED,
    EVENT_MODEL_FAILED,
    EVENT_CALL_REQUESTED,
    EVENT_CALL_STARTED,
    EVENT_CALL_FINISHED,
    EVENT_MESSAGE_ADDED,
    EVENT_CONTROL,
    EVENT_JOURNAL_REPAIRED,
    EVENT_TYPE_COUNT,
    EVENT_UNKNOWN = -1,
};

/* "run.started", … */
const char *event_name(enum event_type type);
enum event_type event_type_of(const char *name); /* EVENT_UNKNOWN when no row has it */
/* Whether the record is on disk (fdatasync) when journal_commit returns, at every sync level but
 * `never`. call.started is not: the loop starts the calls of a turn together and pays for one
 * journal_sync before any of them that is not `read`; so are results that come from outside. */
bool event_is_durable(enum event_type type);

#endif
