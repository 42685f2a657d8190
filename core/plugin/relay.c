/* SPDX-License-Identifier: MIT */
#include "plugin/relay.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/service.h"

enum handle_kind { HANDLE_STREAM, HANDLE_PROCESS };
struct relay_entry {
    uint64_t handle;
    enum handle_kind kind;
    union {
        gudgeon_http_stream *stream;
        gudgeon_process_handle *process;
    } to;
    const gudgeon_call *call; /* NULL = outlives it */
    struct relay_entry *next;
};

/* ---- what was handed out ----------------------------------------------------------------------
 */

void relay_init(struct relay *relay, const struct service_scope *scope)
{
    *relay = (struct relay){.scope = scope};
    pthread_mutex_init(&relay->lock, NULL);
}

void relay_fini(struct relay *relay)
{
    for (struct relay_entry *entry = relay->entries, *next; entry != NULL; entry = next) {
        next = entry->next;
        if (entry->kind == HANDLE_PROCESS)
            service_process.close(entry->to.process);
        free(entry);
    }
    pthread_mutex_destroy(&relay->lock);
}

static uint64_t add(struct relay *relay, const struct relay_entry *entry)
{
    struct relay_entry *copy = xcalloc(1, sizeof *copy);
    *copy = *entry;
    pthread_mutex_lock(&relay->lock);
    copy->handle = ++relay->last_handle;
    copy->next = relay->entries;
    relay->entries = copy;
    pthread_mutex_unlock(&relay->lock);
    return copy->handle;
}

/* Where the link to an entry is, or NULL. Under the lock. */
static struct relay_entry **find(struct relay *relay, uint64_t handle, enum handle_kind kind)
{
    for (struct relay_entry **at = &relay->entries; *at != NULL; at = &(*at)->next)
        if ((*at)->handle == handle && (*at)->kind == kind)
            return at;
    return NULL;
}

static void drop(struct relay_entry **at)
{
    struct relay_entry *entry = *at;
    *at = entry->next;
    free(entry);
}

void relay_end_call(struct relay *relay, const gudgeon_call *call)
{
    pthread_mutex_lock(&relay->lock);
    for (struct relay_entry **at = &relay->entries; *at != NULL;)
        if ((*at)->call == call)
            drop(at);
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&relay->lock);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Takes the words that a service left in the call along, for the plugin may return its class. */
static void answer_class(const gudgeon_call *call, int32_t op_class, struct relay_answer *ret)
{
    struct call *own = op_class != GUDGEON_OK ? call_of(call) : NULL;
    ret->message.op_class = (uint32_t)op_class;
    if (own != NULL) {
        ret->message.message = str_of(call_error(own)->message);
        ret->message.grant = str_of(call_error(own)->grant);
    }
}

void relay_answer_fini(struct relay *relay, struct relay_answer *answer)
{
    buf_fini(&answer->list);
    if (answer->passed == 0)
        return;
    pthread_mutex_lock(&relay->lock);
    struct relay_entry **at = find(relay, answer->passed, HANDLE_PROCESS);
    for (uint32_t which = 0; at != NULL && which < 3; which++)
        service_process.close_fd((*at)->to.process, which);
    pthread_mutex_unlock(&relay->lock);
}

static int fault(const char *what, const char **ret_fault)
{
    *ret_fault = what;
    return ERR_PROTOCOL;
}

static gudgeon_str *texts_of(gudgeon_str list, size_t *ret_count)
{
    size_t at = 0, count = list_count(list);
    gudgeon_str *texts = xcalloc(count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        list_next(list, &at, &texts[i]);
    *ret_count = count;
    return texts;
}

/* ---- HTTP -------------------------------------------------------------------------------------
 */

static void answer_head(const gudgeon_http_head *head, struct relay_answer *ret)
{
    ret->message.number = head->status;
    ret->message.texts[0] = head->url;
    for (uint64_t i = 0; i < head->header_count; i++) {
        list_add(&ret->list, head->headers[i].name);
        list_add(&ret->list, head->headers[i].value);
    }
    ret->message.list = (gudgeon_str){ret->list.data, ret->list.len};
}

static gudgeon_http_header *headers_of(gudgeon_str list, size_t count)
{
    size_t at = 0;
    gudgeon_http_header *headers = xcalloc(count + 1, sizeof *headers);
    for (size_t i = 0; i < count; i++) {
        list_next(list, &at, &headers[i].name);
        list_next(list, &at, &headers[i].value);
    }
    return headers;
}

static int http_open(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                     struct relay_answer *ret, const char **ret_fault)
{
    size_t pieces, texts = list_count(ask->list);
    if (texts % 2 != 0)
        return fault("asked for a request with half a header", ret_fault);
    CLEANUP(free_ptr) gudgeon_str *body = texts_of(ask->more, &pieces);
    CLEANUP(free_ptr) gudgeon_http_header *headers = headers_of(ask->list, texts / 2);
    const gudgeon_http_request request = {.size = sizeof request,
                                          .method = ask->texts[0],
                                          .url = ask->texts[1],
                                          .headers = headers,
                                          .header_count = texts / 2,
                                          .body = body,
                                          .body_count = pieces,
                                          .ca_file = ask->texts[2],
                                          .connect_ms = ask->numbers[0],
                                          .first_byte_ms = ask->numbers[1],
                                          .idle_ms = ask->numbers[2],
                                          .total_ms = ask->numbers[3],
                                          .max_bytes = ask->numbers[4]};
    struct relay_entry entry = {.kind = HANDLE_STREAM, .call = call};
    answer_class(call, service_http.open(call, &request, &entry.to.stream), ret);
    if (ret->message.op_class != GUDGEON_OK)
        return 0;
    ret->message.handle = add(relay, &entry);
    answer_head(service_http.head(entry.to.stream), ret);
    return 0;
}

/* The stream of a number, if it is this call's: nobody else can drop it then. */
static gudgeon_http_stream *stream_of(struct relay *relay, const gudgeon_call *call,
                                      const struct msg_ask *ask, bool then_drop)
{
    gudgeon_http_stream *stream = NULL;
    pthread_mutex_lock(&relay->lock);
    struct relay_entry **at = find(relay, ask->handle, HANDLE_STREAM);
    if (at != NULL && (*at)->call == call) {
        stream = (*at)->to.stream;
        if (then_drop)
            drop(at);
    }
    pthread_mutex_unlock(&relay->lock);
    return stream;
}

static int http_read(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                     struct relay_answer *ret, const char **ret_fault)
{
    static int32_t (*const *const reads[READ_COUNT])(gudgeon_http_stream *, gudgeon_http_part *) = {
        [READ_BYTES] = &service_http.read,       [READ_LINE] = &service_http.read_line,
        [READ_EVENT] = &service_http.read_event, [READ_ALL] = &service_http.read_all,
        [READ_PEEK] = &service_http.peek,
    };
    gudgeon_http_stream *stream = stream_of(relay, call, ask, false);
    if (stream == NULL || ask->which >= READ_COUNT)
        return fault("read what it had not opened", ret_fault);
    gudgeon_http_part part = {.size = sizeof part};
    answer_class(call, (*reads[ask->which])(stream, &part), ret);
    if (ret->message.op_class != GUDGEON_OK)
        return 0;
    ret->message.number = part.end;
    ret->message.texts[0] = part.type;
    ret->message.texts[1] = part.id;
    ret->message.texts[2] = part.data;
    return 0;
}

static int http_close(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                      struct relay_answer *ret, const char **ret_fault)
{
    (void)ret;
    gudgeon_http_stream *stream = stream_of(relay, call, ask, true);
    if (stream == NULL)
        return fault("closed what it had not opened", ret_fault);
    service_http.close(stream);
    return 0;
}

/* ---- secrets and processes --------------------------------------------------------------------
 */

static int secret(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                  struct relay_answer *ret, const char **ret_fault)
{
    (void)relay, (void)ret_fault;
    answer_class(call, service_secret.expand(call, ask->texts[0], &ret->message.texts[0]), ret);
    return 0;
}

static void pass(gudgeon_process_handle *process, struct relay_answer *ret)
{
    ret->fds[ret->fd_count++] = service_process.exit_fd(process);
    for (uint32_t which = 0; which < 3; which++) {
        int fd = service_process.fd(process, which);
        if (fd < 0)
            continue;
        ret->fds[ret->fd_count++] = fd;
        ret->message.number |= 1u << which;
    }
}

static int spawn(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                 struct relay_answer *ret, const char **ret_fault)
{
    size_t argc, envc;
    (void)ret_fault;
    CLEANUP(free_ptr) gudgeon_str *argv = texts_of(ask->list, &argc);
    CLEANUP(free_ptr) gudgeon_str *env = texts_of(ask->more, &envc);
    const gudgeon_process_request request = {.size = sizeof request,
                                             .flags = ask->which,
                                             .argv = argv,
                                             .argv_count = argc,
                                             .env = env,
                                             .env_count = envc,
                                             .directory = ask->texts[0]};
    struct relay_entry entry = {.kind = HANDLE_PROCESS,
                                .call = ask->which & GUDGEON_PROCESS_KEEP ? NULL : call};
    answer_class(call, service_process.spawn(call, &request, &entry.to.process), ret);
    if (ret->message.op_class != GUDGEON_OK)
        return 0;
    ret->message.handle = ret->passed = add(relay, &entry);
    pass(entry.to.process, ret);
    return 0;
}

static void wait_end(gudgeon_process_handle *process, struct relay_answer *ret)
{
    gudgeon_process_exit how = {.size = sizeof how};
    ret->message.op_class = (uint32_t)service_process.wait(process, &how);
    ret->message.number = how.signal;
    ret->message.handle = (uint64_t)how.status;
}

/* ---- questions --------------------------------------------------------------------------------
 */

static int (*const lane_ops[ASK_OP_COUNT])(struct relay *, const gudgeon_call *,
                                           const struct msg_ask *, struct relay_answer *,
                                           const char **) = {
    [ASK_HTTP_OPEN] = http_open, [ASK_HTTP_READ] = http_read, [ASK_HTTP_CLOSE] = http_close,
    [ASK_SECRET] = secret,       [ASK_SPAWN] = spawn,
};

static void start_answer(struct relay_answer *ret)
{
    *ret = (struct relay_answer){.fd_count = 0};
    buf_init(&ret->list, MESSAGE_MAX);
}

int relay_ask_lane(struct relay *relay, const gudgeon_call *call, const struct msg_ask *ask,
                   struct relay_answer *ret, const char **ret_fault)
{
    start_answer(ret);
    if (ask->op >= ASK_OP_COUNT || lane_ops[ask->op] == NULL)
        return fault("asked for what no service does", ret_fault);
    return lane_ops[ask->op](relay, call, ask, ret, ret_fault);
}

int relay_ask_side(struct relay *relay, const struct msg_ask *ask, struct relay_answer *ret,
                   const char **ret_fault)
{
    start_answer(ret);
    if (ask->op != ASK_SIGNAL && ask->op != ASK_WAIT && ask->op != ASK_CLOSE)
        return fault("asked for what no service does", ret_fault);
    pthread_mutex_lock(&relay->lock);
    struct relay_entry **at = find(relay, ask->handle, HANDLE_PROCESS);
    /* One that its call has taken back a moment ago is no fault of a thread that still asks. */
    if (at == NULL) {
        ret->message.op_class = GUDGEON_INVALID;
    } else if (ask->op == ASK_SIGNAL) {
        service_process.signal((*at)->to.process, (int32_t)ask->which);
    } else if (ask->op == ASK_WAIT) {
        wait_end((*at)->to.process, ret);
    } else {
        service_process.close((*at)->to.process);
        drop(at);
    }
    pthread_mutex_unlock(&relay->lock);
    return 0;
}
