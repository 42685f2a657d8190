/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_SIGNALS_H
#define GUDGEON_SYS_SIGNALS_H

/*
 * SIGINT and SIGTERM as a cancel: the first asks to stop, the second ends the process at once.
 * SIGHUP (the terminal is gone) asks too, unless it is ignored, but ends nothing.
 *
 * signals_start blocks them in the calling thread (so call it before any other thread exists) and
 * waits for them on a thread of its own; nothing runs in a signal handler. SIGPIPE is ignored from
 * then on; children get the default back from sys/proc. For the commands' mains only, once.
 */

struct cancel;

/* The cancel that the first signal sets. It is never freed: a signal may come until the process is
 * gone, and the thread that waits for it cannot know that nobody looks any more. */
struct cancel *signals_start(void);

#endif
