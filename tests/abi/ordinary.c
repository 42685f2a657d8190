/* SPDX-License-Identifier: MIT */
/* Nothing is wrong with it. */
#include "fixture.h"

FIXTURE_ORDINARY("ordinary");
