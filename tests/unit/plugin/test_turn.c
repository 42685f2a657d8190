/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/err.h"
#include "plugin/turn.h"
#include "sys/cancel.h"
#include "unit.h"

#include <sched.h>

#define PATIENCE_NS (20 * NS_PER_S)

struct taker {
    pthread_t thread;
    struct turn *turn;
    struct cancel cancel;
    int64_t deadline_ns;
    int code;
    unsigned *order; /* counts the takers that had their turn */
    unsigned place;
};

static void *take(void *payload)
{
    struct taker *taker = payload;
    struct turn_waiter waiter;
    taker->code = turn_take(taker->turn, &waiter, &taker->cancel, taker->deadline_ns);
    if (taker->code == 0) {
        taker->place = ++*taker->order; /* the turn guards it */
        turn_give(&waiter);
    }
    return NULL;
}

static size_t queue_length(struct turn *turn)
{
    size_t length = 0;
    pthread_mutex_lock(&turn->lock);
    for (struct turn_waiter *waiter = turn->first; waiter != NULL; waiter = waiter->next)
        length++;
    pthread_mutex_unlock(&turn->lock);
    return length;
}

/* Returns when the taker stands in the queue, which then has `length`. */
static void start(struct taker *taker, struct turn *turn, unsigned *order, size_t length)
{
    *taker = (struct taker){
        .turn = turn, .deadline_ns = clock_monotonic_ns() + PATIENCE_NS, .order = order};
    cancel_init(&taker->cancel, NULL);
    pthread_create(&taker->thread, NULL, take, taker);
    while (queue_length(turn) < length)
        sched_yield();
}

static void finish(struct taker *taker)
{
    pthread_join(taker->thread, NULL);
    cancel_fini(&taker->cancel);
}

static void test_order_and_cancel(void)
{
    struct turn turn;
    struct cancel none;
    struct turn_waiter first;
    struct taker takers[4];
    unsigned order = 0;
    int64_t begun_ns = clock_monotonic_ns();
    turn_init(&turn);
    cancel_init(&none, NULL);
    CU_ASSERT_EQUAL(turn_take(&turn, &first, &none, INT64_MAX), 0);
    for (size_t i = 0; i < COUNT_OF(takers); i++)
        start(&takers[i], &turn, &order, i + 2);
    cancel_set(&takers[3].cancel); /* the last in the queue */
    finish(&takers[3]);
    cancel_set(&takers[1].cancel); /* one in the middle */
    finish(&takers[1]);
    CU_ASSERT_EQUAL(takers[3].code, ERR_CANCELLED);
    CU_ASSERT_EQUAL(takers[1].code, ERR_CANCELLED);
    CU_ASSERT_EQUAL(order, 0);
    start(&takers[1], &turn, &order, 4);
    turn_give(&first);
    finish(&takers[0]);
    finish(&takers[2]);
    finish(&takers[1]);
    CU_ASSERT_EQUAL(takers[0].place, 1);
    CU_ASSERT_EQUAL(takers[2].place, 2);
    CU_ASSERT_EQUAL(takers[1].place, 3);
    CU_ASSERT(clock_monotonic_ns() - begun_ns < PATIENCE_NS); /* no wait ended by its deadline */
    CU_ASSERT_EQUAL(queue_length(&turn), 0);
    cancel_fini(&none);
    turn_fini(&turn);
}

static void test_deadline(void)
{
    struct turn turn;
    struct cancel none;
    struct turn_waiter first, second;
    turn_init(&turn);
    cancel_init(&none, NULL);
    CU_ASSERT_EQUAL(turn_take(&turn, &first, &none, 1), 0); /* it is free: nothing to wait for */
    CU_ASSERT_EQUAL(turn_take(&turn, &second, &none, 1), ERR_TIMEOUT);
    CU_ASSERT_EQUAL(turn_take(&turn, &second, &none, clock_monotonic_ns() + 20 * NS_PER_MS),
                    ERR_TIMEOUT);
    turn_give(&first);
    CU_ASSERT_EQUAL(turn_take(&turn, &second, &none, INT64_MAX), 0);
    turn_give(&second);
    cancel_set(&none);
    CU_ASSERT_EQUAL(turn_take(&turn, &second, &none, INT64_MAX), ERR_CANCELLED);
    CU_ASSERT_EQUAL(queue_length(&turn), 0);
    cancel_fini(&none);
    turn_fini(&turn);
}

int main(void)
{
    UNIT_MAIN("turn", {"in order; a cancel leaves the queue", test_order_and_cancel},
              {"a deadline ends the wait", test_deadline});
}
