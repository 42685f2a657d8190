/* SPDX-License-Identifier: MIT */
/* Its constructor never returns and is busy. */

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    for (volatile int i = 0;; i++)
        ;
}

FIXTURE_ORDINARY("ctor_spin");
