/* SPDX-License-Identifier: MIT */
/* Calls a function that nothing has. */
#include "fixture.h"

extern void gudgeon_nobody_has_this(void);

static __attribute__((constructor)) void start(void)
{
    gudgeon_nobody_has_this();
}

FIXTURE_ORDINARY("undefined_symbol");
