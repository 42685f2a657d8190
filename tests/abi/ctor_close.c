/* SPDX-License-Identifier: MIT */
/* Its constructor closes descriptors that are not its own. */
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    for (int fd = 3; fd < 64; fd++)
        close(fd);
}

FIXTURE_ORDINARY("ctor_close");
