/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "agent/state.h"
#include "base/utf8.h"
#include "cli/command.h"

/* printf's widths count bytes. */
static void print_padded(const char *text, size_t width)
{
    size_t len = strlen(text), count = utf8_count(text, len);
    printf("%s%*s", text, count < width ? (int)(width - count) : 0, "");
}

static void print_states(void)
{
    printf("\nExit codes:\n");
    for (int code = 0; code < 256; code++) {
        if (code == EXIT_USAGE)
            printf("  %3d  %-13s %s\n", EXIT_USAGE, "usage",
                   "wrong command line, or a fault in the definition or a plugin");
        for (int i = 0; i < RUN_STATE_COUNT; i++)
            if (state_info(i)->exit_code == code)
                printf("  %3d  %-13s %s\n", code, state_info(i)->name, state_info(i)->meaning);
    }
}

static void print_overview(void)
{
    printf("gudgeon " GUDGEON_VERSION ": a host for LLM agents\n\n");
    for (size_t i = 0; commands[i] != NULL; i++) {
        printf("  gudgeon %-8s ", commands[i]->name);
        print_padded(commands[i]->arguments, 18);
        printf(" %s\n", commands[i]->summary);
    }
    print_states();
    printf("\ngudgeon help COMMAND tells more about one.\n");
}

void command_help(const struct command *command)
{
    printf("usage: gudgeon %s%s%s%s\n\n%s.\n", command->name,
           command->option_count > 0 ? " [OPTION…]" : "", command->arguments[0] != '\0' ? " " : "",
           command->arguments, command->summary);
    if (command->details != NULL)
        printf("\n%s\n", command->details);
    if (command->option_count > 0)
        printf("\nOptions:\n");
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_row *row = &command->options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", row->name, row->value ? " " : "",
                 row->value ? row->value : "");
        printf("  %-24s %s\n", left, row->help);
    }
    if (strcmp(command->name, "run") == 0)
        print_states();
}

static int run(const void *options, int argc, char **argv)
{
    (void)options;
    if (argc == 0) {
        print_overview();
        return command_finish_output(0);
    }
    const struct command *command = command_find(argv[0]);
    if (command == NULL)
        return command_refuse(argv[0]);
    command_help(command);
    return command_finish_output(0);
}

const struct command command_help_ = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "Explain the commands, their options and exit codes",
    .maximum = 1,
    .run = run,
};
