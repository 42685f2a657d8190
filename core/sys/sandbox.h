/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_SANDBOX_H
#define GUDGEON_SYS_SANDBOX_H

/*
 * What a worker process takes from itself for good before foreign code runs in it.
 *
 * Resource limits, then Landlock (files; TCP and signals where the kernel's has them), capabilities
 * and last a seccomp filter (the kernel's wide corners, sockets, programs, processes). Each covers
 * some of what the others cannot, and any may be missing: that is no failure, the report says it
 * and the host decides. A policy of zeros grants system libraries and nothing else.
 *
 * What it does not do: descriptors and environment are the business of worker/guard.h and of
 * whoever starts the worker; what can be seen without opening a file (whether a path exists, its
 * size) stays visible. When something may be written, owner, mode and times of files outside can be
 * changed as the user's rights allow: Landlock has no right for these.
 *
 * For a process with one thread; threads and children inherit. sandbox_apply is linked into
 * gudgeon-worker only: the host must not depend on libseccomp.
 */

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct err;

enum sandbox_network {
    SANDBOX_NETWORK_NONE,  /* no sockets but a socketpair of one's own */
    SANDBOX_NETWORK_HOSTS, /* for the process the same: the host makes the requests for it */
    SANDBOX_NETWORK_FULL,  /* internet sockets; never raw ones, nor local services' (a bus or a
                              container daemon would run programs outside of the sandbox) */
};

enum sandbox_exec {
    SANDBOX_EXEC_NONE,
    SANDBOX_EXEC_LISTED, /* with the interpreters that they name listed too */
    SANDBOX_EXEC_ALL,
};

/* 0 leaves a limit as it is, except for processes. */
struct sandbox_limits {
    uint64_t memory_bytes; /* of address space; not in a build with a sanitiser */
    uint64_t cpu_s;        /* of each process: SIGXCPU, a second later SIGKILL */
    uint64_t file_bytes;   /* of any file that is written */
    uint64_t files;        /* open at once */
    uint64_t processes;    /* processes and threads beside those that the user has; 0 = no
                              process, and some hundred threads */
};

struct sandbox_policy {
    const char *const *read;  /* files, and directories with all below; NULL-terminated or NULL */
    const char *const *write; /* the same; they may be read too */
    const char *tmp;          /* a private directory, writable; NULL = none */
    enum sandbox_network network;
    enum sandbox_exec exec;
    const char *const *programs; /* absolute paths, for SANDBOX_EXEC_LISTED */
    struct sandbox_limits limits;
    int landlock_max; /* act as a kernel with no later Landlock ABI; 0 = the kernel's own */
};

/* What the policy asks for and nothing enforces. */
enum sandbox_gap {
    SANDBOX_GAP_FILES = 1 << 0,
    SANDBOX_GAP_NETWORK = 1 << 1,
    SANDBOX_GAP_EXEC = 1 << 2,
    SANDBOX_GAP_SIGNALS = 1 << 3, /* to processes of the same user */
    SANDBOX_GAP_PROCESSES = 1 << 4,
    SANDBOX_GAP_MEMORY = 1 << 5,
    SANDBOX_GAP_KERNEL = 1 << 6, /* mount, bpf, keys, tracing, …: up to the user's rights */
};

struct sandbox_report {
    int landlock_abi; /* in use; 0 = the kernel has none, or none for us */
    bool has_seccomp;
    unsigned gaps; /* enum sandbox_gap */
};

/* Cannot be undone; may be applied again to take more. On an error (ERR_NOT_FOUND: a granted path
 * is not there; ERR_IO) a part may be in force: the process should end. */
int sandbox_apply(const struct sandbox_policy *policy, struct sandbox_report *report,
                  struct err *err);

/* Appends "Landlock 7, seccomp" or "no Landlock, seccomp; not enforced: files, exec". Any process
 * may call it. */
void sandbox_report_text(const struct sandbox_report *report, struct buf *text);

#endif
