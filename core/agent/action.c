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

enum {
    OUTPUT_MIN = 1 << 20,                      /* bytes of a call's output that are kept at least */
    OUTPUT_FACTOR = 4,                         /* the same, in limits of a result */
    RESULT_MAX = JOURNAL_MAX_LINE - (1 << 20), /* bytes of result and data in a record */
};

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
        action->is_mistake = true;
        return;
    }
    CLEANUP(free_ptr) char *fault = NULL;
    if (!asked->arguments.valid)
        fault = xstrdup(asked->arguments.fault);
    else
        action->input = arguments_check(asked->arguments.object, action->tool->schema, &fault);
    action->is_mistake = action->input == NULL;
    if (action->is_mistake)
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
    emit_delta(action->turn->run, &action->deltas, delta);
    return 0;
}

static int64_t time_limit_ms(const struct action *action)
{
    const struct tools_entry *entry = action->tool->entry;
    return entry->time_ms > 0 ? entry->time_ms : action->turn->run->definition->limits.tool_time_ms;
}

static size_t result_limit(const struct action *action)
{
    const struct tools_entry *entry = action->tool != NULL ? action->tool->entry : NULL;
    return (size_t)(entry != NULL && entry->output_bytes > 0
                        ? entry->output_bytes
                        : action->turn->run->definition->tool_result_limit);
}

/* More than the model is shown, because the whole is kept as a blob. */
static size_t output_max(const struct action *action)
{
    size_t limit = OUTPUT_FACTOR * result_limit(action);
    return limit > OUTPUT_MIN ? limit : OUTPUT_MIN;
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
        .output_max = output_max(action),
        .on_delta = on_delta,
        .payload = action,
    });
}

void *action_run(void *payload)
{
    struct action *action = payload;
    const struct tool *tool = action->tool;
    action->deltas = (struct deltas){.id = action->asked->id, .attempt = 1};
    int status = instance_call(tool->instance, action->call, str_of(tool->plugin_name),
                               str_of(action->input));
    emit_deltas_end(action->turn->run, &action->deltas);
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
    if (journal_started(action) < 0)
        return RUN_ENDS;
    if (action->tool->effect != EFFECT_READ && journal_sync(run->journal, &err) < 0)
        return run_end(run, RUN_FAILED, "%s", err.text);
    action->call = new_call(action);
    return 0;
}

/* ---- when it has run: one result, never empty ---- */

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

/* How a call that ended in a class ended, and what it may have done. */
static void describe_end(const struct action *action, struct buf *text)
{
    bool was_stopped = action->status == ERR_TIMEOUT || action->status == ERR_CANCELLED;
    if (action->status == ERR_TIMEOUT)
        buf_add_str(text, "The call was stopped at its time limit");
    else if (action->status == ERR_CANCELLED)
        buf_add_str(text, "The call was interrupted");
    else
        buf_addf(text, "The call failed (%s)", err_name(action->status));
    bool may_write = was_stopped && action->tool->effect != EFFECT_READ;
    buf_add_str(text, may_write ? "; it may have had effects" : "");
}

/* A call that ended in a class: what went wrong, what would allow it, what it had said. */
static int set_failure(struct action *action)
{
    const struct call_error *error = call_error(action->call);
    gudgeon_str output = call_output(action->call);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    action->cause = err_name(action->status);
    describe_end(action, &text);
    if (error->message[0] != '\0') {
        buf_add_str(&text, ": ");
        intake_cut_text(action->turn->run->intake, str_of(error->message), &text);
    }
    if (strchr(".!?", text.data[text.len - 1]) == NULL)
        buf_add_char(&text, '.');
    if (error->grant[0] != '\0')
        buf_addf(&text, " The operator can allow it with the grant %s.", error->grant);
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

/* JSON can make a text six times as long, and a record that is too long ends the journal. */
static int bound_result(struct action *action)
{
    if (action->result.len <= RESULT_MAX)
        return 0;
    CLEANUP(free_ptr)
    char *text = xasprintf("The result cannot be shown: as JSON it has %zu bytes, over %d",
                           action->result.len, RESULT_MAX);
    buf_reset(&action->result);
    action->is_error = true;
    action->cause = err_name(ERR_LIMIT);
    return set_text(action, str_of(text));
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
    if (ret->len <= result_limit(action) && action->result.len + ret->len <= RESULT_MAX)
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
    if (set_result(action) < 0 || bound_result(action) < 0 || read_data(action, &data) < 0)
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
