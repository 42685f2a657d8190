/* SPDX-License-Identifier: MIT */
/* Its constructor leaves a child behind that holds on to every pipe. */
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    if (fork() == 0)
        for (;;)
            pause();
}

FIXTURE_ORDINARY("ctor_escape");
