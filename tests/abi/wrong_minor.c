/* SPDX-License-Identifier: MIT */
/* Below 1.0 the minor has to be the same as well. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "wrong_minor", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {GUDGEON_MAGIC,
                                              GUDGEON_ABI_MAJOR,
                                              GUDGEON_ABI_MINOR + 1,
                                              sizeof(struct gudgeon_plugin),
                                              0,
                                              "wrong_minor",
                                              "1.0.0",
                                              "MIT",
                                              components,
                                              0};
