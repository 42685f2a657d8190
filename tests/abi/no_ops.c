/* SPDX-License-Identifier: MIT */
/* A component without ops. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "no_ops", FIXTURE_LIFE};
FIXTURE_PLUGIN("no_ops", &component);
