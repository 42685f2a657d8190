/* SPDX-License-Identifier: MIT */
/* A shared object that is no plugin. */
#include "fixture.h"

GUDGEON_VISIBLE extern int something_else(void);

int something_else(void)
{
    return 1;
}
