/* SPDX-License-Identifier: MIT */
#include "worker/serve.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "plugin/call_op.h"

struct lane *lane_new(struct serve *serve, size_t slot, int take_socket, int take_cancel_fd)
{
    struct lane *lane = xcalloc(1, sizeof *lane);
    lane->serve = serve;
    channel_init(&lane->channel, take_socket);
    lane->channel.is_patient = lane->channel.takes_fds = true;
    pthread_mutex_init(&lane->lock, NULL);
    lane->slot = &serve->page->slots[slot];
    lane->control = (struct call_control){.cancel_fd = take_cancel_fd,
                                          .deadline_ns = &lane->slot->deadline_ns,
                                          .is_cancelled = &lane->slot->is_cancelled};
    buf_init(&lane->request, MESSAGE_MAX);
    return lane;
}

/* ---- while an op runs -------------------------------------------------------------------------
 */

static int send_up(struct lane *lane, enum frame_type type, const void *message)
{
    pthread_mutex_lock(&lane->lock);
    int status = channel_begin(&lane->channel, type, lane->call_id, message);
    if (status == 0 && channel_flush(&lane->channel) < 0)
        serve_leave();
    pthread_mutex_unlock(&lane->lock);
    return status;
}

static int send_delta(void *payload, const gudgeon_delta *delta)
{
    struct lane *lane = payload;
    const struct msg_delta message = {.channel = delta->channel,
                                      .index = delta->index,
                                      .name = delta->name,
                                      .bytes = delta->bytes};
    return send_up(lane, FRAME_DELTA, &message) < 0 || atomic_load(&lane->slot->is_told_to_stop);
}

static void send_tool(void *payload, const gudgeon_tool *tool)
{
    const struct msg_tool message = {.flags = tool->flags,
                                     .name = tool->name,
                                     .description = tool->description,
                                     .parameters = tool->parameters};
    send_up(payload, FRAME_TOOL, &message);
}

static gudgeon_str text_of(const char *text)
{
    return (gudgeon_str){text, strlen(text)};
}

static void send_done(struct lane *lane, const struct call *call, int code)
{
    const struct call_error *error = call_error(call);
    const gudgeon_tool_result *result = call_tool_result(call);
    struct msg_done done = {.op_class = (uint32_t)-code,
                            .http_status = error->http_status,
                            .retry_after_ms = error->retry_after_ms,
                            .notices = atomic_load(&lane->serve->notices),
                            .message = text_of(error->message),
                            .provider_code = text_of(error->provider_code),
                            .grant = text_of(error->grant)};
    if (result != NULL) {
        done.has_result = 1;
        done.result_flags = result->flags;
        done.text = result->text;
        done.content = result->content;
        done.data = result->data;
    }
    if (send_up(lane, FRAME_DONE, &done) < 0)
        abort(); /* the caps of results are below that of messages */
}

void lane_ask(struct lane *lane, const struct msg_ask *ask, struct message *ret_message,
              struct msg_answer *ret)
{
    const char *fault;
    uint64_t id = atomic_fetch_add(&lane->serve->last_ask, 2);
    pthread_mutex_lock(&lane->lock);
    if (channel_begin(&lane->channel, FRAME_ASK, id, ask) < 0) {
        *ret = (struct msg_answer){.op_class = GUDGEON_LIMIT,
                                   .message = text_of("the request is too large")};
        *ret_message = (struct message){.fd_count = 0};
        return;
    }
    lane->channel.sending.parent = lane->call_id;
    if (channel_flush(&lane->channel) < 0 ||
        channel_receive(&lane->channel, ret_message, &fault) < 0 ||
        ret_message->type != FRAME_ANSWER || ret_message->call != id ||
        message_read(FRAME_ANSWER, ret_message->payload, ret) < 0)
        serve_leave();
}

void lane_ask_end(struct lane *lane)
{
    pthread_mutex_unlock(&lane->lock);
}

/* ---- the ops ----------------------------------------------------------------------------------
 */

static int32_t create(struct lane *lane, struct call *call)
{
    struct msg_create request;
    if (lane->serve->component != NULL ||
        message_read(FRAME_CREATE, (gudgeon_str){lane->request.data, lane->request.len}, &request) <
            0)
        serve_leave();
    return serve_create(lane->serve, call, &request);
}

static const gudgeon_tools *tools_of(const struct lane *lane)
{
    if (lane->serve->component == NULL)
        serve_leave();
    return lane->serve->component->ops;
}

static int32_t list(struct lane *lane, struct call *call)
{
    const gudgeon_list request = {.size = sizeof request};
    return tools_of(lane)->list(lane->serve->self, call_abi(call), &request);
}

static int32_t destroy(struct lane *lane, struct call *call)
{
    const gudgeon_stop request = {.size = sizeof request};
    if (lane->serve->component == NULL)
        serve_leave();
    return lane->serve->component->destroy(lane->serve->self, call_abi(call), &request);
}

/* The id and the cap are needed before the call object is there. */
static void read_call(struct lane *lane, struct msg_call *ret)
{
    if (message_read(FRAME_CALL, (gudgeon_str){lane->request.data, lane->request.len}, ret) < 0)
        serve_leave();
}

static int32_t call_tool(struct lane *lane, struct call *call)
{
    struct msg_call message;
    read_call(lane, &message);
    const gudgeon_tool_call request = {
        .size = sizeof request, .tool = message.tool, .arguments = message.arguments};
    return tools_of(lane)->call(lane->serve->self, call_abi(call), &request);
}

static const struct {
    enum result_kind gives;
    int32_t (*run)(struct lane *lane, struct call *call);
} ops[FRAME_TYPE_COUNT] = {
    [FRAME_CREATE] = {RESULT_NONE, create},
    [FRAME_LIST] = {RESULT_TOOL, list},
    [FRAME_CALL] = {RESULT_TOOL_RESULT, call_tool},
    [FRAME_DESTROY] = {RESULT_NONE, destroy},
};

static void run(struct lane *lane, enum frame_type type)
{
    struct call_options options = {
        .on_delta = send_delta, .payload = lane, .control = &lane->control};
    struct msg_call message;
    if (type == FRAME_CALL) {
        read_call(lane, &message);
        options.id = message.id.ptr;
        options.output_max = message.output_max;
    }
    struct call *call = call_new(&options);
    call_begin(call, &(struct call_op){.gives = ops[type].gives,
                                       .scope = &lane->scope,
                                       .on_tool = send_tool,
                                       .payload = lane});
    int code = call_end(call, ops[type].run(lane, call));
    send_done(lane, call, code);
    call_free(call);
}

void lane_serve_one(struct lane *lane)
{
    struct message message;
    const char *fault;
    if (channel_receive(&lane->channel, &message, &fault) < 0 || ops[message.type].run == NULL ||
        message.fd_count > 0)
        serve_leave();
    buf_reset(&lane->request);
    buf_add(&lane->request, message.payload.ptr, message.payload.len);
    lane->call_id = message.call;
    run(lane, message.type);
    if (message.type == FRAME_DESTROY)
        serve_leave();
}

void *lane_serve(void *lane)
{
    for (;;)
        lane_serve_one(lane);
    return NULL;
}
