/* SPDX-License-Identifier: MIT */
/* Its table of ops ends before call. */
#include "fixture.h"

static const struct {
    uint32_t size, reserved;
    int32_t (*list)(void *self, const gudgeon_call *call, const gudgeon_list *request);
} ops = {.size = sizeof ops, .list = fixture_list};

static const gudgeon_component component = {FIXTURE_TOOLS, .name = "no_call", FIXTURE_LIFE,
                                            .ops = &ops};
FIXTURE_PLUGIN("no_call", &component);
