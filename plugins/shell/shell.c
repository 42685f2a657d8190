/* SPDX-License-Identifier: MIT */
#include "shell.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/args.h>
#include <gudgeon/util.h>

enum {
    COMMAND_MAX = 96 << 10, /* bytes of a command; the kernel takes 128 KiB for one argument */
    CONFIG_MAX = 1 << 20,   /* bytes of all configured strings */
    ARGUMENTS_MAX = 1024,
};

static const double longest_s = 1e6;

static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"shell\":{\"type\":\"string\",\"minLength\":1,\"default\":\"/bin/sh\",\"description\":"
    "\"The program that runs command lines, as SHELL -c LINE.\"},"
    "\"directory\":{\"type\":\"string\",\"format\":\"path\",\"description\":"
    "\"Where commands run. When unsaid: a private temporary directory.\"},"
    "\"env\":{\"type\":\"object\",\"propertyNames\":{\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]*$\"},"
    "\"additionalProperties\":{\"type\":\"string\"},\"description\":"
    "\"Environment variables that commands get beside PATH, HOME, LANG, TZ and TMPDIR.\"}}}";

static const char parameters[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"command\"],"
    "\"properties\":{"
    "\"command\":{\"anyOf\":[{\"type\":\"string\",\"minLength\":1},"
    "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\"}}],\"description\":"
    "\"A command line for the shell; or a program and its arguments, run without a shell.\"},"
    "\"directory\":{\"type\":\"string\",\"description\":\"Where to run it.\"},"
    "\"time_s\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"description\":"
    "\"Stop it after this many seconds.\"}}}";

/* ---- strings that are kept together ---------------------------------------------------------- */

/* Adds a JSON string and its NUL. False: no string, a NUL within it, or the cap is passed. */
static bool add_string(gudgeon_buf *texts, gudgeon_str value)
{
    gudgeon_str inner = gudgeon_json_inner(value);
    size_t start = texts->len;
    if (inner.ptr == NULL)
        return false;
    gudgeon_json_decode(inner, texts);
    gudgeon_buf_add(texts, "", 1);
    return !texts->failed && memchr(texts->ptr + start, '\0', texts->len - 1 - start) == NULL;
}

/* Splits the strings that were added into `strings`, at most `max`. */
static size_t split_strings(const gudgeon_buf *texts, gudgeon_str *strings, size_t max)
{
    size_t count = 0;
    for (size_t at = 0; at < texts->len && count < max; count++) {
        strings[count] = gudgeon_text(texts->ptr + at);
        at += (size_t)strings[count].len + 1;
    }
    return count;
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

/* The shell, the directory ("" = none), then the variables. Returns how many variables there are,
 * or -1 with what is wrong. */
static int64_t add_config(gudgeon_buf *texts, gudgeon_str config, const char **ret_fault)
{
    gudgeon_json_iter env = gudgeon_json_each(gudgeon_arg(config, "env"));
    gudgeon_str shell = gudgeon_arg(config, "shell"), none = gudgeon_text("\"\"");
    gudgeon_str directory = gudgeon_arg(config, "directory"), name, value;
    int64_t count = 0;
    *ret_fault = "shell and directory: give a text each, at most 1 MiB of all";
    if (!add_string(texts, shell.ptr != NULL ? shell : gudgeon_text("\"/bin/sh\"")) ||
        !add_string(texts, directory.ptr != NULL ? directory : none))
        return -1;
    *ret_fault = "env: give a text for each variable, at most 1 MiB of all";
    for (; gudgeon_json_next(&env, &name, &value); count++) {
        gudgeon_json_decode(name, texts);
        gudgeon_buf_puts(texts, "=");
        if (!add_string(texts, value))
            return -1;
    }
    return count;
}

static void shell_free(struct shell *shell)
{
    gudgeon_buf_free(&shell->texts);
    free(shell->env);
    free(shell);
}

static int32_t shell_setup(struct shell *shell, const gudgeon_call *call, gudgeon_str config)
{
    const char *fault;
    int64_t env_count = add_config(&shell->texts, config, &fault);
    if (env_count < 0)
        return gudgeon_fail(call, GUDGEON_INVALID, "%s", fault);
    gudgeon_str *strings = calloc((size_t)env_count + 2, sizeof *strings);
    if (strings == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    split_strings(&shell->texts, strings, (size_t)env_count + 2);
    shell->shell = strings[0].ptr;
    shell->directory = strings[1].len > 0 ? strings[1].ptr : NULL;
    shell->env_count = (uint64_t)env_count;
    memmove(strings, strings + 2, (size_t)env_count * sizeof *strings);
    shell->env = strings;
    return GUDGEON_OK;
}

static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    const gudgeon_process *process = request->host->service(request->host, GUDGEON_PROCESS_ID);
    if (process == NULL)
        return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "this host starts no programs");
    struct shell *shell = calloc(1, sizeof *shell);
    if (shell == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    shell->process = process;
    shell->texts.max = CONFIG_MAX;
    int32_t class = shell_setup(shell, call, request->config);
    if (class != GUDGEON_OK) {
        shell_free(shell);
        return class;
    }
    *self = shell;
    return GUDGEON_OK;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    shell_free(self);
    return GUDGEON_OK;
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    const struct shell *shell = self;
    char description[1024];
    (void)request;
    snprintf(description, sizeof description,
             "Runs a command line with %.200s, or a program, and gives what it writes. Each call "
             "starts afresh, without a terminal and with empty input; what it leaves running in "
             "the background is ended with it.",
             shell->shell);
    gudgeon_tool tool = {.size = sizeof tool,
                         .flags = GUDGEON_TOOL_DESTRUCTIVE,
                         .name = gudgeon_text("shell"),
                         .description = gudgeon_text(description),
                         .parameters = gudgeon_text(parameters)};
    return call->result(call, &tool);
}

/* The argv of a command: of an array its items, of a text the shell's. NULL, or what is wrong. */
static const char *add_argv(const struct shell *shell, gudgeon_str command, gudgeon_buf *texts)
{
    static const char *const fault =
        "command: give a command line, or an array of a program and its arguments; without NUL "
        "characters, at most 1024 items and 96 KiB: write what is longer to a file first";
    gudgeon_json_iter items = gudgeon_json_each(command);
    gudgeon_str item;
    if (gudgeon_json_kind(command) == '"') {
        gudgeon_buf_add(texts, shell->shell, strlen(shell->shell) + 1);
        gudgeon_buf_add(texts, "-c", 3);
        return add_string(texts, command) ? NULL : fault;
    }
    size_t count = 0;
    for (; gudgeon_json_next(&items, NULL, &item); count++)
        if (count == ARGUMENTS_MAX || !add_string(texts, item))
            return fault;
    return count > 0 && *texts->ptr != '\0' ? NULL : fault;
}

/* `path` gets the working directory, "" for the host's choice. NULL, or what is wrong. */
static const char *take_directory(const struct shell *shell, gudgeon_str arguments,
                                  char path[PATH_MAX])
{
    char given[PATH_MAX] = "";
    const char *base = shell->directory != NULL ? shell->directory : "";
    if (gudgeon_arg_text(arguments, "directory", given, sizeof given) != GUDGEON_OK &&
        gudgeon_arg(arguments, "directory").ptr != NULL)
        return "directory: give a path without NUL characters, not longer than 4095 bytes";
    if (*given != '/' && *given != '\0' && *base == '\0')
        return "directory: give an absolute path";
    bool is_relative = *given != '/' && *given != '\0';
    int len = snprintf(path, PATH_MAX, "%s%s%s", is_relative ? base : "", is_relative ? "/" : "",
                       *given != '\0' ? given : base);
    return len < PATH_MAX ? NULL : "directory: the path is too long";
}

static const char *take_limit(gudgeon_str arguments, int64_t *limit_ns)
{
    double time_s = longest_s;
    gudgeon_arg_number(arguments, "time_s", &time_s);
    if (!(time_s > 0))
        return "time_s: give a number of seconds above 0";
    *limit_ns = time_s < longest_s ? (int64_t)(time_s * 1e9) : INT64_MAX;
    return NULL;
}

static int32_t call_shell(const struct shell *shell, const gudgeon_call *call,
                          gudgeon_str arguments, gudgeon_buf *texts)
{
    gudgeon_str argv[ARGUMENTS_MAX];
    char directory[PATH_MAX];
    struct command command = {.request = {.size = sizeof command.request,
                                          .argv = argv,
                                          .env = shell->env,
                                          .env_count = shell->env_count}};
    const char *fault = add_argv(shell, gudgeon_arg(arguments, "command"), texts);
    if (fault == NULL)
        fault = take_directory(shell, arguments, directory);
    if (fault == NULL)
        fault = take_limit(arguments, &command.limit_ns);
    if (fault != NULL)
        return gudgeon_reply_text(call, GUDGEON_IS_ERROR, fault);
    command.request.argv_count = split_strings(texts, argv, ARGUMENTS_MAX);
    if (*directory != '\0')
        command.request.directory = gudgeon_text(directory);
    return run_command(shell, call, &command);
}

static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    if (!gudgeon_is(request->tool, "shell"))
        return gudgeon_fail(call, GUDGEON_INVALID, "shell has no such tool");
    gudgeon_buf texts = {.max = COMMAND_MAX};
    int32_t class = call_shell(self, call, request->arguments, &texts);
    gudgeon_buf_free(&texts);
    return class;
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    .flags = GUDGEON_CONCURRENT | GUDGEON_REPLICABLE,
    .kind = "tools/1",
    .name = "shell",
    .summary = "Runs commands of the machine, within the grant.",
    .config_schema = config_schema,
    .needs = "{\"exec\":true}",
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};

static const gudgeon_component *const components[] = {&component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "shell", "0.1.0", "MIT", components, 0};
