/* SPDX-License-Identifier: MIT */

/*
 * A worker's frames as the host takes them: the input is what comes out of the socket, cut into
 * packets by a length of two bytes before each. What can be read can be written, and is then the
 * same.
 */

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "plugin/channel.h"
#include "plugin/protocol.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

union any {
    struct msg_create create;
    struct msg_call call;
    struct msg_delta delta;
    struct msg_tool tool;
    struct msg_done done;
    struct msg_ask ask;
    struct msg_answer answer;
    struct msg_log log;
};

static void check_list(gudgeon_str list)
{
    CLEANUP(buf_fini) struct buf again = BUF_INIT(MESSAGE_MAX);
    size_t at = 0, count = 0;
    gudgeon_str item;
    for (; list_next(list, &at, &item); count++)
        list_add(&again, item);
    assert(at == list.len && count == list_count(list));
    assert(again.len == list.len &&
           memcmp(again.data, list.len > 0 ? list.ptr : "", list.len) == 0);
}

static void check_message(enum frame_type type, gudgeon_str payload)
{
    union any message;
    CLEANUP(buf_fini) struct buf again = BUF_INIT(MESSAGE_MAX);
    memset(&message, 0, sizeof message);
    if (message_read(type, payload, &message) < 0)
        return;
    assert(message_write(type, &message, &again) == 0);
    assert(again.len == payload.len && memcmp(again.data, payload.ptr, again.len) == 0);
    if (type == FRAME_ASK) {
        check_list(message.ask.list);
        check_list(message.ask.more);
    } else if (type == FRAME_ANSWER) {
        check_list(message.answer.list);
    }
}

static void receive_all(struct channel *channel)
{
    struct message message;
    const char *fault = NULL;
    int status;
    while ((status = channel_receive(channel, &message, &fault)) == 0) {
        assert(message.payload.ptr[message.payload.len] == '\0');
        check_message(message.type, message.payload);
    }
    assert(status != ERR_PROTOCOL || fault != NULL);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    int ends[2];
    struct channel channel;
    assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    channel_init(&channel, ends[0]);
    while (size >= 2) {
        size_t len = (size_t)data[0] | (size_t)data[1] << 8;
        data += 2, size -= 2;
        if (len > size)
            len = size;
        if (len == 0 || send(ends[1], data, len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        data += len, size -= len;
        receive_all(&channel);
    }
    close(ends[1]);
    receive_all(&channel);
    channel_fini(&channel);
    return 0;
}
