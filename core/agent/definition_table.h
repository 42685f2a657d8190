/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_DEFINITION_TABLE_H
#define GUDGEON_AGENT_DEFINITION_TABLE_H

/*
 * The rows of an agent definition: what keys there are. A new key is one row here.
 * Private to the definition's files.
 */

#include "data/fields.h"

extern const struct field_table definition_table; /* struct definition */
/* The entries under `model`, `tools` and `sinks`. Their keys are the host's; all others are the
 * component's. */
extern const struct field_table definition_model_table; /* struct model_entry */
extern const struct field_table definition_tools_table; /* struct tools_entry */
extern const struct field_table definition_sink_table;  /* struct use_entry */

#endif
