/* SPDX-License-Identifier: MIT */
/* Its constructor never stops talking. */
#include <stdio.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    for (;;)
        fputs("and another thing\n", stderr);
}

FIXTURE_ORDINARY("ctor_flood");
