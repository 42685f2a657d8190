/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_CHANNEL_H
#define GUDGEON_PLUGIN_CHANNEL_H

/*
 * Messages over one SOCK_SEQPACKET socket: takes them apart into frames and puts them together.
 *
 * Used at both ends of a worker's sockets (plugin/protocol.h). The host's never wait: it polls;
 * the worker's are patient. A sender finishes one
 * message before the next; the owner sees to that when it has several threads. A message that was
 * received is borrowed until the next receive. Descriptors come with the first frame and are the
 * receiver's to close; a channel that does not take any discards them in the kernel.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "plugin/protocol.h"

struct channel {
    int fd;          /* owned; -1 = closed */
    bool is_patient; /* send and receive wait instead of ERR_BUSY */
    bool takes_fds;

    unsigned char *frame;        /* FRAME_MAX + 1 bytes, where frames are received */
    struct frame_header partial; /* of the message that is being put together; type 0 = none */
    struct buf parts;            /* its payload so far */

    struct frame_header sending; /* type 0 = nothing is being sent */
    size_t sent;                 /* bytes of `out` that are gone */
    int sending_fds[FRAME_FDS_MAX];
    size_t sending_fd_count;
    struct buf out; /* payload of the message that is being sent */
};

struct message {
    enum frame_type type;
    uint64_t call, parent;
    gudgeon_str payload; /* a NUL follows */
    int fds[FRAME_FDS_MAX];
    size_t fd_count;
};

void channel_init(struct channel *channel, int take_fd);
void channel_fini(struct channel *channel);

/* Begins a message: its struct as message_write takes it. The one before has gone. ERR_LIMIT: too
 * large, and nothing is begun. */
int channel_begin(struct channel *channel, enum frame_type type, uint64_t call, const void *from);
/* The descriptors that go with the message that was begun; they stay the caller's. */
void channel_attach(struct channel *channel, const int *fds, size_t count);
/* Sends on. 0: all has gone; ERR_BUSY: poll for writing; ERR_IO: the other end has closed. */
int channel_flush(struct channel *channel);
/* ERR_BUSY: no whole message yet; ERR_NOT_FOUND: the other end has closed; ERR_PROTOCOL: what came
 * is none, *ret_fault says why and lives for ever; ERR_IO. */
int channel_receive(struct channel *channel, struct message *ret, const char **ret_fault);

#endif
