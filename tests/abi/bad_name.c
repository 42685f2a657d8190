/* SPDX-License-Identifier: MIT */
/* Its name is no name. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "x", FIXTURE_OPS};
FIXTURE_PLUGIN("Bad Name", &component);
