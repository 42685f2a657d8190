/* SPDX-License-Identifier: MIT */
/* Made for an ABI that is not this one. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "wrong_major", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_MAGIC, 9,          3, sizeof(struct gudgeon_plugin), 0, "wrong_major", "1.0.0",
    "MIT",         components, 0};
