/* SPDX-License-Identifier: MIT */
/* Its constructor prints; nothing has flushed it yet when it returns. */
#include <stdio.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    printf("hello");
}

FIXTURE_ORDINARY("ctor_stdout");
