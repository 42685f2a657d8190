/* SPDX-License-Identifier: MIT */
/* ABI 1.7, and it cannot do with less than 1.5. */
#include "fixture.h"

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "future_minimum", FIXTURE_OPS};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_MAGIC, 1,          7, sizeof(struct gudgeon_plugin), 0, "future_minimum", "1.0.0",
    "MIT",         components, 5};
