/* SPDX-License-Identifier: MIT */
#include "agent/action.h"

#include <stdlib.h>
#include <string.h>

#include "agent/definition.h"
#include "agent/reply.h"
#include "agent/run_internal.h"
#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/str.h"
#include "data/json.h"
#include "event/intake.h"
#include "event/journal.h"
#include "plugin/call.h"
#include "plugin/instance.h"

/* ---- before it runs: what is asked for, and whether it can run ---- */

void action_refuse(struct action *action, const char *cause, char *take_fault)
{
    action->cause = cause;
    action->fault = take_fault;
}

static char *describe_unknown(const struct toolbox *toolbox, const char *name)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&text, "There is no tool \"%s\".", name);
    const char *nearest = toolbox_nearest(toolbox, name);
    if (nearest != NULL)
        buf_addf(&text, " Did you mean \"%s\"?", nearest);
    buf_add_str(&text, " The tools are: ");
    toolbox_names(toolbox, &text);
    return buf_take(&text);
}

void action_resolve(struct action *action)
{
    struct run *run = action->turn->run;
    const struct reply_call *asked = action->asked;
    const char *name = asked->name;
    action->tool = toolbox_find(run->toolbox, str_of(name));
    if (action->tool == NULL) {
        action_refuse(action, "unknown_tool", describe_unknown(run->toolbox, name));
        return;
    }
    CLEANUP(free_ptr) char *fault = NULL;
    if (!asked->arguments.valid)
        fault = xstrdup(asked->arguments.fault);
    else
        action->input = arguments_check(asked->arguments.object, action->tool->schema, &fault);
    if (action->input == NULL)
        action_refuse(
            action, "invalid",
            xasprintf("The call of \"%s\" was not run: %s. Its arguments must follow this "
                      "schema: %s",
                      name, fault, action->tool->parameters));
    else if (action->tool->needs_approval)
        action_refuse(action, "refused",
                      xasprintf("The call of \"%s\" was not run: it needs a person's approval, and "
                                "nobody can be asked.",
                                name));
}

int action_journal_requested(struct action *action, size_t ordinal)
{
    struct json_writer *writer = emit_begin(action->turn->run, EVENT_CALL_REQUESTED);
    json_field_text(writer, "id", action->asked->id);
    json_field_text(writer, "by", "model");
    json_field_int(writer, "ordinal", (int64_t)ordinal);
    json_field_text(writer, "tool", action->asked->name);
    if (action->input != NULL)
        json_field_raw(writer, "input", str_of(action->input));
    json_field_text(writer, "to", action->fault == NULL ? "run" : "none");
    return emit_commit(action->turn->run);
}

static int journal_started(struct action *action)
{
    struct json_writer *writer = emit_begin(action->turn->run, EVENT_CALL_STARTED);
    json_field_text(writer, "id", action->asked->id);
    json_field_int(writer, "attempt", 1);
    json_field_text(writer, "effect", effect_name(action->tool->effect));
    return emit_commit(action->turn->run);
}

/* ---- while it runs ---- */

static int on_delta(void *payload, const gudgeon_delta *delta)
{
    struct action *action = payload;
    emit_delta(action->turn->run, action->asked->id, 1, delta);
    return 0;
}

static int64_t time_limit_ms(const struct action *action)
{
    const struct tools_entry *entry = action->tool->entry;
    return entry->time_ms > 0 ? entry->time_ms : action->turn->run->definition->limits.tool_time_ms;
}

static struct call *new_call(struct action *action)
{
    struct run *run = action->turn->run;
    int64_t deadline = clock_monotonic_ns() + time_limit_ms(action) * NS_PER_MS;
    CLEANUP(free_ptr) char *id = xasprintf("%s/%s", run_id(run), action->asked->id);
    return call_new(&(struct call_options){
        .id = id,
        .parent = &run->cancel,
        .deadline_ns = deadline < run->step.deadline_ns ? deadline : run->step.deadline_ns,
        .on_delta = on_delta,
        .payload = action,
    });
}

void *action_run(void *payload)
{
    struct action *action = payload;
    const struct tool *tool = action->tool;
    int status = 0;
    if (tool->builtin == BUILTIN_NONE)
        status = instance_call(tool->instance, action->call, str_of(tool->plugin_name),
                               str_of(action->input));
    pthread_mutex_lock(&action->turn->lock);
    action->status = status;
    action->ended_ns = clock_monotonic_ns();
    action->state = ACTION_RAN;
    pthread_cond_signal(&action->turn->ran);
    pthread_mutex_unlock(&action->turn->lock);
    return NULL;
}

int action_prepare(struct action *action)
{
    struct run *run = action->turn->run;
    struct err err = {0};
    if (action->tool->builtin != BUILTIN_NONE)
        return 0;
    if (journal_started(action) < 0)
        return RUN_ENDS;
    if (action->tool->effect != EFFECT_READ && journal_sync(run->journal, &err) < 0)
        return run_end(run, RUN_FAILED, "%s", err.text);
    action->call = new_call(action);
    return 0;
}

/* ---- when it has run: one result, never empty ---- */

static size_t result_limit(const struct action *action)
{
    const struct tools_entry *entry = action->tool != NULL ? action->tool->entry : NULL;
    return (size_t)(entry != NULL && entry->output_bytes > 0
                        ? entry->output_bytes
                        : action->turn->run->definition->tool_result_limit);
}

static int set_text(struct action *action, gudgeon_str text)
{
    struct run *run = action->turn->run;
    struct err err = {0};
    struct intake_spill spill;
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    int status =
        intake_result(run->intake, run->journal, text, result_limit(action), &safe, &spill, &err);
    if (status == 0) {
        struct json_writer writer = JSON_WRITER_INIT(&action->result);
        json_begin_array(&writer);
        json_begin_object(&writer);
        json_field_text(&writer, "type", "text");
        json_field_str(&writer, "text", (gudgeon_str){safe.data, safe.len});
        if (spill.blob[0] != '\0') {
            json_field_text(&writer, "blob", spill.blob);
            json_field_int(&writer, "bytes", (int64_t)spill.bytes);
        }
        json_end_object(&writer);
        json_end_array(&writer);
    }
    buf_fini(&safe);
    return status < 0 ? run_end(run, RUN_FAILED, "%s", err.text) : 0;
}

static int set_blocks(struct action *action, gudgeon_str blocks)
{
    struct run *run = action->turn->run;
    struct err err = {0};
    struct intake_spill spill;
    int status = intake_blocks(run->intake, run->journal, blocks, result_limit(action),
                               &action->result, &spill, &err);
    if (status == 0)
        return 0;
    if (status == ERR_IO)
        return run_end(run, RUN_FAILED, "%s", err.text);
    action->is_error = true;
    action->cause = err_name(status);
    CLEANUP(free_ptr) char *text = xasprintf("The tool's result cannot be used: %s", err.text);
    return set_text(action, str_of(text));
}

/* A call that ended in a class: what went wrong, what it may have done, what it had said. */
static int set_failure(struct action *action)
{
    const char *message = call_error(action->call)->message;
    gudgeon_str output = call_output(action->call);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    action->cause = err_name(action->status);
    switch (action->status) {
    case ERR_TIMEOUT:
        buf_addf(&text, "The call was stopped at its time limit; it may have had effects.");
        break;
    case ERR_CANCELLED:
        buf_addf(&text, "The call was interrupted; it may have had effects.");
        break;
    default:
        buf_addf(&text, "The call failed (%s).", action->cause);
    }
    if (message[0] != '\0')
        buf_addf(&text, " %s", message);
    if (output.len > 0) {
        buf_add_str(&text, "\nOutput until then:\n");
        buf_add(&text, output.ptr, output.len);
    }
    int status = set_text(action, (gudgeon_str){text.data, text.len});
    buf_fini(&text);
    return status;
}

static int set_result(struct action *action)
{
    action->is_error = true;
    if (action->fault != NULL)
        return set_text(action, str_of(action->fault));
    if (action->status < 0)
        return set_failure(action);
    action->is_error = false;
    if (action->tool->builtin == BUILTIN_FINAL_ANSWER)
        return set_text(action, str_of("The answer was taken."));
    const gudgeon_tool_result *result = call_tool_result(action->call);
    if (result->flags & GUDGEON_IS_ERROR) {
        action->is_error = true;
        action->cause = "tool";
    }
    if (result->content.len > 0)
        return set_blocks(action, result->content);
    return set_text(action, result->text.ptr != NULL ? result->text : call_output(action->call));
}

/* The result for programs: JSON text, made safe; what is too long for a record goes to a blob. */
static int read_data(struct action *action, struct buf *ret)
{
    struct run *run = action->turn->run;
    const gudgeon_tool_result *result = action->call ? call_tool_result(action->call) : NULL;
    struct err err = {0};
    if (result == NULL || result->data.len == 0)
        return 0;
    if (intake_json(run->intake, result->data, ret, &err) < 0)
        buf_reset(ret);
    if (ret->len <= result_limit(action))
        return 0;
    char blob[BLOB_NAME_SIZE];
    if (journal_add_blob(run->journal, (gudgeon_str){ret->data, ret->len}, blob, &err) < 0)
        return run_end(run, RUN_FAILED, "%s", err.text);
    size_t bytes = ret->len;
    buf_reset(ret);
    return buf_addf(ret, "{\"blob\":\"%s\",\"bytes\":%zu,\"media\":\"application/json\"}", blob,
                    bytes);
}

int action_journal_finished(struct action *action)
{
    struct run *run = action->turn->run;
    CLEANUP(buf_fini) struct buf data = BUF_INIT(BUF_MAX_ANY);
    if (set_result(action) < 0 || read_data(action, &data) < 0)
        return RUN_ENDS;
    struct json_writer *writer = emit_begin(run, EVENT_CALL_FINISHED);
    json_field_text(writer, "id", action->asked->id);
    json_field_raw(writer, "result", (gudgeon_str){action->result.data, action->result.len});
    if (data.len > 0)
        json_field_raw(writer, "data", (gudgeon_str){data.data, data.len});
    json_field_bool(writer, "is_error", action->is_error);
    if (action->is_error)
        json_field_text(writer, "cause", action->cause);
    int64_t duration_ns = action->started_ns > 0 ? action->ended_ns - action->started_ns : 0;
    json_field_int(writer, "duration_ms", duration_ns / NS_PER_MS);
    return emit_commit(run);
}

void action_fini(struct action *action)
{
    call_free(action->call);
    free(action->input);
    free(action->fault);
    buf_fini(&action->result);
}
