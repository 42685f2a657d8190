/* SPDX-License-Identifier: MIT */
/* Its constructor never returns. */
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    for (;;)
        pause();
}

FIXTURE_ORDINARY("ctor_hang");
