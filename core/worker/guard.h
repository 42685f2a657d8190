/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_WORKER_GUARD_H
#define GUDGEON_WORKER_GUARD_H

/*
 * What a worker gives up before it lets foreign code in: a life beyond the host's, descriptors that
 * it should not have, and all that its sandbox policy (sys/sandbox.h) does not grant.
 *
 * Nothing can be taken back. The environment is the business of whoever starts the worker.
 */

#include <stddef.h>

struct err;
struct sandbox_policy;
struct sandbox_report;

/* Dies with the process that started it, and enters the sandbox. ERR_IO, ERR_NOT_FOUND. */
int guard_enter(const struct sandbox_policy *policy, struct sandbox_report *report,
                struct err *err);
/* Closes every descriptor from `first` on. */
void guard_close_from(int first);
/* The directories of a list like LD_LIBRARY_PATH, which is split in place; what is empty or not
 * there is left out. `list` may be NULL. */
size_t guard_split(char *list, const char **ret, size_t room);

#endif
