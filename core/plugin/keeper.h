/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_KEEPER_H
#define GUDGEON_PLUGIN_KEEPER_H

/*
 * The one thread of the host that starts worker processes and listens to them while nobody calls.
 *
 * A worker asks the kernel to be killed when the *thread* that started it ends, so that thread has
 * to live as long as the host. It is made when first asked for and never ends, which is why it is
 * the process's and not an instance's. Watches run on it, one at a time and under its lock: they
 * must be short, must not wait for an operation of an instance, and must not watch or unwatch.
 */

#include <stdbool.h>
#include <stdint.h>

struct err;
struct proc;
struct proc_options;

/* proc_spawn on the keeper's thread. */
int keeper_spawn(const struct proc_options *options, struct proc *ret, struct err *err);

/* Embedded by its owner. `run` is called whenever the descriptor is readable, until it gives
 * false. */
struct keeper_watch {
    int fd;
    bool (*run)(void *payload);
    void *payload;
    uint64_t id; /* the keeper's */
    struct keeper_watch *next;
};

void keeper_watch_add(struct keeper_watch *watch);
/* After this returns the watch is not running and never will; not for one that was not added. The
 * descriptor must still be open. */
void keeper_watch_remove(struct keeper_watch *watch);

#endif
