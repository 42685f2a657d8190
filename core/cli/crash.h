/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_CLI_CRASH_H
#define GUDGEON_CLI_CRASH_H

/*
 * Tells which plugin took the process down with it.
 *
 * After crash_start a SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT in a plugin's op writes one line
 * to standard error and then does what it would have done: core dump, exit status, all as without.
 * Elsewhere, and under a sanitiser, which has handlers of its own, nothing is changed.
 */
void crash_start(void);

#endif
