/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_STATE_H
#define GUDGEON_AGENT_STATE_H

/*
 * The states that a run can end in or rest in: one table with the name that the journal and the
 * API use, the exit code of the commands, and what it means for a person.
 */

#include <stddef.h>

enum run_state {
    RUN_SUCCESS,
    RUN_FAILED,
    RUN_MAX_STEPS,
    RUN_BUDGET,
    RUN_STUCK,
    RUN_CONTEXT_FULL,
    RUN_REFUSED,
    RUN_INTERRUPTED,
    RUN_STATE_COUNT,
    RUN_LIVE = -1, /* not ended yet */
};

/* Exit code for a wrong command line or a definition, plugin or schema fault. */
enum { EXIT_USAGE = 2 };

struct state_info {
    const char *name;
    int exit_code;
    const char *meaning;
};

const struct state_info *state_info(enum run_state state);

#endif
