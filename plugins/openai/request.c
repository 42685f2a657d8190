/* SPDX-License-Identifier: MIT */
#include "request.h"

/* ---- the memo ------------------------------------------------------------------------------ */

gudgeon_str request_recall(const struct request *request, uint32_t kind, uint64_t subject,
                           gudgeon_str variant)
{
    if (request->config->memo == NULL)
        return (gudgeon_str){NULL, 0};
    return request->config->memo->get(request->call, kind, subject, variant);
}

gudgeon_str request_keep(const struct request *request, struct body *body, uint32_t kind,
                         uint64_t subject, gudgeon_str variant, gudgeon_buf *encoded)
{
    gudgeon_str kept = {NULL, 0};
    if (request->config->memo != NULL && !encoded->failed)
        kept = request->config->memo->put(request->call, kind, subject, variant,
                                          gudgeon_buf_str(encoded));
    if (kept.ptr == NULL)
        return body_own(body, encoded);
    gudgeon_buf_free(encoded);
    return kept;
}

/* ---- tools --------------------------------------------------------------------------------- */

static void encode_tool(gudgeon_buf *out, const gudgeon_tool *tool)
{
    gudgeon_buf_puts(out, "{\"type\":\"function\",\"function\":{\"name\":");
    gudgeon_buf_quote(out, tool->name);
    if (tool->description.len > 0) {
        gudgeon_buf_puts(out, ",\"description\":");
        gudgeon_buf_quote(out, tool->description);
    }
    gudgeon_buf_puts(out, ",\"parameters\":");
    if (tool->parameters.len > 0)
        gudgeon_buf_put(out, tool->parameters);
    else
        gudgeon_buf_puts(out, "{\"type\":\"object\",\"properties\":{}}");
    gudgeon_buf_puts(out, "}}");
}

static void add_tools(const struct request *request, struct body *body)
{
    const gudgeon_generate *generate = request->generate;
    gudgeon_str variant = gudgeon_text("tools");
    gudgeon_str entry =
        request_recall(request, GUDGEON_MEMO_TOOLS, generate->tools_revision, variant);
    if (entry.ptr == NULL) {
        gudgeon_buf out = {0};
        gudgeon_buf_puts(&out, ",\"tools\":[");
        for (uint64_t i = 0; i < generate->tool_count; i++) {
            if (i > 0)
                gudgeon_buf_puts(&out, ",");
            encode_tool(&out, generate->tools[i]);
        }
        gudgeon_buf_puts(&out, "]");
        entry = request_keep(request, body, GUDGEON_MEMO_TOOLS, generate->tools_revision, variant,
                             &out);
    }
    body_add(body, entry);
}

/* ---- the other fields ---------------------------------------------------------------------- */

/* Opens a field, unless `extra` has one of that name: what the user wrote wins. */
static int open_field(const struct request *request, gudgeon_buf *out, const char *name)
{
    if (gudgeon_json_get(request->extra, name).ptr != NULL)
        return 0;
    gudgeon_buf_puts(out, ",\"");
    gudgeon_buf_puts(out, name);
    gudgeon_buf_puts(out, "\":");
    return 1;
}

static void add_choice(const struct request *request, gudgeon_buf *out)
{
    static const char *const words[] = {
        [GUDGEON_CHOICE_NONE] = "\"none\"", [GUDGEON_CHOICE_REQUIRED] = "\"required\""};
    uint32_t choice = request->generate->tool_choice;
    if (choice == GUDGEON_CHOICE_AUTO || !open_field(request, out, "tool_choice"))
        return;
    if (choice == GUDGEON_CHOICE_NAMED) {
        gudgeon_buf_puts(out, "{\"type\":\"function\",\"function\":{\"name\":");
        gudgeon_buf_quote(out, request->generate->choice_name);
        gudgeon_buf_puts(out, "}}");
    } else {
        gudgeon_buf_puts(out,
                         words[choice == GUDGEON_CHOICE_NONE ? choice : GUDGEON_CHOICE_REQUIRED]);
    }
}

static void add_stream(const struct request *request, gudgeon_buf *out)
{
    if (!request->generate->stream)
        return;
    if (open_field(request, out, "stream"))
        gudgeon_buf_puts(out, "true");
    if (request->config->dialect.include_usage && open_field(request, out, "stream_options"))
        gudgeon_buf_puts(out, "{\"include_usage\":true}");
}

static void add_format(const struct request *request, gudgeon_buf *out)
{
    uint8_t format = request->config->dialect.output_format;
    if (request->generate->output_schema.len == 0 || format == FORMAT_NONE ||
        !open_field(request, out, "response_format"))
        return;
    gudgeon_buf_puts(out, "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",");
    if (format == FORMAT_STRICT_JSON_SCHEMA)
        gudgeon_buf_puts(out, "\"strict\":true,");
    gudgeon_buf_puts(out, "\"schema\":");
    gudgeon_buf_put(out, request->generate->output_schema);
    gudgeon_buf_puts(out, "}}");
}

static void add_output_limit(const struct request *request, gudgeon_buf *out)
{
    static const char *const fields[] = {
        [MAX_TOKENS] = "max_tokens", [MAX_COMPLETION_TOKENS] = "max_completion_tokens"};
    char number[24];
    if (request->generate->max_output_tokens == 0 ||
        !open_field(request, out, fields[request->config->dialect.max_tokens_field]))
        return;
    snprintf(number, sizeof number, "%llu",
             (unsigned long long)request->generate->max_output_tokens);
    gudgeon_buf_puts(out, number);
}

static void add_cache_key(const struct request *request, gudgeon_buf *out)
{
    if (request->config->dialect.cache_key && request->generate->conversation_id.len > 0 &&
        open_field(request, out, "prompt_cache_key"))
        gudgeon_buf_quote(out, request->generate->conversation_id);
}

static void add_parameters(const struct request *request, int with_tools, gudgeon_buf *out)
{
    gudgeon_json_iter iter = gudgeon_json_each(gudgeon_json_root(request->generate->parameters));
    gudgeon_str key, value;
    while (gudgeon_json_next(&iter, &key, &value)) {
        char name[64];
        if (gudgeon_json_kind(value) == 'n' || key.len >= sizeof name)
            continue;
        memcpy(name, key.ptr, key.len);
        name[key.len] = '\0';
        if (!with_tools && strcmp(name, "parallel_tool_calls") == 0)
            continue; /* refused where no tools are listed */
        if (open_field(request, out, name))
            gudgeon_buf_put(out, value);
    }
}

static void add_extra(const struct request *request, gudgeon_buf *out)
{
    gudgeon_json_iter iter = gudgeon_json_each(request->extra);
    gudgeon_str key, value;
    while (gudgeon_json_next(&iter, &key, &value)) {
        gudgeon_buf_puts(out, ",\"");
        gudgeon_buf_put(out, key);
        gudgeon_buf_puts(out, "\":");
        gudgeon_buf_put(out, value);
    }
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void add_head(const struct request *request, struct body *body)
{
    gudgeon_buf head = {0};
    if (request->generate->model.len > 0 && gudgeon_json_get(request->extra, "model").ptr == NULL) {
        gudgeon_buf_puts(&head, "{\"model\":");
        gudgeon_buf_quote(&head, request->generate->model);
        gudgeon_buf_puts(&head, ",\"messages\":[");
    } else {
        gudgeon_buf_puts(&head, "{\"messages\":[");
    }
    body_add(body, body_own(body, &head));
}

int32_t request_encode(const struct request *request, struct body *body)
{
    const gudgeon_generate *generate = request->generate;
    gudgeon_buf tail = {0};
    if (gudgeon_json_get(request->extra, "messages").ptr != NULL)
        return gudgeon_fail(request->call, GUDGEON_INVALID,
                            "openai: \"extra\" may not hold \"messages\"");
    int with_tools = generate->tool_count > 0 && !request->as_text;
    add_head(request, body);
    request_add_messages(request, body);
    body_puts(body, "]");
    if (with_tools && gudgeon_json_get(request->extra, "tools").ptr == NULL)
        add_tools(request, body);
    if (with_tools)
        add_choice(request, &tail);
    add_stream(request, &tail);
    add_format(request, &tail);
    add_output_limit(request, &tail);
    add_cache_key(request, &tail);
    add_parameters(request, with_tools, &tail);
    add_extra(request, &tail);
    gudgeon_buf_puts(&tail, "}");
    body_add(body, body_own(body, &tail));
    if (body->failed)
        return gudgeon_fail(request->call, GUDGEON_LIMIT, "openai: the request is too large");
    return GUDGEON_OK;
}
