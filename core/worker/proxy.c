/* SPDX-License-Identifier: MIT */

/*
 * The host's services as a plugin in a worker sees them: each op is a question to the host, which
 * does the work under the instance's grant. What the host lends to a call it takes back itself when
 * the op returns, so releasing here only frees this side.
 */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call_op.h"
#include "plugin/secrets.h"
#include "worker/serve.h"

/* ---- what all have in common ------------------------------------------------------------------
 */

static struct lane *lane_of(struct call *call)
{
    return (struct lane *)call_scope(call);
}

/* Puts the host's words into the call's error; the class for the plugin. */
static int32_t take_class(struct call *call, const struct msg_answer *answer)
{
    struct err err;
    if (answer->op_class == GUDGEON_OK || answer->op_class >= GUDGEON_CLASS_COUNT)
        return (int32_t)answer->op_class;
    err_set(&err, -(int)answer->op_class, "%.*s", STR_ARG(answer->message));
    return call_take_refusal(call, &err, answer->grant.ptr);
}

static gudgeon_str keep(struct buf *bytes, gudgeon_str text)
{
    if (text.ptr == NULL)
        return text;
    size_t at = bytes->len;
    buf_add(bytes, text.ptr, text.len + 1); /* with its NUL */
    return (gudgeon_str){bytes->data + at, text.len};
}

static int add_list(struct buf *list, const gudgeon_str *items, uint64_t count)
{
    if (count > LIST_ITEMS_MAX || (count > 0 && items == NULL))
        return ERR_INVALID;
    int status = 0;
    for (uint64_t i = 0; i < count && status == 0; i++)
        status = list_add(list, items[i]);
    return status;
}

static gudgeon_str list_text(const struct buf *list)
{
    return (gudgeon_str){list->data, list->len};
}

/* ---- gudgeon.secret/1 -------------------------------------------------------------------------
 */

struct filled {
    struct call_resource resource;
    struct buf text;
};

static void wipe(struct call_resource *resource)
{
    struct filled *filled = (struct filled *)resource;
    secrets_wipe(&filled->text);
    free(filled);
}

static int32_t secret_expand(const gudgeon_call *abi, gudgeon_str text, gudgeon_str *value)
{
    struct call *call = call_of(abi);
    if (call == NULL || value == NULL || text.ptr == NULL)
        return GUDGEON_INVALID;
    struct message message;
    struct msg_answer answer;
    lane_ask(lane_of(call), &(struct msg_ask){.op = ASK_SECRET, .texts = {text}}, &message,
             &answer);
    int32_t result = take_class(call, &answer);
    if (result == GUDGEON_OK) {
        struct filled *filled = xcalloc(1, sizeof *filled);
        filled->resource.release = wipe;
        buf_init(&filled->text, MESSAGE_MAX);
        *value = keep(&filled->text, answer.texts[0]);
        call_own(call, &filled->resource);
        explicit_bzero((void *)(uintptr_t)message.payload.ptr, message.payload.len);
    }
    lane_ask_end(lane_of(call));
    return result;
}

static const gudgeon_secret secret_table = {.size = sizeof secret_table, .expand = secret_expand};

/* ---- gudgeon.http/1 ---------------------------------------------------------------------------
 */

struct gudgeon_http_stream {
    struct call_resource resource;
    struct call *call;
    uint64_t handle;
    gudgeon_http_head head;
    gudgeon_http_header *headers;
    struct buf head_bytes, part_bytes;
};

static void release_stream(struct call_resource *resource)
{
    gudgeon_http_stream *stream = (gudgeon_http_stream *)resource;
    buf_fini(&stream->head_bytes);
    buf_fini(&stream->part_bytes);
    free(stream->headers);
    free(stream);
}

/* Room for all of it first: the strings point into the buffer. */
static void keep_head(gudgeon_http_stream *stream, const struct msg_answer *answer)
{
    size_t at = 0, count = list_count(answer->list) / 2;
    stream->headers = xcalloc(count + 1, sizeof *stream->headers);
    buf_reserve(&stream->head_bytes, answer->list.len + answer->texts[0].len + 1);
    for (size_t i = 0; i < count; i++) {
        list_next(answer->list, &at, &stream->headers[i].name);
        list_next(answer->list, &at, &stream->headers[i].value);
        stream->headers[i].name = keep(&stream->head_bytes, stream->headers[i].name);
        stream->headers[i].value = keep(&stream->head_bytes, stream->headers[i].value);
    }
    stream->head = (gudgeon_http_head){.size = sizeof stream->head,
                                       .status = answer->number,
                                       .headers = stream->headers,
                                       .header_count = count,
                                       .url = keep(&stream->head_bytes, answer->texts[0])};
}

static gudgeon_http_stream *own_stream(struct call *call, const struct msg_answer *answer)
{
    gudgeon_http_stream *stream = xcalloc(1, sizeof *stream);
    stream->resource.release = release_stream;
    stream->call = call;
    stream->handle = answer->handle;
    buf_init(&stream->head_bytes, MESSAGE_MAX);
    buf_init(&stream->part_bytes, MESSAGE_MAX);
    keep_head(stream, answer);
    call_own(call, &stream->resource);
    return stream;
}

static int add_headers(struct buf *list, const gudgeon_http_request *request)
{
    if (request->header_count > LIST_ITEMS_MAX / 2 ||
        (request->header_count > 0 && request->headers == NULL))
        return ERR_INVALID;
    int status = 0;
    for (uint64_t i = 0; i < request->header_count && status == 0; i++) {
        status = list_add(list, request->headers[i].name);
        if (status == 0)
            status = list_add(list, request->headers[i].value);
    }
    return status;
}

static int32_t http_open(const gudgeon_call *abi, const gudgeon_http_request *request,
                         gudgeon_http_stream **ret)
{
    struct call *call = call_of(abi);
    if (call == NULL || request == NULL || request->size < sizeof *request || ret == NULL)
        return GUDGEON_INVALID;
    CLEANUP(buf_fini) struct buf headers = BUF_INIT(MESSAGE_MAX);
    CLEANUP(buf_fini) struct buf body = BUF_INIT(MESSAGE_MAX);
    if (add_headers(&headers, request) < 0 ||
        add_list(&body, request->body, request->body_count) < 0)
        return GUDGEON_INVALID;
    const struct msg_ask ask = {
        .op = ASK_HTTP_OPEN,
        .numbers = {request->connect_ms, request->first_byte_ms, request->idle_ms,
                    request->total_ms, request->max_bytes},
        .texts = {request->method, request->url, request->ca_file},
        .list = list_text(&headers),
        .more = list_text(&body),
    };
    struct message message;
    struct msg_answer answer;
    lane_ask(lane_of(call), &ask, &message, &answer);
    int32_t result = take_class(call, &answer);
    if (result == GUDGEON_OK)
        *ret = own_stream(call, &answer);
    lane_ask_end(lane_of(call));
    return result;
}

static const gudgeon_http_head *http_head(gudgeon_http_stream *stream)
{
    return &stream->head;
}

static int32_t read_by(gudgeon_http_stream *stream, enum ask_read how, gudgeon_http_part *part)
{
    if (part == NULL || part->size < sizeof *part)
        return GUDGEON_INVALID;
    struct message message;
    struct msg_answer answer;
    struct lane *lane = lane_of(stream->call);
    lane_ask(lane, &(struct msg_ask){.op = ASK_HTTP_READ, .which = how, .handle = stream->handle},
             &message, &answer);
    int32_t result = take_class(stream->call, &answer);
    if (result == GUDGEON_OK) {
        struct buf *bytes = &stream->part_bytes;
        buf_reset(bytes);
        buf_reserve(bytes, message.payload.len);
        *part = (gudgeon_http_part){.size = part->size,
                                    .end = answer.number,
                                    .type = keep(bytes, answer.texts[0]),
                                    .id = keep(bytes, answer.texts[1]),
                                    .data = keep(bytes, answer.texts[2])};
    }
    lane_ask_end(lane);
    return result;
}

static int32_t http_read(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, READ_BYTES, part);
}

static int32_t http_read_line(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, READ_LINE, part);
}

static int32_t http_read_event(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, READ_EVENT, part);
}

static int32_t http_read_all(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, READ_ALL, part);
}

static int32_t http_peek(gudgeon_http_stream *stream, gudgeon_http_part *part)
{
    return read_by(stream, READ_PEEK, part);
}

static void http_close(gudgeon_http_stream *stream)
{
    struct message message;
    struct msg_answer answer;
    if (stream == NULL || !call_disown(stream->call, &stream->resource))
        return;
    struct lane *lane = lane_of(stream->call);
    lane_ask(lane, &(struct msg_ask){.op = ASK_HTTP_CLOSE, .handle = stream->handle}, &message,
             &answer);
    lane_ask_end(lane);
    release_stream(&stream->resource);
}

static const gudgeon_http http_table = {
    .size = sizeof http_table,
    .open = http_open,
    .head = http_head,
    .read = http_read,
    .read_line = http_read_line,
    .read_event = http_read_event,
    .read_all = http_read_all,
    .close = http_close,
    .peek = http_peek,
};

/* ---- gudgeon.process/1 ------------------------------------------------------------------------
 */

enum { PIPES = 3 };

struct gudgeon_process_handle {
    struct call_resource resource;
    struct serve *serve;
    struct call *call; /* NULL when it outlives it */
    uint64_t handle;
    pthread_mutex_t lock; /* of the pipes */
    int pipes[PIPES];
    int exit_fd;
};

static void release_process(struct call_resource *resource)
{
    gudgeon_process_handle *process = (gudgeon_process_handle *)resource;
    for (size_t i = 0; i < PIPES; i++)
        close_fd(&process->pipes[i]);
    close_fd(&process->exit_fd);
    pthread_mutex_destroy(&process->lock);
    free(process);
}

static gudgeon_process_handle *own_process(struct call *call, bool is_kept,
                                           const struct msg_answer *answer,
                                           const struct message *message)
{
    gudgeon_process_handle *process = xcalloc(1, sizeof *process);
    size_t at = 0;
    process->resource.release = release_process;
    process->serve = lane_of(call)->serve;
    process->handle = answer->handle;
    pthread_mutex_init(&process->lock, NULL);
    process->exit_fd = at < message->fd_count ? message->fds[at++] : -1;
    for (size_t i = 0; i < PIPES; i++)
        process->pipes[i] =
            (answer->number & (1u << i)) != 0 && at < message->fd_count ? message->fds[at++] : -1;
    if (!is_kept) {
        process->call = call;
        call_own(call, &process->resource);
    }
    return process;
}

static int32_t process_spawn(const gudgeon_call *abi, const gudgeon_process_request *request,
                             gudgeon_process_handle **ret)
{
    struct call *call = call_of(abi);
    if (call == NULL || request == NULL || request->size < sizeof *request || ret == NULL)
        return GUDGEON_INVALID;
    CLEANUP(buf_fini) struct buf argv = BUF_INIT(MESSAGE_MAX);
    CLEANUP(buf_fini) struct buf env = BUF_INIT(MESSAGE_MAX);
    if (add_list(&argv, request->argv, request->argv_count) < 0 ||
        add_list(&env, request->env, request->env_count) < 0)
        return GUDGEON_INVALID;
    const struct msg_ask ask = {.op = ASK_SPAWN,
                                .which = request->flags,
                                .texts = {request->directory},
                                .list = list_text(&argv),
                                .more = list_text(&env)};
    struct message message;
    struct msg_answer answer;
    lane_ask(lane_of(call), &ask, &message, &answer);
    int32_t result = take_class(call, &answer);
    if (result == GUDGEON_OK)
        *ret = own_process(call, request->flags & GUDGEON_PROCESS_KEEP, &answer, &message);
    lane_ask_end(lane_of(call));
    return result;
}

static int32_t process_fd(gudgeon_process_handle *process, uint32_t which)
{
    pthread_mutex_lock(&process->lock);
    int fd = which < PIPES ? process->pipes[which] : -1;
    pthread_mutex_unlock(&process->lock);
    return fd;
}

static void process_close_fd(gudgeon_process_handle *process, uint32_t which)
{
    pthread_mutex_lock(&process->lock);
    if (which < PIPES)
        close_fd(&process->pipes[which]);
    pthread_mutex_unlock(&process->lock);
}

static int32_t process_exit_fd(gudgeon_process_handle *process)
{
    return process->exit_fd;
}

static void process_signal(gudgeon_process_handle *process, int32_t signal)
{
    struct msg_answer answer;
    side_ask(
        process->serve,
        &(struct msg_ask){.op = ASK_SIGNAL, .which = (uint32_t)signal, .handle = process->handle},
        &answer);
}

static int32_t process_wait(gudgeon_process_handle *process, gudgeon_process_exit *result)
{
    struct msg_answer answer;
    if (result == NULL || result->size < sizeof *result)
        return GUDGEON_INVALID;
    side_ask(process->serve, &(struct msg_ask){.op = ASK_WAIT, .handle = process->handle}, &answer);
    if (answer.op_class != GUDGEON_OK)
        return (int32_t)answer.op_class;
    result->signal = answer.number;
    result->status = (int32_t)answer.handle;
    return GUDGEON_OK;
}

static void process_close(gudgeon_process_handle *process)
{
    struct msg_answer answer;
    if (process == NULL ||
        (process->call != NULL && !call_disown(process->call, &process->resource)))
        return;
    side_ask(process->serve, &(struct msg_ask){.op = ASK_CLOSE, .handle = process->handle},
             &answer);
    release_process(&process->resource);
}

static const gudgeon_process process_table = {
    .size = sizeof process_table,
    .spawn = process_spawn,
    .fd = process_fd,
    .close_fd = process_close_fd,
    .exit_fd = process_exit_fd,
    .signal = process_signal,
    .wait = process_wait,
    .close = process_close,
};

/* ---- which there are --------------------------------------------------------------------------
 */

const void *proxy_service(const char *id)
{
    static const struct {
        const char *id;
        const void *table;
    } rows[] = {
        {GUDGEON_HTTP_ID, &http_table},
        {GUDGEON_PROCESS_ID, &process_table},
        {GUDGEON_SECRET_ID, &secret_table},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].id, id) == 0)
            return rows[i].table;
    return NULL;
}
