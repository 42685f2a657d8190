/* SPDX-License-Identifier: MIT */
/*
 * What an exchange costs: CPU and context switches of this process for N small POSTs over one
 * kept connection, by curl_easy_perform and by the HTTP module, against a server of our own in
 * another process.
 *
 *     http_cost [COUNT] [BODY_BYTES]
 */
#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/http.h"

static const char reply_body[] =
    "{\"id\":\"x\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":"
    "\"hello there, how are you?\"},\"finish_reason\":\"stop\"}]}";
enum { REPLY_LEN = sizeof reply_body - 1 };

static void require(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "http_cost: %s\n", what);
        exit(1);
    }
}

/* ---- the server: one connection after another, each request read whole ----------------------- */

static size_t request_size(const char *head, const char *head_end)
{
    const char *length = strcasestr(head, "content-length:");
    size_t body = length != NULL && length < head_end ? strtoul(length + 15, NULL, 10) : 0;
    return (size_t)(head_end - head) + 4 + body;
}

static void serve_connection(int fd)
{
    struct buf in = BUF_INIT(BUF_MAX_ANY);
    char reply[512];
    int reply_len = snprintf(reply, sizeof reply,
                             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Content-Length: %d\r\n\r\n%s",
                             REPLY_LEN, reply_body);
    char block[65536];
    for (ssize_t len; (len = read(fd, block, sizeof block)) > 0;) {
        buf_add(&in, block, (size_t)len);
        char *end = strstr(in.data, "\r\n\r\n");
        if (end == NULL || in.len < request_size(in.data, end))
            continue;
        buf_reset(&in);
        if (write(fd, reply, (size_t)reply_len) < 0)
            break;
    }
    buf_fini(&in);
    close(fd);
}

static int start_server(pid_t *pid)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    require(bind(listener, (struct sockaddr *)&address, len) == 0, "bind");
    require(listen(listener, 16) == 0, "listen");
    getsockname(listener, (struct sockaddr *)&address, &len);
    *pid = fork();
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int fd; (fd = accept(listener, NULL, NULL)) >= 0;) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                serve_connection(fd);
                _exit(0);
            }
            close(fd);
        }
        _exit(1);
    }
    close(listener);
    return ntohs(address.sin_port);
}

/* ---- the two clients ------------------------------------------------------------------------- */

struct job {
    const char *url;
    const char *body;
    size_t body_len;
    int count;
};

static size_t keep(char *bytes, size_t size, size_t count, void *payload)
{
    buf_add(payload, bytes, size * count);
    return size * count;
}

static void run_bare(const struct job *job)
{
    struct buf reply = BUF_INIT(BUF_MAX_ANY);
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Authorization: Bearer sk-0123456789");
    curl_easy_setopt(easy, CURLOPT_URL, job->url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)job->body_len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, job->body);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &reply);
    for (int i = 0; i < job->count; i++) {
        buf_reset(&reply);
        require(curl_easy_perform(easy) == CURLE_OK && reply.len == REPLY_LEN, "bare exchange");
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    buf_fini(&reply);
}

#define STR(text)                                                                                  \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static void run_module(const struct job *job)
{
    static const gudgeon_http_header headers[] = {
        {STR("Content-Type"), STR("application/json")},
        {STR("Authorization"), STR("Bearer sk-0123456789")},
    };
    const struct http_ops *http;
    struct http_client *client;
    struct err err = {0};
    gudgeon_str body = {job->body, job->body_len};
    struct http_request request = {.url = job->url,
                                   .headers = headers,
                                   .header_count = 2,
                                   .body = &body,
                                   .body_count = 1,
                                   .deadline_ns = INT64_MAX};
    require(http_load(&http, &err) == 0, err.text);
    require(http->client_new(&(struct http_client_options){.user_agent = "x"}, &client, &err) == 0,
            "client");
    for (int i = 0; i < job->count; i++) {
        struct http_stream *stream;
        gudgeon_http_part part = {.size = sizeof part};
        require(http->open(client, &request, &stream, &err) == 0, "open");
        require(http->read_all(stream, &part, &err) == 0 && part.data.len == REPLY_LEN, "read");
        http->close(stream);
    }
    http->client_free(client);
}

static double now(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double measure(const char *name, void (*run)(const struct job *), struct job job)
{
    struct job warm = job;
    warm.count = job.count / 20 + 1;
    run(&warm);
    struct rusage before, after;
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
    getrusage(RUSAGE_SELF, &before);
    run(&job);
    getrusage(RUSAGE_SELF, &after);
    cpu = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / job.count * 1e6;
    wall = (now(CLOCK_MONOTONIC) - wall) / job.count * 1e6;
    printf("%-8s %7.1f us CPU  %7.1f us wall  %5.2f switches, each exchange\n", name, cpu, wall,
           (double)(after.ru_nvcsw - before.ru_nvcsw) / job.count);
    return cpu;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 5000;
    size_t body_len = argc > 2 ? strtoul(argv[2], NULL, 10) : 500;
    pid_t server;
    char url[64], *body = malloc(body_len + 1);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/v1/chat/completions", start_server(&server));
    require(body != NULL, "memory");
    memset(body, 'x', body_len);
    struct job job = {url, body, body_len, count};
    double bare = measure("bare", run_bare, job), module = measure("module", run_module, job);
    printf("the module costs %.2f times as much CPU\n", module / bare);
    kill(server, SIGTERM);
    free(body);
    return 0;
}
