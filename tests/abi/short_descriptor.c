/* SPDX-License-Identifier: MIT */
/* Its size does not reach to the end of the frozen prefix. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "short_descriptor", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {GUDGEON_MAGIC,
                                              GUDGEON_ABI_MAJOR,
                                              GUDGEON_ABI_MINOR,
                                              24,
                                              0,
                                              "short_descriptor",
                                              "1.0.0",
                                              "MIT",
                                              components,
                                              0};
