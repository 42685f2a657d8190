/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_CLIENT_H
#define GUDGEON_SYS_HTTP_CLIENT_H

/*
 * The client: one libcurl multi handle on its socket interface and one epoll, both driven by
 * whichever thread is waiting for one of the client's streams.
 *
 * Of the threads that wait, one drives: it waits in epoll and moves the bytes of all streams; the
 * others follow, each asleep on its stream's condition. When the driver has what it waited for,
 * it makes a follower the next driver. So one exchange at a time costs no switch between threads,
 * and nothing moves while nobody waits: the kernel's socket buffers hold the senders back. (Of an
 * HTTP/2 stream that is not read libcurl may itself hold up to its window, 32 MB.)
 *
 * One lock guards the client, its streams and every call of libcurl; the driver lets go of it
 * only inside epoll_wait.
 */

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct http_client_options;
struct http_stream;
struct trust;

#if LIBCURL_VERSION_NUM < 0x075700
#error "libcurl 7.87 or later is needed"
#endif

enum { CLIENT_IDLE_HANDLES = 16 }; /* easy handles kept for the next streams */

struct http_client {
    pthread_mutex_t lock;
    CURLM *multi;
    int epoll_fd;
    int wake_fd;      /* an eventfd in the epoll that gets the driver out of it */
    int64_t timer_ns; /* when libcurl wants to be run without an event; INT64_MAX = never */
    struct http_stream *driver; /* whose thread is inside epoll_wait; NULL = nobody's */
    int64_t driver_until_ns;    /* when that wait ends by itself */
    struct http_stream *followers;
    struct http_stream *touched; /* streams on which something happened since the last settling */
    unsigned char *sockets;      /* what is known of a descriptor, by its number */
    size_t socket_count;
    CURL *idle[CLIENT_IDLE_HANDLES];
    size_t idle_count;
    char *user_agent;
    struct trust *trust;
};

int client_new(const struct http_client_options *options, struct http_client **ret,
               struct err *err);
void client_free(struct http_client *client);

/* All that follows: with the lock held. */

/* A handle with the options that all streams share. */
CURL *client_take_handle(struct http_client *client);
/* `is_fresh`: no exchange of the handle was sent twice; libcurl allows a handle five of those in
 * all its life. */
void client_give_handle(struct http_client *client, CURL *easy, bool is_fresh);
/* Runs what libcurl is due to run and tells the streams on which something happened. After every
 * call that may have changed a transfer. */
void client_settle(struct http_client *client);
/* The two ends of a socket that libcurl uses through setup.c. */
void client_opened_socket(struct http_client *client, int fd);
void client_closes_socket(struct http_client *client, int fd);
/* Called by the transfer's callbacks: the stream is looked at by the next settling. */
void client_touch(struct http_client *client, struct http_stream *stream);
/* Gets the thread that waits for the stream out of its wait, if there is one. */
void client_wake(struct http_client *client, struct http_stream *stream);
/* Drives or follows until something may have changed for the stream, or until `until_ns`. */
void client_wait(struct http_client *client, struct http_stream *stream, int64_t until_ns);
/* After the last client_wait of a row: lets somebody else drive. */
void client_leave(struct http_client *client);

#endif
