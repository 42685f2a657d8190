/* SPDX-License-Identifier: MIT */
#include "agent/run_internal.h"

#include <stdlib.h>

#include "agent/listener.h"
#include "agent/memory.h"
#include "base/alloc.h"
#include "base/str.h"
#include "data/json.h"
#include "event/event.h"
#include "event/intake.h"
#include "event/journal.h"
#include "plugin/sink.h"

struct json_writer *emit_begin(struct run *run, enum event_type type)
{
    return journal_begin(run->journal, type, run->step.index);
}

/* Whether memory or a listener wants to know what stands in an event of that type. */
static bool is_read(const struct run *run, enum event_type type)
{
    bool is_read = memory_folds(type);
    for (size_t i = 0; i < run->options.listener_count; i++)
        is_read |= run->options.listeners[i].event != NULL;
    return is_read;
}

static void tell(struct run *run, const struct event *event)
{
    pthread_mutex_lock(&run->listening);
    run->last_seq = event->record.seq;
    for (size_t i = 0; i < run->options.listener_count; i++) {
        const struct listener *listener = &run->options.listeners[i];
        if (listener->event != NULL)
            listener->event(listener->payload, event);
    }
    pthread_mutex_unlock(&run->listening);
    for (size_t i = 0; i < run->sink_count; i++)
        sink_push(run->sinks[i], event_name(event->record.type), event->record.line);
}

/* What is not written has not happened, whatever state and answer were reached in the meantime. */
static int fail_unwritten(struct run *run, const struct err *err)
{
    run->state = RUN_LIVE;
    buf_reset(&run->why);
    free(TAKE(run->answer));
    return run_end(run, RUN_FAILED, "%s", err->text);
}

/* Memory is fed with the very bytes that stand in the journal, so that what is rebuilt after a
 * crash cannot differ from what the live run saw. */
int emit_commit(struct run *run)
{
    struct err err = {0};
    struct event event = {.fields = NULL};
    if (journal_commit(run->journal, &event.record, &err) < 0)
        return fail_unwritten(run, &err);
    int status = 0;
    if (is_read(run, event.record.type)) {
        if (event_parse(event.record.line, &event, &err) < 0)
            return run_end(run, RUN_FAILED, "journal: %s", err.text);
        status = memory_apply(run->memory, &event, &err);
    }
    tell(run, &event);
    event_release(&event);
    return status < 0 ? run_end(run, RUN_FAILED, "memory: %s", err.text) : 0;
}

int emit_message(struct run *run, const char *role, const char *why, const char *text)
{
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(run->intake, str_of(text), &safe);
    struct json_writer *writer = emit_begin(run, EVENT_MESSAGE_ADDED);
    json_field_text(writer, "role", role);
    json_field_text(writer, "why", why);
    json_key(writer, "blocks");
    json_begin_array(writer);
    json_begin_object(writer);
    json_field_text(writer, "type", "text");
    json_field_str(writer, "text", (gudgeon_str){safe.data, safe.len});
    json_end_object(writer);
    json_end_array(writer);
    return emit_commit(run);
}

static bool is_listened_to(const struct run *run)
{
    for (size_t i = 0; i < run->options.listener_count; i++)
        if (run->options.listeners[i].delta != NULL)
            return true;
    return false;
}

static void show(struct run *run, const struct deltas *deltas, const gudgeon_delta *delta)
{
    struct listener_delta out = {.run = run_id(run),
                                 .id = deltas->id,
                                 .attempt = deltas->attempt,
                                 .after = run->last_seq,
                                 .delta = delta};
    for (size_t i = 0; i < run->options.listener_count; i++) {
        const struct listener *listener = &run->options.listeners[i];
        if (listener->delta != NULL)
            listener->delta(listener->payload, &out);
    }
}

static void show_held(struct run *run, struct deltas *deltas)
{
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_stream_end(run->intake, &deltas->held, &safe);
    gudgeon_delta delta = {.size = sizeof delta,
                           .channel = deltas->channel,
                           .index = deltas->index,
                           .bytes = {safe.data, safe.len}};
    if (safe.len > 0)
        show(run, deltas, &delta);
}

void emit_delta(struct run *run, struct deltas *deltas, const gudgeon_delta *delta)
{
    if (!is_listened_to(run))
        return;
    CLEANUP(buf_fini) struct buf name = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf bytes = BUF_INIT(BUF_MAX_ANY);
    pthread_mutex_lock(&run->listening);
    if (delta->channel != deltas->channel || delta->index != deltas->index)
        show_held(run, deltas);
    deltas->channel = delta->channel;
    deltas->index = delta->index;
    intake_text(run->intake, delta->name, &name);
    intake_stream_add(run->intake, &deltas->held, delta->bytes, &bytes);
    gudgeon_delta safe = *delta;
    safe.name = (gudgeon_str){delta->name.ptr != NULL ? name.data : NULL, name.len};
    safe.bytes = (gudgeon_str){bytes.data, bytes.len};
    if (name.len > 0 || bytes.len > 0)
        show(run, deltas, &safe);
    pthread_mutex_unlock(&run->listening);
}

void emit_deltas_end(struct run *run, struct deltas *deltas)
{
    pthread_mutex_lock(&run->listening);
    show_held(run, deltas);
    pthread_mutex_unlock(&run->listening);
}
