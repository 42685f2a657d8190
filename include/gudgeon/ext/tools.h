/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EXT_TOOLS_H
#define GUDGEON_EXT_TOOLS_H

/*
 * gudgeon.tools/1: the agent's tools, for executor components only.
 *
 * A call made here is a nested call: validated, approved and journaled like one that the model
 * asks for directly. It may take arbitrarily long (a person may be asked); the deadline of the
 * exec call stands still meanwhile. It never re-enters an instance whose op is running.
 */

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_TOOLS_ID "gudgeon.tools/1"

/* Borrowed until the next invoke on the same exec call, or its return. */
typedef struct gudgeon_tools_reply {
    uint32_t size;    /* set by the plugin */
    uint32_t flags;   /* GUDGEON_IS_ERROR */
    gudgeon_str text; /* what a model would be shown */
    gudgeon_str data; /* JSON of the result for programs; absent = none */
    int64_t now_ms;   /* the exec call's clock after this call */
} gudgeon_tools_reply;

typedef struct gudgeon_tools_service {
    uint32_t size;
    uint32_t reserved;
    /* [call] Calls a tool by the name that exec's `tools` gives, with a JSON object. A tool's
     * failure is 0 with GUDGEON_IS_ERROR. CANCELLED: the run is being stopped or parked; return
     * at once. */
    int32_t (*invoke)(const gudgeon_call *call, gudgeon_str tool, gudgeon_str arguments,
                      gudgeon_tools_reply *reply);
} gudgeon_tools_service;

#ifdef __cplusplus
}
#endif
#endif
