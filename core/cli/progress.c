/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <string.h>

#include "base/alloc.h"
#include "base/num.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/event.h"

enum { STREAMED_MAX = 1 << 20 }; /* of one reply's shown text, to know the answer again */

void progress_init(struct progress *progress, FILE *file, bool live)
{
    *progress = (struct progress){.terminal = terminal_on(file)};
    progress->live = live && progress->terminal.columns != SIZE_MAX;
    buf_init(&progress->streamed, STREAMED_MAX);
}

bool progress_streamed(const struct progress *progress, const char *answer)
{
    return progress->live && strcmp(progress->streamed.data, answer) == 0;
}

static void forget_streamed(struct progress *progress)
{
    buf_reset(&progress->streamed);
    progress->shown = 0;
}

static void close_line(struct progress *progress)
{
    if (progress->line_open)
        fputc('\n', progress->terminal.file);
    progress->line_open = false;
}

void progress_fini(struct progress *progress)
{
    close_line(progress);
    buf_fini(&progress->streamed);
}

static void styled(struct progress *progress, enum style style, const char *text)
{
    terminal_style(&progress->terminal, style);
    fputs(text, progress->terminal.file);
    terminal_style(&progress->terminal, STYLE_PLAIN);
}

/* The rest of a line: as much of the text as fits, or all of it with details. */
static void body(struct progress *progress, gudgeon_str text, size_t used)
{
    size_t columns = progress->terminal.columns;
    if (progress->details)
        terminal_text(&progress->terminal, text);
    else if (columns == SIZE_MAX)
        terminal_line(&progress->terminal, text, 200);
    else
        terminal_line(&progress->terminal, text, columns > used + 20 ? columns - used : 20);
}

static gudgeon_str first_text(struct json_object *blocks, const char *type)
{
    if (!json_object_is_type(blocks, json_type_array))
        return (gudgeon_str){NULL, 0};
    for (size_t i = 0; i < json_object_array_length(blocks); i++) {
        struct json_object *block = json_object_array_get_idx(blocks, i);
        if (str_is(json_get_str(block, "type"), type))
            return json_get_str(block, "text");
    }
    return (gudgeon_str){NULL, 0};
}

static void print_usage(struct progress *progress, const struct event *event)
{
    char count[HUMAN_SIZE];
    struct json_object *usage = json_get(event->fields, "usage");
    int64_t tokens = sum_capped(json_get_int(usage, "input", 0), json_get_int(usage, "output", 0));
    if (tokens > 0)
        fprintf(progress->terminal.file, " · %s tokens", human_count(tokens, count));
}

static void on_run_started(struct progress *progress, const struct event *event)
{
    struct json_object *definition = json_get(event->fields, "definition");
    gudgeon_str agent = json_get_str(definition, "agent");
    terminal_style(&progress->terminal, STYLE_BOLD);
    terminal_line(&progress->terminal, agent, 64);
    terminal_style(&progress->terminal, STYLE_PLAIN);
    fputs(" · ", progress->terminal.file);
    body(progress, json_get_str(event->fields, "task"), agent.len + 3);
    fputc('\n', progress->terminal.file);
}

static void on_step_started(struct progress *progress, const struct event *event)
{
    progress->call_count = 0;
    progress->step_kinds++;
    terminal_style(&progress->terminal, STYLE_DIM);
    gudgeon_str kind = json_get_str(event->fields, "kind");
    if (str_is(kind, "action")) {
        fprintf(progress->terminal.file, "step %lld",
                (long long)json_get_int(event->fields, "number", 0));
    } else {
        terminal_line(&progress->terminal, kind, 32);
        fputs(" step", progress->terminal.file);
    }
    progress->line_open = true;
}

static void on_model_requested(struct progress *progress, const struct event *event)
{
    if (!progress->line_open)
        styled(progress, STYLE_DIM, "again");
    terminal_style(&progress->terminal, STYLE_DIM);
    fputs(" · ", progress->terminal.file);
    terminal_line(&progress->terminal, json_get_str(event->fields, "model"), 80);
    terminal_style(&progress->terminal, STYLE_PLAIN);
    progress->line_open = true;
    forget_streamed(progress);
}

static void on_model_replied(struct progress *progress, const struct event *event)
{
    struct json_object *blocks = json_get(event->fields, "blocks");
    if (progress->streamed.len > 0) { /* the text stands there already */
        close_line(progress);
        return;
    }
    close_line(progress);
    gudgeon_str text = first_text(blocks, "text");
    if (text.len == 0)
        text = first_text(blocks, "refusal");
    if (text.len > 0) {
        fputs("  ", progress->terminal.file);
        body(progress, text, 2);
        fputc('\n', progress->terminal.file);
    }
}

static void on_model_failed(struct progress *progress, const struct event *event)
{
    close_line(progress);
    if (progress->streamed.len > 0)
        styled(progress, STYLE_DIM, "  (what was shown above does not count)\n");
    forget_streamed(progress);
    gudgeon_str then = json_get_str(event->fields, "then");
    styled(progress, STYLE_BAD, "  ✗ ");
    body(progress, json_get_str(event->fields, "message"), 24);
    if (str_is(then, "retry")) {
        char duration[HUMAN_SIZE];
        fprintf(progress->terminal.file, "; trying again in %s",
                human_duration(json_get_int(event->fields, "retry_ms", 0), duration));
    } else if (str_is(then, "fail_over")) {
        fputs("; trying the next model", progress->terminal.file);
    }
    fputc('\n', progress->terminal.file);
}

static void remember_call(struct progress *progress, const struct event *event)
{
    size_t at = progress->call_count++ % PROGRESS_CALLS;
    gudgeon_str id = json_get_str(event->fields, "id"), tool = json_get_str(event->fields, "tool");
    snprintf(progress->calls[at].id, sizeof progress->calls[at].id, "%.*s", STR_ARG(id));
    snprintf(progress->calls[at].tool, sizeof progress->calls[at].tool, "%.*s", STR_ARG(tool));
}

/* The name of the call, where several results of a step have to be told apart. */
static const char *name_of_call(const struct progress *progress, gudgeon_str id)
{
    for (size_t i = 0; progress->call_count > 1 && i < PROGRESS_CALLS; i++)
        if (str_is(id, progress->calls[i].id))
            return progress->calls[i].tool;
    return "";
}

static void on_call_requested(struct progress *progress, const struct event *event)
{
    close_line(progress);
    remember_call(progress, event);
    gudgeon_str tool = json_get_str(event->fields, "tool");
    CLEANUP(buf_fini) struct buf input = BUF_INIT(BUF_MAX_ANY);
    struct json_object *value = json_get(event->fields, "input");
    if (value != NULL)
        json_write(&input, value);
    styled(progress, STYLE_BOLD, "  → ");
    terminal_line(&progress->terminal, tool, 80);
    fputc(' ', progress->terminal.file);
    terminal_style(&progress->terminal, STYLE_DIM);
    body(progress, (gudgeon_str){input.data, input.len}, tool.len + 6);
    terminal_style(&progress->terminal, STYLE_PLAIN);
    fputc('\n', progress->terminal.file);
}

static void on_call_finished(struct progress *progress, const struct event *event)
{
    close_line(progress);
    bool failed = json_get_bool(event->fields, "is_error", false);
    styled(progress, failed ? STYLE_BAD : STYLE_GOOD, failed ? "  ✗ " : "  ← ");
    char duration[HUMAN_SIZE];
    gudgeon_str name = str_of(name_of_call(progress, json_get_str(event->fields, "id")));
    terminal_line(&progress->terminal, name, 80);
    if (name.len > 0)
        fputs(": ", progress->terminal.file);
    body(progress, first_text(json_get(event->fields, "result"), "text"), name.len + 18);
    terminal_style(&progress->terminal, STYLE_DIM);
    fprintf(progress->terminal.file, " · %s",
            human_duration(json_get_int(event->fields, "duration_ms", 0), duration));
    terminal_style(&progress->terminal, STYLE_PLAIN);
    fputc('\n', progress->terminal.file);
}

/* The host's own words to the model; the system prompt and the inputs are no news. */
static void on_message_added(struct progress *progress, const struct event *event)
{
    gudgeon_str why = json_get_str(event->fields, "why");
    bool is_news = !str_is(why, "system") && !str_is(why, "inputs");
    if (!is_news && !progress->details)
        return;
    close_line(progress);
    styled(progress, STYLE_DIM, "  ! ");
    body(progress, first_text(json_get(event->fields, "blocks"), "text"), 4);
    fputc('\n', progress->terminal.file);
}

static void on_step_finished(struct progress *progress, const struct event *event)
{
    close_line(progress);
    if (!progress->details)
        return;
    char duration[HUMAN_SIZE];
    terminal_style(&progress->terminal, STYLE_DIM);
    fprintf(progress->terminal.file, "  %s",
            human_duration(json_get_int(event->fields, "duration_ms", 0), duration));
    print_usage(progress, event);
    terminal_style(&progress->terminal, STYLE_PLAIN);
    fputc('\n', progress->terminal.file);
}

static void on_run_finished(struct progress *progress, const struct event *event)
{
    close_line(progress);
    char duration[HUMAN_SIZE];
    gudgeon_str state = json_get_str(event->fields, "state");
    gudgeon_str why = json_get_str(event->fields, "why");
    terminal_style(&progress->terminal, str_is(state, "success") ? STYLE_GOOD : STYLE_BAD);
    terminal_line(&progress->terminal, state, 32);
    terminal_style(&progress->terminal, STYLE_PLAIN);
    if (why.len > 0) {
        fputs(": ", progress->terminal.file);
        terminal_line(&progress->terminal, why, 500);
    }
    int64_t steps = json_get_int(event->fields, "steps", progress->step_kinds);
    fprintf(progress->terminal.file, " · %lld step%s · %s", (long long)steps, steps == 1 ? "" : "s",
            human_duration(json_get_int(event->fields, "duration_ms", event->at_ms), duration));
    print_usage(progress, event);
    gudgeon_str run = json_get_str(event->fields, "run");
    fputs(" · run ", progress->terminal.file);
    terminal_line(&progress->terminal, run, 80);
    fputc('\n', progress->terminal.file);
}

static void on_journal_repaired(struct progress *progress, const struct event *event)
{
    close_line(progress);
    fprintf(progress->terminal.file, "  ! the journal's last line was torn: %lld bytes set aside\n",
            (long long)json_get_int(event->fields, "bytes", 0));
}

typedef void show_fn(struct progress *progress, const struct event *event);

static show_fn *const shows[EVENT_TYPE_COUNT] = {
    [EVENT_RUN_STARTED] = on_run_started,           [EVENT_STEP_STARTED] = on_step_started,
    [EVENT_MODEL_REQUESTED] = on_model_requested,   [EVENT_MODEL_REPLIED] = on_model_replied,
    [EVENT_MODEL_FAILED] = on_model_failed,         [EVENT_CALL_REQUESTED] = on_call_requested,
    [EVENT_CALL_FINISHED] = on_call_finished,       [EVENT_MESSAGE_ADDED] = on_message_added,
    [EVENT_STEP_FINISHED] = on_step_finished,       [EVENT_RUN_FINISHED] = on_run_finished,
    [EVENT_JOURNAL_REPAIRED] = on_journal_repaired,
};

void progress_event(struct progress *progress, const struct event *event)
{
    enum event_type type = event->record.type;
    if (type >= 0 && type < EVENT_TYPE_COUNT && shows[type] != NULL)
        shows[type](progress, event);
    fflush(progress->terminal.file);
}

/* A delta may end within a character, which is shown when the rest of it has come. */
void progress_delta(struct progress *progress, const struct listener_delta *delta)
{
    gudgeon_str bytes = delta->delta->bytes;
    if (!progress->live || delta->delta->channel != GUDGEON_TEXT || bytes.len == 0)
        return;
    struct buf *text = &progress->streamed;
    if (text->len == 0) {
        close_line(progress);
        fputs("  ", progress->terminal.file);
    }
    if (buf_add(text, bytes.ptr, bytes.len) < 0)
        return;
    size_t end = utf8_cut(text->data, text->len);
    if (end > progress->shown) {
        terminal_text(&progress->terminal,
                      (gudgeon_str){text->data + progress->shown, end - progress->shown});
        progress->shown = end;
    }
    progress->line_open = true;
    fflush(progress->terminal.file);
}

void progress_log(struct progress *progress, const char *instance, int level, const char *message)
{
    static const char *const levels[] = {"", "error", "warning"};
    if (level > GUDGEON_LOG_WARN)
        return;
    FILE *file = progress->terminal.file;
    close_line(progress);
    fprintf(file, "gudgeon: %s: %s: ", instance, levels[level]);
    terminal_text(&progress->terminal, str_of(message));
    fputc('\n', file);
    fflush(file);
}

static void listen_event(void *payload, const struct event *event)
{
    progress_event(payload, event);
}

static void listen_delta(void *payload, const struct listener_delta *delta)
{
    progress_delta(payload, delta);
}

struct listener progress_listener(struct progress *progress)
{
    return (struct listener){.event = listen_event, .delta = listen_delta, .payload = progress};
}
