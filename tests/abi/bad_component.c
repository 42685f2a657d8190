/* SPDX-License-Identifier: MIT */
/* A component whose name is no name. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "Bad Component", FIXTURE_OPS};
FIXTURE_PLUGIN("bad_component", &component);
