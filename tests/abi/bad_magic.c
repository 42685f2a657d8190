/* SPDX-License-Identifier: MIT */
/* Somebody else's gudgeon_plugin. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "bad_magic", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {GUDGEON_MAGIC + 1,
                                              GUDGEON_ABI_MAJOR,
                                              GUDGEON_ABI_MINOR,
                                              sizeof(struct gudgeon_plugin),
                                              0,
                                              "bad_magic",
                                              "1.0.0",
                                              "MIT",
                                              components,
                                              0};
