/* SPDX-License-Identifier: MIT */
/*
 * How a run comes to be: its parts opened and checked, its journal made, its first events written.
 */
#include "agent/run_internal.h"

#include <stdlib.h>
#include <string.h>

#include "agent/definition.h"
#include "agent/entry.h"
#include "agent/memory.h"
#include "agent/models.h"
#include "agent/prompts.h"
#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "data/json.h"
#include "event/intake.h"
#include "event/journal.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "plugin/sink.h"

/* ---- opening and closing ---- */

static void mask_secret(void *payload, const char *value)
{
    intake_add_secret(payload, value);
}

void run_learn_secrets(struct run *run)
{
    secrets_each(run->secrets, mask_secret, run->intake);
}

/* A plugin's diagnostic, masked like everything else that leaves a run. It may come on any thread
 * and before the run has learnt the secret that it holds, so it has an intake of its own. */
static void log_masked(void *payload, const char *instance, int level, const char *message)
{
    struct run *run = payload;
    if (run->options.on_log == NULL)
        return;
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    pthread_mutex_lock(&run->listening);
    secrets_each(run->secrets, mask_secret, run->log_intake);
    intake_cut_text(run->log_intake, str_of(message), &safe);
    run->options.on_log(run->options.log_payload, instance, level, safe.data);
    pthread_mutex_unlock(&run->listening);
}

/* A plugin's words about why it cannot be opened may hold what it was given. */
static void mask_error(struct run *run, struct err *err)
{
    if (err == NULL)
        return;
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    run_learn_secrets(run);
    intake_cut_text(run->intake, str_of(err->text), &safe);
    err_set(err, err->code, "%s", safe.data);
}

static int open_sinks(struct run *run, const struct instance_options *shared, const char *id,
                      struct err *err)
{
    const struct definition *definition = run->definition;
    int status = 0;
    run->sinks = xcalloc(definition->sink_count, sizeof *run->sinks);
    for (size_t i = 0; i < definition->sink_count && status == 0; i++) {
        const struct use_entry *entry = &definition->sinks[i];
        struct instance_options options;
        status = entry_options(entry, shared, &options, err);
        if (status == 0)
            status = sink_open(entry->component, &options, id, &run->sinks[i], err);
        run->sink_count += status == 0;
    }
    return status;
}

/* Everything that can be wrong with the definition shows here, before a journal exists. */
static int open_parts(struct run *run, const char *id, struct err *err)
{
    struct instance_options shared = {
        .services = run->options.services,
        .secrets = run->secrets,
        .cancel = &run->cancel,
        .on_log = log_masked,
        .payload = run,
    };
    int status = models_open(run->definition, &shared, &run->models, err);
    if (status == 0)
        status = toolbox_open(run->definition, &shared, run->intake, &run->toolbox, err);
    if (status == 0)
        status = open_sinks(run, &shared, id, err);
    if (status == 0)
        status = journal_create(run->options.runs, id, run->definition->journal_sync, &run->journal,
                                err);
    run_learn_secrets(run);
    return status;
}

int run_open(const struct run_options *options, struct run **ret, struct err *err)
{
    char id[UUID_TEXT_SIZE];
    uuid7_new(id);
    struct run *run = xcalloc(1, sizeof *run);
    run->options = *options;
    run->definition = options->definition;
    run->state = RUN_LIVE;
    run->secrets = secrets_new();
    run->intake = intake_new();
    run->log_intake = intake_new();
    run->memory = memory_new();
    buf_init(&run->why, BUF_MAX_ANY);
    buf_init(&run->step.error, BUF_MAX_ANY);
    cancel_init(&run->cancel, options->cancel);
    pthread_mutex_init(&run->listening, NULL);
    int status = open_parts(run, id, err);
    if (status < 0) {
        mask_error(run, err);
        run_free(run);
        return status;
    }
    *ret = run;
    return 0;
}

void run_free(struct run *run)
{
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->sink_count; i++)
        sink_close(run->sinks[i]);
    free(run->sinks);
    toolbox_free(run->toolbox);
    models_free(run->models);
    journal_close(run->journal);
    memory_free(run->memory);
    intake_free(run->intake);
    intake_free(run->log_intake);
    secrets_free(run->secrets);
    buf_fini(&run->why);
    buf_fini(&run->step.error);
    free(run->answer);
    cancel_fini(&run->cancel);
    pthread_mutex_destroy(&run->listening);
    free(run);
}

const char *run_id(const struct run *run)
{
    return journal_run_id(run->journal);
}

const char *run_directory(const struct run *run)
{
    return journal_directory(run->journal);
}

/* ---- the first events ---- */

static void describe_plugin(struct json_writer *writer, const struct use_entry *entry)
{
    json_begin_object(writer);
    json_field_text(writer, "name", entry->component->plugin->name);
    json_field_text(writer, "version", entry->component->plugin->version);
    json_end_object(writer);
}

static void write_plugins(const struct definition *definition, struct json_writer *writer)
{
    json_key(writer, "plugins");
    json_begin_array(writer);
    for (size_t i = 0; i < definition->model_count; i++)
        describe_plugin(writer, &definition->models[i].entry);
    for (size_t i = 0; i < definition->tools_count; i++)
        describe_plugin(writer, &definition->tools[i].entry);
    for (size_t i = 0; i < definition->sink_count; i++)
        describe_plugin(writer, &definition->sinks[i]);
    json_end_array(writer);
}

static int emit_started(struct run *run)
{
    CLEANUP(buf_fini) struct buf definition = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf task = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf inputs = BUF_INIT(BUF_MAX_ANY);
    struct err err = {0};
    definition_write_json(run->definition, &definition);
    intake_text(run->intake, str_of(run->options.task), &task);
    if (intake_json(run->intake, (gudgeon_str){definition.data, definition.len}, &safe, &err) < 0)
        return run_end(run, RUN_FAILED, "the definition: %s", err.text);
    if (run->options.inputs != NULL &&
        intake_json(run->intake, str_of(run->options.inputs), &inputs, &err) < 0)
        return run_end(run, RUN_FAILED, "the inputs: %s", err.text);

    struct json_writer *writer = emit_begin(run, EVENT_RUN_STARTED);
    json_field_text(writer, "host", GUDGEON_VERSION);
    write_plugins(run->definition, writer);
    json_field_raw(writer, "definition", (gudgeon_str){safe.data, safe.len});
    json_field_str(writer, "task", (gudgeon_str){task.data, task.len});
    if (inputs.len > 0)
        json_field_raw(writer, "inputs", (gudgeon_str){inputs.data, inputs.len});
    return emit_commit(run);
}

static int emit_system(struct run *run)
{
    bool own = run->definition->instructions != NULL && run->definition->instructions[0] != '\0';
    CLEANUP(free_ptr) char *fallback = prompt_render("default_instructions", NULL);
    CLEANUP(free_ptr)
    char *finish = prompt_render(
        run->definition->finish == FINISH_TOOL ? "finish_tool" : "finish_answer", NULL);
    CLEANUP(free_ptr)
    char *text = prompt_render(
        "system",
        (struct prompt_value[]){{"instructions", own ? run->definition->instructions : fallback},
                                {"finish", finish},
                                {NULL, NULL}});
    return emit_message(run, "system", "system", text);
}

static int emit_inputs(struct run *run)
{
    if (run->options.inputs == NULL || strcmp(run->options.inputs, "{}") == 0)
        return 0;
    CLEANUP(free_ptr)
    char *text = prompt_render(
        "inputs", (struct prompt_value[]){{"inputs", run->options.inputs}, {NULL, NULL}});
    return emit_message(run, "user", "inputs", text);
}

int run_begin(struct run *run)
{
    run->started_ns = clock_monotonic_ns();
    int64_t limit_ms = run->definition->limits.time_ms;
    run->deadline_ns = limit_ms > 0 ? run->started_ns + limit_ms * NS_PER_MS : INT64_MAX;
    if (emit_started(run) < 0)
        return RUN_ENDS;
    toolbox_write(run->toolbox, emit_begin(run, EVENT_TOOLS_LISTED));
    if (emit_commit(run) < 0 || emit_system(run) < 0)
        return RUN_ENDS;
    return emit_inputs(run);
}
