/* SPDX-License-Identifier: MIT */
/* A component whose ops say nothing of their size. */
#include "fixture.h"

static const gudgeon_tools sizeless = {.list = fixture_list, .call = fixture_call};
static const gudgeon_component component = {FIXTURE_TOOLS, .name = "short_ops", FIXTURE_LIFE,
                                            .ops = &sizeless};
FIXTURE_PLUGIN("short_ops", &component);
