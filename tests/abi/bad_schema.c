/* SPDX-License-Identifier: MIT */
/* Its config_schema is not JSON. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "bad_schema",
                                            .config_schema = "{\"type\": object}", FIXTURE_OPS};
FIXTURE_PLUGIN("bad_schema", &component);
