/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_TURN_H
#define GUDGEON_PLUGIN_TURN_H

/*
 * Taking turns: a lock whose wait ends when a cancel is set or a deadline passes.
 *
 * Operations of an instance that is not concurrent take turns; one that waits behind a long one
 * must still stop at once. Waiters get their turn in the order they came. Thread-safe.
 */

#include <pthread.h>
#include <stdint.h>

struct cancel;

struct turn {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    struct turn_waiter *first; /* whose turn it is, then who waits */
    struct turn_waiter **last;
};

/* Lives from turn_take to turn_give; embedded by the taker. */
struct turn_waiter {
    struct turn *turn;
    struct turn_waiter *next;
};

void turn_init(struct turn *turn);
void turn_fini(struct turn *turn);
/* 0, ERR_CANCELLED or ERR_TIMEOUT (deadline_ns is monotonic, INT64_MAX = none). */
int turn_take(struct turn *turn, struct turn_waiter *waiter, struct cancel *cancel,
              int64_t deadline_ns);
void turn_give(struct turn_waiter *waiter);

#endif
