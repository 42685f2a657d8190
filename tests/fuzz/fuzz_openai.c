/* SPDX-License-Identifier: MIT */
/*
 * The openai backend against any bytes that a server may send. The first two bytes of the input
 * choose how they come; the rest is the body. Whatever it is, a result comes with OK and only
 * then, holds strict JSON and a known finish; an error has one line of UTF-8.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/json.h>

#include "tests/plugins/mock_http.h"

extern const struct gudgeon_plugin gudgeon_plugin;

static struct mock_http http;
static int results;

static void require(int truth)
{
    if (!truth)
        abort();
}

struct mock_http *mock_http_of_call(const gudgeon_call *call)
{
    (void)call;
    return &http;
}

static int64_t deadline_ns(const gudgeon_call *call)
{
    (void)call;
    return INT64_MAX;
}

static int32_t never(const gudgeon_call *call)
{
    (void)call;
    return 0;
}

static int32_t take_delta(const gudgeon_call *call, const gudgeon_delta *delta)
{
    (void)call;
    require(delta->channel >= GUDGEON_TEXT && delta->channel <= GUDGEON_ARGUMENTS);
    return 0;
}

static int32_t take_result(const gudgeon_call *call, const void *result)
{
    const gudgeon_reply *reply = result;
    (void)call;
    require(reply->finish >= GUDGEON_FINISH_STOP && reply->finish <= GUDGEON_FINISH_OTHER);
    require(gudgeon_json_scan(reply->content, 0) == GUDGEON_JSON_SOUND);
    results++;
    return 0;
}

static void take_error(const gudgeon_call *call, const gudgeon_error *error)
{
    const char *at = error->message.ptr, *end = at + error->message.len;
    (void)call;
    require(error->message.len > 0 && error->message.len < 1024);
    for (size_t len; at < end; at += len) {
        len = gudgeon_utf8_len(at, end);
        require(len > 0 && (unsigned char)*at >= ' ');
    }
}

static const gudgeon_call call = {
    .size = sizeof call,
    .deadline_ns = deadline_ns,
    .cancelled = never,
    .cancel_fd = never,
    .delta = take_delta,
    .result = take_result,
    .error = take_error,
};

static const void *service(const gudgeon_host *host, const char *id)
{
    (void)host;
    return strcmp(id, GUDGEON_HTTP_ID) == 0 ? &mock_http_service : NULL;
}

static const gudgeon_host host = {.size = sizeof host, .service = service};

static const char *const heads[] = {"content-type: text/event-stream",
                                    "content-type: application/json", "x-should-retry: true",
                                    "retry-after: 3"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const gudgeon_component *component = gudgeon_plugin.components[0];
    const gudgeon_model *ops = component->ops;
    const gudgeon_create create = {.size = sizeof create,
                                   .host = &host,
                                   .config = gudgeon_text("{\"base_url\":\"http://h\"}")};
    const gudgeon_stop stop = {.size = sizeof stop};
    void *self = NULL;
    if (size < 2)
        return 0;
    char *body = malloc(size - 2 > 0 ? size - 2 : 1); /* of exactly this size, for the sanitizer */
    memcpy(body, bytes + 2, size - 2);
    mock_http_init(&http);
    http.status = (bytes[0] & 1) != 0 ? 200 : 400 + bytes[0] / 2;
    http.headers = heads[bytes[1] & 3];
    http.end = (enum mock_end)(bytes[1] >> 2 & 3) % 3;
    http.slice = bytes[1] >> 4;
    http.body = body;
    http.body_len = size - 2;
    const gudgeon_generate request = {
        .size = sizeof request, .stream = (bytes[0] & 2) != 0, .max_output_tokens = bytes[0]};
    require(component->create(&self, &call, &create) == GUDGEON_OK);
    results = 0;
    int32_t class = ops->generate(self, &call, &request);
    require((class == GUDGEON_OK) == (results == 1) && class < GUDGEON_CLASS_COUNT);
    require(http.fault.len == 0 && http.opened == http.closed);
    require(component->destroy(self, &call, &stop) == GUDGEON_OK);
    mock_http_fini(&http);
    free(body);
    return 0;
}
