/* SPDX-License-Identifier: MIT */
#ifndef FILES_H
#define FILES_H

/*
 * The `files` plugin: one instance works inside one root directory.
 *
 * A tool is one function that takes the instance, the call and the arguments, and replies itself.
 * What a model did wrong (a missing file, a text that does not match) is a reply with
 * GUDGEON_IS_ERROR that says what to do; a class is returned only when the call is cut short or
 * memory runs out. Nothing here keeps state between calls, so calls may overlap; those that write
 * take `writing`, so that two edits of one file cannot lose each other's work.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <gudgeon/buf.h>
#include <gudgeon/plugin.h>

struct files {
    const gudgeon_host *host;
    char *root;            /* as configured, without a slash at its end; for messages */
    char *real_root;       /* the same without symbolic links */
    int root_fd;           /* what every path is opened beneath */
    bool has_openat2;      /* the kernel resolves beneath the root by itself */
    bool can_write;        /* the tools that write are offered */
    uint64_t max_bytes;    /* the largest file that is written, edited or searched */
    uint64_t result_bytes; /* the longest result */
    pthread_mutex_t writing;
};

typedef int32_t files_tool_fn(struct files *files, const gudgeon_call *call, gudgeon_str arguments);
files_tool_fn files_read, files_write, files_edit, files_list, files_search;

/* Why something was not done: one line for a model. */
struct reason {
    char text[1024];
};

/* Writes the reason and returns -1. */
int because(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Replies with the reason as the tool's error. */
int32_t reply_reason(const gudgeon_call *call, const struct reason *why);
/* Replies with text and, for programs, the JSON in `data` (NULL = none). */
int32_t reply_bufs(const gudgeon_call *call, const gudgeon_buf *text, const gudgeon_buf *data);

/* GUDGEON_OK while the call may go on, else CANCELLED or TIMEOUT (shortly before its deadline). */
int32_t call_state(const gudgeon_call *call);
/* Returns a state other than OK as the call's class, with its message. */
int32_t fail_state(const gudgeon_call *call, int32_t state);

#endif
