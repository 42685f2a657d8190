/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_WORKER_GUARD_H
#define GUDGEON_WORKER_GUARD_H

/*
 * What a worker gives up before it lets foreign code in: new privileges, files that it should not
 * have, core dumps, and more than its share of processor, memory and disk.
 *
 * Nothing can be taken back. The environment is the business of whoever starts the worker.
 */

#include <stdint.h>

struct err;

struct guard_limits {
    uint64_t cpu_s;        /* of processor time */
    uint64_t memory_bytes; /* of address space; not applied to a build with a sanitiser */
    uint64_t file_bytes;   /* of any file that it writes */
    uint64_t files;        /* open at once */
};

/* Also: dies with the process that started it. ERR_IO. */
int guard_enter(const struct guard_limits *limits, struct err *err);
/* Closes every descriptor from `first` on. */
void guard_close_from(int first);

#endif
