/* SPDX-License-Identifier: MIT */
#include "sys/cancel.h"

#include <poll.h>
#include <sched.h>
#include <stdatomic.h>

#include "unit.h"

static bool polls_readable(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

static void count(void *payload)
{
    atomic_fetch_add((atomic_int *)payload, 1);
}

static void test_set(void)
{
    struct cancel cancel;
    atomic_int runs = 0;
    struct cancel_watch watch = {.run = count, .payload = &runs};
    cancel_init(&cancel, NULL);
    cancel_watch_add(&cancel, &watch);
    int fd = cancel_fd(&cancel);
    CU_ASSERT(!cancel_is_set(&cancel));
    CU_ASSERT(!polls_readable(fd));
    CU_ASSERT_EQUAL(runs, 0);
    for (int i = 0; i < 2; i++) { /* the second time does nothing */
        cancel_set(&cancel);
        CU_ASSERT(cancel_is_set(&cancel));
        CU_ASSERT(polls_readable(fd));
        CU_ASSERT_EQUAL(runs, 1);
    }
    CU_ASSERT_EQUAL(cancel_fd(&cancel), fd);
    cancel_fini(&cancel);
}

static void test_late(void)
{
    struct cancel cancel;
    atomic_int runs = 0;
    struct cancel_watch watch = {.run = count, .payload = &runs};
    cancel_init(&cancel, NULL);
    cancel_set(&cancel);
    CU_ASSERT(polls_readable(cancel_fd(&cancel)));
    cancel_watch_add(&cancel, &watch);
    CU_ASSERT_EQUAL(runs, 1);
    cancel_watch_remove(&cancel, &watch);
    cancel_fini(&cancel);
}

static void test_remove(void)
{
    enum { COUNT = 5 };
    struct cancel cancel;
    atomic_int runs[COUNT] = {0};
    struct cancel_watch watches[COUNT];
    cancel_init(&cancel, NULL);
    for (int i = 0; i < COUNT; i++) {
        watches[i] = (struct cancel_watch){.run = count, .payload = &runs[i]};
        cancel_watch_add(&cancel, &watches[i]);
    }
    /* The first in the list, the last, and one within. */
    cancel_watch_remove(&cancel, &watches[4]);
    cancel_watch_remove(&cancel, &watches[0]);
    cancel_watch_remove(&cancel, &watches[2]);
    cancel_set(&cancel);
    for (int i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL(runs[i], i == 1 || i == 3);
    cancel_fini(&cancel);
}

static void test_children(void)
{
    struct cancel run, call, other, nested;
    cancel_init(&run, NULL);
    cancel_init(&call, &run);
    cancel_init(&other, &run);
    cancel_init(&nested, &call);
    cancel_set(&call);
    CU_ASSERT(cancel_is_set(&nested));
    CU_ASSERT(!cancel_is_set(&run));
    CU_ASSERT(!cancel_is_set(&other));
    cancel_fini(&nested);
    cancel_fini(&call);
    cancel_set(&run); /* call is no longer known to it */
    CU_ASSERT(cancel_is_set(&other));
    struct cancel late;
    cancel_init(&late, &run);
    CU_ASSERT(cancel_is_set(&late));
    cancel_fini(&late);
    cancel_fini(&other);
    cancel_fini(&run);
}

/* ---- threads ------------------------------------------------------------------------------- */

struct slow_watch {
    atomic_bool *may_go_on;
    atomic_bool is_inside, has_ended;
};

static void run_slowly(void *payload)
{
    struct slow_watch *slow = payload;
    slow->is_inside = true;
    while (!*slow->may_go_on)
        sched_yield();
    slow->has_ended = true;
}

static void *set_it(void *payload)
{
    cancel_set(payload);
    return NULL;
}

struct remover {
    struct cancel *cancel;
    struct cancel_watch *watch;
    struct slow_watch *slow;
    bool had_ended;
};

static void *remove_it(void *payload)
{
    struct remover *remover = payload;
    cancel_watch_remove(remover->cancel, remover->watch);
    remover->had_ended = remover->slow->has_ended;
    return NULL;
}

/* After a remove the watch is not running: the owner may free what it points at. */
static void test_remove_waits(void)
{
    struct cancel cancel;
    atomic_bool may_go_on = false;
    struct slow_watch slow = {.may_go_on = &may_go_on};
    struct cancel_watch watch = {.run = run_slowly, .payload = &slow};
    struct remover remover = {.cancel = &cancel, .watch = &watch, .slow = &slow};
    pthread_t setting, removing;
    cancel_init(&cancel, NULL);
    cancel_watch_add(&cancel, &watch);
    pthread_create(&setting, NULL, set_it, &cancel);
    while (!slow.is_inside)
        sched_yield();
    pthread_create(&removing, NULL, remove_it, &remover);
    CU_ASSERT(cancel_is_set(&cancel)); /* asking does not wait */
    may_go_on = true;
    pthread_join(setting, NULL);
    pthread_join(removing, NULL);
    CU_ASSERT(remover.had_ended);
    cancel_fini(&cancel);
}

static void *make_children(void *payload)
{
    for (int i = 0; i < 2000; i++) {
        struct cancel child;
        cancel_init(&child, payload);
        cancel_fd(&child);
        cancel_fini(&child);
    }
    return NULL;
}

static void test_children_come_and_go(void)
{
    struct cancel run;
    pthread_t threads[4];
    cancel_init(&run, NULL);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, make_children, &run);
    cancel_set(&run);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_PTR_NULL(run.watches);
    cancel_fini(&run);
}

int main(void)
{
    UNIT_MAIN("cancel", {"set once, seen three ways", test_set}, {"asked for late", test_late},
              {"removed watches do not run", test_remove}, {"children", test_children},
              {"remove waits for a running watch", test_remove_waits},
              {"children come and go while it is set", test_children_come_and_go});
}
