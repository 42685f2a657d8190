/* SPDX-License-Identifier: MIT */
#include "plugin/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

void channel_init(struct channel *channel, int take_fd)
{
    *channel = (struct channel){.fd = take_fd};
    channel->frame = xmalloc(FRAME_MAX + 1);
    buf_init(&channel->parts, MESSAGE_MAX);
    buf_init(&channel->out, MESSAGE_MAX);
}

void channel_fini(struct channel *channel)
{
    close_fd(&channel->fd);
    free(channel->frame);
    channel->frame = NULL;
    buf_fini(&channel->parts);
    buf_fini(&channel->out);
}

/* ---- sending ----------------------------------------------------------------------------------
 */

enum { KEPT_BYTES = 1 << 20 }; /* a buffer that has grown beyond is given back */

static void empty(struct buf *buf)
{
    if (buf->cap > KEPT_BYTES)
        buf_fini(buf);
    else
        buf_reset(buf);
}

int channel_begin(struct channel *channel, enum frame_type type, uint64_t call, const void *from)
{
    empty(&channel->out);
    channel->sent = 0;
    channel->sending_fd_count = 0;
    channel->sending = (struct frame_header){.type = (uint16_t)type, .call = call};
    int status = message_write(type, from, &channel->out);
    if (status < 0)
        channel->sending.type = 0;
    return status;
}

void channel_attach(struct channel *channel, const int *fds, size_t count)
{
    memcpy(channel->sending_fds, fds, count * sizeof *fds);
    channel->sending_fd_count = count;
}

union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FRAME_FDS_MAX * sizeof(int))];
};

static void put_fds(const struct channel *channel, struct msghdr *msg, union control *control)
{
    size_t size = channel->sending_fd_count * sizeof(int);
    if (size == 0)
        return;
    memset(control, 0, sizeof *control);
    msg->msg_control = control->bytes;
    msg->msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg);
    cmsg->cmsg_level = SOL_SOCKET;
    cmsg->cmsg_type = SCM_RIGHTS;
    cmsg->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(cmsg), channel->sending_fds, size);
}

static int send_frame(struct channel *channel, const struct frame_header *header)
{
    unsigned char bytes[FRAME_HEADER_SIZE];
    union control control;
    frame_header_write(header, bytes);
    struct iovec parts[] = {{bytes, sizeof bytes},
                            {channel->out.data + channel->sent, header->length}};
    struct msghdr msg = {.msg_iov = parts, .msg_iovlen = COUNT_OF(parts)};
    put_fds(channel, &msg, &control);
    ssize_t sent;
    do
        sent = sendmsg(channel->fd, &msg, MSG_NOSIGNAL | (channel->is_patient ? 0 : MSG_DONTWAIT));
    while (sent < 0 && errno == EINTR);
    if (sent >= 0)
        return 0;
    return errno == EAGAIN ? ERR_BUSY : ERR_IO;
}

int channel_flush(struct channel *channel)
{
    while (channel->sending.type != 0) {
        struct frame_header header = channel->sending;
        size_t left = channel->out.len - channel->sent;
        header.length = (uint32_t)(left < FRAME_PAYLOAD_MAX ? left : FRAME_PAYLOAD_MAX);
        header.flags = left > FRAME_PAYLOAD_MAX ? FRAME_MORE : 0;
        int status = send_frame(channel, &header);
        if (status < 0)
            return status;
        channel->sent += header.length;
        channel->sending_fd_count = 0;
        if (header.flags == 0)
            channel->sending.type = 0;
    }
    return 0;
}

/* ---- receiving --------------------------------------------------------------------------------
 */

static void take_fds(struct msghdr *msg, struct message *ret)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
            continue;
        ret->fd_count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(ret->fds, CMSG_DATA(cmsg), ret->fd_count * sizeof(int));
    }
}

static int receive_frame(struct channel *channel, struct message *message, size_t *ret_len)
{
    union control control;
    struct iovec part = {channel->frame, FRAME_MAX};
    struct msghdr msg = {.msg_iov = &part, .msg_iovlen = 1};
    if (channel->takes_fds) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof control.bytes;
    }
    ssize_t got;
    do
        got =
            recvmsg(channel->fd, &msg, MSG_CMSG_CLOEXEC | (channel->is_patient ? 0 : MSG_DONTWAIT));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN ? ERR_BUSY : errno == ECONNRESET ? ERR_NOT_FOUND : ERR_IO;
    if (got == 0)
        return ERR_NOT_FOUND;
    take_fds(&msg, message);
    /* One that was cut says a length that is not there, and is refused for it. */
    *ret_len = (size_t)got;
    return 0;
}

static bool belongs(const struct frame_header *partial, const struct frame_header *header)
{
    return partial->type == header->type && partial->call == header->call &&
           partial->parent == header->parent;
}

/* Takes a frame; 0 when it completes a message, else ERR_BUSY. */
static int take_frame(struct channel *channel, size_t len, struct message *ret,
                      const char **ret_fault)
{
    struct frame_header header;
    int status = frame_header_read(channel->frame, len, &header, ret_fault);
    if (status < 0)
        return status;
    if (channel->partial.type != 0 && !belongs(&channel->partial, &header)) {
        *ret_fault = "began a message before it had ended another";
        return ERR_PROTOCOL;
    }
    const char *payload = (const char *)channel->frame + FRAME_HEADER_SIZE;
    bool is_whole = channel->partial.type == 0 && header.flags == 0;
    if (!is_whole && buf_add(&channel->parts, payload, header.length) < 0) {
        *ret_fault = "sent a message that is too large";
        return ERR_PROTOCOL;
    }
    channel->partial = header;
    if (header.flags == FRAME_MORE)
        return ERR_BUSY;
    channel->partial.type = 0;
    channel->frame[len] = '\0';
    ret->type = header.type;
    ret->call = header.call;
    ret->parent = header.parent;
    ret->payload = is_whole ? (gudgeon_str){payload, header.length}
                            : (gudgeon_str){channel->parts.data, channel->parts.len};
    return 0;
}

int channel_receive(struct channel *channel, struct message *ret, const char **ret_fault)
{
    *ret = (struct message){.call = 0};
    if (channel->partial.type == 0)
        empty(&channel->parts);
    for (;;) {
        size_t len;
        int status = receive_frame(channel, ret, &len);
        if (status == 0) {
            status = take_frame(channel, len, ret, ret_fault);
            if (status == ERR_BUSY)
                continue;
        }
        return status;
    }
}
