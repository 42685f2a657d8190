/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/state.h"
#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/crash.h"

extern const struct command command_run, command_check, command_plugins, command_log, command_runs,
    command_version, command_help_;

const struct command *const commands[] = {
    &command_run,  &command_check,   &command_plugins, &command_log,
    &command_runs, &command_version, &command_help_,   NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i] != NULL; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

int command_error(int exit_code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *text = xvasprintf(format, args);
    va_end(args);
    utf8_make_line(text);
    fprintf(stderr, "gudgeon: %s\n", text);
    return exit_code;
}

int command_unknown(const char *what, const char *name, const char *const *names, size_t count,
                    const char *lister)
{
    const char *nearest = nearest_name(name, names, count);
    if (nearest != NULL)
        return command_error(EXIT_USAGE, "no %s \"%s\"; did you mean \"%s\"?", what, name, nearest);
    return command_error(EXIT_USAGE, "no %s \"%s\"; %s lists them", what, name, lister);
}

/* Whoever read has had enough, as `head` has. */
static bool is_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

int command_finish_output(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    if (!is_reader_gone())
        command_error(0, "standard output cannot be written");
    return exit_code != 0 ? exit_code : 1;
}

static void list_add(struct option_list *list, const char *item)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
}

static void store(const struct option_row *row, void *options, const char *value)
{
    void *place = (char *)options + row->offset;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)place = true;
        break;
    case OPTION_TEXT:
        *(const char **)place = value;
        break;
    case OPTION_LIST:
        list_add(place, value);
        break;
    }
}

static void free_lists(const struct command *command, void *options)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (command->options[i].type == OPTION_LIST)
            free(((struct option_list *)(void *)((char *)options + command->options[i].offset))
                     ->items);
}

/* The table as getopt_long wants it; every command also knows --help. */
static struct option *getopt_table(const struct command *command)
{
    struct option *table = xcalloc(command->option_count + 2, sizeof *table);
    for (size_t i = 0; i < command->option_count; i++) {
        const struct option_row *row = &command->options[i];
        table[i] = (struct option){
            .name = row->name,
            .has_arg = row->type == OPTION_FLAG ? no_argument : required_argument,
            .val = (int)i + 1,
        };
    }
    table[command->option_count] = (struct option){.name = "help", .val = 'h'};
    return table;
}

static int refuse_option(const struct command *command, char **argv, int seen)
{
    /* Of "-xyz" getopt is still at the same word. */
    char letter[] = {'-', (char)optopt, '\0'};
    bool is_letter = seen == '?' && optopt > 0 && optopt < 256;
    const char *option = is_letter ? letter : argv[optind - 1];
    if (seen == ':')
        return command_error(EXIT_USAGE, "%s: option %s needs a value", command->name, option);
    const char **names = xcalloc(command->option_count, sizeof *names);
    for (size_t i = 0; i < command->option_count; i++)
        names[i] = command->options[i].name;
    const char *bare = option + strspn(option, "-");
    const char *nearest = nearest_name(bare, names, command->option_count);
    command_error(EXIT_USAGE, "%s: no option %s; %s%s%s", command->name, option,
                  nearest ? "did you mean --" : "see gudgeon help ",
                  nearest ? nearest : command->name, nearest ? "?" : "");
    free(names);
    return EXIT_USAGE;
}

/* Fills `options`; -1 = go on, otherwise the exit code to leave with. */
static int parse(const struct command *command, int argc, char **argv, void *options)
{
    struct option *table = getopt_table(command);
    int leave = -1, seen;
    opterr = 0;
    while (leave < 0 && (seen = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (seen == 'h') {
            command_help(command);
            leave = 0;
        } else if (seen == '?' || seen == ':') {
            leave = refuse_option(command, argv, seen);
        } else {
            store(&command->options[seen - 1], options, optarg);
        }
    }
    free(table);
    return leave;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    void *options = xcalloc(1, command->options_size);
    int code = parse(command, argc, argv, options);
    int count = argc - optind;
    if (code < 0) {
        if (count < command->minimum || (command->maximum >= 0 && count > command->maximum))
            code =
                command_error(EXIT_USAGE, "%s: usage: gudgeon %s%s%s", command->name, command->name,
                              command->arguments[0] != '\0' ? " " : "", command->arguments);
        else
            code = command->run(options, count, argv + optind);
    }
    free_lists(command, options);
    free(options);
    return code;
}

int command_refuse(const char *name)
{
    const char *names[COUNT_OF(commands)];
    size_t count = 0;
    for (; commands[count] != NULL; count++)
        names[count] = commands[count]->name;
    return command_unknown("command", name, names, count, "gudgeon help");
}

static const struct command *resolve(const char *word)
{
    static const struct {
        const char *word, *command;
    } spellings[] = {
        {"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};
    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        if (strcmp(spellings[i].word, word) == 0)
            word = spellings[i].command;
    return command_find(word);
}

int main(int argc, char **argv)
{
    /* Whole lines, and not a system call for each character of foreign text. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    crash_start();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error like a full disk */
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would swallow exit statuses */
    if (argc < 2) {
        command_find("help")->run(NULL, 0, NULL);
        return EXIT_USAGE;
    }
    const struct command *command = resolve(argv[1]);
    if (command == NULL)
        return command_refuse(argv[1]);
    return run_command(command, argc - 1, argv + 1);
}
