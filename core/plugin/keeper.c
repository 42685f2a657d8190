/* SPDX-License-Identifier: MIT */
#include "plugin/keeper.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "sys/proc.h"

/* A program to be started; lives on the stack of who waits for it. */
struct job {
    const struct proc_options *options;
    struct proc *ret;
    struct err *err;
    int status;
    bool is_done;
    struct job *next;
};

static struct keeper {
    pthread_once_t once;
    int status; /* of its start */
    int epoll, wake;

    pthread_mutex_t job_lock;
    pthread_cond_t done;
    struct job *jobs;

    pthread_mutex_t lock; /* of the watches; held while one runs */
    struct keeper_watch *watches;
    uint64_t last_id; /* 0 is the wake-up */
} keeper = {.once = PTHREAD_ONCE_INIT,
            .job_lock = PTHREAD_MUTEX_INITIALIZER,
            .done = PTHREAD_COND_INITIALIZER,
            .lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the thread -------------------------------------------------------------------------------
 */

static struct job *take_jobs(void)
{
    uint64_t count;
    ssize_t ignored = read(keeper.wake, &count, sizeof count);
    (void)ignored;
    pthread_mutex_lock(&keeper.job_lock);
    struct job *jobs = TAKE(keeper.jobs);
    pthread_mutex_unlock(&keeper.job_lock);
    return jobs;
}

static void do_jobs(void)
{
    for (struct job *job = take_jobs(), *next; job != NULL; job = next) {
        next = job->next;
        int status = proc_spawn(job->options, job->ret, job->err);
        pthread_mutex_lock(&keeper.job_lock);
        job->status = status;
        job->is_done = true;
        pthread_cond_broadcast(&keeper.done);
        pthread_mutex_unlock(&keeper.job_lock);
    }
}

static struct keeper_watch *find(uint64_t id)
{
    struct keeper_watch *watch = keeper.watches;
    while (watch != NULL && watch->id != id)
        watch = watch->next;
    return watch;
}

/* Watches are armed for one time, so that one which wants no more does not keep us awake. */
static void arm(const struct keeper_watch *watch, int operation)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = watch->id};
    epoll_ctl(keeper.epoll, operation, watch->fd, &event);
}

static void run_watch(uint64_t id)
{
    pthread_mutex_lock(&keeper.lock);
    struct keeper_watch *watch = find(id);
    if (watch != NULL && watch->run(watch->payload))
        arm(watch, EPOLL_CTL_MOD);
    pthread_mutex_unlock(&keeper.lock);
}

static void *keep(void *unused)
{
    struct epoll_event events[16];
    (void)unused;
    for (;;) {
        int count = epoll_wait(keeper.epoll, events, COUNT_OF(events), -1);
        for (int i = 0; i < count; i++)
            if (events[i].data.u64 == 0)
                do_jobs();
            else
                run_watch(events[i].data.u64);
    }
    return NULL;
}

/* Signals are for the host's own threads. */
static int start_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int errnum = pthread_create(&thread, NULL, keep, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (errnum == 0)
        pthread_detach(thread);
    return errnum;
}

static void start(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    keeper.epoll = epoll_create1(EPOLL_CLOEXEC);
    keeper.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (keeper.epoll < 0 || keeper.wake < 0 ||
        epoll_ctl(keeper.epoll, EPOLL_CTL_ADD, keeper.wake, &event) < 0)
        keeper.status = errno;
    else
        keeper.status = start_thread();
}

/* ---- for others -------------------------------------------------------------------------------
 */

int keeper_spawn(const struct proc_options *options, struct proc *ret, struct err *err)
{
    pthread_once(&keeper.once, start);
    if (keeper.status != 0)
        return err_set_errno(err, keeper.status, "cannot watch over workers");
    struct job job = {.options = options, .ret = ret, .err = err};
    const uint64_t one = 1;
    pthread_mutex_lock(&keeper.job_lock);
    job.next = keeper.jobs;
    keeper.jobs = &job;
    ssize_t ignored = write(keeper.wake, &one, sizeof one);
    (void)ignored;
    while (!job.is_done)
        pthread_cond_wait(&keeper.done, &keeper.job_lock);
    pthread_mutex_unlock(&keeper.job_lock);
    return job.status;
}

void keeper_watch_add(struct keeper_watch *watch)
{
    pthread_mutex_lock(&keeper.lock);
    watch->id = ++keeper.last_id;
    watch->next = keeper.watches;
    keeper.watches = watch;
    arm(watch, EPOLL_CTL_ADD);
    pthread_mutex_unlock(&keeper.lock);
}

void keeper_watch_remove(struct keeper_watch *watch)
{
    pthread_mutex_lock(&keeper.lock);
    struct keeper_watch **at = &keeper.watches;
    while (*at != watch) {
        assert(*at != NULL);
        at = &(*at)->next;
    }
    *at = watch->next;
    epoll_ctl(keeper.epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    pthread_mutex_unlock(&keeper.lock);
}
