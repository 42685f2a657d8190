/* SPDX-License-Identifier: MIT */
/* ABI 1.0, made before gudgeon_model had `capabilities`. */
#include "fixture.h"

static const struct {
    uint32_t size, reserved;
    int32_t (*generate)(void *self, const gudgeon_call *call, const gudgeon_generate *request);
} ops = {.size = sizeof ops, .generate = fixture_generate};

static const gudgeon_component component = {FIXTURE_HEAD, .kind = "model/1", .name = "older",
                                            FIXTURE_LIFE, .ops = &ops};
static const gudgeon_component *const components[] = {&component, NULL};
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_MAGIC, 1, 0, sizeof gudgeon_plugin, 0, "older_minor", "1.0.0", "MIT", components, 0};
