/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <gudgeon/plugin.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "sys/paths.h"

static int run(const void *options, int argc, char **argv)
{
    (void)options, (void)argc, (void)argv;
    CLEANUP(free_ptr) char *plugins = paths_plugins();
    printf("gudgeon " GUDGEON_VERSION "\nplugin ABI %d.%d\nplugins    %s\n", GUDGEON_ABI_MAJOR,
           GUDGEON_ABI_MINOR, plugins);
    return command_finish_output(0);
}

const struct command command_version = {
    .name = "version",
    .arguments = "",
    .summary = "Print the version, the plugin ABI and where plugins are looked for",
    .run = run,
};
