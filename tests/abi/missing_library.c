/* SPDX-License-Identifier: MIT */
/* Linked with a library that is not there any more (see abi.mk). */
#include "fixture.h"

extern void gudgeon_absent(void);

static __attribute__((constructor)) void start(void)
{
    gudgeon_absent();
}

FIXTURE_ORDINARY("missing_library");
