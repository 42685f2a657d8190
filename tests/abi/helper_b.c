/* SPDX-License-Identifier: MIT */
/* Exports a helper that helper_a exports as well: each must get its own. */
#include "fixture.h"

GUDGEON_VISIBLE extern const char *util_name(void);

const char *util_name(void)
{
    return "b";
}

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    gudgeon_tool tool = {.size = sizeof tool, .name = gudgeon_text(util_name())};
    (void)self, (void)request;
    return call->result(call, &tool);
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = fixture_call};
static const gudgeon_component component = {FIXTURE_TOOLS, .name = "helper_b", FIXTURE_LIFE,
                                            .ops = &ops};
FIXTURE_PLUGIN("helper_b", &component);
