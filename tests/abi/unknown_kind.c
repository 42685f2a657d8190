/* SPDX-License-Identifier: MIT */
/* One component of a kind that may come some day, one of a newer version of a kind, one ordinary.
 */
#include "fixture.h"

static const gudgeon_component future = {FIXTURE_HEAD, .kind = "gizmo/1", .name = "future",
                                         FIXTURE_OPS};
static const gudgeon_component newer = {FIXTURE_HEAD, .kind = "tools/2", .name = "newer",
                                        FIXTURE_OPS};
static const gudgeon_component ordinary = {FIXTURE_TOOLS, .name = "ordinary", FIXTURE_OPS};
FIXTURE_PLUGIN("unknown_kind", &future, &newer, &ordinary);
