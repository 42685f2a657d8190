/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_MARK_H
#define GUDGEON_PLUGIN_MARK_H

/*
 * Which plugin a thread is in, so that a crash can be laid at its door.
 *
 * Whoever calls into a plugin of this process sets the mark before and the one that stood there
 * after. A mark is one thread's, costs two stores, and can be read in a signal handler. Threads
 * that a plugin starts itself have none. What is told of a crash, and where, is the program's.
 */

struct mark {
    const char *plugin; /* path of its file; NULL = in none */
    const char *op;     /* "create", "call", … */
};

/* Returns the mark that stood there. Both texts live until it is set again. */
struct mark mark_set(struct mark mark);
struct mark mark_current(void);

#endif
