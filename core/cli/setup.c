/* SPDX-License-Identifier: MIT */
#include "cli/setup.h"

#include <stdio.h>

#include "agent/definition.h"
#include "agent/state.h"
#include "base/alloc.h"
#include "base/err.h"
#include "data/diag.h"
#include "event/runs.h"
#include "plugin/registry.h"
#include "sys/paths.h"

int setup_registry(const struct option_list *plugin_path, struct registry **ret)
{
    struct err err = {0};
    struct registry_options options = {.paths = plugin_path->items,
                                       .path_count = plugin_path->count};
    if (registry_open(&options, ret, &err) < 0)
        return command_error(EXIT_USAGE, "%s", err.text);
    if (registry_warning(*ret) != NULL)
        command_error(0, "plugin path: %s", registry_warning(*ret));
    return 0;
}

int setup_definition(const char *path, const struct registry *registry,
                     const struct option_list *set, struct definition **ret)
{
    struct diags diags = DIAGS_INIT;
    struct definition_options options = {
        .registry = registry, .set = set->items, .set_count = set->count};
    int status = definition_load(path, &options, ret, &diags);
    for (size_t i = 0; i < diags.kept; i++)
        fprintf(stderr, "%s\n", diags.lines[i]);
    if (diags.count > diags.kept)
        fprintf(stderr, "… and %zu more\n", diags.count - diags.kept);
    diags_fini(&diags);
    return status < 0 ? EXIT_USAGE : 0;
}

int setup_runs(char **ret)
{
    struct err err = {0};
    CLEANUP(free_ptr) char *state = NULL;
    if (paths_state(&state, &err) < 0)
        return command_error(EXIT_USAGE, "%s", err.text);
    *ret = xasprintf("%s/runs", state);
    return 0;
}

int setup_run_directory(const char *name, char **ret)
{
    struct err err = {0};
    CLEANUP(free_ptr) char *runs = NULL;
    CLEANUP(free_ptr) char *id = NULL;
    int code = setup_runs(&runs);
    if (code != 0)
        return code;
    if (runs_find(runs, name, &id, &err) < 0)
        return command_error(EXIT_USAGE, "%s", err.text);
    *ret = xasprintf("%s/%s", runs, id);
    return 0;
}
