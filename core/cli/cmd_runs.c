/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/state.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/num.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "data/json.h"
#include "event/runs.h"

enum { DEFAULT_LIMIT = 20 };

struct options {
    const char *limit;
    bool json;
};

static const struct option_row rows[] = {
    {"limit", "N", "at most N runs, 20 when not given; 0 = all", OPTION_TEXT,
     offsetof(struct options, limit)},
    {"json", NULL, "one JSON object a line", OPTION_FLAG, offsetof(struct options, json)},
};

/* What stands in one row; the task comes last and takes what is left. */
enum { WIDE_COLUMNS = 117, NARROW_COLUMNS = 59, TASK_COLUMNS = 20 };

/* On a terminal where the wide form would leave no room for the task. */
static bool is_narrow(const struct terminal *terminal)
{
    return terminal->columns < WIDE_COLUMNS + TASK_COLUMNS;
}

static void print_head(const struct terminal *terminal)
{
    terminal_style(terminal, STYLE_BOLD);
    if (is_narrow(terminal))
        printf("%-12s  %-11s  %-12s  %-16s  %s\n", "RUN", "UTC", "STATE", "AGENT", "TASK");
    else
        printf("%-36s  %-19s  %-12s  %3s  %8s  %9s  %-12s  %s\n", "RUN", "STARTED (UTC)", "STATE",
               "STEP", "TIME", "TOKENS", "AGENT", "TASK");
    terminal_style(terminal, STYLE_PLAIN);
}

static void print_state(const struct terminal *terminal, const struct run_summary *run)
{
    bool good = str_is(str_of(run->state), "success");
    terminal_style(terminal, good ? STYLE_GOOD : STYLE_BAD);
    printf("%-12s  ", run->state);
    terminal_style(terminal, STYLE_PLAIN);
}

static void print_wide(const struct terminal *terminal, const struct run_summary *run)
{
    char duration[HUMAN_SIZE], tokens[HUMAN_SIZE] = "-";
    if (run->input_tokens >= 0)
        human_count(sum_capped(run->input_tokens, run->output_tokens), tokens);
    printf("%-36s  %-19.19s  ", run->id, run->started);
    print_state(terminal, run);
    printf("%3lld  %8s  %9s  %-12s  ", (long long)run->steps,
           human_duration(run->duration_ms, duration), tokens, run->agent);
}

/* The end of an id is enough to name the run by; of the time, month to minute. */
static void print_narrow(const struct terminal *terminal, const struct run_summary *run)
{
    size_t len = strlen(run->id);
    bool has_time = strlen(run->started) >= 16;
    printf("%-12s  %.5s %.5s  ", run->id + (len > 12 ? len - 12 : 0),
           has_time ? run->started + 5 : "-", has_time ? run->started + 11 : "");
    print_state(terminal, run);
    printf("%-16.16s  ", run->agent);
}

struct table {
    struct terminal terminal;
    bool has_head;
};

static void print_row(void *payload, const struct run_summary *run)
{
    struct table *table = payload;
    const struct terminal *terminal = &table->terminal;
    if (!table->has_head)
        print_head(terminal);
    table->has_head = true;
    size_t used = is_narrow(terminal) ? NARROW_COLUMNS : WIDE_COLUMNS;
    if (is_narrow(terminal))
        print_narrow(terminal, run);
    else
        print_wide(terminal, run);
    size_t width = terminal->columns == SIZE_MAX             ? 60
                   : terminal->columns > used + TASK_COLUMNS ? terminal->columns - used
                                                             : TASK_COLUMNS;
    terminal_line(terminal, str_of(run->task), width);
    printf("\n");
}

static void print_json(void *payload, const struct run_summary *run)
{
    (void)payload;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    json_field_text(&writer, "run", run->id);
    json_field_text(&writer, "agent", run->agent);
    json_field_text(&writer, "task", run->task);
    json_field_text(&writer, "state", run->state);
    json_field_text(&writer, "started", run->started);
    json_field_int(&writer, "steps", run->steps);
    json_field_int(&writer, "duration_ms", run->duration_ms);
    if (run->input_tokens >= 0) {
        json_field_int(&writer, "input_tokens", run->input_tokens);
        json_field_int(&writer, "output_tokens", run->output_tokens);
    }
    json_end_object(&writer);
    printf("%s\n", out.data);
}

static int parse_limit(const char *text, size_t *ret)
{
    char *end;
    long value = text != NULL ? strtol(text, &end, 10) : DEFAULT_LIMIT;
    if (text != NULL && (*end != '\0' || end == text || value < 0))
        return command_error(EXIT_USAGE, "runs: --limit must be a whole number, not \"%s\"", text);
    *ret = (size_t)value;
    return 0;
}

static int run(const void *given, int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct options *options = given;
    CLEANUP(free_ptr) char *runs = NULL;
    size_t limit = 0;
    int code = parse_limit(options->limit, &limit);
    if (code == 0)
        code = setup_runs(&runs);
    if (code != 0)
        return code;
    struct table table = {.terminal = terminal_on(stdout), .has_head = options->json};
    struct err err = {0};
    if (runs_list(runs, limit, options->json ? print_json : print_row, &table, &err) < 0)
        return command_error(1, "%s", err.text);
    if (!table.has_head)
        printf("there are no runs in %s\n", runs);
    return command_finish_output(0);
}

const struct command command_runs = {
    .name = "runs",
    .arguments = "",
    .summary = "List the runs, newest first",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .options_size = sizeof(struct options),
    .run = run,
};
