/* SPDX-License-Identifier: MIT */
/* Its constructor closes standard output. */
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    close(STDOUT_FILENO);
}

FIXTURE_ORDINARY("ctor_close_stdout");
