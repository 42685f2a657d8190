/* SPDX-License-Identifier: MIT */
/* A component whose kind is misspelt. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_HEAD, .kind = "tool/1", .name = "near_kind",
                                            FIXTURE_OPS};
FIXTURE_PLUGIN("near_kind", &component);
