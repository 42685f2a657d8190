/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_CLI_SETUP_H
#define GUDGEON_CLI_SETUP_H

/*
 * What several commands do first: open the registry, load a definition, find the runs. Each prints
 * its own error and returns the exit code to leave with, or 0.
 */

#include "cli/command.h"

struct definition;
struct registry;

int setup_registry(const struct option_list *plugin_path, struct registry **ret);
/* Prints every fault of the file, a line each. */
int setup_definition(const char *path, const struct registry *registry,
                     const struct option_list *set, struct definition **ret);
/* The directory of the runs' directories; it need not exist yet. Freed by the caller. */
int setup_runs(char **ret);
/* The directory of one run, by id, part of an id or "last". Freed by the caller. */
int setup_run_directory(const char *name, char **ret);

#endif
