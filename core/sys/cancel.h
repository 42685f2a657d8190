/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_CANCEL_H
#define GUDGEON_SYS_CANCEL_H

/*
 * A request to stop: set once, never taken back, seen in three ways: by asking, by a descriptor
 * that polls readable, and by watches that are run when it is set.
 *
 * A child made with a parent is set when its parent is; a run's calls hang below the run. The
 * struct is embedded by its owner and must outlive its children and watches. Thread-safe; not for
 * signal handlers (sys/signals.h turns signals into calls on a thread).
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A function to run when the cancel is set, on the setting thread, without locks of the owner's;
 * it must be short and must not add or remove watches. */
struct cancel_watch {
    void (*run)(void *payload);
    void *payload;
    struct cancel_watch *next;
    struct cancel_watch *previous;
};

struct cancel {
    atomic_bool is_set;
    pthread_mutex_t lock;
    int fd; /* -1 until somebody asks for it */
    struct cancel_watch *watches;
    struct cancel *parent;
    struct cancel_watch parent_watch;
};

void cancel_init(struct cancel *cancel, struct cancel *parent); /* parent may be NULL */
void cancel_fini(struct cancel *cancel);
void cancel_set(struct cancel *cancel);
bool cancel_is_set(struct cancel *cancel);
/* An eventfd that polls readable once set; owned by the cancel. -1 when none can be made. */
int cancel_fd(struct cancel *cancel);
/* The watch is the caller's; it runs at once when the cancel is set already. */
void cancel_watch_add(struct cancel *cancel, struct cancel_watch *watch);
/* After this returns the watch is not running and never will. */
void cancel_watch_remove(struct cancel *cancel, struct cancel_watch *watch);

#endif
