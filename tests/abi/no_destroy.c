/* SPDX-License-Identifier: MIT */
/* A component without destroy. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "no_destroy",
                                            .create = fixture_create, .ops = &fixture_ops};
FIXTURE_PLUGIN("no_destroy", &component);
