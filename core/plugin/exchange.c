/* SPDX-License-Identifier: MIT */
#include "plugin/exchange.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/worker_process.h"
#include "sys/cancel.h"

enum {
    TOOLS_MAX = 10000,         /* that one instance may list */
    TOOLS_BYTES = 64 << 20,    /* their texts */
    LAST_MESSAGES_MAX = 65536, /* of a worker that has died */
};
/* How long a worker that has closed its lane may take to end. */
#define END_NS (200 * NS_PER_MS)

/* How far the host has gone to end the op. */
enum stage { STAGE_RUNNING, STAGE_LATE, STAGE_TOLD, STAGE_TERM, STAGE_KILLED };

struct exchange {
    struct worker_process *worker;
    struct worker_lane *lane;
    struct call *call;
    const gudgeon_call *abi;
    enum frame_type type;
    uint64_t id;
    enum stage stage;
    bool is_late;      /* the deadline, not a cancel, began to end it */
    int64_t since_ns;  /* when that was */
    bool is_closed;    /* the worker has closed the lane */
    int64_t closed_ns; /* when that was seen */
    unsigned tools;
    uint64_t tool_bytes;
    bool is_done;
    int32_t op_class; /* when it is done */
};

/* ---- telling the plugin -----------------------------------------------------------------------
 */

static void tell(void *payload)
{
    struct worker_lane *lane = payload;
    const uint64_t one = 1;
    if (atomic_exchange(&lane->slot->is_cancelled, 1) != 0)
        return;
    ssize_t ignored = write(lane->cancel_fd, &one, sizeof one);
    (void)ignored;
}

static void untell(struct worker_lane *lane)
{
    uint64_t count;
    if (atomic_exchange(&lane->slot->is_cancelled, 0) == 0)
        return;
    ssize_t ignored = read(lane->cancel_fd, &count, sizeof count);
    (void)ignored;
}

static const char *reason(const struct exchange *exchange)
{
    return exchange->is_late ? "did not stop within 1 s of its deadline"
                             : "did not stop within 1 s of being cancelled";
}

static void kill_it(struct exchange *exchange, int code, const char *why)
{
    worker_process_condemn(exchange->worker, code, why);
    exchange->stage = STAGE_KILLED;
}

static void begin_end(struct exchange *exchange, int64_t now_ns, enum stage stage)
{
    exchange->is_late = stage == STAGE_LATE;
    exchange->since_ns = now_ns;
    exchange->stage = stage;
}

static bool is_time(const struct exchange *exchange, int64_t now_ns, int64_t after_ns)
{
    return now_ns - exchange->since_ns >= after_ns;
}

/* Goes on to the next stages when their time has come. */
static void advance(struct exchange *exchange)
{
    int64_t now_ns = clock_monotonic_ns();
    int64_t deadline_ns = call_deadline_ns(exchange->call);
    atomic_store(&exchange->lane->slot->deadline_ns, deadline_ns);
    if (exchange->stage == STAGE_RUNNING && cancel_is_set(call_cancel(exchange->call)))
        begin_end(exchange, now_ns, STAGE_TOLD); /* by the watch */
    else if (exchange->stage == STAGE_RUNNING && now_ns >= deadline_ns)
        begin_end(exchange, now_ns, STAGE_LATE);
    if (exchange->stage == STAGE_LATE && is_time(exchange, now_ns, EXCHANGE_TELL_NS)) {
        tell(exchange->lane);
        exchange->stage = STAGE_TOLD;
    }
    if (exchange->stage == STAGE_TOLD && is_time(exchange, now_ns, EXCHANGE_TERM_NS)) {
        proc_signal_group(&exchange->worker->proc, SIGTERM);
        exchange->stage = STAGE_TERM;
    }
    if (exchange->stage == STAGE_TERM && is_time(exchange, now_ns, EXCHANGE_KILL_NS))
        kill_it(exchange, exchange->is_late ? ERR_TIMEOUT : ERR_CANCELLED, reason(exchange));
    if (exchange->is_closed && exchange->stage != STAGE_KILLED &&
        now_ns - exchange->closed_ns >= END_NS)
        kill_it(exchange, ERR_PROTOCOL, "closed its connection to the host");
}

static int64_t next_ns(const struct exchange *exchange)
{
    int64_t next = INT64_MAX;
    if (exchange->stage == STAGE_RUNNING)
        next = call_deadline_ns(exchange->call);
    else if (exchange->stage == STAGE_LATE)
        next = exchange->since_ns + EXCHANGE_TELL_NS;
    else if (exchange->stage == STAGE_TOLD)
        next = exchange->since_ns + EXCHANGE_TERM_NS;
    else if (exchange->stage == STAGE_TERM)
        next = exchange->since_ns + EXCHANGE_KILL_NS;
    if (exchange->is_closed && exchange->stage != STAGE_KILLED &&
        exchange->closed_ns + END_NS < next)
        next = exchange->closed_ns + END_NS;
    return next;
}

/* Rounded up, so that no stage is looked for before its time. */
static int timeout_ms(int64_t next)
{
    if (next == INT64_MAX)
        return -1;
    int64_t left_ns = next - clock_monotonic_ns();
    if (left_ns <= 0)
        return 0;
    int64_t left_ms = left_ns / NS_PER_MS + 1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* ---- what comes up ----------------------------------------------------------------------------
 */

static int take_delta(struct exchange *exchange, const struct message *message)
{
    struct msg_delta got;
    if (message_read(FRAME_DELTA, message->payload, &got) < 0)
        return ERR_PROTOCOL;
    const gudgeon_delta delta = {.size = sizeof delta,
                                 .channel = got.channel,
                                 .index = got.index,
                                 .name = got.name,
                                 .bytes = got.bytes};
    if (exchange->abi->delta(exchange->abi, &delta) != 0)
        atomic_store(&exchange->lane->slot->is_told_to_stop, 1);
    return 0;
}

static int take_tool(struct exchange *exchange, const struct message *message)
{
    struct msg_tool got;
    exchange->tool_bytes += message->payload.len;
    if (exchange->type != FRAME_LIST || ++exchange->tools > TOOLS_MAX ||
        exchange->tool_bytes > TOOLS_BYTES || message_read(FRAME_TOOL, message->payload, &got) < 0)
        return ERR_PROTOCOL;
    const gudgeon_tool tool = {.size = sizeof tool,
                               .flags = got.flags,
                               .name = got.name,
                               .description = got.description,
                               .parameters = got.parameters};
    exchange->abi->result(exchange->abi, &tool);
    return 0;
}

static int take_done(struct exchange *exchange, const struct message *message)
{
    struct msg_done got;
    if (message_read(FRAME_DONE, message->payload, &got) < 0)
        return ERR_PROTOCOL;
    const gudgeon_error error = {.size = sizeof error,
                                 .http_status = got.http_status,
                                 .retry_after_ms = got.retry_after_ms,
                                 .message = got.message,
                                 .provider_code = got.provider_code,
                                 .grant = got.grant};
    const gudgeon_tool_result result = {.size = sizeof result,
                                        .flags = got.result_flags,
                                        .text = got.text,
                                        .content = got.content,
                                        .data = got.data};
    if (got.op_class != GUDGEON_OK)
        exchange->abi->error(exchange->abi, &error);
    if (got.has_result != 0)
        exchange->abi->result(exchange->abi, &result);
    if (got.notices > atomic_load(&exchange->worker->notices))
        worker_process_hear(exchange->worker);
    exchange->op_class = (int32_t)got.op_class;
    if (exchange->is_late && exchange->op_class == GUDGEON_CANCELLED)
        exchange->op_class = GUDGEON_TIMEOUT; /* it was told by the same means */
    exchange->is_done = true;
    return 0;
}

static int wait_for(struct exchange *exchange, bool to_send);

/* Sends what was begun; gives up when the worker dies. */
static void send_all(struct exchange *exchange)
{
    int status = channel_flush(&exchange->lane->channel);
    while (status == ERR_BUSY && wait_for(exchange, true) == 0)
        status = channel_flush(&exchange->lane->channel);
}

static int answer(struct exchange *exchange, const struct message *message, const char **ret_fault)
{
    struct msg_ask ask;
    struct relay_answer answer;
    struct worker_process *worker = exchange->worker;
    struct channel *channel = &exchange->lane->channel;
    uint64_t id = message->call;
    if (id % 2 == 0 || message->parent != exchange->id ||
        message_read(FRAME_ASK, message->payload, &ask) < 0)
        return ERR_PROTOCOL;
    worker_process_serving(worker, exchange->lane, exchange->call);
    int status = relay_ask_lane(&worker->relay, exchange->abi, &ask, &answer, ret_fault);
    worker_process_serving(worker, exchange->lane, NULL);
    if (status == 0) {
        if (channel_begin(channel, FRAME_ANSWER, id, &answer.message) < 0) {
            answer.message = (struct msg_answer){.op_class = GUDGEON_LIMIT};
            channel_begin(channel, FRAME_ANSWER, id, &answer.message);
        }
        channel_attach(channel, answer.fds, answer.fd_count);
        send_all(exchange);
        if (ask.op == ASK_SECRET)
            explicit_bzero(channel->out.data, channel->out.len);
    }
    relay_answer_fini(&worker->relay, &answer);
    return status;
}

static int take(struct exchange *exchange, const struct message *message, const char **ret_fault)
{
    *ret_fault = "sent what nobody had asked for";
    if (message->type == FRAME_ASK)
        return answer(exchange, message, ret_fault);
    if (message->call != exchange->id)
        return ERR_PROTOCOL;
    switch (message->type) {
    case FRAME_DELTA:
        return take_delta(exchange, message);
    case FRAME_TOOL:
        return take_tool(exchange, message);
    case FRAME_DONE:
        return take_done(exchange, message);
    default:
        return ERR_PROTOCOL;
    }
}

/* Takes one message, if there is one: 0, or ERR_BUSY. */
static int receive(struct exchange *exchange)
{
    struct message message;
    const char *fault = NULL;
    int status = channel_receive(&exchange->lane->channel, &message, &fault);
    if (status == 0)
        status = take(exchange, &message, &fault);
    if (status == ERR_PROTOCOL) {
        kill_it(exchange, ERR_PROTOCOL, fault);
    } else if (status == ERR_NOT_FOUND || status == ERR_IO) {
        exchange->is_closed = true;
        exchange->closed_ns = clock_monotonic_ns();
    }
    return status == 0 ? 0 : ERR_BUSY;
}

/* ---- waiting ----------------------------------------------------------------------------------
 */

/* Waits until there is something to receive (0), room to send (0), time for the next stage (0), or
 * until the worker has died (ERR_UNAVAILABLE). */
static int wait_for(struct exchange *exchange, bool to_send)
{
    struct worker_lane *lane = exchange->lane;
    advance(exchange);
    struct pollfd polls[] = {
        {.fd = exchange->is_closed ? -1 : lane->channel.fd, .events = to_send ? POLLOUT : POLLIN},
        {.fd = exchange->worker->proc.pidfd, .events = POLLIN},
        {.fd = exchange->stage == STAGE_RUNNING ? lane->cancel_fd : -1, .events = POLLIN},
    };
    poll(polls, COUNT_OF(polls), timeout_ms(next_ns(exchange)));
    if (polls[1].revents != 0)
        return ERR_UNAVAILABLE;
    if (polls[0].revents != 0 && !to_send)
        receive(exchange);
    return 0;
}

/* The worker has died: what it had sent before still counts, but not for ever, since a descendant
 * could go on. */
static int32_t end_dead(struct exchange *exchange)
{
    struct err err;
    proc_signal_group(&exchange->worker->proc, SIGKILL);
    for (unsigned i = 0; i < LAST_MESSAGES_MAX && !exchange->is_done && !exchange->is_closed; i++)
        if (receive(exchange) < 0)
            break;
    if (exchange->is_done)
        return exchange->op_class;
    worker_process_hear(exchange->worker);
    if (exchange->stage == STAGE_TERM) /* of which it has died */
        worker_process_condemn(exchange->worker, exchange->is_late ? ERR_TIMEOUT : ERR_CANCELLED,
                               reason(exchange));
    worker_process_explain(exchange->worker, &err);
    return call_take_err(exchange->call, &err);
}

int32_t exchange(struct worker_process *worker, struct worker_lane *lane, struct call *call,
                 const struct exchange_request *request)
{
    struct exchange exchange = {
        .worker = worker,
        .lane = lane,
        .call = call,
        .abi = call_abi(call),
        .type = request->type,
        .id = atomic_fetch_add(&worker->last_call, 2) + 2,
    };
    struct cancel_watch watch = {.run = tell, .payload = lane};
    struct err err;
    if (channel_begin(&lane->channel, request->type, exchange.id, request->message) < 0) {
        err_set(&err, ERR_LIMIT, "the request is too large for a worker");
        return call_take_err(call, &err);
    }
    atomic_store(&lane->slot->is_told_to_stop, 0);
    cancel_watch_add(call_cancel(call), &watch);
    advance(&exchange);
    send_all(&exchange);
    int status = 0;
    while (status == 0 && !exchange.is_done)
        status = wait_for(&exchange, false);
    int32_t op_class = exchange.is_done ? exchange.op_class : end_dead(&exchange);
    cancel_watch_remove(call_cancel(call), &watch);
    untell(lane);
    relay_end_call(&worker->relay, exchange.abi);
    return op_class;
}
