/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/definition.h"
#include "agent/inputs.h"
#include "agent/run.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "event/event.h"
#include "plugin/registry.h"
#include "plugin/services.h"
#include "sys/shield.h"
#include "sys/signals.h"

enum { TASK_MAX_BYTES = 4 << 20 };

struct options {
    struct option_list plugin_path, set, inputs;
    const char *max_steps;
    bool json, quiet;
};

static const struct option_row rows[] = {
    {"input", "KEY=VALUE", "an input of the task (may be given again)", OPTION_LIST,
     offsetof(struct options, inputs)},
    {"set", "PATH=VALUE", "change the definition, e.g. model.temperature=0 (may be given again)",
     OPTION_LIST, offsetof(struct options, set)},
    {"max-steps", "N", "the same as --set limits.steps=N", OPTION_TEXT,
     offsetof(struct options, max_steps)},
    {"json", NULL, "print the run's events to standard output, one JSON object a line", OPTION_FLAG,
     offsetof(struct options, json)},
    {"quiet", NULL, "no progress on standard error", OPTION_FLAG, offsetof(struct options, quiet)},
    PLUGIN_PATH_OPTION(struct options, plugin_path),
};

static void print_record(void *payload, const struct event *event)
{
    (void)payload;
    fwrite(event->record.line.ptr, 1, event->record.line.len, stdout);
    fputc('\n', stdout);
    fflush(stdout);
}

static void print_log(void *payload, const char *instance, int level, const char *message)
{
    progress_log(payload, instance, level, message);
}

static int read_standard_input(struct buf *task)
{
    char chunk[65536];
    ssize_t n;
    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return command_error(EXIT_USAGE, "run: standard input: %s", strerror(errno));
        if (buf_add(task, chunk, (size_t)n) < 0)
            return command_error(EXIT_USAGE,
                                 "run: the task is over %d MiB; give it as a file that "
                                 "a tool can read",
                                 TASK_MAX_BYTES >> 20);
    }
    return 0;
}

/* The task, from the argument or standard input, without white space at its end. */
static int read_task(int argc, char **argv, struct buf *task)
{
    if (argc < 2)
        return command_error(EXIT_USAGE,
                             "run: no task; write it after the agent, or - to read it from "
                             "standard input");
    if (strcmp(argv[0], "-") == 0 && strcmp(argv[1], "-") == 0)
        return command_error(EXIT_USAGE, "run: the agent and the task cannot both come from "
                                         "standard input");
    if (strcmp(argv[1], "-") != 0)
        buf_add_str(task, argv[1]);
    else if (read_standard_input(task) != 0)
        return EXIT_USAGE;
    while (task->len > 0 && strchr(" \t\r\n", task->data[task->len - 1]) != NULL)
        buf_truncate(task, task->len - 1);
    if (task->len == 0)
        return command_error(EXIT_USAGE, "run: the task is empty");
    return 0;
}

/* What could not be opened: the definition's or a plugin's fault, unless somebody stopped it or the
 * machine said no. */
static int refused_code(int status)
{
    if (status == ERR_CANCELLED)
        return state_info(RUN_INTERRUPTED)->exit_code;
    return status == ERR_IO ? state_info(RUN_FAILED)->exit_code : EXIT_USAGE;
}

/* To a file or a pipe as it is; a terminal gets nothing that it would act on. */
static void print_answer(const char *answer)
{
    struct terminal terminal = terminal_on(stdout);
    if (isatty(STDOUT_FILENO))
        terminal_text(&terminal, str_of(answer));
    else
        fputs(answer, stdout);
    putchar('\n');
    fflush(stdout); /* before the sinks take their time */
}

static int execute(const struct options *options, const struct run_options *run_options,
                   struct progress *progress)
{
    struct err err = {0};
    struct run *run = NULL;
    int status = run_open(run_options, &run, &err);
    if (status < 0)
        return command_error(refused_code(status), "%s", err.text);
    const struct run_result *result = run_execute(run);
    int code = state_info(result->state)->exit_code;
    bool seen = result->answer != NULL && isatty(STDOUT_FILENO) &&
                progress_streamed(progress, result->answer);
    if (result->answer != NULL && !options->json && !seen)
        print_answer(result->answer);
    if (!result->recorded || (result->state != RUN_SUCCESS && options->quiet))
        command_error(code, "%s: %s", state_info(result->state)->name, result->why);
    run_free(run);
    return command_finish_output(code);
}

static int run_definition(const struct options *options, const struct definition *definition,
                          const char *task, const char *inputs)
{
    CLEANUP(free_ptr) char *runs = NULL;
    int code = setup_runs(&runs);
    if (code != 0)
        return code;
    shield_process();
    struct cancel *cancel = signals_start();
    struct progress progress;
    progress_init(&progress, stderr, true);
    struct listener listeners[2];
    size_t count = 0;
    if (!options->quiet)
        listeners[count++] = progress_listener(&progress);
    if (options->json)
        listeners[count++] = (struct listener){.event = print_record};
    struct services *services = services_new();
    struct run_options run_options = {
        .definition = definition,
        .services = services,
        .runs = runs,
        .task = task,
        .inputs = inputs,
        .cancel = cancel,
        .listeners = listeners,
        .listener_count = count,
        .on_log = print_log,
        .log_payload = &progress,
    };
    code = execute(options, &run_options, &progress);
    services_free(services);
    progress_fini(&progress);
    return code;
}

static int run_agent(const struct options *options, const char *agent, const char *task)
{
    struct registry *registry = NULL;
    struct definition *definition = NULL;
    struct err err = {0};
    CLEANUP(free_ptr) char *inputs = NULL;
    int code = setup_registry(&options->plugin_path, &registry);
    if (code == 0)
        code = setup_definition(agent, registry, &options->set, &definition);
    if (code == 0 &&
        inputs_resolve(definition, options->inputs.items, options->inputs.count, &inputs, &err) < 0)
        code = command_error(EXIT_USAGE, "run: %s", err.text);
    if (code == 0)
        code = run_definition(options, definition, task, inputs);
    definition_free(definition);
    registry_free(registry);
    return code;
}

static int run(const void *given, int argc, char **argv)
{
    struct options options = *(const struct options *)given;
    CLEANUP(buf_fini) struct buf task = BUF_INIT(TASK_MAX_BYTES);
    CLEANUP(free_ptr) char *max_steps = NULL;
    struct option_list set = {.count = options.set.count};
    set.items = xcalloc(set.count + 1, sizeof *set.items);
    for (size_t i = 0; i < set.count; i++)
        set.items[i] = options.set.items[i];
    if (options.max_steps != NULL) {
        max_steps = xasprintf("limits.steps=%s", options.max_steps);
        set.items[set.count++] = max_steps;
    }
    options.set = set;
    int code = read_task(argc, argv, &task);
    if (code == 0)
        code = run_agent(&options, argv[0], task.data);
    free(set.items);
    return code;
}

const struct command command_run = {
    .name = "run",
    .arguments = "AGENT [TASK | -]",
    .summary = "Give a task to an agent and print its answer",
    .details = "AGENT is a definition file. The answer goes to standard output, progress to "
               "standard error.\nThe first SIGINT, SIGTERM or SIGHUP interrupts the run cleanly, "
               "the second "
               "ends the process.",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .options_size = sizeof(struct options),
    .minimum = 1,
    .maximum = 2,
    .run = run,
};
