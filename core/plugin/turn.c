/* SPDX-License-Identifier: MIT */
#include "plugin/turn.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "sys/cancel.h"

void turn_init(struct turn *turn)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&turn->moved, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&turn->lock, NULL);
    turn->first = NULL;
    turn->last = &turn->first;
}

void turn_fini(struct turn *turn)
{
    pthread_mutex_destroy(&turn->lock);
    pthread_cond_destroy(&turn->moved);
}

static void wake(void *payload)
{
    struct turn *turn = payload;
    pthread_mutex_lock(&turn->lock);
    pthread_cond_broadcast(&turn->moved);
    pthread_mutex_unlock(&turn->lock);
}

/* Waits once; what woke it is the caller's to find out. */
static void wait_for_move(struct turn *turn, int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX) {
        pthread_cond_wait(&turn->moved, &turn->lock);
        return;
    }
    const struct timespec until = {.tv_sec = deadline_ns / NS_PER_S,
                                   .tv_nsec = deadline_ns % NS_PER_S};
    pthread_cond_timedwait(&turn->moved, &turn->lock, &until);
}

static int wait_first(struct turn *turn, const struct turn_waiter *waiter, struct cancel *cancel,
                      int64_t deadline_ns)
{
    for (;;) {
        if (cancel_is_set(cancel))
            return ERR_CANCELLED;
        if (turn->first == waiter)
            return 0;
        if (deadline_ns != INT64_MAX && clock_monotonic_ns() >= deadline_ns)
            return ERR_TIMEOUT;
        wait_for_move(turn, deadline_ns);
    }
}

static void leave(struct turn *turn, struct turn_waiter *waiter)
{
    struct turn_waiter **at = &turn->first;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
    if (waiter->next == NULL)
        turn->last = at;
    pthread_cond_broadcast(&turn->moved);
}

int turn_take(struct turn *turn, struct turn_waiter *waiter, struct cancel *cancel,
              int64_t deadline_ns)
{
    struct cancel_watch watch = {.run = wake, .payload = turn};
    *waiter = (struct turn_waiter){.turn = turn};
    cancel_watch_add(cancel, &watch); /* outside our lock: `wake` takes it under the cancel's */
    pthread_mutex_lock(&turn->lock);
    *turn->last = waiter;
    turn->last = &waiter->next;
    int status = wait_first(turn, waiter, cancel, deadline_ns);
    if (status < 0)
        leave(turn, waiter);
    pthread_mutex_unlock(&turn->lock);
    cancel_watch_remove(cancel, &watch);
    return status;
}

void turn_give(struct turn_waiter *waiter)
{
    struct turn *turn = waiter->turn;
    pthread_mutex_lock(&turn->lock);
    leave(turn, waiter);
    pthread_mutex_unlock(&turn->lock);
}
