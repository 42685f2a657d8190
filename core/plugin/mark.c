/* SPDX-License-Identifier: MIT */
#include "plugin/mark.h"

/* Of its thread; volatile because a handler reads what the same thread was just writing. */
static _Thread_local struct mark current;

struct mark mark_set(struct mark mark)
{
    volatile struct mark *place = &current;
    struct mark before = current;
    place->op = mark.op;
    place->plugin = mark.plugin;
    return before;
}

struct mark mark_current(void)
{
    return current;
}
