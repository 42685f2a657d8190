/* SPDX-License-Identifier: MIT */
/* Calls itself something else. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "x", FIXTURE_OPS};
FIXTURE_PLUGIN("another_name", &component);
