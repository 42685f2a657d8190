/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_ENTRY_H
#define GUDGEON_AGENT_ENTRY_H

/*
 * From an entry of a definition to what its instance is opened with.
 */

struct err;
struct instance_options;
struct use_entry;

/* `shared` with the entry's name, configuration and grant. Every secret that the configuration
 * names is looked up, so that a missing one shows before the run starts and not at its first use,
 * and so that all of them can be masked. What *ret points at is the entry's. ERR_AUTH. */
int entry_options(const struct use_entry *entry, const struct instance_options *shared,
                  struct instance_options *ret, struct err *err);

#endif
