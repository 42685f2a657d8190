/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "agent/definition.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "plugin/registry.h"

struct options {
    struct option_list plugin_path, set;
    bool resolved, quiet;
};

static const struct option_row rows[] = {
    {"resolved", NULL, "print the definition as it would be used, as JSON", OPTION_FLAG,
     offsetof(struct options, resolved)},
    {"set", "PATH=VALUE", "change the definition first (may be given again)", OPTION_LIST,
     offsetof(struct options, set)},
    {"quiet", NULL, "print nothing for files without faults", OPTION_FLAG,
     offsetof(struct options, quiet)},
    PLUGIN_PATH_OPTION(struct options, plugin_path),
};

static void print_resolved(const struct definition *definition)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    definition_write_json(definition, &text);
    printf("%s\n", text.data);
}

static int check_file(const struct options *options, const struct registry *registry,
                      const char *path)
{
    struct definition *definition = NULL;
    int code = setup_definition(path, registry, &options->set, &definition);
    if (code == 0 && options->resolved)
        print_resolved(definition);
    else if (code == 0 && !options->quiet)
        printf("%s: agent %s: %zu model%s, %zu tool source%s: no faults\n", path, definition->agent,
               definition->model_count, definition->model_count == 1 ? "" : "s",
               definition->tools_count, definition->tools_count == 1 ? "" : "s");
    definition_free(definition);
    return code;
}

static int run(const void *given, int argc, char **argv)
{
    const struct options *options = given;
    struct registry *registry = NULL;
    int code = setup_registry(&options->plugin_path, &registry);
    if (code != 0)
        return code;
    for (int i = 0; i < argc; i++) {
        int file_code = check_file(options, registry, argv[i]);
        code = file_code != 0 ? file_code : code;
    }
    registry_free(registry);
    return command_finish_output(code);
}

const struct command command_check = {
    .name = "check",
    .arguments = "AGENT…",
    .summary = "Check agent definitions without running them",
    .details = "Every fault is one line, FILE:LINE:COLUMN: what is wrong and what to do.",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .options_size = sizeof(struct options),
    .minimum = 1,
    .maximum = -1,
    .run = run,
};
