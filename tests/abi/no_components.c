/* SPDX-License-Identifier: MIT */
/* Offers nothing. */
#include "fixture.h"

static const gudgeon_component *const components[] = {NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "no_components", "1.0.0", "MIT", components, 0};
