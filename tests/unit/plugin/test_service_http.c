/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/secrets.h"
#include "plugin/service.h"
#include "plugin/services.h"
#include "sys/cancel.h"
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gudgeon/util.h>

/* ---- a server that tells what it was sent
 * -------------------------------------------------------- */

static struct server {
    pthread_t thread;
    int listener;
    int port;
    atomic_int seen;          /* requests to /seen */
    struct cancel *to_cancel; /* /hang: set once the request is there */
} server;

/* How much of the request is still to come; the head's end is not there yet: something. */
static size_t missing(const struct buf *request)
{
    const char *end = strstr(request->data, "\r\n\r\n");
    const char *length = strcasestr(request->data, "\r\ncontent-length: ");
    if (end == NULL)
        return 1;
    size_t body = length != NULL ? strtoul(length + strlen("\r\ncontent-length: "), NULL, 10) : 0;
    return (size_t)(end + 4 - request->data) + body - request->len;
}

static bool read_request(int fd, struct buf *request)
{
    char chunk[4096];
    while (missing(request) > 0) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got <= 0 || buf_add(request, chunk, (size_t)got) < 0)
            return false;
    }
    return true;
}

static void say(int fd, const char *status, const char *header, const char *body)
{
    CLEANUP(free_ptr)
    char *reply = xasprintf("HTTP/1.1 %s\r\n%sConnection: close\r\n\r\n%s", status, header, body);
    ssize_t ignored = write(fd, reply, strlen(reply));
    (void)ignored;
}

static bool is_for(const struct buf *head, const char *path)
{
    CLEANUP(free_ptr) char *part = xasprintf(" %s HTTP/", path);
    return strstr(head->data, part) != NULL;
}

/* Until the other side goes away. */
static void hang(int fd)
{
    char byte;
    cancel_set(server.to_cancel);
    while (read(fd, &byte, 1) > 0)
        ;
}

static void answer(int fd)
{
    CLEANUP(buf_fini) struct buf request = BUF_INIT(1 << 20);
    CLEANUP(free_ptr)
    char *elsewhere = xasprintf("Location: http://localhost:%d/seen\r\n", server.port);
    if (!read_request(fd, &request))
        return;
    atomic_fetch_add(&server.seen, is_for(&request, "/seen"));
    if (is_for(&request, "/redirect"))
        say(fd, "302 Found", elsewhere, "");
    else if (is_for(&request, "/lines"))
        say(fd, "200 OK", "", "one\n\ntwo\n");
    else if (is_for(&request, "/events"))
        say(fd, "200 OK", "", "event: e\ndata: d\n\n");
    else if (is_for(&request, "/seen"))
        say(fd, "200 OK", "", request.data);
    else if (is_for(&request, "/cut"))
        say(fd, "200 OK", "Transfer-Encoding: chunked\r\n", "64\r\nless than that");
    else if (is_for(&request, "/hang"))
        hang(fd);
    else
        say(fd, "429 Slow Down", "X-Reason: busy\r\n", "body");
}

static void *serve(void *payload)
{
    (void)payload;
    for (;;) {
        CLEANUP(close_fd) int fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return NULL;
        answer(fd);
    }
}

static void server_start(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(server.listener, (struct sockaddr *)&address, sizeof address) < 0 ||
        listen(server.listener, 16) < 0 ||
        getsockname(server.listener, (struct sockaddr *)&address, &len) < 0)
        abort();
    server.port = ntohs(address.sin_port);
    pthread_create(&server.thread, NULL, serve, NULL);
}

static void server_stop(void)
{
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listener);
}

/* ---- one instance and one call
 * -------------------------------------------------------------------- */

static struct services *services;

struct bench {
    struct secrets *secrets;
    struct service_scope scope;
    struct call *call;
};

static void bench_init(struct bench *bench, enum kind kind, const char *grant, int64_t deadline_ns)
{
    bench->secrets = secrets_new();
    const struct service_scope_options options = {
        .kind = kind,
        .services = services,
        .secrets = bench->secrets,
        .config = str_of("{\"api_key\":\"{secret:key}\",\"other\":\"{secret:missing}\"}"),
        .grant = str_of(grant)};
    CU_ASSERT_EQUAL_FATAL(service_scope_init(&bench->scope, &options, NULL), 0);
    bench->call = call_new(&(struct call_options){.deadline_ns = deadline_ns});
    call_begin(bench->call, &(struct call_op){.scope = &bench->scope});
}

static void bench_fini(struct bench *bench)
{
    CU_ASSERT_EQUAL(call_end(bench->call, GUDGEON_OK), 0);
    call_free(bench->call);
    service_scope_fini(&bench->scope);
    secrets_free(bench->secrets);
}

static char *url_of(const char *path)
{
    return path[0] == '/' ? xasprintf("http://127.0.0.1:%d%s", server.port, path) : xstrdup(path);
}

static int32_t get(struct bench *bench, const char *path, gudgeon_http_stream **ret)
{
    CLEANUP(free_ptr) char *url = url_of(path);
    const gudgeon_http_request request = {.size = sizeof request, .url = str_of(url)};
    return service_http.open(call_abi(bench->call), &request, ret);
}

static gudgeon_http_stream *opened(struct bench *bench, const char *path)
{
    gudgeon_http_stream *stream = NULL;
    int32_t result = get(bench, path, &stream);
    if (result != GUDGEON_OK)
        printf("#   %s\n", call_error(bench->call)->message);
    CU_ASSERT_EQUAL_FATAL(result, GUDGEON_OK);
    return stream;
}

/* ---- the tests
 * ------------------------------------------------------------------------------------- */

static void test_head_and_body(void)
{
    struct bench bench;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    gudgeon_http_stream *stream = opened(&bench, "/any");
    const gudgeon_http_head *head = service_http.head(stream);
    CU_ASSERT_EQUAL(head->status, 429); /* not judged */
    bool found = false;
    for (uint64_t i = 0; i < head->header_count; i++)
        found |=
            str_is(head->headers[i].name, "x-reason") && str_is(head->headers[i].value, "busy");
    CU_ASSERT_TRUE(found);
    gudgeon_http_part part = {.size = sizeof part};
    CU_ASSERT_EQUAL(service_http.peek(stream, &part), GUDGEON_OK);
    CU_ASSERT_TRUE(str_is(part.data, "body"));
    CU_ASSERT_EQUAL(service_http.read_all(stream, &part), GUDGEON_OK);
    CHECK_STR(part.data.ptr, "body");
    CU_ASSERT_EQUAL(part.size, sizeof part);
    service_http.close(stream);
    service_http.close(NULL);
    bench_fini(&bench);
}

static void test_parts(void)
{
    struct bench bench;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    gudgeon_http_part part = {.size = sizeof part};
    gudgeon_http_stream *stream = opened(&bench, "/lines");
    CU_ASSERT_EQUAL(service_http.read_line(stream, &part), GUDGEON_OK);
    CHECK_STR(part.data.ptr, "one");
    CU_ASSERT_EQUAL(service_http.read_line(stream, &part), GUDGEON_OK);
    CHECK_STR(part.data.ptr, "two");
    CU_ASSERT_EQUAL(service_http.read_line(stream, &part), GUDGEON_OK);
    CU_ASSERT_EQUAL(part.end, 1);
    stream = opened(&bench, "/events");
    part = (gudgeon_http_part){.size = sizeof part};
    CU_ASSERT_EQUAL(service_http.read_event(stream, &part), GUDGEON_OK);
    CU_ASSERT_TRUE(str_is(part.type, "e"));
    CU_ASSERT_TRUE(str_is(part.data, "d"));
    stream = opened(&bench, "/any");
    CU_ASSERT_EQUAL(service_http.read(stream, &part), GUDGEON_OK);
    CU_ASSERT_TRUE(str_is(part.data, "body"));
    part.size = 8;
    CU_ASSERT_EQUAL(service_http.read(stream, &part), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(service_http.read(stream, NULL), GUDGEON_INVALID);
    bench_fini(&bench); /* closes all three */
}

static void test_secrets_in_headers(void)
{
    static const struct {
        const char *value;
        int32_t op_class;
        const char *says; /* what was sent, or the message */
    } rows[] = {
        {"Bearer {secret:key}", GUDGEON_OK, "\r\nX-Key: Bearer sk-v4lue\r\n"},
        {"plain {text}", GUDGEON_OK, "\r\nX-Key: plain {text}\r\n"},
        {"{secret:other}", GUDGEON_REFUSED, "does not name {secret:other}"},
        {"{secret:missing}", GUDGEON_AUTH, "no secret \"missing\""},
        {"two\r\nlines", GUDGEON_INVALID, "X-Key"},
    };
    setenv("GUDGEON_SECRET_KEY", "sk-v4lue", 1);
    setenv("GUDGEON_SECRET_OTHER", "hidden", 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        bench_init(&bench, KIND_MODEL, NULL, 0);
        CLEANUP(free_ptr) char *url = url_of("/seen");
        const gudgeon_http_header header = {str_of("X-Key"), str_of(rows[i].value)};
        const gudgeon_str body[] = {str_of("{\"a\":"), str_of("1}")};
        const gudgeon_http_request request = {.size = sizeof request,
                                              .url = str_of(url),
                                              .headers = &header,
                                              .header_count = 1,
                                              .body = body,
                                              .body_count = COUNT_OF(body)};
        gudgeon_http_stream *stream = NULL;
        CU_ASSERT_EQUAL(service_http.open(call_abi(bench.call), &request, &stream),
                        rows[i].op_class);
        CU_ASSERT_EQUAL(stream != NULL, rows[i].op_class == GUDGEON_OK);
        gudgeon_http_part part = {.size = sizeof part};
        const char *says = call_error(bench.call)->message;
        if (stream != NULL && service_http.read_all(stream, &part) == GUDGEON_OK)
            says = part.data.ptr;
        CU_ASSERT_PTR_NOT_NULL(strstr(says, rows[i].says));
        if (stream != NULL)
            CU_ASSERT_PTR_NOT_NULL(strstr(says, "\r\n\r\n{\"a\":1}"));
        bench_fini(&bench);
    }
}

static void test_grants(void)
{
    CLEANUP(free_ptr) char *with_port = xasprintf("{\"network\":[\"127.0.0.1:%d\"]}", server.port);
    CLEANUP(free_ptr) char *user = xasprintf("http://127.0.0.1@localhost:%d/any", server.port);
    const struct {
        enum kind kind;
        const char *grant, *path;
        int32_t op_class;
        const char *to_add;
    } rows[] = {
        {KIND_MODEL, NULL, "/any", GUDGEON_OK, ""},
        {KIND_SINK, NULL, "/any", GUDGEON_OK, ""},
        {KIND_TOOLS, NULL, "/any", GUDGEON_REFUSED, "{\"network\":[\"127.0.0.1\"]}"},
        {KIND_TOOLS, "{\"network\":false}", "/any", GUDGEON_REFUSED,
         "{\"network\":[\"127.0.0.1\"]}"},
        {KIND_TOOLS, "{\"network\":[\"27.0.0.1\"]}", "/any", GUDGEON_REFUSED,
         "{\"network\":[\"127.0.0.1\"]}"},
        {KIND_TOOLS, "{\"network\":true}", "/any", GUDGEON_OK, ""},
        {KIND_TOOLS, "{\"network\":[\"LOCALHOST\",\"127.0.0.1\"]}", "/redirect", GUDGEON_OK, ""},
        {KIND_TOOLS, with_port, "/any", GUDGEON_OK, ""},
        {KIND_TOOLS, with_port, "/redirect", GUDGEON_REFUSED, "{\"network\":[\"localhost\"]}"},
        {KIND_TOOLS, "{\"network\":[\"127.0.0.1:1\"]}", "/any", GUDGEON_REFUSED,
         "{\"network\":[\"127.0.0.1\"]}"},
        {KIND_TOOLS, "{\"network\":[\"127.0.0.1\",\"localhost\"]}", user, GUDGEON_REFUSED, ""},
        {KIND_EXECUTOR, NULL, "http://[::1]:1/", GUDGEON_REFUSED, "{\"network\":[\"[::1]\"]}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        bench_init(&bench, rows[i].kind, rows[i].grant, 0);
        gudgeon_http_stream *stream = NULL;
        int seen = atomic_load(&server.seen);
        CU_ASSERT_EQUAL(get(&bench, rows[i].path, &stream), rows[i].op_class);
        if (rows[i].op_class != GUDGEON_OK) /* a host that is not granted hears nothing */
            CU_ASSERT_EQUAL(atomic_load(&server.seen), seen);
        CU_ASSERT_EQUAL(stream != NULL, rows[i].op_class == GUDGEON_OK);
        CHECK_STR(call_error(bench.call)->grant, rows[i].to_add);
        bench_fini(&bench);
    }
}

static void test_failures(void)
{
    static const gudgeon_http_request rows[] = {
        {.size = 8, .url = {"http://127.0.0.1/", 17}},
        {.size = sizeof rows[0]},
        {.size = sizeof rows[0], .url = {"http://127.0.0.1/\0x", 19}},
        {.size = sizeof rows[0], .url = {"http://127.0.0.1/", 17}, .method = {"G\0T", 3}},
        {.size = sizeof rows[0], .url = {"http://127.0.0.1/", 17}, .header_count = 1},
        {.size = sizeof rows[0], .url = {"gopher://127.0.0.1/", 19}},
    };
    struct bench bench;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    gudgeon_http_stream *stream = NULL;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CU_ASSERT_EQUAL(service_http.open(call_abi(bench.call), &rows[i], &stream),
                        GUDGEON_INVALID);
    CU_ASSERT_EQUAL(get(&bench, "http://127.0.0.1:1/", &stream), GUDGEON_RETRY);
    CU_ASSERT(call_error(bench.call)->message[0] != '\0');
    CU_ASSERT_PTR_NULL(stream);
    bench_fini(&bench);
}

static void test_cut(void)
{
    struct bench bench;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    gudgeon_http_stream *stream = NULL;
    int32_t result = get(&bench, "/cut", &stream);
    gudgeon_http_part part = {.size = sizeof part};
    while (result == GUDGEON_OK && part.end == 0)
        result = service_http.read(stream, &part);
    CU_ASSERT(result == GUDGEON_RETRY || result == GUDGEON_PROTOCOL);
    CU_ASSERT(call_error(bench.call)->message[0] != '\0');
    bench_fini(&bench);
}

static void test_cancel(void)
{
    struct bench bench;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    server.to_cancel = call_cancel(bench.call);
    gudgeon_http_stream *stream = NULL;
    CU_ASSERT_EQUAL(get(&bench, "/hang", &stream), GUDGEON_CANCELLED);
    bench_fini(&bench);
}

static void test_deadline(void)
{
    struct bench bench;
    struct cancel ignored;
    cancel_init(&ignored, NULL);
    bench_init(&bench, KIND_MODEL, NULL, clock_monotonic_ns() + 200 * NS_PER_MS);
    server.to_cancel = &ignored;
    gudgeon_http_stream *stream = NULL;
    CU_ASSERT_EQUAL(get(&bench, "/hang", &stream), GUDGEON_TIMEOUT);
    bench_fini(&bench);
    bench_init(&bench, KIND_MODEL, NULL, 0);
    opened(&bench, "/lines"); /* the server has left the other, so it no longer uses `ignored` */
    bench_fini(&bench);
    cancel_fini(&ignored);
}

static void test_no_client(void)
{
    struct services *shared = services;
    struct bench bench;
    services = NULL;
    bench_init(&bench, KIND_MODEL, NULL, 0);
    gudgeon_http_stream *stream = NULL;
    CU_ASSERT_EQUAL(get(&bench, "/any", &stream), GUDGEON_UNAVAILABLE);
    bench_fini(&bench);
    services = shared;
}

static void test_stop(void)
{
    services_free(services);
    services_free(NULL);
    server_stop();
}

int main(void)
{
    services = services_new();
    server_start();
    UNIT_MAIN("service_http", {"head and body", test_head_and_body},
              {"lines, events, bytes; what is left open is closed", test_parts},
              {"secrets in headers", test_secrets_in_headers},
              {"hosts that are granted", test_grants}, {"bad requests, dead hosts", test_failures},
              {"a reply that is cut", test_cut}, {"a cancel ends the wait", test_cancel},
              {"a deadline ends the wait", test_deadline},
              {"without shared services", test_no_client}, {"(the server stops)", test_stop});
}
