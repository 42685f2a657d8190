/* SPDX-License-Identifier: MIT */
/* The same component twice. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "again", FIXTURE_OPS};
FIXTURE_PLUGIN("repeated", &component, &component);
