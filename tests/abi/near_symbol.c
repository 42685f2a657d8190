/* SPDX-License-Identifier: MIT */
/* The symbol, misspelt. */
#define gudgeon_plugin gudgeon_plugins
#include "fixture.h"

FIXTURE_ORDINARY("near_symbol");
