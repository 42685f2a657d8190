/* SPDX-License-Identifier: MIT */
/* Its constructor aborts, with a word about it. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    fputs("\nwheel came off\nand more\n", stderr);
    abort();
}

FIXTURE_ORDINARY("ctor_abort");
