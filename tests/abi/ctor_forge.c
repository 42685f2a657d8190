/* SPDX-License-Identifier: MIT */
/* Its constructor writes an answer of its own to every descriptor. */
#include <unistd.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    static const char answer[] = "\n{\"name\":\"ctor_forge\"}\n";
    for (int fd = 0; fd < 64; fd++)
        if (write(fd, answer, sizeof answer - 1) < 0)
            continue;
    _exit(0);
}

FIXTURE_ORDINARY("ctor_forge");
