/* SPDX-License-Identifier: MIT */
/* Its constructor ends the process, politely. */
#include <stdlib.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    exit(0);
}

FIXTURE_ORDINARY("ctor_exit");
