/* SPDX-License-Identifier: MIT */
#include "plugin/service.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/secrets.h"
#include "sys/http.h"

enum {
    HEADERS_MAX = 1000,
    HEADER_MAX_BYTES = 256 << 10,
};

/* An exchange, which belongs to the call that opened it. */
struct gudgeon_http_stream {
    struct call_resource resource;
    struct call *call;
    const struct http_ops *ops;
    struct http_stream *stream;
};

/* A plugin's request as the client takes it: texts with a NUL, secrets filled in. */
struct prepared {
    char *method, *url, *ca_file;
    gudgeon_http_header *headers;
    struct buf *values; /* of the headers that hold secrets; others are the plugin's */
    size_t count;
};

static void prepared_fini(struct prepared *prepared)
{
    for (size_t i = 0; i < prepared->count; i++)
        secrets_wipe(&prepared->values[i]);
    free(prepared->values);
    free(prepared->headers);
    free(prepared->method);
    free(prepared->url);
    free(prepared->ca_file);
}

/* ---- which hosts ----------------------------------------------------------------------------- */

/* HOST[:PORT] of a URL. Absent when it holds anything that two parsers could read in two ways. */
static gudgeon_str authority_of(const char *url)
{
    const gudgeon_str none = {NULL, 0};
    const char *start = strstr(url, "://");
    if (start == NULL)
        return none;
    start += 3;
    size_t len = strcspn(start, "/?#");
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_:[]";
    return strspn(start, allowed) >= len ? (gudgeon_str){start, len} : none;
}

static gudgeon_str without_port(gudgeon_str authority)
{
    for (size_t i = authority.len; i > 0 && authority.ptr[i - 1] != ']'; i--)
        if (authority.ptr[i - 1] == ':')
            return (gudgeon_str){authority.ptr, i - 1};
    return authority;
}

static bool is_host(gudgeon_str text, const char *name)
{
    return text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0;
}

static bool is_granted(const struct grant_list *network, gudgeon_str authority)
{
    for (size_t i = 0; i < network->count && authority.len > 0; i++)
        if (is_host(authority, network->names[i]) ||
            is_host(without_port(authority), network->names[i]))
            return true;
    return false;
}

/* Models and sinks are trusted with the network; the others go where their grant says. */
static bool may_reach(const struct service_scope *scope, const char *url)
{
    return scope->kind == KIND_MODEL || scope->kind == KIND_SINK || scope->grant.network.is_all ||
           is_granted(&scope->grant.network, authority_of(url));
}

static char *grant_for(const char *url)
{
    gudgeon_str host = without_port(authority_of(url));
    return host.len > 0 ? xasprintf("{\"network\":[\"%.*s\"]}", STR_ARG(host)) : NULL;
}

/* Where a request may go, and what would have to be granted when it may not. */
struct gate {
    const struct service_scope *scope;
    char *grant;
};

static bool pass(void *payload, const char *url)
{
    struct gate *gate = payload;
    bool may = may_reach(gate->scope, url);
    if (!may)
        gate->grant = grant_for(url);
    return may;
}

static void gate_fini(struct gate *gate)
{
    free(gate->grant);
}

static int check_first(struct gate *gate, const char *url, struct err *err)
{
    if (pass(gate, url))
        return 0;
    gudgeon_str host = without_port(authority_of(url));
    if (host.len == 0) /* the URL is not shown: it may hold a password */
        return err_set(err, ERR_REFUSED, "the URL names no host that a grant could name");
    return err_set(err, ERR_REFUSED, "the host %.*s is not granted", STR_ARG(host));
}

/* ---- opening --------------------------------------------------------------------------------- */

static int prepare_header(struct service_scope *scope, const gudgeon_http_header *from,
                          gudgeon_http_header *to, struct buf *value, struct err *err)
{
    size_t at = 0, len;
    gudgeon_str name;
    *to = *from;
    buf_init(value, HEADER_MAX_BYTES);
    if (from->value.ptr == NULL || !secrets_next(from->value, &at, &len, &name))
        return 0;
    int status = service_expand(scope, from->value, value, err);
    to->value = (gudgeon_str){value->data, value->len};
    return status;
}

static int prepare_headers(struct service_scope *scope, const gudgeon_http_request *request,
                           struct prepared *prepared, struct err *err)
{
    if (request->header_count > HEADERS_MAX ||
        (request->header_count > 0 && request->headers == NULL))
        return err_set(err, ERR_INVALID, "a request may have up to %d headers", HEADERS_MAX);
    prepared->headers = xcalloc(request->header_count + 1, sizeof *prepared->headers);
    prepared->values = xcalloc(request->header_count + 1, sizeof *prepared->values);
    int status = 0;
    for (size_t i = 0; i < request->header_count && status == 0; i++) {
        prepared->count++;
        status = prepare_header(scope, &request->headers[i], &prepared->headers[i],
                                &prepared->values[i], err);
    }
    return status;
}

static int prepare(struct service_scope *scope, const gudgeon_http_request *request,
                   struct prepared *prepared, struct err *err)
{
    int status = service_copy_text(request->url, "the URL", &prepared->url, err);
    if (status == 0 && request->method.ptr != NULL)
        status = service_copy_text(request->method, "the method", &prepared->method, err);
    if (status == 0 && request->ca_file.ptr != NULL)
        status = service_copy_text(request->ca_file, "ca_file", &prepared->ca_file, err);
    return status < 0 ? status : prepare_headers(scope, request, prepared, err);
}

static int64_t limit_of(uint64_t value)
{
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static struct http_request client_request(struct call *call, const gudgeon_http_request *request,
                                          const struct prepared *prepared, struct gate *gate)
{
    return (struct http_request){
        .method = prepared->method,
        .url = prepared->url,
        .headers = prepared->headers,
        .header_count = prepared->count,
        .body = request->body,
        .body_count = request->body_count,
        .ca_file = prepared->ca_file,
        .connect_ms = limit_of(request->connect_ms),
        .first_byte_ms = limit_of(request->first_byte_ms),
        .idle_ms = limit_of(request->idle_ms),
        .total_ms = limit_of(request->total_ms),
        .max_bytes = limit_of(request->max_bytes),
        .deadline_ns = call_deadline_ns(call),
        .cancel = call_cancel(call),
        .may_follow = pass,
        .payload = gate,
    };
}

static void release(struct call_resource *resource)
{
    gudgeon_http_stream *stream = (gudgeon_http_stream *)resource;
    stream->ops->close(stream->stream);
    free(stream);
}

static gudgeon_http_stream *own_stream(struct call *call, const struct http_ops *ops,
                                       struct http_stream *take_stream)
{
    gudgeon_http_stream *stream = xcalloc(1, sizeof *stream);
    *stream = (gudgeon_http_stream){
        .resource = {.release = release}, .call = call, .ops = ops, .stream = take_stream};
    call_own(call, &stream->resource);
    return stream;
}

static int exchange(struct call *call, const struct http_request *request,
                    gudgeon_http_stream **ret, struct err *err)
{
    const struct http_ops *ops = NULL;
    struct http_client *client = NULL;
    struct http_stream *stream = NULL;
    int status = services_http(call_scope(call)->services, &ops, &client, err);
    if (status == 0)
        status = ops->open(client, request, &stream, err);
    if (status == 0)
        *ret = own_stream(call, ops, stream);
    return status;
}

static int32_t open_stream(const gudgeon_call *abi, const gudgeon_http_request *request,
                           gudgeon_http_stream **ret)
{
    struct call *call = call_of(abi);
    if (call == NULL || call_scope(call) == NULL || request == NULL ||
        request->size < sizeof *request || ret == NULL)
        return GUDGEON_INVALID;
    struct err err;
    CLEANUP(prepared_fini) struct prepared prepared = {0};
    CLEANUP(gate_fini) struct gate gate = {.scope = call_scope(call)};
    int status = prepare(call_scope(call), request, &prepared, &err);
    if (status == 0)
        status = check_first(&gate, prepared.url, &err);
    if (status < 0)
        return call_take_refusal(call, &err, gate.grant);
    const struct http_request wanted = client_request(call, request, &prepared, &gate);
    if (exchange(call, &wanted, ret, &err) < 0)
        return call_take_refusal(call, &err, gate.grant);
    return GUDGEON_OK;
}

/* ---- an open stream -------------------------------------------------------------------------- */

static const gudgeon_http_head *head(gudgeon_http_stream *stream)
{
    return stream->ops->head(stream->stream);
}

typedef int read_fn(struct http_stream *stream, gudgeon_http_part *part, struct err *err);

static int32_t read_by(gudgeon_http_stream *stream, read_fn *read, gudgeon_http_part *part)
{
    if (part == NULL || part->size < sizeof *part)
        return GUDGEON_INVALID;
    struct err err;
    gudgeon_http_part got = {.size = sizeof got};
    if (read(stream->stream, &got, &err) < 0)
        return call_take_err(stream->call, &err);
    got.size = part->size;
    *part = got;
    return GUDGEON_OK;
}

static int32_t read_part(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, stream->ops->read, part);
}

static int32_t read_line(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, stream->ops->read_line, part);
}

static int32_t read_event(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, stream->ops->read_event, part);
}

static int32_t read_all(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, stream->ops->read_all, part);
}

static int32_t peek(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, stream->ops->peek, part);
}

static void close_stream(gudgeon_http_stream *stream)
{
    if (stream != NULL && call_disown(stream->call, &stream->resource))
        release(&stream->resource);
}

const gudgeon_http service_http = {
    .size = sizeof service_http,
    .open = open_stream,
    .head = head,
    .read = read_part,
    .read_line = read_line,
    .read_event = read_event,
    .read_all = read_all,
    .close = close_stream,
    .peek = peek,
};
