/* SPDX-License-Identifier: MIT */
#include "agent/state.h"

#include <assert.h>

static const struct state_info states[RUN_STATE_COUNT] = {
    [RUN_SUCCESS] = {"success", 0, "the agent gave its answer"},
    [RUN_FAILED] = {"failed", 1, "a model backend or this machine failed; the journal is whole"},
    [RUN_MAX_STEPS] = {"max_steps", 3, "limits.steps used up; the answer was forced"},
    [RUN_BUDGET] = {"budget", 4, "limits.time or limits.tokens used up"},
    [RUN_STUCK] = {"stuck", 5, "the model repeats itself or gives nothing that can be used"},
    [RUN_CONTEXT_FULL] = {"context_full", 6, "the conversation no longer fits the model's window"},
    [RUN_REFUSED] = {"refused", 7, "the model declined the task"},
    [RUN_INTERRUPTED] = {"interrupted", 8, "stopped by a signal or a caller"},
};

const struct state_info *state_info(enum run_state state)
{
    assert(state >= 0 && state < RUN_STATE_COUNT);
    return &states[state];
}
