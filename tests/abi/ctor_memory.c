/* SPDX-License-Identifier: MIT */
/* Its constructor wants all the memory there is. */
#include <stdlib.h>
#include <sys/mman.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    for (;;)
        if (mmap(NULL, 1 << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            abort();
}

FIXTURE_ORDINARY("ctor_memory");
