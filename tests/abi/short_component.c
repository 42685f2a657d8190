/* SPDX-License-Identifier: MIT */
/* A component that says it ends before its ops. */
#include "fixture.h"

static const gudgeon_component component = {
    .size = 40, .summary = "", .kind = "tools/1", .name = "x", FIXTURE_OPS};
FIXTURE_PLUGIN("short_component", &component);
