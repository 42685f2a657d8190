/* SPDX-License-Identifier: MIT */
/* Has neither version nor licence. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "no_version", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "no_version", NULL, NULL, components, 0};
