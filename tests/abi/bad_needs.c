/* SPDX-License-Identifier: MIT */
/* Its needs is not a JSON object. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "bad_needs",
                                            .needs = "[\"exec\"]", FIXTURE_OPS};
FIXTURE_PLUGIN("bad_needs", &component);
