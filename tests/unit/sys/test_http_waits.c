/* SPDX-License-Identifier: MIT */
/* How waits end: by limits, deadlines and cancels; and many threads that wait at once. */
#include "http_rig.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { LATE_MS = 2000 }; /* what a busy machine may add */

/* ---- limits, each on its own --------------------------------------------------------------- */

static const struct rig_row limits[] = {
    ROW("first byte", "/no-head", RIG_ALL, "timeout: HOST did not answer within 150 ms",
        .request = {.first_byte_ms = 150}, .least_ms = 150, .most_ms = 150 + LATE_MS),
    ROW("a thinking server is no silent one", "/slow-head?ms=400", RIG_ALL, "200 [late] end",
        .request = {.idle_ms = 100}, .least_ms = 400),
    ROW("interim answers begin the wait anew", "/interim?ms=200", RIG_ALL, "200 [final] end",
        .request = {.first_byte_ms = 350, .idle_ms = 100}, .least_ms = 600),
    ROW("idle in the head", "/half-head", RIG_ALL, "timeout: HOST sent nothing more for 150 ms",
        .request = {.idle_ms = 150}, .least_ms = 150, .most_ms = 150 + LATE_MS),
    ROW("idle in the body", "/silence", RIG_EVENTS,
        "200 [first] timeout: HOST sent nothing more for 150 ms", .request = {.idle_ms = 150},
        .least_ms = 150, .most_ms = 150 + LATE_MS),
    ROW("idle, read in one", "/silence", RIG_ALL, "200 timeout: HOST sent nothing more for 150 ms",
        .request = {.idle_ms = 150}, .least_ms = 150, .most_ms = 150 + LATE_MS),
    ROW("a live stream is never cut", "/drip?ms=50", RIG_EVENTS, "200 [d\xc3\xa9j\xc3\xa0 vu] end",
        .request = {.idle_ms = 600, .first_byte_ms = 600, .connect_ms = 600}, .least_ms = 900),
    ROW("total, only when asked", "/drip?ms=50", RIG_EVENTS,
        "200 timeout: the exchange with HOST took longer than 300 ms", .request = {.total_ms = 300},
        .least_ms = 300, .most_ms = 300 + LATE_MS),
    ROW("total, before the head", "/no-head", RIG_ALL,
        "timeout: the exchange with HOST took longer than 150 ms", .request = {.total_ms = 150},
        .least_ms = 150, .most_ms = 150 + LATE_MS),
};

static void test_limits(void)
{
    struct http_client *client = rig_client(NULL);
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        rig_check(client, &limits[i]);
    rig.http->client_free(client);
}

/* A server that takes a part of the request's body and then no more. */
static void test_sending_stalls(void)
{
    size_t len = (size_t)32 << 20; /* more than the sockets hold */
    gudgeon_str body = {calloc(1, len), len};
    struct http_client *client = rig_client(NULL);
    struct rig_row row = ROW("sending", "/stop-reading", RIG_ALL,
                             "timeout: HOST took no more of the request for 200 ms",
                             .request = {.body = &body, .body_count = 1, .idle_ms = 200},
                             .least_ms = 200, .most_ms = 200 + LATE_MS);
    rig_check(client, &row);
    rig.http->client_free(client);
    free((char *)body.ptr);
}

static struct http_stream *open_path(struct http_client *client, const char *path,
                                     struct http_request request)
{
    CLEANUP(free_ptr) char *url = rig_url(path);
    struct http_stream *stream = NULL;
    struct err err = {0};
    request.url = url;
    if (request.deadline_ns == 0)
        request.deadline_ns = INT64_MAX;
    int status = rig.http->open(client, &request, &stream, &err);
    if (status < 0)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    return stream;
}

/* Idle is the server's silence, not the reader's: what came while nobody read is still given. */
static void test_reader_may_be_slow(void)
{
    struct http_client *client = rig_client(NULL);
    struct http_stream *stream =
        open_path(client, "/drip?ms=5", (struct http_request){.idle_ms = 100});
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    nanosleep(&(struct timespec){.tv_nsec = 400 * NS_PER_MS}, NULL);
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), 0);
    CU_ASSERT(str_is(part.data, "d\xc3\xa9j\xc3\xa0 vu"));
    rig.http->close(stream);
    rig.http->client_free(client);
}

/* ---- deadlines and cancels ----------------------------------------------------------------- */

static void test_deadlines(void)
{
    struct http_client *client = rig_client(NULL);
    struct rig_row rows[] = {
        ROW("before the head", "/no-head", RIG_ALL,
            "timeout: the deadline passed while waiting for HOST", .least_ms = 150,
            .most_ms = 150 + LATE_MS),
        ROW("in the body", "/silence", RIG_EVENTS,
            "200 [first] timeout: the deadline passed while waiting for HOST", .least_ms = 150,
            .most_ms = 150 + LATE_MS),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        rows[i].request.deadline_ns = clock_monotonic_ns() + 150 * NS_PER_MS;
        rig_check(client, &rows[i]);
    }
    struct rig_row past =
        ROW("past", "/ok", RIG_ALL, "timeout: the deadline passed while waiting for HOST",
            .request = {.deadline_ns = 1});
    rig_check(client, &past);
    rig.http->client_free(client);
}

struct canceller {
    struct cancel *cancel;
    int64_t after_ms;
    int64_t set_at_ns;
};

static void *cancel_later(void *payload)
{
    struct canceller *canceller = payload;
    nanosleep(&(struct timespec){.tv_nsec = canceller->after_ms * NS_PER_MS}, NULL);
    canceller->set_at_ns = clock_monotonic_ns();
    cancel_set(canceller->cancel);
    return NULL;
}

/* The waits last for minutes unless the cancel ends them; that it does so in milliseconds is
 * printed, not judged. */
static void check_cancel(const char *name, const char *path, int64_t after_ms, const char *want)
{
    struct cancel cancel;
    pthread_t thread;
    cancel_init(&cancel, NULL);
    struct canceller canceller = {.cancel = &cancel, .after_ms = after_ms};
    struct http_client *client = rig_client(NULL);
    struct rig_row row = ROW(name, path, RIG_EVENTS, want, .request = {.cancel = &cancel},
                             .most_ms = after_ms + LATE_MS);
    pthread_create(&thread, NULL, cancel_later, &canceller);
    rig_check(client, &row);
    int64_t took_us = (clock_monotonic_ns() - canceller.set_at_ns) / 1000;
    pthread_join(thread, NULL);
    printf("# %s: over %" PRId64 " us after the cancel\n", name, took_us);
    CLEANUP(free_ptr) char *gone = rig_get(client, "/wait-hang-up");
    CHECK_STR(gone, "gone"); /* the server sees that nobody listens any more */
    rig.http->client_free(client);
    cancel_fini(&cancel);
}

static void drain_hang_ups(void)
{
    struct http_client *client = rig_client(NULL);
    free(rig_get(client, "/forget-hang-ups"));
    rig.http->client_free(client);
}

/* By then no timer of libcurl's is left that would end the wait by chance. */
enum { CANCEL_MS = 400 };

static void test_cancel(void)
{
    drain_hang_ups();
    check_cancel("cancel before the head", "/no-head", CANCEL_MS,
                 "cancelled: cancelled while waiting for HOST");
    check_cancel("cancel in the body", "/silence", CANCEL_MS,
                 "200 [first] cancelled: cancelled while waiting for HOST");
}

static void test_cancelled_before(void)
{
    struct cancel cancel;
    cancel_init(&cancel, NULL);
    cancel_set(&cancel);
    struct http_client *client = rig_client(NULL);
    struct rig_row row =
        ROW("set before", "/ok", RIG_ALL, "cancelled: cancelled while waiting for HOST",
            .request = {.cancel = &cancel});
    rig_check(client, &row);
    rig.http->client_free(client);
    cancel_fini(&cancel);
}

/* What lies ready is not given after a cancel. */
static void test_cancelled_between_reads(void)
{
    struct cancel cancel;
    cancel_init(&cancel, NULL);
    struct http_client *client = rig_client(NULL);
    struct http_stream *stream =
        open_path(client, "/events", (struct http_request){.cancel = &cancel});
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), 0);
    cancel_set(&cancel);
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), ERR_CANCELLED);
    CU_ASSERT_EQUAL(rig.http->read_event(stream, &part, &err), ERR_CANCELLED);
    rig.http->close(stream);
    rig.http->client_free(client);
    cancel_fini(&cancel);
}

/* Closing a stream hangs up on its server. */
static void test_close_hangs_up(void)
{
    drain_hang_ups();
    struct http_client *client = rig_client(NULL);
    rig.http->close(open_path(client, "/silence", (struct http_request){.url = NULL}));
    CLEANUP(free_ptr) char *gone = rig_get(client, "/wait-hang-up");
    CHECK_STR(gone, "gone");
    rig.http->client_free(client);
}

/* ---- names --------------------------------------------------------------------------------- */

static struct addrinfo *make_address(const char *numeric, const char *service,
                                     struct addrinfo *next)
{
    struct addrinfo *node = calloc(1, sizeof *node + sizeof(struct sockaddr_in));
    struct sockaddr_in *address = (struct sockaddr_in *)(node + 1);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)strtoul(service, NULL, 10));
    inet_pton(AF_INET, numeric, &address->sin_addr);
    *node = (struct addrinfo){.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_protocol = IPPROTO_TCP,
                              .ai_addrlen = sizeof *address,
                              .ai_addr = (struct sockaddr *)address,
                              .ai_next = next};
    return node;
}

/* Look-ups of libcurl's come here (tests/http.mk exports it): one that takes long, one that gives
 * an address where nothing answers before the right one. */
static atomic_int slow_look_ups;
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **ret)
{
    (void)hints;
    if (node != NULL && strcmp(node, "two.example") == 0) {
        *ret = make_address("127.0.0.2", service, make_address("127.0.0.1", service, NULL));
        return 0;
    }
    if (node != NULL && strcmp(node, "slow.example") == 0) {
        atomic_fetch_add(&slow_look_ups, 1);
        nanosleep(&(struct timespec){.tv_sec = 5}, NULL);
    }
    return EAI_NONAME;
}

/* A listener whose queue is full takes no more connections: the kernel drops the attempts. */
struct deaf {
    int listener, fillers[4];
    int port;
};

static void deaf_open(struct deaf *deaf, const char *numeric, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof address;
    inet_pton(AF_INET, numeric, &address.sin_addr);
    deaf->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_EQUAL_FATAL(bind(deaf->listener, (struct sockaddr *)&address, len), 0);
    CU_ASSERT_EQUAL_FATAL(listen(deaf->listener, 0), 0);
    getsockname(deaf->listener, (struct sockaddr *)&address, &len);
    deaf->port = ntohs(address.sin_port);
    for (size_t i = 0; i < COUNT_OF(deaf->fillers); i++) {
        deaf->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(deaf->fillers[i], (struct sockaddr *)&address, len);
    }
}

static void deaf_close(struct deaf *deaf)
{
    for (size_t i = 0; i < COUNT_OF(deaf->fillers); i++)
        close(deaf->fillers[i]);
    close(deaf->listener);
}

static void test_connect_limit(void)
{
    struct deaf deaf;
    deaf_open(&deaf, "127.0.0.1", 0);
    CLEANUP(free_ptr) char *url = xasprintf("http://127.0.0.1:%d/", deaf.port);
    CLEANUP(free_ptr)
    char *want = xasprintf("timeout: no connection to 127.0.0.1:%d within 250 ms", deaf.port);
    struct http_client *client = rig_client(NULL);
    struct rig_row row = ROW("connect", url, RIG_ALL, want, .request = {.connect_ms = 250},
                             .least_ms = 250, .most_ms = 250 + LATE_MS);
    rig_check(client, &row);
    rig.http->client_free(client);
    deaf_close(&deaf);
}

static struct http_client *shared;
static atomic_int wrong;

static void *wait_in_silence(void *payload)
{
    struct rig_row row =
        ROW("silence", "/silence", RIG_EVENTS, NULL, .request = {.cancel = payload});
    char *have = rig_exchange(shared, &row);
    if (strcmp(have, "200 [first] cancelled: cancelled while waiting for HOST") != 0)
        atomic_fetch_add(&wrong, 1);
    free(have);
    return NULL;
}

/* The second address gets its share of the connect limit. libcurl turns to it by a timer, which
 * must run although the thread that drives waits for something else and for longer. */
static void test_second_address(void)
{
    struct deaf deaf;
    struct cancel cancel;
    pthread_t driver;
    cancel_init(&cancel, NULL);
    deaf_open(&deaf, "127.0.0.2", rig.port);
    shared = rig_client(NULL);
    wrong = 0;
    pthread_create(&driver, NULL, wait_in_silence, &cancel);
    nanosleep(&(struct timespec){.tv_nsec = 300 * NS_PER_MS}, NULL); /* so that it drives */
    CLEANUP(free_ptr) char *url = xasprintf("http://two.example:%d/ok", rig.port);
    struct rig_row row = ROW("second address", url, RIG_ALL, "200 [ok] end",
                             .request = {.connect_ms = 2000}, .least_ms = 500, .most_ms = 2000);
    rig_check(shared, &row);
    cancel_set(&cancel);
    pthread_join(driver, NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    rig.http->client_free(shared);
    cancel_fini(&cancel);
    deaf_close(&deaf);
}

static void test_cancel_in_look_up(void)
{
    struct cancel cancel;
    pthread_t thread;
    cancel_init(&cancel, NULL);
    struct canceller canceller = {.cancel = &cancel, .after_ms = 100};
    struct http_client *client = rig_client(NULL);
    struct rig_row row = ROW("look-up", "http://slow.example/", RIG_ALL,
                             "cancelled: cancelled while waiting for slow.example",
                             .request = {.cancel = &cancel}, .most_ms = 100 + LATE_MS);
    pthread_create(&thread, NULL, cancel_later, &canceller);
    rig_check(client, &row);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(slow_look_ups, 1);
    rig.http->client_free(client);
    cancel_fini(&cancel);
}

/* ---- threads ------------------------------------------------------------------------------- */

enum { THREADS = 24, ROUNDS = 15 };

static const struct rig_row mix[] = {
    ROW("ok", "/ok", RIG_ALL, "200 [ok] end"),
    ROW("events", "/events", RIG_EVENTS, "200 [one] [x|7|two] end"),
    ROW("drip", "/drip", RIG_EVENTS, "200 [d\xc3\xa9j\xc3\xa0 vu] end"),
    ROW("huge", "/huge?bytes=2000000", RIG_BYTES, "200 [2000000 bytes] end"),
    ROW("idle", "/silence", RIG_EVENTS, "200 [first] timeout: HOST sent nothing more for 30 ms",
        .request = {.idle_ms = 30}),
    ROW("torn", "/torn-chunks", RIG_EVENTS, "200 [first] retry: the reply of HOST was cut short"),
};

static void *run_mix(void *payload)
{
    size_t seed = (size_t)payload;
    for (size_t i = 0; i < ROUNDS; i++) {
        const struct rig_row *row = &mix[(seed + i * 7) % COUNT_OF(mix)];
        char *have = rig_exchange(shared, row);
        if (strcmp(have, row->want) != 0 && atomic_fetch_add(&wrong, 1) < 5)
            printf("#   have: %s\n#   want: %s\n", have, row->want);
        free(have);
    }
    return NULL;
}

static void test_many_threads(void)
{
    pthread_t threads[THREADS];
    shared = rig_client(NULL);
    wrong = 0;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_mix, (void *)i);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    rig.http->client_free(shared);
}

/* When the driver has what it waited for, a follower must drive, or it would wait for ever: each
 * of these streams is silent until the one before it has ended. */
static void *read_told(void *payload)
{
    (void)payload;
    struct rig_row row = ROW("told", "/reset-when-told", RIG_EVENTS, NULL);
    char *have = rig_exchange(shared, &row);
    if (strstr(have, "200 [first] retry:") == NULL)
        atomic_fetch_add(&wrong, 1);
    free(have);
    free(rig_get(shared, "/go"));
    return NULL;
}

static void test_followers_take_over(void)
{
    pthread_t threads[8];
    shared = rig_client(NULL);
    wrong = 0;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, read_told, NULL);
    free(rig_get(shared, "/go"));
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(wrong, 0);
    rig.http->client_free(shared);
    drain_hang_ups();
}

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* An unread stream holds its sender back, and a stream held back does not spin: memory and CPU
 * stay small while others work. */
static void test_unread_stream(void)
{
    struct rusage before, after;
    struct http_client *client = rig_client(NULL);
    getrusage(RUSAGE_SELF, &before);
    double cpu = cpu_seconds();
    struct http_stream *endless =
        open_path(client, "/endless", (struct http_request){.max_bytes = INT64_MAX});
    struct rig_row row =
        ROW("beside it", "/silence", RIG_EVENTS,
            "200 [first] timeout: HOST sent nothing more for 400 ms", .request = {.idle_ms = 400});
    rig_check(client, &row);
    getrusage(RUSAGE_SELF, &after);
    long grown_kib = after.ru_maxrss - before.ru_maxrss;
    cpu = cpu_seconds() - cpu;
    if (grown_kib >= 4 * 1024 || cpu >= 0.3)
        printf("#   grown by %ld KiB, %.3f s of CPU\n", grown_kib, cpu);
    CU_ASSERT(grown_kib < 4 * 1024);
    CU_ASSERT(cpu < 0.3);
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    for (int i = 0; i < 100; i++) /* and it goes on when it is read */
        CU_ASSERT_EQUAL(rig.http->read(endless, &part, &err), 0);
    rig.http->close(endless);
    rig.http->client_free(client);
}

static int run(void)
{
    UNIT_MAIN("http waits", {"limits, each on its own", test_limits},
              {"the connect limit", test_connect_limit},
              {"a request that the server stops taking", test_sending_stalls},
              {"a slow reader is not a silent server", test_reader_may_be_slow},
              {"deadlines", test_deadlines}, {"cancels end waits at once", test_cancel},
              {"cancelled before", test_cancelled_before},
              {"cancelled between reads", test_cancelled_between_reads},
              {"cancelled in the name look-up", test_cancel_in_look_up},
              {"a name whose first address is deaf", test_second_address},
              {"close hangs up", test_close_hangs_up},
              {"many threads on one client", test_many_threads},
              {"followers take over", test_followers_take_over},
              {"an unread stream", test_unread_stream});
}

int main(void)
{
    rig_start();
    int status = run();
    rig_stop();
    return status;
}
