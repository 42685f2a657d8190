/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EXT_PROCESS_H
#define GUDGEON_EXT_PROCESS_H

/*
 * gudgeon.process/1: programs, started by the host under the instance's grant.
 *
 * Plugins never fork. The host starts the program in a process group of its own with a scrubbed
 * environment, gives back its pipes, and ends the whole group when the call that started it ends
 * (or, for a process that is to outlive the call, when the instance is destroyed).
 */

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_PROCESS_ID "gudgeon.process/1"

typedef struct gudgeon_process_handle gudgeon_process_handle;

#define GUDGEON_PROCESS_STDIN  0x1u /* a pipe to write to; without it, standard input is empty */
#define GUDGEON_PROCESS_MERGED 0x2u /* standard error goes where standard output goes */
#define GUDGEON_PROCESS_KEEP   0x4u /* outlives the call; belongs to the instance */

typedef struct gudgeon_process_request {
    uint32_t size;
    uint32_t flags;
    const gudgeon_str *argv; /* argv[0] is looked up in PATH when it has no slash */
    uint64_t argv_count;
    /* "NAME=value", added to the scrubbed environment (PATH, HOME, LANG, TZ, TMPDIR and what the
     * grant's `env` names); a {secret:NAME} in a value is filled in by the host. */
    const gudgeon_str *env;
    uint64_t env_count;
    gudgeon_str directory; /* working directory; absent = the private temporary directory */
} gudgeon_process_request;

typedef struct gudgeon_process_exit {
    uint32_t size;   /* set by the plugin */
    uint32_t signal; /* 0 = it exited by itself */
    int32_t status;  /* its exit status when signal is 0 */
    uint32_t reserved;
} gudgeon_process_exit;

typedef struct gudgeon_process {
    uint32_t size;
    uint32_t reserved;
    /* [call] Starts it. REFUSED: not granted. INVALID: no such program, bad directory; detail is
     * put into the call's error. */
    int32_t (*spawn)(const gudgeon_call *call, const gudgeon_process_request *request,
                     gudgeon_process_handle **handle);
    /* [any] The host's ends of the pipes, non-blocking, close-on-exec; -1 = none or closed. which:
     * 0 = its standard input (write), 1 = output (read), 2 = error (read). Do not close. */
    int32_t (*fd)(gudgeon_process_handle *handle, uint32_t which);
    /* [any] Closes our end of a pipe: tells the program that its input has ended. */
    void (*close_fd)(gudgeon_process_handle *handle, uint32_t which);
    /* [any] A descriptor that polls readable once the program itself (not its descendants) has
     * ended. Do not close. */
    int32_t (*exit_fd)(gudgeon_process_handle *handle);
    /* [any] Sends a signal to the whole process group. */
    void (*signal)(gudgeon_process_handle *handle, int32_t signal);
    /* [any] How it ended, once exit_fd is readable; RETRY before that. */
    int32_t (*wait)(gudgeon_process_handle *handle, gudgeon_process_exit *result);
    /* [any] Kills what is left of the group, reaps, closes the pipes, frees. NULL is allowed. */
    void (*close)(gudgeon_process_handle *handle);
} gudgeon_process;

#ifdef __cplusplus
}
#endif
#endif
