/* SPDX-License-Identifier: MIT */
#include "http_rig.h"

#include "data/json.h"

/* ---- what comes back ----------------------------------------------------------------------- */

static const struct rig_row replies[] = {
    ROW("all of a body", "/ok", RIG_ALL, "200 [ok] end"),
    ROW("bytes", "/ok", RIG_BYTES, "200 [ok] end"),
    ROW("a status is not judged", "/status?code=429", RIG_ALL, "429 [status body] end"),
    ROW("events, split anywhere, the last one cut", "/events", RIG_EVENTS,
        "200 [one] [x|7|two] end"),
    ROW("a byte at a time", "/drip", RIG_EVENTS, "200 [d\xc3\xa9j\xc3\xa0 vu] end"),
    ROW("lines", "/lines", RIG_LINES, "200 [{\"n\":1}] [{\"n\":2}] [{\"n\":3}] end"),
    ROW("the end of the connection is an end", "/until-close", RIG_EVENTS, "200 [first] end"),
    ROW("decoded", "/zipped", RIG_EVENTS, "200 [unzipped] end"),
    ROW("interim answers are passed over", "/interim", RIG_ALL, "200 [final] end"),
    ROW("trailers are passed over", "/trailers", RIG_ALL, "200 [body] end"),
    ROW("a large body by slices", "/huge?bytes=20000000", RIG_BYTES, "200 [20000000 bytes] end"),
    ROW("a large body in one", "/huge?bytes=20000000", RIG_ALL, "200 [20000000 bytes] end"),
    ROW("nothing", "/huge?bytes=0", RIG_ALL, "200 [] end"),
    ROW("HEAD", "/ok", RIG_ALL, "200 [] end", .request = {.method = "HEAD"}),
};

static void check_rows(const struct rig_row *rows, size_t count)
{
    struct http_client *client = rig_client(NULL);
    for (size_t i = 0; i < count; i++)
        rig_check(client, &rows[i]);
    rig.http->client_free(client);
}

static void test_replies(void)
{
    check_rows(replies, COUNT_OF(replies));
}

/* ---- faults of the server ------------------------------------------------------------------ */

static const struct rig_row faults[] = {
    ROW("a stream torn between chunks", "/torn-chunks", RIG_EVENTS,
        "200 [first] retry: the reply of HOST was cut short"),
    ROW("a body shorter than its length", "/torn-length", RIG_EVENTS,
        "200 [first] retry: the reply of HOST was cut short"),
    ROW("the same, read in one", "/torn-length", RIG_ALL,
        "200 retry: the reply of HOST was cut short"),
    ROW("a torn head", "/torn-head", RIG_ALL,
        "retry: HOST closed the connection before it answered"),
    ROW("reset before the answer", "/reset-early", RIG_ALL,
        "retry: HOST closed the connection before it answered: Connection reset by peer"),
    ROW("closed before the answer", "/close-early", RIG_ALL,
        "retry: HOST closed the connection before it answered"),
    ROW("no HTTP", "/not-http", RIG_ALL,
        "protocol: HOST does not answer in HTTP: Received HTTP/0.9 when not allowed"),
    ROW("no gzip", "/bad-gzip", RIG_ALL,
        "200 protocol: the reply of HOST cannot be decoded: invalid stored block lengths"),
    ROW("a head without end", "/big-head", RIG_ALL,
        "limit: the head of the reply of HOST is too long"),
    ROW("more headers than anybody needs", "/many-headers", RIG_ALL,
        "limit: the head of the reply of HOST is too long"),
    ROW("nobody listens", "http://127.0.0.1:DEAD/ok", RIG_ALL,
        "retry: cannot connect to 127.0.0.1:DEAD: Connection refused"),
    ROW("no such name", "http://nobody.invalid/ok?key=sk-1", RIG_ALL,
        "retry: the name of nobody.invalid cannot be found"),
};

static void test_faults(void)
{
    struct http_client *client = rig_client(NULL);
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct rig_row row = faults[i];
        struct buf path = BUF_INIT(BUF_MAX_ANY);
        char port[16];
        snprintf(port, sizeof port, "%d", rig.dead_port);
        buf_add_str(&path, row.path);
        rig_replace(&path, "DEAD", port);
        row.path = path.data;
        rig_check(client, &row);
        buf_fini(&path);
    }
    rig.http->client_free(client);
}

static void test_reset_in_mid_stream(void)
{
    struct http_client *client = rig_client(NULL);
    CLEANUP(free_ptr) char *url = rig_url("/reset-when-told");
    struct http_request request = {.url = url, .deadline_ns = INT64_MAX};
    struct http_stream *stream;
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    CU_ASSERT_EQUAL_FATAL(rig.http->open(client, &request, &stream, &err), 0);
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), 0);
    CU_ASSERT(str_is(part.data, "first"));
    free(rig_get(client, "/go"));
    for (int i = 0; i < 2; i++) { /* the failure stays */
        CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), ERR_RETRY);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "was cut short: Connection reset by peer"));
    }
    rig.http->close(stream);
    rig.http->client_free(client);
}

/* ---- caps ---------------------------------------------------------------------------------- */

static const struct rig_row caps[] = {
    ROW("a body of just the cap", "/huge?bytes=1000", RIG_ALL, "200 [1000 bytes] end",
        .request = {.max_bytes = 1000}),
    ROW("a body over the cap", "/huge?bytes=1001", RIG_ALL,
        "200 limit: the reply of HOST is longer than 1000 bytes", .request = {.max_bytes = 1000}),
    ROW("an endless body", "/endless", RIG_ALL,
        "200 limit: the reply of HOST is longer than 1000000 bytes",
        .request = {.max_bytes = 1000000}),
    ROW("the cap is on what was decoded", "/bomb", RIG_ALL,
        "200 limit: the reply of HOST is longer than 1000000 bytes",
        .request = {.max_bytes = 1000000}),
    ROW("the default cap", "/bomb", RIG_ALL,
        "200 limit: the reply of HOST is longer than 67108864 bytes"),
    ROW("a line over its cap; the one before it is given", "/long-line", RIG_LINES,
        "200 [short] limit: HOST sent a line of more than 16 MiB"),
    ROW("an event over its cap", "/long-line", RIG_EVENTS,
        "200 limit: HOST sent an event of more than 16 MiB"),
};

static void test_caps(void)
{
    check_rows(caps, COUNT_OF(caps));
}

/* ---- the head ------------------------------------------------------------------------------ */

static struct http_stream *open_path(struct http_client *client, const char *path)
{
    CLEANUP(free_ptr) char *url = rig_url(path);
    struct http_request request = {.url = url, .deadline_ns = INT64_MAX};
    struct http_stream *stream = NULL;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(rig.http->open(client, &request, &stream, &err), 0);
    return stream;
}

static const char *header(struct http_stream *stream, const char *name)
{
    const gudgeon_http_head *head = rig.http->head(stream);
    for (size_t i = 0; i < head->header_count; i++)
        if (str_is(head->headers[i].name, name))
            return head->headers[i].value.ptr;
    return NULL;
}

static void test_head(void)
{
    struct http_client *client = rig_client(NULL);
    struct http_stream *stream = open_path(client, "/ok#fragment");
    CHECK_STR(header(stream, "x-mixed-case"), "Value");
    CHECK_STR(header(stream, "x-empty"), "");
    CU_ASSERT_PTR_NULL(header(stream, "X-Mixed-Case"));
    CLEANUP(free_ptr) char *url = rig_url("/ok");
    CHECK_STR(rig.http->head(stream)->url.ptr, url);
    rig.http->close(stream);

    stream = open_path(client, "/folded");
    CHECK_STR(header(stream, "x-folded"), "one two three");
    rig.http->close(stream);

    stream = open_path(client, "/interim");
    CU_ASSERT_PTR_NULL(header(stream, "x-interim"));
    rig.http->close(stream);
    rig.http->client_free(client);
}

/* ---- what is sent -------------------------------------------------------------------------- */

#define TEXT(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* The echo of a request, as "METHOD|name: value|…|BODY_LENGTH" for the headers that are asked. */
static char *echo(struct http_client *client, struct http_request request, const char *path,
                  const char *const *names)
{
    CLEANUP(free_ptr) char *url = rig_url(path);
    struct http_stream *stream = NULL;
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    request.url = url;
    request.deadline_ns = INT64_MAX;
    CU_ASSERT_EQUAL_FATAL(rig.http->open(client, &request, &stream, &err), 0);
    CU_ASSERT_EQUAL_FATAL(rig.http->read_all(stream, &part, &err), 0);
    struct json_object *reply = NULL;
    CU_ASSERT_EQUAL_FATAL(json_read(part.data, &reply, &err), 0);
    rig.http->close(stream);
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&out, "%.*s", STR_ARG(json_get_str(reply, "method")));
    struct json_object *headers = json_get(reply, "headers");
    for (; *names != NULL; names++)
        for (size_t i = 0; i < json_object_array_length(headers); i++) {
            struct json_object *pair = json_object_array_get_idx(headers, i);
            if (strcasecmp(json_object_get_string(json_object_array_get_idx(pair, 0)), *names) == 0)
                buf_addf(&out, "|%s: %s", *names,
                         json_object_get_string(json_object_array_get_idx(pair, 1)));
        }
    buf_addf(&out, "|%" PRId64, json_get_int(reply, "body", -1));
    buf_addf(&out, "|%" PRId64, json_get_int(reply, "sum", -1));
    json_object_put(reply);
    return buf_take(&out);
}

static void test_request(void)
{
    static const gudgeon_http_header headers[] = {
        {TEXT("X-Key"), TEXT("sk-1")}, {TEXT("x-empty"), TEXT("")}, {TEXT("Accept"), TEXT("a/b")}};
    static const gudgeon_str body[] = {TEXT("12"), {NULL, 0}, TEXT("345"), TEXT(""), TEXT("6789")};
    static const char *const names[] = {"x-key",          "x-empty", "accept",     "content-type",
                                        "content-length", "expect",  "user-agent", NULL};
    struct http_client *client = rig_client(NULL);
    CLEANUP(free_ptr)
    char *get = echo(client, (struct http_request){.headers = NULL}, "/echo", names);
    CHECK_STR(get, "GET|accept: */*|user-agent: gudgeon/" GUDGEON_VERSION "|0|0");
    CLEANUP(free_ptr)
    char *post = echo(
        client,
        (struct http_request){.headers = headers, .header_count = 3, .body = body, .body_count = 5},
        "/echo", names);
    CHECK_STR(post, "POST|x-key: sk-1|x-empty: |accept: a/b|content-length: 9|user-agent: "
                    "gudgeon/" GUDGEON_VERSION "|9|3421780262");
    CLEANUP(free_ptr)
    char *empty = echo(client, (struct http_request){.method = "POST"}, "/echo", names + 4);
    CHECK_STR(empty, "POST|content-length: 0|user-agent: gudgeon/" GUDGEON_VERSION "|0|0");
    CLEANUP(free_ptr)
    char *put = echo(client, (struct http_request){.method = "PUT", .body = body, .body_count = 1},
                     "/echo", names + 4);
    CHECK_STR(put, "PUT|content-length: 2|user-agent: gudgeon/" GUDGEON_VERSION "|2|1330857165");
    /* Handles are used again: nothing of the last request may be left. */
    CLEANUP(free_ptr)
    char *again = echo(client, (struct http_request){.headers = NULL}, "/echo", names);
    CHECK_STR(again, get);
    rig.http->client_free(client);
}

/* Large bodies go out in pieces, from where the parts lie; there is no "100 Continue" to wait
 * for. */
static void test_large_body(void)
{
    static const char *const names[] = {"content-length", "expect", NULL};
    enum { PART = 700001, COUNT = 4 };
    char *bytes = malloc(PART);
    gudgeon_str parts[COUNT];
    memset(bytes, 'b', PART);
    for (int i = 0; i < COUNT; i++)
        parts[i] = (gudgeon_str){bytes, PART};
    struct http_client *client = rig_client(NULL);
    int64_t began = clock_monotonic_ns();
    CLEANUP(free_ptr)
    char *post =
        echo(client, (struct http_request){.body = parts, .body_count = COUNT}, "/echo", names);
    CU_ASSERT(clock_monotonic_ns() - began < 900 * NS_PER_MS);
    CHECK_STR(post, "POST|content-length: 2800004|2800004|1446941140");
    free(bytes);
    rig.http->client_free(client);
}

static void test_body_refused_early(void)
{
    size_t len = (size_t)8 << 20; /* more than the sockets hold */
    gudgeon_str body = {calloc(1, len), len};
    struct http_client *client = rig_client(NULL);
    struct rig_row row = ROW("refused", "/refuse-body", RIG_ALL, "413 [too large] end",
                             .request = {.body = &body, .body_count = 1});
    rig_check(client, &row);
    free((char *)body.ptr);
    rig.http->client_free(client);
}

static const struct {
    const char *name;
    struct http_request request;
    const char *want;
} refused[] = {
    {"no scheme", {.url = "127.0.0.1/x"}, "bad URL \"127.0.0.1/x\": "},
    {"another scheme",
     {.url = "file:///etc/passwd"},
     "bad URL \"file:///etc/passwd\": must begin with http:// or https://"},
    {"no host", {.url = "http://?x"}, "bad URL \"http://\": "},
    {"a line end", {.url = "http://a/\r\nx: y"}, "bad URL \"http://a/  x: y\": "},
    {"credentials and query are not shown",
     {.url = "ftp://me:secret@host/x?key=sk-1"},
     "bad URL \"ftp://host/x\": must begin with http:// or https://"},
    {"a bad method", {.url = "http://a/", .method = "GET /"}, "bad method \"GET /\""},
    {"a bad header name",
     {.url = "http://a/",
      .headers = &(gudgeon_http_header){TEXT("a b"), TEXT("x")},
      .header_count = 1},
     "bad header name \"a b\""},
    {"a header that would become two",
     {.url = "http://a/",
      .headers = &(gudgeon_http_header){TEXT("a"), TEXT("x\r\ny: z")},
      .header_count = 1},
     "the value of the header \"a\" holds a line end or NUL"},
    {"a header of the client's",
     {.url = "http://a/",
      .headers = &(gudgeon_http_header){TEXT("Content-Length"), TEXT("7")},
      .header_count = 1},
     "the header \"Content-Length\" is set by the client itself"},
};

static void test_refused(void)
{
    struct http_client *client = rig_client(NULL);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct http_request request = refused[i].request;
        struct http_stream *stream = NULL;
        struct err err = {0};
        request.deadline_ns = INT64_MAX;
        CU_ASSERT_EQUAL(rig.http->open(client, &request, &stream, &err), ERR_INVALID);
        /* What follows a colon at the end is libcurl's. */
        size_t len = strlen(refused[i].want);
        if (refused[i].want[len - 1] == ' ' && strlen(err.text) > len)
            err.text[len] = '\0';
        CHECK_STR(err.text, refused[i].want);
        CU_ASSERT_PTR_NULL(stream);
    }
    rig.http->client_free(client);
}

/* ---- redirects ----------------------------------------------------------------------------- */

static void test_redirects(void)
{
    static const gudgeon_http_header headers[] = {{TEXT("X-Api-Key"), TEXT("sk-1")},
                                                  {TEXT("Authorization"), TEXT("Bearer x")},
                                                  {TEXT("Accept"), TEXT("a/b")}};
    static const char *const names[] = {"x-api-key", "authorization", "accept", NULL};
    struct http_request request = {.headers = headers, .header_count = 3};
    struct http_client *client = rig_client(NULL);
    CLEANUP(free_ptr) char *same = echo(client, request, "/redirect?left=5", names);
    CHECK_STR(same, "GET|x-api-key: sk-1|authorization: Bearer x|accept: a/b|0|0");
    /* "localhost" is another origin than 127.0.0.1; what was left behind stays there. */
    CLEANUP(free_ptr)
    char *to_other = xasprintf("/redirect-to?to=http://localhost:%d/redirect", rig.port);
    CLEANUP(free_ptr) char *other = echo(client, request, to_other, names);
    CHECK_STR(other, "GET|accept: a/b|0|0");
    CLEANUP(free_ptr)
    char *back = xasprintf("/redirect-to?to=http://localhost:%d/redirect-to%%3Fto=http://"
                           "127.0.0.1:%d/echo",
                           rig.port, rig.port);
    CLEANUP(free_ptr) char *returned = echo(client, request, back, names);
    CHECK_STR(returned, "GET|accept: a/b|0|0");

    CLEANUP(free_ptr) char *final_url = rig_url("/echo");
    struct http_stream *stream = open_path(client, "/redirect-endless-body");
    CHECK_STR(rig.http->head(stream)->url.ptr, final_url);
    rig.http->close(stream);
    rig.http->client_free(client);
}

static const struct rig_row redirects[] = {
    ROW("six are too many", "/redirect?left=6", RIG_ALL,
        "protocol: HOST redirects more than 5 times"),
    ROW("a POST is not sent on", "/redirect?left=1", RIG_ALL, "302 [moved] end",
        .request = {.method = "POST"}),
    ROW("to another scheme", "/redirect-to?to=ftp://x/y", RIG_ALL,
        "refused: HOST redirects to the scheme \"ftp\""),
    ROW("to a file", "/redirect-to?to=file:///etc/passwd", RIG_ALL,
        "refused: HOST redirects to the scheme \"file\""),
    ROW("to nonsense", "/redirect-to?to=http://[", RIG_ALL,
        "protocol: HOST redirects to something that is no URL"),
    ROW("a status that is none", "/redirect-to?to=/echo&code=300", RIG_ALL, "300 [moved] end"),
};

static void test_redirects_refused(void)
{
    check_rows(redirects, COUNT_OF(redirects));
}

/* ---- connections --------------------------------------------------------------------------- */

static void test_connections_are_kept(void)
{
    struct http_client *client = rig_client(NULL);
    int requests, connections, more_connections;
    CLEANUP(free_ptr) char *before = rig_get(client, "/counts");
    for (int i = 0; i < 20; i++)
        free(rig_get(client, "/ok"));
    CLEANUP(free_ptr) char *after = rig_get(client, "/counts");
    CU_ASSERT_EQUAL_FATAL(sscanf(before, "[%d, %d]", &requests, &connections), 2);
    CU_ASSERT_EQUAL_FATAL(sscanf(after, "[%d, %d]", &requests, &more_connections), 2);
    CU_ASSERT_EQUAL(connections, more_connections);
    rig.http->client_free(client);
}

/* A kept connection that the server has closed meanwhile is no failure. */
static void test_kept_connection_closed(void)
{
    struct http_client *client = rig_client(NULL);
    for (int i = 0; i < 20; i++) {
        CLEANUP(free_ptr) char *body = rig_get(client, "/close-after");
        CHECK_STR(body, "ok");
    }
    rig.http->client_free(client);
}

static int requests_seen(struct http_client *client)
{
    int requests = -1;
    CLEANUP(free_ptr) char *counts = rig_get(client, "/counts");
    CU_ASSERT_EQUAL(sscanf(counts, "[%d,", &requests), 1);
    return requests;
}

/* When it dies with a request on its way, nobody knows what the server has done: what changes
 * nothing is sent again, more often than libcurl allows one handle; what may is not. */
static void test_kept_connection_dies(void)
{
    struct http_client *client = rig_client(NULL), *other = rig_client(NULL);
    for (int i = 0; i < 10; i++) {
        CLEANUP(free_ptr) char *body = rig_get(client, "/reset-next");
        CHECK_STR(body, "ok");
        CLEANUP(free_ptr) char *again = rig_get(client, "/ok");
        CHECK_STR(again, "ok");
    }
    struct rig_row row = ROW("POST", "/ok", RIG_ALL, "retry: HOST closed a kept connection",
                             .request = {.method = "POST"});
    free(rig_get(client, "/reset-next"));
    int before = requests_seen(other);
    rig_check(client, &row);
    CU_ASSERT_EQUAL(requests_seen(other), before + 2); /* the POST and the question */
    row.want = "200 [ok] end";
    rig_check(client, &row);
    rig.http->client_free(client);
    rig.http->client_free(other);
}

static void test_peek(void)
{
    struct http_client *client = rig_client(NULL);
    struct http_stream *stream = open_path(client, "/lines");
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(rig.http->peek(stream, &part, &err), 0);
        CU_ASSERT(starts_with(part.data.ptr, "{\"n\":1}"));
    }
    CU_ASSERT_EQUAL(rig.http->read_line(stream, &part, &err), 0);
    CHECK_STR(part.data.ptr, "{\"n\":1}");
    CU_ASSERT_EQUAL(rig.http->peek(stream, &part, &err), ERR_INVALID);
    rig.http->close(stream);
    stream = open_path(client, "/huge?bytes=0");
    CU_ASSERT_EQUAL(rig.http->peek(stream, &part, &err), 0);
    CU_ASSERT_EQUAL(part.end, 1);
    rig.http->close(stream);
    rig.http->client_free(client);
}

static void test_one_sort_of_reads(void)
{
    struct http_client *client = rig_client(NULL);
    struct http_stream *stream = open_path(client, "/events");
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), 0);
    CU_ASSERT_EQUAL(rig.http->read_line(stream, &part, &err), ERR_INVALID);
    CU_ASSERT_EQUAL(rig.http->read_all(stream, &part, &err), ERR_INVALID);
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), 0);
    rig.http->close(stream);
    rig.http->close(NULL);
    rig.http->client_free(client);
}

static int run(void)
{
    UNIT_MAIN("http", {"replies", test_replies}, {"faults of the server", test_faults},
              {"a reset in mid-stream comes after what was sent", test_reset_in_mid_stream},
              {"caps", test_caps}, {"the head", test_head}, {"the request", test_request},
              {"a large body, sent at once", test_large_body},
              {"an answer before the body is sent", test_body_refused_early},
              {"requests that are refused", test_refused},
              {"redirects, and what they carry", test_redirects},
              {"redirects that are not followed", test_redirects_refused},
              {"connections are kept", test_connections_are_kept},
              {"a kept connection that is closed", test_kept_connection_closed},
              {"a kept connection that dies", test_kept_connection_dies},
              {"peek takes nothing", test_peek},
              {"the reads are of one sort", test_one_sort_of_reads});
}

int main(void)
{
    rig_start();
    int status = run();
    rig_stop();
    return status;
}
