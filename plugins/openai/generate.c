/* SPDX-License-Identifier: MIT */
#include "generate.h"

#include "assembly.h"
#include "fault.h"
#include "origin.h"
#include "reply.h"
#include "request.h"

#include <strings.h>
#include <time.h>

/* ---- failures on the way ------------------------------------------------------------------- */

static int32_t fail(const struct request *request, int32_t error_class, const char *what)
{
    return gudgeon_fail(request->call, error_class, "%s: %s", request->config->server, what);
}

static int32_t fail_by_body(const struct request *request, const gudgeon_http_head *head,
                            gudgeon_str body)
{
    struct fault fault = {0};
    int32_t error_class;
    fault_judge(&fault, head, body);
    if (fault.filtered)
        error_class =
            reply_give_refusal(request, gudgeon_buf_str(&fault.message), "content_filter");
    else
        error_class = fault_report(&fault, request->config, request->call);
    fault_fini(&fault);
    return error_class;
}

static int deadline_passed(const gudgeon_call *call)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec >= call->deadline_ns(call);
}

/* The class of a failed HTTP op, whose detail is in the call already. A limit of the connection
 * that ran out although the call has time left is a server that went silent: that may pass. */
static int32_t http_class(const struct request *request, int32_t error_class)
{
    int silent = error_class == GUDGEON_TIMEOUT && !deadline_passed(request->call);
    return silent ? GUDGEON_RETRY : error_class;
}

/* ---- one reply ----------------------------------------------------------------------------- */

static int32_t finish(struct assembly *assembly, const struct request *request)
{
    assembly_settle(assembly);
    if (assembly->failed)
        return fail(request, GUDGEON_LIMIT, "the reply is too large");
    if (assembly->stopped)
        return GUDGEON_CANCELLED;
    if (gudgeon_is(gudgeon_buf_str(&assembly->finish), "error"))
        return fail(request, GUDGEON_RETRY, "the reply ended with an error");
    return reply_give(assembly, request);
}

/* A whole reply in one JSON object. */
static int32_t take_body(struct assembly *assembly, const struct request *request,
                         const gudgeon_http_head *head, gudgeon_str body)
{
    gudgeon_str root = gudgeon_json_root(body);
    int shape = gudgeon_json_scan(body, GUDGEON_JSON_LAX);
    if (body.len == 0 || shape == GUDGEON_JSON_CUT)
        return fail(request, GUDGEON_RETRY, "the reply was cut short");
    if (gudgeon_json_kind(root) == '<')
        return fail(request, GUDGEON_UNAVAILABLE, "answered with a web page; is base_url right?");
    if (shape != GUDGEON_JSON_SOUND)
        return fail(request, GUDGEON_RETRY, "the reply is no JSON");
    gudgeon_str error = fault_find(root);
    if (error.ptr != NULL)
        return fail_by_body(request, head, error);
    if (gudgeon_json_item(gudgeon_json_get(root, "choices"), 0).ptr == NULL)
        return fail(request, GUDGEON_UNAVAILABLE,
                    "answered with something else than a chat completion; is base_url right?");
    assembly_add(assembly, root);
    return finish(assembly, request);
}

enum { GO_ON = -1, DONE = -2 }; /* beside the classes */

static int32_t take_event(struct assembly *assembly, const struct request *request,
                          const gudgeon_http_head *head, const gudgeon_http_part *event)
{
    gudgeon_str root = gudgeon_json_root(event->data);
    int is_error = gudgeon_is(event->type, "error");
    if (gudgeon_is(root, "[DONE]"))
        return DONE;
    if (gudgeon_json_kind(root) != '{') /* a comment in disguise, unless it is called an error */
        return is_error ? fail_by_body(request, head, event->data) : GO_ON;
    if (gudgeon_json_scan(root, GUDGEON_JSON_LAX) != GUDGEON_JSON_SOUND)
        return fail(request, GUDGEON_RETRY, "an event of the reply is no JSON");
    gudgeon_str error = is_error ? root : fault_find(root);
    if (error.ptr != NULL)
        return fail_by_body(request, head, error);
    assembly_add(assembly, root);
    if (assembly->failed)
        return fail(request, GUDGEON_LIMIT, "the reply is too large");
    return assembly->stopped ? GUDGEON_CANCELLED : GO_ON;
}

/* A reply in events. [DONE] ends it, and so does a finish reason: what comes after that (usage,
 * [DONE]) is taken while it comes, but nothing hangs on it. */
static int32_t take_events(struct assembly *assembly, const struct request *request,
                           gudgeon_http_stream *stream)
{
    const gudgeon_http *http = request->config->http;
    int32_t state = GO_ON;
    while (state == GO_ON) {
        gudgeon_http_part event = {.size = sizeof event};
        int32_t error_class = http->read_event(stream, &event);
        if (error_class == GUDGEON_CANCELLED || error_class == GUDGEON_LIMIT)
            return error_class;
        if (error_class == GUDGEON_OK && !event.end)
            state = take_event(assembly, request, http->head(stream), &event);
        else if (assembly_is_finished(assembly))
            state = DONE;
        else if (error_class == GUDGEON_OK)
            return fail(request, GUDGEON_RETRY, "the stream ended before the reply did");
        else
            return http_class(request, error_class);
    }
    return state == DONE ? finish(assembly, request) : state;
}

/* ---- events or a body? --------------------------------------------------------------------- */

static int holds(gudgeon_str text, const char *word)
{
    size_t len = strlen(word);
    for (uint64_t i = 0; i + len <= text.len; i++)
        if (strncasecmp(text.ptr + i, word, len) == 0)
            return 1;
    return 0;
}

static gudgeon_str content_type(const gudgeon_http_head *head)
{
    for (uint64_t i = 0; i < head->header_count; i++)
        if (gudgeon_is(head->headers[i].name, "content-type"))
            return head->headers[i].value;
    return (gudgeon_str){NULL, 0};
}

/* Servers answer plainly where a stream was asked for, and the other way round, and name either
 * by the wrong content type: so what the body begins with decides. The content type has a say
 * while there is only white space, which servers send to keep a connection alive. */
static int32_t comes_in_events(const struct request *request, gudgeon_http_stream *stream,
                               int *events)
{
    const gudgeon_http *http = request->config->http;
    gudgeon_http_part first = {.size = sizeof first};
    gudgeon_str type = content_type(http->head(stream));
    *events = holds(type, "event-stream") || (type.ptr == NULL && request->generate->stream);
    if (!GUDGEON_HAS(http, peek) || http->peek == NULL)
        return GUDGEON_OK;
    int32_t error_class = http->peek(stream, &first);
    if (error_class != GUDGEON_OK)
        return http_class(request, error_class);
    gudgeon_str root = gudgeon_json_root(first.data);
    if (!first.end && root.len > 0)
        *events = strchr("{[<", *root.ptr) == NULL;
    return GUDGEON_OK;
}

static int32_t take_reply(const struct request *request, gudgeon_http_stream *stream)
{
    const gudgeon_http *http = request->config->http;
    struct assembly assembly = {.listener = request->generate->stream ? request->call : NULL};
    int events = 0;
    int32_t error_class = comes_in_events(request, stream, &events);
    if (error_class == GUDGEON_OK && events) {
        error_class = take_events(&assembly, request, stream);
    } else if (error_class == GUDGEON_OK) {
        gudgeon_http_part all = {.size = sizeof all};
        error_class = http->read_all(stream, &all);
        error_class = error_class != GUDGEON_OK
                          ? http_class(request, error_class)
                          : take_body(&assembly, request, http->head(stream), all.data);
    }
    assembly_fini(&assembly);
    return error_class;
}

static int32_t take_refusal(const struct request *request, gudgeon_http_stream *stream)
{
    const gudgeon_http *http = request->config->http;
    gudgeon_http_part all = {.size = sizeof all};
    int32_t error_class = http->read_all(stream, &all);
    if (error_class == GUDGEON_CANCELLED)
        return error_class;
    /* A body that cannot be read changes nothing: the status says enough. */
    gudgeon_str body = error_class == GUDGEON_OK ? all.data : (gudgeon_str){NULL, 0};
    return fail_by_body(request, http->head(stream), body);
}

/* ---- the exchange -------------------------------------------------------------------------- */

static int32_t exchange(const struct request *request, const struct body *body)
{
    const struct config *config = request->config;
    gudgeon_http_stream *stream = NULL;
    gudgeon_http_request http_request = {
        .size = sizeof http_request,
        .url = gudgeon_text(config->url),
        .headers = config->headers,
        .header_count = config->header_count,
        .body = body->parts,
        .body_count = body->count,
        .ca_file = gudgeon_text(config->ca_file),
        .connect_ms = config->connect_ms,
        .first_byte_ms = config->first_byte_ms,
        .idle_ms = config->idle_ms,
    };
    int32_t error_class = config->http->open(request->call, &http_request, &stream);
    if (error_class != GUDGEON_OK)
        return http_class(request, error_class);
    uint32_t status = config->http->head(stream)->status;
    error_class =
        status >= 200 && status < 300 ? take_reply(request, stream) : take_refusal(request, stream);
    config->http->close(stream);
    return error_class;
}

int32_t generate(void *self, const gudgeon_call *call, const gudgeon_generate *generate_request)
{
    const struct config *config = self;
    struct body body = {0};
    gudgeon_buf origin = {0};
    origin_add(&origin, config, generate_request->model);
    struct request request = {
        .config = config,
        .call = call,
        .generate = generate_request,
        .extra = gudgeon_json_root(generate_request->extra),
        .origin = gudgeon_buf_str(&origin),
        .as_text = generate_request->tool_choice == GUDGEON_CHOICE_NONE &&
                   config->dialect.choice_none == NONE_TEXT,
    };
    int32_t error_class = request_encode(&request, &body);
    if (error_class == GUDGEON_OK)
        error_class = exchange(&request, &body);
    body_fini(&body);
    gudgeon_buf_free(&origin);
    return error_class;
}
