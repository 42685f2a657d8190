/* SPDX-License-Identifier: MIT */
#include "plugin/sink.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "sys/cancel.h"

enum {
    QUEUE_BYTES_MAX = 16 << 20,
    EVENT_TIME_S = 10, /* for one event, and for a flush */
    CLOSE_TIME_S = 3,  /* for all that is queued when the run ends */
};

struct item {
    struct item *next;
    char *type;
    char *line;
    size_t len;
};

struct sink {
    struct instance *instance;
    struct instance_options options;
    char *name;
    char *run;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* waits on it are by the monotonic clock */
    struct item *first, **last;
    size_t queued_bytes;
    size_t dropped;
    bool closing, late, ended, disabled;
    struct cancel cancel; /* of the call under way, when there is no time left for it */
};

static void say(struct sink *sink, const char *text)
{
    if (sink->options.on_log != NULL)
        sink->options.on_log(sink->options.payload, sink->name, GUDGEON_LOG_WARN, text);
}

static void item_free(struct item *item)
{
    free(item->type);
    free(item->line);
    free(item);
}

static struct item *unlink_first(struct sink *sink)
{
    struct item *item = sink->first;
    sink->first = item->next;
    if (sink->first == NULL)
        sink->last = &sink->first;
    sink->queued_bytes -= item->len;
    return item;
}

/* The next item, waiting for one; NULL once closing and nothing is left, or no time for it. */
static struct item *take(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    while (sink->first == NULL && !sink->closing)
        pthread_cond_wait(&sink->changed, &sink->lock);
    while (sink->late && sink->first != NULL) {
        item_free(unlink_first(sink));
        sink->dropped++;
    }
    struct item *item = sink->first != NULL ? unlink_first(sink) : NULL;
    pthread_mutex_unlock(&sink->lock);
    return item;
}

static struct call *new_call(struct sink *sink)
{
    return call_new(&(struct call_options){
        .parent = &sink->cancel,
        .deadline_ns = clock_monotonic_ns() + EVENT_TIME_S * NS_PER_S,
    });
}

static void disable(struct sink *sink, struct call *call, int status)
{
    const char *message = call_error(call)->message;
    CLEANUP(free_ptr)
    char *text = xasprintf("sink disabled for this run: %s",
                           message[0] != '\0' ? message : err_name(status));
    say(sink, text);
    pthread_mutex_lock(&sink->lock);
    sink->disabled = true;
    pthread_mutex_unlock(&sink->lock);
}

static void count_dropped(struct sink *sink)
{
    pthread_mutex_lock(&sink->lock);
    sink->dropped++;
    pthread_mutex_unlock(&sink->lock);
}

static void deliver(struct sink *sink, const struct item *item)
{
    gudgeon_event event = {
        .size = sizeof event,
        .run = str_of(sink->run),
        .type = str_of(item->type),
        .json = {item->line, item->len},
    };
    struct call *call = new_call(sink);
    int status = instance_event(sink->instance, call, &event);
    if (status == ERR_RETRY || (status < 0 && cancel_is_set(&sink->cancel)))
        count_dropped(sink);
    else if (status < 0)
        disable(sink, call, status);
    call_free(call);
}

static void *serve(void *payload)
{
    struct sink *sink = payload;
    struct item *item;
    while ((item = take(sink)) != NULL) {
        if (!sink->disabled)
            deliver(sink, item);
        item_free(item);
    }
    struct call *call = new_call(sink);
    if (!sink->disabled)
        instance_flush(sink->instance, call);
    call_free(call);
    pthread_mutex_lock(&sink->lock);
    sink->ended = true;
    pthread_cond_broadcast(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
    return NULL;
}

static void init_waits(struct sink *sink)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sink->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&sink->lock, NULL);
}

int sink_open(const struct component_info *component, const struct instance_options *options,
              const char *run, struct sink **ret, struct err *err)
{
    struct instance *instance;
    int status = instance_open(component, options, &instance, err);
    if (status < 0)
        return status;
    struct sink *sink = xcalloc(1, sizeof *sink);
    sink->instance = instance;
    sink->options = *options;
    sink->name = xstrdup(options->name);
    sink->run = xstrdup(run);
    sink->last = &sink->first;
    init_waits(sink);
    cancel_init(&sink->cancel, NULL);
    if (pthread_create(&sink->thread, NULL, serve, sink) != 0)
        abort();
    *ret = sink;
    return 0;
}

void sink_push(struct sink *sink, const char *type, gudgeon_str line)
{
    pthread_mutex_lock(&sink->lock);
    if (sink->disabled || sink->queued_bytes + line.len > QUEUE_BYTES_MAX) {
        sink->dropped += !sink->disabled;
        pthread_mutex_unlock(&sink->lock);
        return;
    }
    struct item *item = xcalloc(1, sizeof *item);
    item->type = xstrdup(type);
    item->line = str_dup(line);
    item->len = line.len;
    sink->queued_bytes += item->len;
    *sink->last = item;
    sink->last = &item->next;
    pthread_cond_signal(&sink->changed);
    pthread_mutex_unlock(&sink->lock);
}

/* Lets the thread deliver what is queued; after the time for that, what it does is cancelled. */
static void end_thread(struct sink *sink)
{
    const int64_t deadline_ns = clock_monotonic_ns() + CLOSE_TIME_S * NS_PER_S;
    const struct timespec until = {.tv_sec = deadline_ns / NS_PER_S,
                                   .tv_nsec = deadline_ns % NS_PER_S};
    int status = 0;
    pthread_mutex_lock(&sink->lock);
    sink->closing = true;
    pthread_cond_broadcast(&sink->changed);
    while (!sink->ended && status == 0)
        status = pthread_cond_timedwait(&sink->changed, &sink->lock, &until);
    sink->late = !sink->ended;
    pthread_mutex_unlock(&sink->lock);
    if (sink->late)
        cancel_set(&sink->cancel);
    pthread_join(sink->thread, NULL);
}

void sink_close(struct sink *sink)
{
    if (sink == NULL)
        return;
    end_thread(sink);
    if (sink->dropped > 0) {
        CLEANUP(free_ptr)
        char *text = xasprintf("%zu event(s) were not taken", sink->dropped);
        say(sink, text);
    }
    instance_close(sink->instance);
    cancel_fini(&sink->cancel);
    pthread_cond_destroy(&sink->changed);
    pthread_mutex_destroy(&sink->lock);
    free(sink->name);
    free(sink->run);
    free(sink);
}
