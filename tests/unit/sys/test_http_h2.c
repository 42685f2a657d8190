/* SPDX-License-Identifier: MIT */
/* HTTP/2: the same server behind nghttpx (Debian: nghttp2-proxy), where that is installed. */
#include "http_rig.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

static struct proc proxy = PROC_INIT;
static int port;

static int free_port(void)
{
    CLEANUP(close_fd) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    if (bind(fd, (struct sockaddr *)&address, len) < 0)
        return 0;
    getsockname(fd, (struct sockaddr *)&address, &len);
    return ntohs(address.sin_port);
}

static bool is_listening(void)
{
    CLEANUP(close_fd) int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

/* nghttpx under a shell that ends it when this process has gone. */
static bool start_proxy(void)
{
    static const char script[] =
        "nghttpx --single-process -f127.0.0.1,$1 -b127.0.0.1,$2 --workers=1 "
        "--errorlog-file=/dev/null "
        "\"$3/server.key\" \"$3/server.pem\" </dev/null & cat >/dev/null; kill $!; wait";
    char front[16], back[16], path[600];
    snprintf(path, sizeof path, "PATH=%s:/usr/sbin", getenv("PATH"));
    port = free_port();
    snprintf(front, sizeof front, "%d", port);
    snprintf(back, sizeof back, "%d", rig.port);
    CLEANUP(free_ptr) char *directory = xstrdup(rig.ca_file);
    *strrchr(directory, '/') = '\0';
    const char *const argv[] = {"sh", "-c", script, "sh", front, back, directory, NULL};
    const char *const envp[] = {path, NULL};
    struct proc_options options = {
        .file = "/bin/sh", .argv = argv, .envp = envp, .stdio = {PROC_PIPE, PROC_NULL, PROC_NULL}};
    char *found = NULL;
    if (proc_find("nghttpx", path + strlen("PATH="), &found, NULL) < 0)
        return false;
    free(found);
    if (proc_spawn(&options, &proxy, NULL) < 0)
        return false;
    for (int i = 0; i < 500 && !is_listening(); i++)
        usleep(10000);
    return is_listening();
}

static char *h2_url(const char *path)
{
    return xasprintf("https://127.0.0.1:%d%s", port, path);
}

static char *exchange(struct http_client *client, const char *path, enum rig_read how,
                      struct http_request request)
{
    CLEANUP(free_ptr) char *url = h2_url(path);
    CLEANUP(free_ptr) char *host = xasprintf("127.0.0.1:%d", port);
    struct rig_row row = ROW(path, url, how, NULL, .request = request);
    struct buf have = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(free_ptr) char *text = rig_exchange(client, &row);
    buf_add_str(&have, text);
    rig_replace(&have, host, "HOST");
    return buf_take(&have);
}

static void check_row(struct http_client *client, const char *path, enum rig_read how,
                      const char *want, struct http_request request)
{
    CLEANUP(free_ptr) char *have = exchange(client, path, how, request);
    CHECK_STR(have, want);
}

static void test_exchanges(void)
{
    static const struct http_request none = {.url = NULL};
    struct http_client *client = rig_client(rig.ca_file);
    check_row(client, "/ok", RIG_ALL, "200 [ok] end", none);
    check_row(client, "/events", RIG_EVENTS, "200 [one] [x|7|two] end", none);
    check_row(client, "/drip", RIG_EVENTS, "200 [d\xc3\xa9j\xc3\xa0 vu] end", none);
    check_row(client, "/huge?bytes=20000000", RIG_BYTES, "200 [20000000 bytes] end", none);
    check_row(client, "/no-head", RIG_ALL, "timeout: HOST did not answer within 150 ms",
              (struct http_request){.first_byte_ms = 150});
    check_row(client, "/silence", RIG_EVENTS,
              "200 [first] timeout: HOST sent nothing more for 150 ms",
              (struct http_request){.idle_ms = 150});
    check_row(client, "/endless", RIG_ALL,
              "200 limit: the reply of HOST is longer than 100000 bytes",
              (struct http_request){.max_bytes = 100000});
    check_row(client, "/ok", RIG_ALL, "200 [ok] end", none);
    rig.http->client_free(client);
}

static struct http_stream *open_path(struct http_client *client, const char *path)
{
    CLEANUP(free_ptr) char *url = h2_url(path);
    struct http_request request = {.url = url, .deadline_ns = INT64_MAX, .max_bytes = INT64_MAX};
    struct http_stream *stream = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(rig.http->open(client, &request, &stream, &err), 0);
    return stream;
}

/* The proxy writes the version of its client into `via`. */
static void test_version(void)
{
    struct http_client *client = rig_client(rig.ca_file);
    struct http_stream *stream = open_path(client, "/echo");
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    CU_ASSERT_EQUAL_FATAL(rig.http->read_all(stream, &part, &err), 0);
    CU_ASSERT_PTR_NOT_NULL(strcasestr(part.data.ptr, "\"via\", \"2 "));
    rig.http->close(stream);
    rig.http->client_free(client);
}

/* Streams share a connection: one that nobody reads must not hold the others back. */
static void test_unread_stream(void)
{
    struct http_client *client = rig_client(rig.ca_file);
    struct http_stream *endless = open_path(client, "/endless");
    for (int i = 0; i < 20; i++)
        check_row(client, "/events", RIG_EVENTS, "200 [one] [x|7|two] end",
                  (struct http_request){.first_byte_ms = 3000, .idle_ms = 3000});
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    for (int i = 0; i < 100; i++)
        CU_ASSERT_EQUAL(rig.http->read(endless, &part, &err), 0);
    rig.http->close(endless);
    rig.http->client_free(client);
}

static struct http_client *shared;
static atomic_int right;
enum { THREADS = 32, ROUNDS = 20 };

static void *get_often(void *payload)
{
    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(free_ptr)
        char *have = exchange(shared, "/ok", RIG_ALL, (struct http_request){.url = NULL});
        atomic_fetch_add(&right, strcmp(have, "200 [ok] end") == 0);
    }
    return payload;
}

static void test_many_streams(void)
{
    pthread_t threads[THREADS];
    shared = rig_client(rig.ca_file);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, get_often, NULL);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(right, THREADS * ROUNDS);
    rig.http->client_free(shared);
}

static int run(void)
{
    UNIT_MAIN("http/2", {"exchanges", test_exchanges}, {"the version", test_version},
              {"an unread stream", test_unread_stream}, {"many streams", test_many_streams});
}

int main(void)
{
    int status = 0;
    rig_start();
    if (start_proxy())
        status = run();
    else
        printf("# nghttpx is not here: HTTP/2 is not tested\n");
    proc_close_pipe(&proxy, 0);
    struct proc_exit how;
    if (proxy.pid > 0)
        proc_wait(&proxy, clock_monotonic_ns() + 5 * NS_PER_S, NULL, &how);
    proc_close(&proxy);
    rig_stop();
    return status;
}
