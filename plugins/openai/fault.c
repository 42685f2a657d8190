/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include "retry_after.h"

#include <strings.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum {
    UNDECIDED = -1,
    FILTERED = -2,           /* not a class: a refusal */
    MESSAGE_MAX_BYTES = 600, /* of what a server says */
};

/* ---- what names and numbers mean ----------------------------------------------------------- */

/* By `code`, else by `type`; spelt as the servers spell them. */
static const struct {
    const char *code;
    int32_t error_class;
} codes[] = {
    {"context_length_exceeded", GUDGEON_OVERFLOW},
    {"exceed_context_size_error", GUDGEON_OVERFLOW}, /* llama.cpp */
    {"model_context_window_exceeded", GUDGEON_OVERFLOW},
    {"context_window_exceeded", GUDGEON_OVERFLOW},
    {"request_too_large", GUDGEON_OVERFLOW},
    {"insufficient_quota", GUDGEON_QUOTA},
    {"quota_exceeded", GUDGEON_QUOTA},
    {"billing_hard_limit_reached", GUDGEON_QUOTA},
    {"billing_not_active", GUDGEON_QUOTA},
    {"billing_error", GUDGEON_QUOTA},
    {"insufficient_balance", GUDGEON_QUOTA},
    {"insufficient_funds", GUDGEON_QUOTA},
    {"payment_required", GUDGEON_QUOTA},
    {"rate_limit_exceeded", GUDGEON_RETRY},
    {"rate_limit_error", GUDGEON_RETRY},
    {"too_many_requests", GUDGEON_RETRY},
    {"overloaded_error", GUDGEON_RETRY},
    {"engine_overloaded", GUDGEON_RETRY},
    {"server_error", GUDGEON_RETRY},
    {"internal_error", GUDGEON_RETRY},
    {"internal_server_error", GUDGEON_RETRY},
    {"InternalServerError", GUDGEON_RETRY}, /* vLLM, SGLang */
    {"api_error", GUDGEON_RETRY},
    {"service_unavailable", GUDGEON_RETRY},
    {"unavailable_error", GUDGEON_RETRY}, /* llama.cpp while it loads */
    {"timeout_error", GUDGEON_RETRY},
    {"tool_use_failed", GUDGEON_RETRY}, /* Groq: the model wrote a call that is none */
    {"invalid_api_key", GUDGEON_AUTH},
    {"invalid_authentication", GUDGEON_AUTH},
    {"authentication_error", GUDGEON_AUTH},
    {"permission_error", GUDGEON_AUTH},
    {"permission_denied", GUDGEON_AUTH},
    {"account_deactivated", GUDGEON_AUTH},
    {"model_not_found", GUDGEON_UNAVAILABLE},
    {"content_filter", FILTERED}, /* Azure */
    {"content_policy_violation", FILTERED},
    {"ResponsibleAIPolicyViolation", FILTERED},
};

/* Types that say no more than a status would; asked only where there is no status. */
static const struct {
    const char *type;
    int32_t error_class;
} vague_types[] = {
    {"invalid_request_error", GUDGEON_INVALID}, {"BadRequestError", GUDGEON_INVALID},
    {"NotFoundError", GUDGEON_INVALID},         {"not_found_error", GUDGEON_INVALID},
    {"AuthenticationError", GUDGEON_AUTH},
};

static const struct {
    uint32_t first, last;
    int32_t error_class;
} statuses[] = {
    {401, 401, GUDGEON_AUTH},     {402, 402, GUDGEON_QUOTA},   {403, 403, GUDGEON_AUTH},
    {408, 409, GUDGEON_RETRY},    {425, 425, GUDGEON_RETRY},   {429, 429, GUDGEON_RETRY},
    {413, 413, GUDGEON_OVERFLOW}, {501, 501, GUDGEON_INVALID}, {500, 599, GUDGEON_RETRY},
    {300, 499, GUDGEON_INVALID},
};

/* In lower case. `statuses` with a clear meaning of their own are not overruled: 401, 403. */
static const struct {
    const char *words;
    int32_t error_class;
    uint32_t status; /* only with this one; 0 = with any but 401, 403 and 429 */
} wordings[] = {
    {"context length", GUDGEON_OVERFLOW, 0},
    {"context_length", GUDGEON_OVERFLOW, 0},
    {"context window", GUDGEON_OVERFLOW, 0},
    {"context size", GUDGEON_OVERFLOW, 0},
    {"maximum context", GUDGEON_OVERFLOW, 0},
    {"prompt is too long", GUDGEON_OVERFLOW, 0},
    {"prompt too long", GUDGEON_OVERFLOW, 0},
    {"input is too long", GUDGEON_OVERFLOW, 0},
    {"too many tokens", GUDGEON_OVERFLOW, 0},
    {"too many input tokens", GUDGEON_OVERFLOW, 0},
    {"input token count", GUDGEON_OVERFLOW, 0},
    {"maximum number of tokens", GUDGEON_OVERFLOW, 0},
    {"max_model_len", GUDGEON_OVERFLOW, 0},
    {"maximum model length", GUDGEON_OVERFLOW, 0},
    {"maximum prompt length", GUDGEON_OVERFLOW, 0},
    {"reduce the length", GUDGEON_OVERFLOW, 0},
    {"exceeded your current quota", GUDGEON_QUOTA, 429},
    {"billing", GUDGEON_QUOTA, 429},
    {"insufficient balance", GUDGEON_QUOTA, 429},
    {"credit balance", GUDGEON_QUOTA, 429},
    {"credit balance", GUDGEON_QUOTA, 400},
    {"insufficient balance", GUDGEON_QUOTA, 400},
    {"content management policy", FILTERED, 400},
};

/* ---- reading an error ---------------------------------------------------------------------- */

/* What a server said, found in whichever shape it was. */
struct said {
    gudgeon_str code; /* JSON values, or absent */
    gudgeon_str type;
    gudgeon_str inner_code;
    gudgeon_str message;
};

static gudgeon_str first_of(gudgeon_str object, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        gudgeon_str value = gudgeon_json_get(object, *keys);
        char kind = gudgeon_json_kind(value);
        if (kind != 0 && kind != 'n')
            return value;
    }
    return (gudgeon_str){NULL, 0};
}

/* {"error":{…}}, {"error":"text"}, {"object":"error",…}, {"detail":…}, {"message":…} */
static struct said read_object(gudgeon_str object)
{
    static const char *const messages[] = {"message", "detail", "msg", "error", "title", NULL};
    gudgeon_str error = gudgeon_json_get(object, "error");
    gudgeon_str at = gudgeon_json_kind(error) == '{' ? error : object;
    struct said said = {
        .code = gudgeon_json_get(at, "code"),
        .type = gudgeon_json_get(at, "type"),
        .inner_code = gudgeon_json_get(gudgeon_json_get(at, "innererror"), "code"),
        .message = first_of(at, messages),
    };
    return said;
}

static int is_error(gudgeon_str error)
{
    char kind = gudgeon_json_kind(error);
    return (kind == '{' || kind == '"') && error.len > 2; /* an empty one is none */
}

enum { FOUND_ERROR, FOUND_OBJECT, FOUND_TYPE, FOUND_CHOICES, FOUND_FIELDS };

static const char *const found_fields[FOUND_FIELDS] = {
    [FOUND_ERROR] = "error",
    [FOUND_OBJECT] = "object",
    [FOUND_TYPE] = "type",
    [FOUND_CHOICES] = "choices",
};

gudgeon_str fault_find(gudgeon_str object)
{
    gudgeon_str fields[FOUND_FIELDS];
    gudgeon_json_pick(object, found_fields, FOUND_FIELDS, fields);
    if (is_error(fields[FOUND_ERROR]) || gudgeon_json_is(fields[FOUND_OBJECT], "error") ||
        gudgeon_json_is(fields[FOUND_TYPE], "error"))
        return object;
    gudgeon_str choice = gudgeon_json_item(fields[FOUND_CHOICES], 0);
    return is_error(gudgeon_json_get(choice, "error")) ? choice : (gudgeon_str){NULL, 0};
}

/* Where the body's JSON begins: at once, or behind the first `data:` of an event. */
static gudgeon_str find_object(gudgeon_str body)
{
    gudgeon_str root = gudgeon_json_root(body), absent = {NULL, 0};
    if (gudgeon_json_kind(root) != '{' && body.len > 0) {
        const char *data = memmem(body.ptr, body.len, "data:", 5);
        if (data == NULL)
            return absent;
        data += 5;
        root = gudgeon_json_root((gudgeon_str){data, (uint64_t)(body.ptr + body.len - data)});
    }
    return gudgeon_json_kind(root) == '{' &&
                   gudgeon_json_scan(root, GUDGEON_JSON_LAX) == GUDGEON_JSON_SOUND
               ? root
               : absent;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* Adds text as one line: control bytes and runs of space become one space each. */
static void add_line(gudgeon_buf *out, gudgeon_str text)
{
    const char *at = text.ptr, *end = at != NULL ? at + text.len : at;
    size_t start = out->len;
    while (at < end && out->len - start < MESSAGE_MAX_BYTES) {
        size_t len = gudgeon_utf8_len(at, end);
        if (len == 1 && (unsigned char)*at <= ' ') {
            if (out->len > start && out->ptr[out->len - 1] != ' ')
                gudgeon_buf_add(out, " ", 1);
            at++;
        } else {
            gudgeon_buf_add(out, len > 0 ? at : "?", len > 0 ? len : 1);
            at += len > 0 ? len : 1;
        }
    }
    if (at < end)
        gudgeon_buf_puts(out, "…");
    while (out->len > start && out->ptr[out->len - 1] == ' ')
        out->len--;
}

/* A string's text, any other value as it is written. */
static void add_value(gudgeon_buf *out, gudgeon_str value)
{
    gudgeon_buf text = {0};
    if (gudgeon_json_kind(value) == '"')
        gudgeon_json_decode(gudgeon_json_inner(value), &text);
    else
        gudgeon_buf_put(&text, value);
    add_line(out, gudgeon_buf_str(&text));
    gudgeon_buf_free(&text);
}

static int holds(const gudgeon_buf *text, const char *words)
{
    size_t len = strlen(words);
    for (size_t i = 0; i + len <= text->len; i++)
        if (strncasecmp(text->ptr + i, words, len) == 0)
            return 1;
    return 0;
}

/* ---- judging ------------------------------------------------------------------------------- */

static int32_t by_code(gudgeon_str code)
{
    gudgeon_str inner = gudgeon_json_inner(code);
    for (size_t i = 0; i < COUNT_OF(codes) && inner.len > 0; i++)
        if (gudgeon_is(inner, codes[i].code))
            return codes[i].error_class;
    return UNDECIDED;
}

static int32_t by_vague_type(gudgeon_str type)
{
    for (size_t i = 0; i < COUNT_OF(vague_types); i++)
        if (gudgeon_json_is(type, vague_types[i].type))
            return vague_types[i].error_class;
    return UNDECIDED;
}

static int32_t by_status(uint32_t status)
{
    for (size_t i = 0; i < COUNT_OF(statuses); i++)
        if (status >= statuses[i].first && status <= statuses[i].last)
            return statuses[i].error_class;
    return UNDECIDED;
}

static int32_t by_wording(const struct fault *fault)
{
    for (size_t i = 0; i < COUNT_OF(wordings); i++) {
        int fits = wordings[i].status != 0
                       ? wordings[i].status == fault->status
                       : fault->status != 401 && fault->status != 403 && fault->status != 429;
        if (fits && holds(&fault->message, wordings[i].words))
            return wordings[i].error_class;
    }
    return UNDECIDED;
}

/* A number as code is a status: OpenRouter, llama.cpp, vLLM. */
static uint32_t status_in(gudgeon_str code)
{
    uint64_t number = 0;
    gudgeon_str inner = gudgeon_json_inner(code);
    if (!gudgeon_json_u64(inner.ptr != NULL ? inner : code, &number))
        return 0;
    return number >= 400 && number <= 599 ? (uint32_t)number : 0;
}

static int32_t decide(const struct fault *fault, const struct said *said)
{
    const gudgeon_str named[] = {said->code, said->inner_code, said->type};
    int32_t found = UNDECIDED;
    for (size_t i = 0; i < COUNT_OF(named) && found == UNDECIDED; i++)
        found = by_code(named[i]);
    if (found != UNDECIDED)
        return found;
    found = by_wording(fault);
    if (found == UNDECIDED)
        found = by_status(fault->status);
    if (found == UNDECIDED)
        found = by_vague_type(said->code);
    if (found == UNDECIDED)
        found = by_vague_type(said->type);
    /* Nothing to go by: within a reply that had begun, it is most often passing. */
    return found != UNDECIDED ? found : GUDGEON_RETRY;
}

static void heed_server(struct fault *fault, const gudgeon_http_head *head)
{
    gudgeon_str advice = http_header(head, "x-should-retry");
    int transient = fault->error_class == GUDGEON_RETRY;
    if (transient && gudgeon_is(advice, "false"))
        fault->error_class = GUDGEON_UNAVAILABLE;
    else if (fault->error_class == GUDGEON_INVALID && gudgeon_is(advice, "true"))
        fault->error_class = GUDGEON_RETRY;
}

void fault_fini(struct fault *fault)
{
    gudgeon_buf_free(&fault->message);
    gudgeon_buf_free(&fault->code);
}

void fault_judge(struct fault *fault, const gudgeon_http_head *head, gudgeon_str body)
{
    gudgeon_str object = find_object(body);
    struct said said = read_object(object);
    fault->status = head != NULL && head->status >= 300 ? head->status : status_in(said.code);
    if (said.message.ptr != NULL)
        add_value(&fault->message, said.message);
    else
        add_line(&fault->message, object.ptr != NULL ? object : body);
    gudgeon_str code = gudgeon_json_kind(said.code) == '"' ? said.code : said.type;
    if (gudgeon_json_kind(code) == '"')
        add_value(&fault->code, code);
    int32_t decided = decide(fault, &said);
    fault->filtered = decided == FILTERED;
    fault->error_class = fault->filtered ? GUDGEON_REFUSED : decided;
    fault->retry_after_ms = retry_after_ms(head);
    heed_server(fault, head);
}

/* ---- telling ------------------------------------------------------------------------------- */

static const char *hint_for(const struct fault *fault)
{
    if (fault->error_class == GUDGEON_AUTH)
        return " (is api_key set and right?)";
    if (fault->status == 404 || (fault->status >= 300 && fault->status < 400))
        return " (are base_url and the model's name right?)";
    return "";
}

int32_t fault_report(const struct fault *fault, const struct config *config,
                     const gudgeon_call *call)
{
    gudgeon_buf line = {0};
    char status[32] = "";
    if (fault->status != 0)
        snprintf(status, sizeof status, " answered %u", (unsigned)fault->status);
    gudgeon_buf_puts(&line, config->server);
    gudgeon_buf_puts(&line, status);
    if (fault->message.len > 0) {
        gudgeon_buf_puts(&line, ": ");
        gudgeon_buf_put(&line, gudgeon_buf_str(&fault->message));
    }
    gudgeon_buf_puts(&line, hint_for(fault));
    gudgeon_error error = {
        .size = sizeof error,
        .http_status = fault->status,
        .retry_after_ms = fault->retry_after_ms,
        .message = gudgeon_buf_str(&line),
        .provider_code =
            fault->code.len > 0 ? gudgeon_buf_str(&fault->code) : (gudgeon_str){NULL, 0},
    };
    call->error(call, &error);
    gudgeon_buf_free(&line);
    return fault->error_class;
}
