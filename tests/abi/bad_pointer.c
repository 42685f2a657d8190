/* SPDX-License-Identifier: MIT */
/* Its array of components is somewhere else. */
#include "fixture.h"

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "bad_pointer", "1.0.0", "MIT", (const gudgeon_component *const *)16, 0};
