/* SPDX-License-Identifier: MIT */
#include "sys/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "sys/cancel.h"

/* Static because the waiting thread outlives whoever started it. */
static struct cancel stop;

static sigset_t stop_set;

/* nohup has it ignored, and then it is to stay so: a blocked signal would be waited for. */
static bool is_ignored(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void fill_stop_set(void)
{
    sigemptyset(&stop_set);
    sigaddset(&stop_set, SIGINT);
    sigaddset(&stop_set, SIGTERM);
    if (!is_ignored(SIGHUP))
        sigaddset(&stop_set, SIGHUP);
}

static void *wait_for_signals(void *payload)
{
    int number;
    sigwait(&stop_set, &number);
    cancel_set(payload);
    /* The second one gets what it would have done without us; but a terminal that goes away sends
     * SIGHUP itself and has the shell send it again. */
    do
        sigwait(&stop_set, &number);
    while (number == SIGHUP);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &stop_set, NULL);
    raise(number);
    return NULL;
}

struct cancel *signals_start(void)
{
    cancel_init(&stop, NULL);
    signal(SIGPIPE, SIG_IGN);
    fill_stop_set();
    pthread_sigmask(SIG_BLOCK, &stop_set, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_signals, &stop) != 0)
        abort();
    pthread_detach(thread);
    return &stop;
}
