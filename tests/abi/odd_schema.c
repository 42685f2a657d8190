/* SPDX-License-Identifier: MIT */
/* Its config_schema is JSON, but no schema. */
#include "fixture.h"

static const gudgeon_component component = {
    FIXTURE_TOOLS, .name = "odd_schema", .config_schema = "{\"type\":\"nonsense\"}", FIXTURE_OPS};
FIXTURE_PLUGIN("odd_schema", &component);
