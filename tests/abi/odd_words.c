/* SPDX-License-Identifier: MIT */
/* Its words are not fit to be printed. */
#include "fixture.h"

static const gudgeon_component component = {.size = sizeof component,
                                            .kind = "tools/1",
                                            .name = "odd_words",
                                            .summary = "two\nlines \x1b[31m \xff",
                                            .needs = "{\"exec\":true}",
                                            FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "odd_words", "1.0\t\xc3", "MIT\n", components, 0};
