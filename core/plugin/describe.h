/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_DESCRIBE_H
#define GUDGEON_PLUGIN_DESCRIBE_H

/*
 * Asking a worker process what a plugin file is.
 *
 * dlopen runs the file's constructors and reading a descriptor follows its pointers, so both are
 * done by `gudgeon-worker --describe FILE`, a process that may crash, hang or lie: it gets no
 * environment, no input, limits of its own (core/worker/guard.h), a deadline, and a cap on what it
 * says. What the host takes from it is one JSON object (description.h).
 */

#include <stdint.h>

struct err;
struct json_object;

enum {
    DESCRIBE_DEADLINE_MS = 5000,
    /* What the worker exits with, beside what a signal says. */
    DESCRIBE_EXIT_DESCRIBED = 0,
    DESCRIBE_EXIT_REFUSED = 1, /* described as refused */
    DESCRIBE_EXIT_USAGE = 2,
    DESCRIBE_EXIT_MUTE = 3, /* the answer could not be written: its descriptor is gone */
};

/* `worker` is the gudgeon-worker binary. *ret is for description_read and released by the caller.
 * An error says what the plugin did instead of answering: "constructor crashed with SIGABRT",
 * "did not answer within 5 s". */
int describe_file(const char *worker, const char *path, int64_t deadline_ms,
                  struct json_object **ret, struct err *err);

#endif
