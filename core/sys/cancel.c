/* SPDX-License-Identifier: MIT */
#include "sys/cancel.h"

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

static void set_from_parent(void *payload)
{
    cancel_set(payload);
}

void cancel_init(struct cancel *cancel, struct cancel *parent)
{
    *cancel = (struct cancel){.fd = -1, .parent = parent};
    pthread_mutex_init(&cancel->lock, NULL);
    cancel->parent_watch = (struct cancel_watch){.run = set_from_parent, .payload = cancel};
    if (parent != NULL)
        cancel_watch_add(parent, &cancel->parent_watch);
}

void cancel_fini(struct cancel *cancel)
{
    if (cancel->parent != NULL)
        cancel_watch_remove(cancel->parent, &cancel->parent_watch);
    close_fd(&cancel->fd);
    pthread_mutex_destroy(&cancel->lock);
}

static void make_readable(int fd)
{
    uint64_t one = 1;
    ssize_t ignored = write(fd, &one, sizeof one);
    (void)ignored;
}

void cancel_set(struct cancel *cancel)
{
    pthread_mutex_lock(&cancel->lock);
    if (!atomic_exchange(&cancel->is_set, true)) {
        if (cancel->fd >= 0)
            make_readable(cancel->fd);
        /* Under the lock, so that remove can promise that a removed watch is not running. */
        for (struct cancel_watch *watch = cancel->watches; watch != NULL; watch = watch->next)
            watch->run(watch->payload);
    }
    pthread_mutex_unlock(&cancel->lock);
}

bool cancel_is_set(struct cancel *cancel)
{
    return atomic_load(&cancel->is_set);
}

int cancel_fd(struct cancel *cancel)
{
    pthread_mutex_lock(&cancel->lock);
    if (cancel->fd < 0) {
        cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (cancel->fd >= 0 && cancel_is_set(cancel))
            make_readable(cancel->fd);
    }
    int fd = cancel->fd;
    pthread_mutex_unlock(&cancel->lock);
    return fd;
}

void cancel_watch_add(struct cancel *cancel, struct cancel_watch *watch)
{
    pthread_mutex_lock(&cancel->lock);
    watch->previous = NULL;
    watch->next = cancel->watches;
    if (watch->next != NULL)
        watch->next->previous = watch;
    cancel->watches = watch;
    if (cancel_is_set(cancel))
        watch->run(watch->payload);
    pthread_mutex_unlock(&cancel->lock);
}

void cancel_watch_remove(struct cancel *cancel, struct cancel_watch *watch)
{
    pthread_mutex_lock(&cancel->lock);
    if (watch->next != NULL)
        watch->next->previous = watch->previous;
    if (watch->previous != NULL)
        watch->previous->next = watch->next;
    else
        cancel->watches = watch->next;
    pthread_mutex_unlock(&cancel->lock);
}
