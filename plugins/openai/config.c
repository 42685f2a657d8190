/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <gudgeon/json.h>
#include <stdio.h>
#include <strings.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- dialects ------------------------------------------------------------------------------ */

/* What is known of servers by their host names; the first row whose name ends so. */
static const struct {
    const char *suffix;
    struct dialect dialect;
} servers[] = {
    {"api.openai.com",
     {.max_tokens_field = MAX_COMPLETION_TOKENS, .include_usage = 1, .cache_key = 1}},
    {".openai.azure.com", {.max_tokens_field = MAX_COMPLETION_TOKENS, .include_usage = 1}},
    /* Refuses a turn with calls whose reasoning is missing, be it empty. */
    {"api.deepseek.com", {.echo_reasoning = ECHO_TOOL_TURNS, .include_usage = 1}},
    /* Gives usage unasked and refuses fields that it does not know. */
    {"api.mistral.ai", {.include_usage = 0}},
    {"", {.include_usage = 1}},
};

static const struct {
    const char *key;
    size_t offset;
    const char *values[4]; /* in the order of the enum */
} switches[] = {
    {"max_tokens_field",
     offsetof(struct dialect, max_tokens_field),
     {"max_tokens", "max_completion_tokens"}},
    {"tool_content", offsetof(struct dialect, tool_content), {"null", "empty"}},
    {"echo_reasoning",
     offsetof(struct dialect, echo_reasoning),
     {"auto", "never", "tool_turns", "always"}},
    {"reasoning_field",
     offsetof(struct dialect, reasoning_field),
     {"as_given", "reasoning_content", "reasoning"}},
    {"system_role", offsetof(struct dialect, system_role), {"system", "developer", "user"}},
    {"tool_images", offsetof(struct dialect, tool_images), {"follow", "inline", "none"}},
    {"choice_none", offsetof(struct dialect, choice_none), {"send", "text"}},
    {"unlisted_calls", offsetof(struct dialect, unlisted_calls), {"send", "text"}},
    {"output_format",
     offsetof(struct dialect, output_format),
     {"json_schema", "strict_json_schema", "none"}},
    {"include_usage", offsetof(struct dialect, include_usage), {"false", "true"}},
    {"cache_key", offsetof(struct dialect, cache_key), {"false", "true"}},
};

static struct dialect default_dialect(const char *server)
{
    size_t i = 0;
    for (; i + 1 < COUNT_OF(servers); i++) {
        size_t len = strlen(server), tail = strlen(servers[i].suffix);
        if (len >= tail && strcasecmp(server + len - tail, servers[i].suffix) == 0)
            break;
    }
    return servers[i].dialect;
}

static void read_dialect(gudgeon_str object, struct dialect *dialect)
{
    for (size_t i = 0; i < COUNT_OF(switches); i++) {
        gudgeon_str value = gudgeon_json_get(object, switches[i].key);
        if (gudgeon_json_kind(value) == '"')
            value = gudgeon_json_inner(value);
        for (uint8_t n = 0; n < COUNT_OF(switches[i].values); n++)
            if (switches[i].values[n] != NULL && gudgeon_is(value, switches[i].values[n]))
                *((uint8_t *)dialect + switches[i].offset) = n;
    }
}

/* ---- values -------------------------------------------------------------------------------- */

/* The string decoded, to be freed; NULL when it is absent or empty. Sets *failed. */
static char *take_text(gudgeon_str value, int *failed)
{
    gudgeon_buf out = {0};
    gudgeon_json_decode(gudgeon_json_inner(value), &out);
    *failed |= out.failed;
    return out.ptr;
}

static char *join(const char *a, gudgeon_str b, const char *c, int *failed)
{
    gudgeon_buf out = {0};
    gudgeon_buf_puts(&out, a);
    gudgeon_buf_put(&out, b);
    gudgeon_buf_puts(&out, c);
    *failed |= out.failed;
    return out.ptr;
}

/* "30s" in milliseconds; 0 when absent. */
static uint64_t read_time(gudgeon_str value)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 3600 * 1000}};
    gudgeon_str text = gudgeon_json_inner(value);
    uint64_t number = 0, most = UINT64_C(365) * 24 * 3600 * 1000;
    while (text.len > 0 && *text.ptr >= '0' && *text.ptr <= '9' && number < most) {
        number = number * 10 + (uint64_t)(*text.ptr - '0');
        text.ptr++;
        text.len--;
    }
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (gudgeon_is(text, units[i].unit))
            return number < most / units[i].ms ? number * units[i].ms : most;
    return 0;
}

/* ---- the URL ------------------------------------------------------------------------------- */

static gudgeon_str until(gudgeon_str text, const char *stops)
{
    uint64_t len = 0;
    while (len < text.len && strchr(stops, text.ptr[len]) == NULL)
        len++;
    return (gudgeon_str){text.ptr, len};
}

static int ends_with(gudgeon_str text, const char *tail)
{
    size_t len = strlen(tail);
    return text.len >= len && memcmp(text.ptr + text.len - len, tail, len) == 0;
}

/* Splits `base`, e.g. https://user:key@host:8080/v1?api-version=1 */
static void read_url(struct config *config, const char *base, int *failed)
{
    static const char endpoint[] = "/chat/completions";
    gudgeon_str path = until(gudgeon_text(base), "?#");
    gudgeon_str query = until(gudgeon_text(base + path.len), "#");
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (ends_with(path, endpoint))
        path.len -= sizeof endpoint - 1;
    char *url = join("", path, endpoint, failed);
    config->url = join(url != NULL ? url : "", query, "", failed);
    free(url);

    gudgeon_str scheme = until(path, ":");
    const char *rest = path.ptr + scheme.len + (scheme.len + 3 <= path.len ? 3 : 0);
    gudgeon_str after = {rest, (uint64_t)(path.ptr + path.len - rest)};
    gudgeon_str authority = until(after, "/");
    const char *at = memrchr(authority.ptr, '@', authority.len);
    if (at != NULL) {
        after.len -= (uint64_t)(at + 1 - after.ptr);
        after.ptr = at + 1;
        authority = until(after, "/");
    }
    gudgeon_str name =
        authority.len > 0 && *authority.ptr == '[' ? until(authority, "]") : until(authority, ":");
    config->server = join("", name, *name.ptr == '[' ? "]" : "", failed);
    char *prefix = join("", scheme, "://", failed);
    config->place = join(prefix != NULL ? prefix : "", after, "", failed);
    free(prefix);
}

/* ---- headers ------------------------------------------------------------------------------- */

static void add_header(struct config *config, char *name, char *value, int *failed)
{
    size_t size = (config->header_count + 1) * sizeof *config->headers;
    gudgeon_http_header *grown = realloc(config->headers, size);
    if (grown == NULL || name == NULL) {
        config->headers = grown != NULL ? grown : config->headers;
        *failed |= grown == NULL;
        free(name);
        free(value);
        return;
    }
    config->headers = grown;
    /* An empty value was decoded into nothing. */
    grown[config->header_count++] = (gudgeon_http_header){
        gudgeon_text(name), value != NULL ? gudgeon_text(value) : (gudgeon_str){NULL, 0}};
}

static int has_header(const struct config *config, const char *name)
{
    for (size_t i = 0; i < config->header_count; i++)
        if (strcasecmp(config->headers[i].name.ptr, name) == 0)
            return 1;
    return 0;
}

static const struct {
    const char *name, *value;
} usual_headers[] = {
    {"content-type", "application/json"},
    {"accept", "text/event-stream, application/json"},
};

static void read_headers(struct config *config, gudgeon_str object, int *failed)
{
    gudgeon_json_iter iter = gudgeon_json_each(gudgeon_json_get(object, "headers"));
    gudgeon_str key, value;
    while (gudgeon_json_next(&iter, &key, &value)) {
        gudgeon_buf name = {0};
        gudgeon_json_decode(key, &name);
        *failed |= name.failed;
        add_header(config, name.ptr, take_text(value, failed), failed);
    }
    char *secret = take_text(gudgeon_json_get(object, "api_key"), failed);
    if (secret != NULL && !has_header(config, "authorization"))
        add_header(config, strdup("authorization"),
                   join("Bearer ", gudgeon_text(secret), "", failed), failed);
    free(secret);
    for (size_t i = 0; i < COUNT_OF(usual_headers); i++)
        if (!has_header(config, usual_headers[i].name))
            add_header(config, strdup(usual_headers[i].name), strdup(usual_headers[i].value),
                       failed);
}

/* ---- create and destroy -------------------------------------------------------------------- */

static void free_config(struct config *config)
{
    for (size_t i = 0; i < config->header_count; i++) {
        free((char *)config->headers[i].name.ptr);
        free((char *)config->headers[i].value.ptr);
    }
    free(config->headers);
    free(config->url);
    free(config->server);
    free(config->place);
    free(config->ca_file);
    free(config);
}

static int read_config(struct config *config, gudgeon_str text)
{
    int failed = 0;
    gudgeon_str object = gudgeon_json_root(text);
    gudgeon_str timeouts = gudgeon_json_get(object, "timeouts");
    char *base = take_text(gudgeon_json_get(object, "base_url"), &failed);
    read_url(config, base != NULL ? base : "https://api.openai.com/v1", &failed);
    free(base);
    if (failed)
        return -1;
    read_headers(config, object, &failed);
    config->ca_file = take_text(gudgeon_json_get(object, "ca_file"), &failed);
    config->connect_ms = read_time(gudgeon_json_get(timeouts, "connect"));
    config->first_byte_ms = read_time(gudgeon_json_get(timeouts, "first_byte"));
    config->idle_ms = read_time(gudgeon_json_get(timeouts, "idle"));

    struct dialect *dialect = &config->dialect;
    *dialect = default_dialect(config->server);
    read_dialect(gudgeon_json_get(object, "dialect"), dialect);
    snprintf(config->variant, sizeof config->variant, "c%de%dr%di%d", dialect->tool_content,
             dialect->echo_reasoning, dialect->reasoning_field, dialect->tool_images);
    return failed ? -1 : 0;
}

int32_t config_create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    const gudgeon_http *http = request->host->service(request->host, GUDGEON_HTTP_ID);
    if (http == NULL)
        return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "openai: this host offers no %s",
                            GUDGEON_HTTP_ID);
    struct config *config = calloc(1, sizeof *config);
    if (config == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "openai: out of memory");
    config->host = request->host;
    config->http = http;
    config->memo = request->host->service(request->host, GUDGEON_MEMO_ID);
    if (read_config(config, request->config) != 0) {
        free_config(config);
        return gudgeon_fail(call, GUDGEON_LIMIT, "openai: out of memory");
    }
    *self = config;
    return GUDGEON_OK;
}

int32_t config_destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    free_config(self);
    return GUDGEON_OK;
}
