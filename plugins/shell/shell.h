/* SPDX-License-Identifier: MIT */
#ifndef SHELL_H
#define SHELL_H

/*
 * The `shell` plugin: one tool that runs a program and streams what it writes.
 *
 * The host starts the program (gudgeon.process/1) in a process group of its own and under the
 * instance's grant; nothing is forked here. An instance is its configuration and never changes, so
 * calls may overlap.
 */

#include <stdint.h>

#include <gudgeon/buf.h>
#include <gudgeon/ext/process.h>
#include <gudgeon/plugin.h>

struct shell {
    const gudgeon_process *process;
    gudgeon_buf texts;     /* all the strings below, each with its NUL */
    const char *shell;     /* runs command lines */
    const char *directory; /* where commands run; NULL = the host's choice */
    gudgeon_str *env;      /* "NAME=value" */
    uint64_t env_count;
};

/* What is to be run, and for how long. */
struct command {
    gudgeon_process_request request;
    int64_t limit_ns; /* how long it may take; INT64_MAX = as long as the call may */
};

/* Starts it, streams its output until it has ended or has to be stopped, and answers the call. */
int32_t run_command(const struct shell *shell, const gudgeon_call *call,
                    const struct command *command);

#endif
