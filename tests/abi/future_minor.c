/* SPDX-License-Identifier: MIT */
/* ABI 1.7, with fields in every struct that this host has never heard of. */
#include "fixture.h"

struct future_ops {
    uint32_t size, reserved;
    int32_t (*list)(void *self, const gudgeon_call *call, const gudgeon_list *request);
    int32_t (*call)(void *self, const gudgeon_call *call, const gudgeon_tool_call *request);
    int32_t (*imagine)(void *self, const gudgeon_call *call, const void *request);
};

struct future_component {
    gudgeon_component known;
    const char *colour;
    uint64_t more[3];
};

struct future_plugin {
    struct gudgeon_plugin known;
    const char *homepage;
    uint64_t more[3];
};

static int32_t imagine(void *self, const gudgeon_call *call, const void *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

static const struct future_ops ops = {
    .size = sizeof ops, .list = fixture_list, .call = fixture_call, .imagine = imagine};
static const struct future_component component = {.known = {.size = sizeof component,
                                                            .kind = "tools/1",
                                                            .name = "future",
                                                            .summary = "A fixture",
                                                            FIXTURE_LIFE,
                                                            .ops = &ops},
                                                  .colour = "blue"};
static const gudgeon_component *const components[] = {&component.known, NULL};

/* The symbol's type in the header of that time is the longer struct. */
GUDGEON_VISIBLE extern const struct future_plugin future_plugin __asm__("gudgeon_plugin");
const struct future_plugin future_plugin = {.known = {GUDGEON_MAGIC, 1, 7, sizeof future_plugin, 0,
                                                      "future_minor", "1.0.0", "MIT", components,
                                                      2},
                                            .homepage = "https://example.org",
                                            .more = {1, 2, 3}};
