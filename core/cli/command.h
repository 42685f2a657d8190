/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_CLI_COMMAND_H
#define GUDGEON_CLI_COMMAND_H

/*
 * One command = one file with one `const struct command`, and one row in main.c.
 *
 * The entry drives everything: dispatch, option parsing, `gudgeon help`, completion. `run` returns
 * the exit code; it prints its own errors with command_error: one line, what and what to do.
 */

#include <stdbool.h>
#include <stddef.h>

enum option_type {
    OPTION_FLAG, /* bool */
    OPTION_TEXT, /* const char *; the last one counts */
    OPTION_LIST, /* struct option_list; may be given again */
};

struct option_list {
    const char **items;
    size_t count;
};

struct option_row {
    const char *name;  /* without the dashes */
    const char *value; /* how the help calls its value; NULL for flags */
    const char *help;
    enum option_type type;
    size_t offset; /* into the command's own options struct */
};

struct command {
    const char *name;
    const char *arguments; /* "AGENT [TASK | -]" */
    const char *summary;   /* one line */
    const char *details;   /* more for `gudgeon help NAME`; NULL = none */
    const struct option_row *options;
    size_t option_count;
    size_t options_size;  /* of the options struct; it is zeroed before parsing */
    int minimum, maximum; /* number of arguments; maximum -1 = any */
    int (*run)(const void *options, int argc, char **argv); /* argc/argv: the arguments only */
};

extern const struct command *const commands[]; /* ends with NULL */
const struct command *command_find(const char *name);
/* Tells that there is no command of that name; EXIT_USAGE. */
int command_refuse(const char *name);

/* `gudgeon: …` on standard error, one line without control characters whatever is in it; returns
 * `exit_code`, so that a command can return it. */
int command_error(int exit_code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Tells that there is no such thing: which one may be meant, or what lists them. EXIT_USAGE. */
int command_unknown(const char *what, const char *name, const char *const *names, size_t count,
                    const char *lister);
/* Writes the help of one command to standard output. */
void command_help(const struct command *command);
/* Standard output could not be written: exit code 1, and an error line unless its reader has gone
 * away (`gudgeon runs | head`); otherwise `exit_code`. Call it last. */
int command_finish_output(int exit_code);

#define PLUGIN_PATH_OPTION(type, field)                                                            \
    {                                                                                              \
        "plugin-path", "DIR", "look for plugins here first (may be given again)", OPTION_LIST,     \
            offsetof(type, field)                                                                  \
    }

#endif
