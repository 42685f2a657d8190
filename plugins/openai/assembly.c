/* SPDX-License-Identifier: MIT */
#include "assembly.h"

#include "sound.h"

enum { ESCAPE_BYTES = 6 }; /* of \uXXXX */

void assembly_fini(struct assembly *assembly)
{
    gudgeon_buf_free(&assembly->text.raw);
    gudgeon_buf_free(&assembly->reasoning.raw);
    gudgeon_buf_free(&assembly->refusal.raw);
    for (size_t i = 0; i < assembly->call_count; i++) {
        gudgeon_buf_free(&assembly->calls[i].arguments.raw);
        gudgeon_buf_free(&assembly->calls[i].name);
        gudgeon_buf_free(&assembly->calls[i].id);
    }
    free(assembly->calls);
    assembly_free_details(assembly);
    gudgeon_buf_free(&assembly->finish);
    gudgeon_buf_free(&assembly->response_id);
    gudgeon_buf_free(&assembly->model);
    memset(assembly, 0, sizeof *assembly);
}

/* ---- text and its listeners ---------------------------------------------------------------- */

void assembly_gather(struct gathered *gathered, gudgeon_str inner)
{
    gudgeon_buf_put(&gathered->raw, inner);
}

/* Length of `raw` without the first half of a surrogate pair at its end, should one be there. */
static size_t whole_characters(const gudgeon_buf *raw)
{
    if (raw->len < ESCAPE_BYTES)
        return raw->len;
    const char *escape = raw->ptr + raw->len - ESCAPE_BYTES;
    if (!sound_is_high_half(escape, raw->ptr + raw->len))
        return raw->len;
    size_t slashes = 0;
    while (slashes < raw->len - ESCAPE_BYTES && escape[-1 - (ptrdiff_t)slashes] == '\\')
        slashes++;
    return slashes % 2 == 0 ? raw->len - ESCAPE_BYTES : raw->len;
}

/* Gives listeners what is new. `all`: also what waits for its other half. */
void assembly_show(struct assembly *assembly, struct gathered *gathered, gudgeon_delta *delta,
                   int all)
{
    if (assembly->listener == NULL || assembly->stopped)
        return;
    size_t end = all ? gathered->raw.len : whole_characters(&gathered->raw);
    if (end <= gathered->shown && delta->name.ptr == NULL)
        return;
    gudgeon_buf bytes = {0};
    gudgeon_str fresh = {gathered->raw.ptr + gathered->shown, end - gathered->shown};
    if (end > gathered->shown)
        gudgeon_json_decode(fresh, &bytes);
    gathered->shown = end;
    delta->bytes = gudgeon_buf_str(&bytes);
    assembly->stopped = assembly->listener->delta(assembly->listener, delta) != 0;
    gudgeon_buf_free(&bytes);
}

static void take(struct assembly *assembly, struct gathered *gathered, uint32_t channel,
                 gudgeon_str value)
{
    gudgeon_delta delta = {.size = sizeof delta, .channel = channel};
    gudgeon_str inner = gudgeon_json_inner(value);
    if (inner.len == 0)
        return;
    assembly_gather(gathered, inner);
    if (channel != 0)
        assembly_show(assembly, gathered, &delta, 0);
}

/* ---- a message, whole or a delta of one ---------------------------------------------------- */

static void take_text(struct assembly *assembly, gudgeon_str value)
{
    take(assembly, &assembly->text, GUDGEON_TEXT, value);
}

static void take_reasoning(struct assembly *assembly, gudgeon_str value)
{
    take(assembly, &assembly->reasoning, GUDGEON_REASONING, value);
}

static void take_parts(struct assembly *assembly, gudgeon_str array,
                       void (*sink)(struct assembly *, gudgeon_str));

/* One part of a content array, as Mistral sends them: text, or thinking (itself parts). */
static void take_part(struct assembly *assembly, gudgeon_str part,
                      void (*sink)(struct assembly *, gudgeon_str))
{
    gudgeon_str type = gudgeon_json_get(part, "type"),
                thinking = gudgeon_json_get(part, "thinking");
    if (gudgeon_json_kind(part) == '"')
        sink(assembly, part);
    else if (gudgeon_json_is(type, "text"))
        sink(assembly, gudgeon_json_get(part, "text"));
    else if (gudgeon_json_is(type, "refusal"))
        take(assembly, &assembly->refusal, 0, gudgeon_json_get(part, "refusal"));
    else if (gudgeon_json_kind(thinking) == '"')
        take_reasoning(assembly, thinking);
    else if (sink != take_reasoning)
        take_parts(assembly, thinking, take_reasoning);
}

static void take_parts(struct assembly *assembly, gudgeon_str array,
                       void (*sink)(struct assembly *, gudgeon_str))
{
    gudgeon_json_iter iter = gudgeon_json_each(array);
    gudgeon_str part;
    while (gudgeon_json_next(&iter, NULL, &part))
        take_part(assembly, part, sink);
}

enum {
    MESSAGE_CONTENT,
    MESSAGE_REASONING_CONTENT,
    MESSAGE_REASONING,
    MESSAGE_DETAILS,
    MESSAGE_REFUSAL,
    MESSAGE_CALLS,
    MESSAGE_OLD_CALL,
    MESSAGE_FIELDS,
};

static const char *const message_fields[MESSAGE_FIELDS] = {
    [MESSAGE_CONTENT] = "content",        [MESSAGE_REASONING_CONTENT] = "reasoning_content",
    [MESSAGE_REASONING] = "reasoning",    [MESSAGE_DETAILS] = "reasoning_details",
    [MESSAGE_REFUSAL] = "refusal",        [MESSAGE_CALLS] = "tool_calls",
    [MESSAGE_OLD_CALL] = "function_call",
};

/* Servers name the field one way or the other; some send the same text under both names. */
static void take_reasoning_field(struct assembly *assembly, const gudgeon_str *fields)
{
    for (size_t i = MESSAGE_REASONING_CONTENT; i <= MESSAGE_REASONING; i++) {
        if (gudgeon_json_kind(fields[i]) != '"')
            continue;
        if (assembly->reasoning_field == NULL || assembly->reasoning.raw.len == 0)
            assembly->reasoning_field = message_fields[i];
        take_reasoning(assembly, fields[i]);
        if (fields[i].len > 2)
            return;
    }
}

static void take_calls(struct assembly *assembly, gudgeon_str calls, gudgeon_str old_call)
{
    gudgeon_json_iter iter = gudgeon_json_each(calls);
    gudgeon_str call;
    for (size_t position = 0; gudgeon_json_next(&iter, NULL, &call); position++)
        assembly_add_call(assembly, call, position);
    if (gudgeon_json_kind(old_call) == '{')
        assembly_add_call(assembly, old_call, 0);
}

static void take_message(struct assembly *assembly, gudgeon_str message)
{
    gudgeon_str fields[MESSAGE_FIELDS];
    gudgeon_json_pick(message, message_fields, MESSAGE_FIELDS, fields);
    take_reasoning_field(assembly, fields);
    assembly_add_details(assembly, fields[MESSAGE_DETAILS]);
    if (gudgeon_json_kind(fields[MESSAGE_CONTENT]) == '[')
        take_parts(assembly, fields[MESSAGE_CONTENT], take_text);
    else
        take_text(assembly, fields[MESSAGE_CONTENT]);
    take(assembly, &assembly->refusal, 0, fields[MESSAGE_REFUSAL]);
    take_calls(assembly, fields[MESSAGE_CALLS], fields[MESSAGE_OLD_CALL]);
}

static int is_empty(const struct assembly *assembly)
{
    return assembly->text.raw.len == 0 && assembly->reasoning.raw.len == 0 &&
           assembly->refusal.raw.len == 0 && assembly->call_count == 0;
}

enum { CHOICE_INDEX, CHOICE_DELTA, CHOICE_MESSAGE, CHOICE_FINISH, CHOICE_FIELDS };

static const char *const choice_fields[CHOICE_FIELDS] = {
    [CHOICE_INDEX] = "index",
    [CHOICE_DELTA] = "delta",
    [CHOICE_MESSAGE] = "message",
    [CHOICE_FINISH] = "finish_reason",
};

/* Of several choices the first counts. */
static int is_first(gudgeon_str index)
{
    uint64_t number = 0;
    return !gudgeon_json_u64(index, &number) || number == 0;
}

static void take_choice(struct assembly *assembly, gudgeon_str choice)
{
    gudgeon_str fields[CHOICE_FIELDS];
    gudgeon_json_pick(choice, choice_fields, CHOICE_FIELDS, fields);
    gudgeon_str finish = gudgeon_json_inner(fields[CHOICE_FINISH]);
    if (!is_first(fields[CHOICE_INDEX]))
        return;
    if (gudgeon_json_kind(fields[CHOICE_DELTA]) == '{')
        take_message(assembly, fields[CHOICE_DELTA]);
    else if (is_empty(assembly)) /* some servers end a stream with the whole message again */
        take_message(assembly, fields[CHOICE_MESSAGE]);
    if (finish.len > 0) {
        gudgeon_buf_reset(&assembly->finish);
        gudgeon_buf_put(&assembly->finish, finish);
    }
}

/* ---- usage --------------------------------------------------------------------------------- */

enum { USAGE_INPUT, USAGE_OUTPUT, USAGE_CACHED, USAGE_CACHE_WRITE, USAGE_REASONING };

static const struct {
    int count;
    const char *group; /* NULL = beside the totals */
    const char *key;
} counts[] = {
    {USAGE_INPUT, NULL, "prompt_tokens"},
    {USAGE_OUTPUT, NULL, "completion_tokens"},
    {USAGE_CACHED, NULL, "prompt_cache_hit_tokens"},
    {USAGE_CACHED, "prompt_tokens_details", "cached_tokens"},
    {USAGE_CACHE_WRITE, "prompt_tokens_details", "cache_write_tokens"},
    {USAGE_REASONING, "completion_tokens_details", "reasoning_tokens"},
};

static void take_usage(struct assembly *assembly, gudgeon_str usage)
{
    if (gudgeon_json_kind(usage) != '{')
        return;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        gudgeon_str from =
            counts[i].group != NULL ? gudgeon_json_get(usage, counts[i].group) : usage;
        if (gudgeon_json_u64(gudgeon_json_get(from, counts[i].key),
                             &assembly->usage[counts[i].count]))
            assembly->usage_known |= 1u << counts[i].count;
    }
}

/* ---- objects ------------------------------------------------------------------------------- */

static void keep(gudgeon_buf *buf, gudgeon_str value)
{
    gudgeon_str inner = gudgeon_json_inner(value);
    if (inner.len > 0 && buf->len == 0)
        gudgeon_buf_put(buf, inner);
}

enum { CHUNK_ID, CHUNK_MODEL, CHUNK_USAGE, CHUNK_GROQ, CHUNK_CHOICES, CHUNK_FIELDS };

static const char *const chunk_fields[CHUNK_FIELDS] = {
    [CHUNK_ID] = "id",       [CHUNK_MODEL] = "model",     [CHUNK_USAGE] = "usage",
    [CHUNK_GROQ] = "x_groq", [CHUNK_CHOICES] = "choices",
};

void assembly_add(struct assembly *assembly, gudgeon_str object)
{
    gudgeon_str fields[CHUNK_FIELDS], choice;
    gudgeon_json_pick(object, chunk_fields, CHUNK_FIELDS, fields);
    keep(&assembly->response_id, fields[CHUNK_ID]);
    keep(&assembly->model, fields[CHUNK_MODEL]);
    take_usage(assembly, fields[CHUNK_USAGE]);
    take_usage(assembly, gudgeon_json_get(fields[CHUNK_GROQ], "usage"));
    gudgeon_json_iter iter = gudgeon_json_each(fields[CHUNK_CHOICES]);
    while (gudgeon_json_next(&iter, NULL, &choice))
        take_choice(assembly, choice);
    assembly->failed |= assembly->text.raw.failed | assembly->reasoning.raw.failed |
                        assembly->refusal.raw.failed | assembly->finish.failed;
}

int assembly_is_finished(const struct assembly *assembly)
{
    return assembly->finish.len > 0;
}

static void settle(struct assembly *assembly, struct gathered *gathered, uint32_t channel,
                   uint32_t index)
{
    gudgeon_delta delta = {.size = sizeof delta, .channel = channel, .index = index};
    if (channel != 0)
        assembly_show(assembly, gathered, &delta, 1);
    sound_make(&gathered->raw);
}

void assembly_settle(struct assembly *assembly)
{
    settle(assembly, &assembly->reasoning, GUDGEON_REASONING, 0);
    settle(assembly, &assembly->text, GUDGEON_TEXT, 0);
    settle(assembly, &assembly->refusal, 0, 0);
    for (size_t i = 0; i < assembly->call_count; i++) {
        struct assembled_call *call = &assembly->calls[i];
        settle(assembly, &call->arguments, call->announced ? GUDGEON_ARGUMENTS : 0, (uint32_t)i);
        sound_make(&call->name);
        sound_make(&call->id);
    }
    sound_make(&assembly->finish);
    sound_make(&assembly->response_id);
    sound_make(&assembly->model);
}
