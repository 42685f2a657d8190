/* SPDX-License-Identifier: MIT */
#include "sys/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "sys/cancel.h"

/* Static because the waiting thread outlives whoever started it. */
static struct cancel stop;

static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *wait_for_signals(void *payload)
{
    sigset_t set = stop_signals();
    int number;
    sigwait(&set, &number);
    cancel_set(payload);
    /* The second one gets what it would have done without us. */
    sigwait(&set, &number);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    return NULL;
}

struct cancel *signals_start(void)
{
    cancel_init(&stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigset_t set = stop_signals();
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signals, &stop) != 0)
        abort();
    pthread_detach(thread);
    return &stop;
}
