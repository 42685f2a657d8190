/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_HTTP_RIG_H
#define GUDGEON_TESTS_HTTP_RIG_H

/*
 * The real HTTP module against tests/servers/faults.py (tests run at the repository's root).
 *
 * An exchange is written down as one line, which the tests compare: the status, each part that was
 * read as [part], then "end", or the class and the message of the failure, in which the server's
 * address is HOST:
 *     200 [first] retry: the reply of HOST was cut short
 */

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "sys/cancel.h"
#include "sys/http.h"
#include "sys/proc.h"
#include "unit.h"

struct rig {
    struct proc server;
    int port, tls_port, dead_port;
    char ca_file[256];
    const struct http_ops *http;
    struct http_client *client;
};

static struct rig rig = {.server = PROC_INIT};

enum rig_read { RIG_EVENTS, RIG_LINES, RIG_BYTES, RIG_ALL, RIG_HEAD };

struct rig_row {
    const char *name;
    const char *path;
    enum rig_read read;
    const char *want;
    struct http_request request;
    int64_t least_ms, most_ms; /* 0 = not looked at */
};

#define ROW(row_name, row_path, row_read, row_want, ...)                                           \
    {                                                                                              \
        .name = (row_name), .path = (row_path), .read = (row_read), .want = (row_want),            \
        __VA_ARGS__                                                                                \
    }

static inline struct http_client *rig_client(const char *ca_file)
{
    struct http_client *client = NULL;
    struct err err;
    int status =
        rig.http->client_new(&(struct http_client_options){.ca_file = ca_file}, &client, &err);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    return client;
}

/* Starts the server and loads the module; the process ends when that fails. */
static inline void rig_start(void)
{
    static const char *const argv[] = {"python3", "tests/servers/faults.py", NULL};
    struct proc_options options = {.argv = argv,
                                   .envp = (const char *const *)environ,
                                   .stdio = {PROC_PIPE, PROC_PIPE, STDERR_FILENO}};
    struct err err;
    char line[400];
    char *python;
    if (proc_find("python3", getenv("PATH"), &python, &err) < 0)
        exit(2);
    options.file = python;
    if (proc_spawn(&options, &rig.server, &err) < 0 || http_load(&rig.http, &err) < 0) {
        printf("# %s\n", err.text);
        exit(2);
    }
    free(python);
    size_t len = 0;
    while (len < sizeof line - 1 && (len == 0 || line[len - 1] != '\n')) {
        ssize_t got = read(rig.server.pipes[1], line + len, sizeof line - 1 - len);
        if (got == 0)
            exit(2);
        len += got > 0 ? (size_t)got : 0;
    }
    line[len] = '\0';
    if (sscanf(line, "%d %d %d %255s", &rig.port, &rig.tls_port, &rig.dead_port, rig.ca_file) != 4)
        exit(2);
}

static inline void rig_stop(void)
{
    proc_close_pipe(&rig.server, 0);
    struct proc_exit how;
    proc_wait(&rig.server, clock_monotonic_ns() + 5 * NS_PER_S, NULL, &how);
    proc_close(&rig.server);
}

static inline char *rig_url(const char *path)
{
    if (path[0] != '/')
        return xstrdup(path);
    return xasprintf("http://127.0.0.1:%d%s", rig.port, path);
}

static inline void rig_replace(struct buf *text, const char *what, const char *with)
{
    for (char *at; (at = strstr(text->data, what)) != NULL;) {
        size_t before = (size_t)(at - text->data);
        char *rest = xstrdup(at + strlen(what));
        buf_truncate(text, before);
        buf_add_str(text, with);
        buf_add_str(text, rest);
        free(rest);
    }
}

static inline void rig_add_failure(struct buf *out, int status, const struct err *err)
{
    CU_ASSERT_EQUAL(err->code, status);
    buf_addf(out, "%s: %s", err_name(status), err->text);
}

static inline void rig_add_part(struct buf *out, const gudgeon_http_part *part)
{
    CU_ASSERT_EQUAL(part->data.ptr[part->data.len], '\0');
    if (part->data.len > 100)
        buf_addf(out, "[%" PRIu64 " bytes] ", part->data.len);
    else if (part->type.ptr != NULL || part->id.ptr != NULL)
        buf_addf(out, "[%.*s|%.*s|%.*s] ", STR_ARG(part->type), STR_ARG(part->id),
                 STR_ARG(part->data));
    else
        buf_addf(out, "[%.*s] ", STR_ARG(part->data));
}

/* Reads to the end, or to the failure. The slices of RIG_BYTES are joined: their sizes are
 * chance. */
static inline void rig_read(struct http_stream *stream, enum rig_read how, struct buf *out)
{
    int (*const reads[])(struct http_stream *, gudgeon_http_part *, struct err *) = {
        rig.http->read_event, rig.http->read_line, rig.http->read, rig.http->read_all};
    struct buf joined = BUF_INIT(BUF_MAX_ANY);
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    int status;
    while ((status = reads[how](stream, &part, &err)) == 0 && !part.end) {
        if (how == RIG_BYTES)
            buf_add(&joined, part.data.ptr, part.data.len);
        else
            rig_add_part(out, &part);
        if (how == RIG_ALL)
            break;
    }
    if (joined.len > 0)
        rig_add_part(out, &(gudgeon_http_part){.data = {joined.data, joined.len}});
    if (status < 0)
        rig_add_failure(out, status, &err);
    else
        buf_add_str(out, "end");
    buf_fini(&joined);
}

/* One exchange, written down; freed by the caller. */
static inline char *rig_exchange(struct http_client *client, const struct rig_row *row)
{
    struct http_request request = row->request;
    struct http_stream *stream = NULL;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct err err;
    CLEANUP(free_ptr) char *url = rig_url(row->path);
    CLEANUP(free_ptr) char *host = xasprintf("127.0.0.1:%d", rig.port);
    CLEANUP(free_ptr) char *tls_host = xasprintf(":%d", rig.tls_port);
    CLEANUP(free_ptr) char *dead_host = xasprintf(":%d", rig.dead_port);
    request.url = url;
    if (request.deadline_ns == 0)
        request.deadline_ns = INT64_MAX;
    int status = rig.http->open(client, &request, &stream, &err);
    if (status < 0) {
        CU_ASSERT_PTR_NULL(stream);
        rig_add_failure(&out, status, &err);
    } else {
        buf_addf(&out, "%u ", rig.http->head(stream)->status);
        if (row->read != RIG_HEAD)
            rig_read(stream, row->read, &out);
    }
    rig.http->close(stream);
    rig_replace(&out, host, "HOST");
    rig_replace(&out, tls_host, ":TLS");
    rig_replace(&out, dead_host, ":DEAD");
    return buf_take(&out);
}

static inline void rig_check(struct http_client *client, const struct rig_row *row)
{
    int64_t began = clock_monotonic_ns();
    CLEANUP(free_ptr) char *have = rig_exchange(client, row);
    int64_t took_ms = (clock_monotonic_ns() - began) / NS_PER_MS;
    int in_time = (row->least_ms == 0 || took_ms >= row->least_ms) &&
                  (row->most_ms == 0 || took_ms <= row->most_ms);
    if (strcmp(have, row->want) != 0)
        printf("#   row: %s\n", row->name);
    CHECK_STR(have, row->want);
    if (!in_time)
        printf("#   row: %s: took %" PRId64 " ms\n", row->name, took_ms);
    CU_ASSERT(in_time);
}

/* GET a path of the server; the body, freed by the caller. */
static inline char *rig_get(struct http_client *client, const char *path)
{
    CLEANUP(free_ptr) char *url = rig_url(path);
    struct http_request request = {.url = url, .deadline_ns = INT64_MAX};
    struct http_stream *stream = NULL;
    gudgeon_http_part part = {.size = sizeof part};
    struct err err;
    int status = rig.http->open(client, &request, &stream, &err);
    if (status == 0)
        status = rig.http->read_all(stream, &part, &err);
    if (status < 0)
        printf("# %s: %s\n", path, err.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    char *body = str_dup(part.data);
    rig.http->close(stream);
    return body;
}

#endif
