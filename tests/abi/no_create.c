/* SPDX-License-Identifier: MIT */
/* A component without create. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "no_create",
                                            .destroy = fixture_destroy, .ops = &fixture_ops};
FIXTURE_PLUGIN("no_create", &component);
