/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include "origin.h"

/* ---- blocks -------------------------------------------------------------------------------- */

static void open_block(gudgeon_buf *out, const char *type)
{
    gudgeon_buf_puts(out, out->len > 1 ? ",{\"type\":\"" : "{\"type\":\"");
    gudgeon_buf_puts(out, type);
    gudgeon_buf_puts(out, "\"");
}

static void add_raw(gudgeon_buf *out, const char *key, const gudgeon_buf *raw)
{
    gudgeon_buf_puts(out, ",\"");
    gudgeon_buf_puts(out, key);
    gudgeon_buf_puts(out, "\":\"");
    gudgeon_buf_put(out, gudgeon_buf_str(raw));
    gudgeon_buf_puts(out, "\"");
}

static int is_blank(const gudgeon_buf *raw)
{
    for (size_t i = 0; i < raw->len; i++) {
        if (raw->ptr[i] == '\\' && i + 1 < raw->len && strchr("nrt", raw->ptr[i + 1]) != NULL)
            i++;
        else if (raw->ptr[i] != ' ')
            return 0;
    }
    return 1;
}

static void add_text(gudgeon_buf *out, const char *type, const struct gathered *gathered)
{
    if (is_blank(&gathered->raw))
        return;
    open_block(out, type);
    add_raw(out, "text", &gathered->raw);
    gudgeon_buf_puts(out, "}");
}

static void add_opaque(gudgeon_buf *out, const char *kind, gudgeon_str data)
{
    open_block(out, "opaque");
    gudgeon_buf_puts(out, ",\"kind\":\"");
    gudgeon_buf_puts(out, kind);
    gudgeon_buf_puts(out, "\",\"data\":");
    gudgeon_buf_quote(out, data);
    gudgeon_buf_puts(out, "}");
}

/* The reasoning, and what must be known to send it back: its field, where that is not the usual
 * one or came empty (a server that gave it empty may ask for it empty). Details go back byte for
 * byte or not at all, so none are kept of a reply that was cut. */
static void add_reasoning(gudgeon_buf *out, const struct assembly *assembly, uint32_t finish)
{
    const char *field = assembly->reasoning_field;
    add_text(out, "reasoning", &assembly->reasoning);
    if (field != NULL &&
        (strcmp(field, "reasoning_content") != 0 || is_blank(&assembly->reasoning.raw)))
        add_opaque(out, OPAQUE_FIELD, gudgeon_text(field));
    if (assembly->detail_count == 0 || finish == GUDGEON_FINISH_LENGTH)
        return;
    gudgeon_buf details = {0};
    assembly_write_details(assembly, &details);
    out->failed |= details.failed;
    if (gudgeon_json_scan(gudgeon_buf_str(&details), 0) == GUDGEON_JSON_SOUND)
        add_opaque(out, OPAQUE_DETAILS, gudgeon_buf_str(&details));
    gudgeon_buf_free(&details);
}

static int is_call(const struct assembled_call *call)
{
    return call->name.len > 0 || !is_blank(&call->arguments.raw);
}

static size_t count_calls(const struct assembly *assembly)
{
    size_t count = 0;
    for (size_t i = 0; i < assembly->call_count; i++)
        count += (size_t)is_call(&assembly->calls[i]);
    return count;
}

static void add_calls(gudgeon_buf *out, const struct assembly *assembly)
{
    for (size_t i = 0; i < assembly->call_count; i++) {
        const struct assembled_call *call = &assembly->calls[i];
        if (!is_call(call))
            continue;
        open_block(out, "tool_call");
        add_raw(out, "wire_id", &call->id);
        add_raw(out, "name", &call->name);
        add_raw(out, "arguments", &call->arguments.raw);
        gudgeon_buf_puts(out, "}");
    }
}

/* ---- how it ended -------------------------------------------------------------------------- */

static const struct {
    const char *word;
    uint32_t finish;
} finishes[] = {
    {"stop", GUDGEON_FINISH_STOP},           {"tool_calls", GUDGEON_FINISH_CALLS},
    {"function_call", GUDGEON_FINISH_CALLS}, {"length", GUDGEON_FINISH_LENGTH},
    {"max_tokens", GUDGEON_FINISH_LENGTH},   {"content_filter", GUDGEON_FINISH_REFUSAL},
    {"refusal", GUDGEON_FINISH_REFUSAL},     {"", GUDGEON_FINISH_STOP},
};

static uint32_t finish_of_word(gudgeon_str word)
{
    for (size_t i = 0; i < sizeof finishes / sizeof finishes[0]; i++)
        if (gudgeon_is(word, finishes[i].word))
            return finishes[i].finish;
    return GUDGEON_FINISH_OTHER;
}

/* Whether the last call's arguments stop short and the output limit was reached: vLLM says
 * "tool_calls" then. */
static int is_cut_call(const struct assembly *assembly, uint64_t limit)
{
    if (limit == 0 || !(assembly->usage_known & GUDGEON_USAGE_OUTPUT) ||
        assembly->usage[1] < limit || assembly->call_count == 0)
        return 0;
    gudgeon_buf text = {0};
    const struct assembled_call *last = &assembly->calls[assembly->call_count - 1];
    gudgeon_json_decode(gudgeon_buf_str(&last->arguments.raw), &text);
    int cut = gudgeon_json_scan(gudgeon_buf_str(&text), GUDGEON_JSON_LAX) == GUDGEON_JSON_CUT;
    gudgeon_buf_free(&text);
    return cut;
}

static uint32_t finish_of(const struct assembly *assembly, uint64_t limit)
{
    size_t calls = count_calls(assembly);
    uint32_t finish = finish_of_word(gudgeon_buf_str(&assembly->finish));
    if (calls > 0 && is_cut_call(assembly, limit))
        return GUDGEON_FINISH_LENGTH;
    if (finish == GUDGEON_FINISH_LENGTH || finish == GUDGEON_FINISH_REFUSAL)
        return finish;
    if (calls > 0)
        return GUDGEON_FINISH_CALLS;
    if (!is_blank(&assembly->refusal.raw))
        return GUDGEON_FINISH_REFUSAL;
    return finish == GUDGEON_FINISH_CALLS ? GUDGEON_FINISH_STOP : finish;
}

/* ---- the reply ----------------------------------------------------------------------------- */

static int32_t give(const struct request *request, gudgeon_reply *reply, const gudgeon_buf *blocks)
{
    if (blocks->failed)
        return gudgeon_fail(request->call, GUDGEON_LIMIT, "%s: the reply is too large",
                            request->config->server);
    reply->size = sizeof *reply;
    reply->content = gudgeon_buf_str(blocks);
    reply->origin = request->origin;
    return request->call->result(request->call, reply);
}

/* A short text decoded; `out` holds it. */
static gudgeon_str decode(const gudgeon_buf *raw, gudgeon_buf *out)
{
    gudgeon_json_decode(gudgeon_buf_str(raw), out);
    return out->len > 0 ? gudgeon_buf_str(out) : (gudgeon_str){NULL, 0};
}

int32_t reply_give(const struct assembly *assembly, const struct request *request)
{
    gudgeon_buf blocks = {0}, finish = {0}, id = {0}, model = {0};
    uint32_t how = finish_of(assembly, request->generate->max_output_tokens);
    gudgeon_buf_puts(&blocks, "[");
    add_reasoning(&blocks, assembly, how);
    add_text(&blocks, "text", &assembly->text);
    add_text(&blocks, "refusal", &assembly->refusal);
    add_calls(&blocks, assembly);
    gudgeon_buf_puts(&blocks, "]");
    gudgeon_reply reply = {
        .finish = how,
        .finish_raw = decode(&assembly->finish, &finish),
        .response_id = decode(&assembly->response_id, &id),
        .model_served = decode(&assembly->model, &model),
        .usage_known = assembly->usage_known,
        .input_tokens = assembly->usage[0],
        .output_tokens = assembly->usage[1],
        .cached_tokens = assembly->usage[2],
        .cache_write_tokens = assembly->usage[3],
        .reasoning_tokens = assembly->usage[4],
    };
    int32_t error_class = give(request, &reply, &blocks);
    gudgeon_buf_free(&blocks);
    gudgeon_buf_free(&finish);
    gudgeon_buf_free(&id);
    gudgeon_buf_free(&model);
    return error_class;
}

int32_t reply_give_refusal(const struct request *request, gudgeon_str text, const char *finish_raw)
{
    gudgeon_buf blocks = {0};
    gudgeon_buf_puts(&blocks, "[{\"type\":\"refusal\",\"text\":");
    gudgeon_buf_quote(&blocks, text.len > 0 ? text : gudgeon_text("stopped by a content filter"));
    gudgeon_buf_puts(&blocks, "}]");
    gudgeon_reply reply = {.finish = GUDGEON_FINISH_REFUSAL,
                           .finish_raw = gudgeon_text(finish_raw)};
    int32_t error_class = give(request, &reply, &blocks);
    gudgeon_buf_free(&blocks);
    return error_class;
}
