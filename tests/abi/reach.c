/* SPDX-License-Identifier: MIT */

/*
 * A tools plugin that reaches out through the host's services, in all the ways that there are:
 * `post` sends a body of two pieces with a secret in a header and says what came back.
 */

#include <stdlib.h>
#include <string.h>

#include <gudgeon/ext/http.h>
#include <gudgeon/util.h>

struct self {
    const gudgeon_host *host;
};

/* The "url" of the arguments, which hold nothing else. */
static gudgeon_str url_of(gudgeon_str arguments)
{
    const char *start = memmem(arguments.ptr, arguments.len, "\"http", 5);
    gudgeon_str url = {NULL, 0};
    if (start != NULL) {
        url.ptr = start + 1;
        url.len = (size_t)((const char *)memchr(start + 1, '"', 256) - url.ptr);
    }
    return url;
}

static int32_t exchange(const gudgeon_http *http, const gudgeon_call *call,
                        gudgeon_http_stream *stream)
{
    gudgeon_http_part first = {.size = sizeof first}, all = {.size = sizeof all},
                      end = {.size = sizeof end};
    int32_t result = http->peek(stream, &first);
    if (result == 0)
        result = http->read_all(stream, &all);
    if (result != 0)
        return result;
    char text[4096];
    int len = snprintf(text, sizeof text, "%u %.*s", http->head(stream)->status, (int)all.data.len,
                       all.data.ptr);
    result = http->read(stream, &end);
    http->close(stream);
    if (result != 0 || end.end != 1 || len < 0)
        return gudgeon_fail(call, GUDGEON_PROTOCOL, "the body does not end");
    return gudgeon_reply_text(call, 0, text);
}

static int32_t call_tool(void *data, const gudgeon_call *call, const gudgeon_tool_call *wanted)
{
    struct self *self = data;
    const gudgeon_http *http = self->host->service(self->host, GUDGEON_HTTP_ID);
    const gudgeon_http_header header = {gudgeon_text("X-Key"), gudgeon_text("{secret:key}")};
    const gudgeon_str body[] = {gudgeon_text("one and "), gudgeon_text("two")};
    const gudgeon_http_request request = {.size = sizeof request,
                                          .url = url_of(wanted->arguments),
                                          .headers = &header,
                                          .header_count = 1,
                                          .body = body,
                                          .body_count = 2};
    gudgeon_http_stream *stream;
    int32_t result = http->open(call, &request, &stream);
    return result != 0 ? result : exchange(http, call, stream);
}

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    const gudgeon_tool tool = {
        .size = sizeof tool,
        .name = gudgeon_text("post"),
        .description = gudgeon_text("Posts"),
        .parameters = gudgeon_text("{\"type\":\"object\",\"properties\":{\"url\":{}}}")};
    (void)self, (void)request;
    return call->result(call, &tool);
}

static int32_t create(void **ret, const gudgeon_call *call, const gudgeon_create *request)
{
    struct self *self = calloc(1, sizeof *self);
    (void)call;
    if (self == NULL)
        abort();
    self->host = request->host;
    *ret = self;
    return 0;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call, (void)request;
    free(self);
    return 0;
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    .kind = "tools/1",
    .name = "reach",
    .summary = "Reaches out",
    .config_schema = "{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\"}}}",
    .create = create,
    .destroy = destroy,
    .ops = &ops};

static const gudgeon_component *const components[] = {&component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "reach", "1.0.0", "MIT", components, 0};
