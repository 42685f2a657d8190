/* SPDX-License-Identifier: MIT */
#include "sys/shield.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "base/sanitiser.h"

void shield_process(void)
{
    if (!BUILT_SANITISED && getenv("GUDGEON_CORE_DUMPS") == NULL)
        prctl(PR_SET_DUMPABLE, 0);
}
