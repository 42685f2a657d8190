/* SPDX-License-Identifier: MIT */
#include "event/types.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name;
    bool is_durable;
} types[EVENT_TYPE_COUNT] = {
    [EVENT_RUN_STARTED] = {"run.started", false},
    [EVENT_RUN_WAITING] = {"run.waiting", true},
    [EVENT_RUN_RESUMED] = {"run.resumed", false},
    [EVENT_RUN_FINISHED] = {"run.finished", true},
    [EVENT_TOOLS_LISTED] = {"tools.listed", false},
    [EVENT_STEP_STARTED] = {"step.started", false},
    [EVENT_STEP_FINISHED] = {"step.finished", false},
    [EVENT_MODEL_REQUESTED] = {"model.requested", false},
    [EVENT_MODEL_REPLIED] = {"model.replied", false},
    [EVENT_MODEL_FAILED] = {"model.failed", false},
    [EVENT_CALL_REQUESTED] = {"call.requested", false},
    [EVENT_CALL_STARTED] = {"call.started", false},
    [EVENT_CALL_FINISHED] = {"call.finished", false},
    [EVENT_MESSAGE_ADDED] = {"message.added", false},
    [EVENT_CONTROL] = {"control", false},
    [EVENT_JOURNAL_REPAIRED] = {"journal.repaired", true},
};

const char *event_name(enum event_type type)
{
    assert(type >= 0 && type < EVENT_TYPE_COUNT);
    return types[type].name;
}

enum event_type event_type_of(const char *name)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        if (strcmp(types[i].name, name) == 0)
            return (enum event_type)i;
    return EVENT_UNKNOWN;
}

bool event_is_durable(enum event_type type)
{
    return type >= 0 && type < EVENT_TYPE_COUNT && types[type].is_durable;
}
