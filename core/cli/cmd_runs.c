/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "agent/state.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
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

static void print_row(void *payload, const struct run_summary *run)
{
    const struct terminal *terminal = payload;
    char duration[HUMAN_SIZE], tokens[HUMAN_SIZE] = "-";
    if (run->input_tokens >= 0)
        human_count(run->input_tokens + run->output_tokens, tokens);
    bool good = str_is(str_of(run->state), "success");
    printf("%-36s  %.19s  ", run->id, run->started);
    terminal_style(terminal, good ? STYLE_GOOD : STYLE_BAD);
    printf("%-12s", run->state);
    terminal_style(terminal, STYLE_PLAIN);
    printf("  %3lld  %8s  %9s  %-12s  ", (long long)run->steps,
           human_duration(run->duration_ms, duration), tokens, run->agent);
    size_t used = 117;
    size_t width = terminal->columns > used + 20 ? terminal->columns - used : 40;
    terminal_line(terminal, str_of(run->task), width == SIZE_MAX - used ? 60 : width);
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
    struct terminal terminal = terminal_on(stdout);
    if (!options->json) {
        terminal_style(&terminal, STYLE_BOLD);
        printf("%-36s  %-19s  %-12s  %3s  %8s  %9s  %-12s  %s\n", "RUN", "STARTED (UTC)", "STATE",
               "STEP", "TIME", "TOKENS", "AGENT", "TASK");
        terminal_style(&terminal, STYLE_PLAIN);
    }
    struct err err = {0};
    if (runs_list(runs, limit, options->json ? print_json : print_row, &terminal, &err) < 0)
        return command_error(1, "%s", err.text);
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
