/* SPDX-License-Identifier: MIT */
#include "sys/http/client.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "sys/http.h"
#include "sys/http/setup.h"
#include "sys/http/stream.h"
#include "sys/http/trust.h"

enum {
    EVENTS_AT_ONCE = 64,
    POOLED_CONNECTIONS = 64, /* kept open between exchanges */
    TIMER_ROUNDS = 16,       /* then epoll gets its turn, so that no timer can starve the sockets */
};

/* ---- sockets ------------------------------------------------------------------------------- */

/*
 * What is kept of a descriptor. libcurl stops watching a pooled connection after each exchange
 * and watches it again for the next; a socket of ours therefore stays in the epoll with its old
 * mask until it has an event that nobody wants. The mask is known to be right because sockets of
 * ours are closed through client_closes_socket; others (the resolver's) leave the epoll at once.
 */
enum {
    WANTS_IN = 0x01,
    WANTS_OUT = 0x02,
    IN_EPOLL_IN = 0x04,
    IN_EPOLL_OUT = 0x08,
    IS_OURS = 0x10,
    WANTS = WANTS_IN | WANTS_OUT,
    IN_EPOLL = IN_EPOLL_IN | IN_EPOLL_OUT,
    EPOLL_SHIFT = 2, /* from WANTS to IN_EPOLL */
};

static unsigned char *socket_flags(struct http_client *client, int fd)
{
    size_t need = (size_t)fd + 1;
    if (need > client->socket_count) {
        size_t count = client->socket_count ? client->socket_count : 64;
        while (count < need)
            count *= 2;
        client->sockets = xreallocarray(client->sockets, count, 1);
        memset(client->sockets + client->socket_count, 0, count - client->socket_count);
        client->socket_count = count;
    }
    return &client->sockets[fd];
}

/* Makes the epoll hold what is wanted of the descriptor. */
static void watch_socket(struct http_client *client, int fd)
{
    unsigned char *flags = socket_flags(client, fd);
    unsigned wants = *flags & WANTS, has = (*flags & IN_EPOLL) >> EPOLL_SHIFT;
    if (wants == has)
        return;
    struct epoll_event event = {
        .events = (wants & WANTS_IN ? EPOLLIN : 0U) | (wants & WANTS_OUT ? EPOLLOUT : 0U),
        .data.fd = fd,
    };
    int op = wants == 0 ? EPOLL_CTL_DEL : has == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    epoll_ctl(client->epoll_fd, op, fd, &event);
    *flags = (unsigned char)((*flags & ~(unsigned)IN_EPOLL) | wants << EPOLL_SHIFT);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *payload, void *socket_payload)
{
    (void)easy;
    (void)socket_payload;
    struct http_client *client = payload;
    unsigned char *flags = socket_flags(client, fd);
    unsigned wants =
        (what & CURL_POLL_IN ? WANTS_IN : 0U) | (what & CURL_POLL_OUT ? WANTS_OUT : 0U);
    if (what == CURL_POLL_REMOVE)
        wants = 0;
    *flags = (unsigned char)((*flags & ~(unsigned)WANTS) | wants);
    if (wants != 0 || (*flags & IS_OURS) == 0)
        watch_socket(client, fd);
    return 0;
}

void client_opened_socket(struct http_client *client, int fd)
{
    *socket_flags(client, fd) = IS_OURS;
}

void client_closes_socket(struct http_client *client, int fd)
{
    unsigned char *flags = socket_flags(client, fd);
    *flags &= (unsigned char)~WANTS;
    watch_socket(client, fd);
    *flags = 0;
}

static void on_socket_event(struct http_client *client, const struct epoll_event *event)
{
    int fd = event->data.fd, running, bits = 0;
    unsigned char wants = *socket_flags(client, fd) & WANTS;
    if (wants == 0) {
        watch_socket(client, fd);
        return;
    }
    /* A hang-up or an error shows when the socket is read or written. */
    unsigned events = event->events & (EPOLLHUP | EPOLLERR) ? ~0U : event->events;
    if (events & EPOLLIN && wants & WANTS_IN)
        bits |= CURL_CSELECT_IN;
    if (events & EPOLLOUT && wants & WANTS_OUT)
        bits |= CURL_CSELECT_OUT;
    curl_multi_socket_action(client->multi, fd, bits, &running);
}

/* ---- timers and ends ----------------------------------------------------------------------- */

static int on_timer(CURLM *multi, long timeout_ms, void *payload)
{
    (void)multi;
    struct http_client *client = payload;
    client->timer_ns = timeout_ms < 0 ? INT64_MAX : clock_monotonic_ns() + timeout_ms * NS_PER_MS;
    return 0;
}

static void run_due_timers(struct http_client *client)
{
    for (int round = 0; round < TIMER_ROUNDS; round++) {
        if (client->timer_ns == INT64_MAX || client->timer_ns > clock_monotonic_ns())
            return;
        int running;
        client->timer_ns = INT64_MAX;
        curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
}

static void end_finished_transfers(struct http_client *client)
{
    int left;
    for (CURLMsg *msg; (msg = curl_multi_info_read(client->multi, &left)) != NULL;) {
        struct http_stream *stream;
        CURLcode code = msg->data.result; /* msg dies with the removal */
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&stream);
        stream_transfer_ended(stream, code);
    }
}

void client_touch(struct http_client *client, struct http_stream *stream)
{
    if (stream->is_touched)
        return;
    stream->is_touched = true;
    stream->next_touched = client->touched;
    client->touched = stream;
}

void client_settle(struct http_client *client)
{
    run_due_timers(client);
    end_finished_transfers(client);
    for (struct http_stream *stream; (stream = client->touched) != NULL;) {
        client->touched = stream->next_touched;
        stream->is_touched = false;
        client_wake(client, stream);
    }
    if (client->driver != NULL && client->timer_ns < client->driver_until_ns)
        client_wake(client, client->driver);
}

/* ---- waiting ------------------------------------------------------------------------------- */

void client_wake(struct http_client *client, struct http_stream *stream)
{
    if (stream->is_following)
        pthread_cond_signal(&stream->changed);
    if (client->driver == stream) {
        uint64_t one = 1;
        ssize_t ignored = write(client->wake_fd, &one, sizeof one);
        (void)ignored;
        client->driver_until_ns = INT64_MIN; /* once is enough */
    }
}

static void forget_wake(struct http_client *client)
{
    uint64_t count;
    ssize_t ignored = read(client->wake_fd, &count, sizeof count);
    (void)ignored;
}

/* The time left, rounded up, as epoll_wait takes it. */
static int wait_ms(int64_t until_ns)
{
    int64_t left = until_ns - clock_monotonic_ns();
    if (left <= 0)
        return 0;
    int64_t ms = left / NS_PER_MS + 1;
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void drive(struct http_client *client, struct http_stream *stream, int64_t until_ns)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    if (until_ns > client->timer_ns)
        until_ns = client->timer_ns;
    client->driver = stream;
    client->driver_until_ns = until_ns;
    pthread_mutex_unlock(&client->lock);
    int count = epoll_wait(client->epoll_fd, events, EVENTS_AT_ONCE, wait_ms(until_ns));
    pthread_mutex_lock(&client->lock);
    client->driver = NULL;
    for (int i = 0; i < count; i++) {
        if (events[i].data.fd == client->wake_fd)
            forget_wake(client);
        else
            on_socket_event(client, &events[i]);
    }
    client_settle(client);
}

static void join_followers(struct http_client *client, struct http_stream *stream)
{
    stream->is_following = true;
    stream->previous_follower = NULL;
    stream->next_follower = client->followers;
    if (client->followers != NULL)
        client->followers->previous_follower = stream;
    client->followers = stream;
}

static void leave_followers(struct http_client *client, struct http_stream *stream)
{
    if (stream->previous_follower != NULL)
        stream->previous_follower->next_follower = stream->next_follower;
    else
        client->followers = stream->next_follower;
    if (stream->next_follower != NULL)
        stream->next_follower->previous_follower = stream->previous_follower;
    stream->is_following = false;
}

static void follow(struct http_client *client, struct http_stream *stream, int64_t until_ns)
{
    join_followers(client, stream);
    if (until_ns == INT64_MAX) {
        pthread_cond_wait(&stream->changed, &client->lock);
    } else {
        struct timespec until = {until_ns / NS_PER_S, until_ns % NS_PER_S};
        pthread_cond_timedwait(&stream->changed, &client->lock, &until);
    }
    leave_followers(client, stream);
}

void client_wait(struct http_client *client, struct http_stream *stream, int64_t until_ns)
{
    if (client->driver == NULL)
        drive(client, stream, until_ns);
    else
        follow(client, stream, until_ns);
}

void client_leave(struct http_client *client)
{
    if (client->driver == NULL && client->followers != NULL)
        pthread_cond_signal(&client->followers->changed);
}

/* ---- life ---------------------------------------------------------------------------------- */

CURL *client_take_handle(struct http_client *client)
{
    if (client->idle_count > 0)
        return client->idle[--client->idle_count];
    CURL *easy = curl_easy_init();
    if (easy == NULL)
        abort(); /* out of memory */
    setup_handle(easy, client);
    return easy;
}

void client_give_handle(struct http_client *client, CURL *easy, bool is_fresh)
{
    if (is_fresh && client->idle_count < COUNT_OF(client->idle))
        client->idle[client->idle_count++] = easy;
    else
        curl_easy_cleanup(easy);
}

static void init_libcurl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void init_multi(struct http_client *client)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_libcurl);
    client->multi = curl_multi_init();
    if (client->multi == NULL)
        abort(); /* out of memory */
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)POOLED_CONNECTIONS);
}

static int open_epoll(struct http_client *client, struct err *err)
{
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = client->wake_fd};
    if (client->epoll_fd < 0 || client->wake_fd < 0 ||
        epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, client->wake_fd, &event) < 0)
        return err_set_errno(err, errno, "cannot set up HTTP");
    return 0;
}

int client_new(const struct http_client_options *options, struct http_client **ret, struct err *err)
{
    struct http_client *client = xcalloc(1, sizeof *client);
    pthread_mutex_init(&client->lock, NULL);
    client->timer_ns = INT64_MAX;
    client->user_agent =
        xstrdup(options->user_agent != NULL ? options->user_agent : "gudgeon/" GUDGEON_VERSION);
    init_multi(client);
    client->trust = trust_new(options->ca_file);
    int status = open_epoll(client, err);
    if (status < 0)
        client_free(client);
    else
        *ret = client;
    return status;
}

void client_free(struct http_client *client)
{
    if (client == NULL)
        return;
    for (size_t i = 0; i < client->idle_count; i++)
        curl_easy_cleanup(client->idle[i]);
    curl_multi_cleanup(client->multi);
    close_fd(&client->epoll_fd);
    close_fd(&client->wake_fd);
    pthread_mutex_destroy(&client->lock);
    trust_free(client->trust);
    free(client->sockets);
    free(client->user_agent);
    free(client);
}
