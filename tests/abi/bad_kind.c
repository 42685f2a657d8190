/* SPDX-License-Identifier: MIT */
/* A kind without a version. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_HEAD, .kind = "tools", .name = "bad_kind",
                                            FIXTURE_OPS};
FIXTURE_PLUGIN("bad_kind", &component);
