/* SPDX-License-Identifier: MIT */
/* Its constructor becomes another program when it can, and crashes when it can start one. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    execl("/bin/true", "true", (char *)NULL);
    if (fork() >= 0 || kill(getppid(), 0) == 0)
        abort();
}

FIXTURE_ORDINARY("ctor_exec");
