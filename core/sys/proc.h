/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_PROC_H
#define GUDGEON_SYS_PROC_H

/*
 * Child processes.
 *
 * They are started by posix_spawn, never by fork (a large host would copy its page tables): with
 * an empty signal mask, default signal actions, the environment that is given and no descriptor
 * but those that are named. A child is watched through its pidfd, which polls readable once it has
 * ended; its pipes do not say so, because a grandchild can hold them. It is reaped by proc_close
 * alone, so until then its number cannot be another process's and signalling is never a race.
 * The struct is embedded by its owner, who serialises the calls on one process; different
 * processes may be used on different threads. SIGCHLD must not be ignored by the host. What a
 * child may do (limits, sandbox) is not decided here: the program that is started does that.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct cancel;
struct err;

/* What a standard descriptor of the child is, beside a descriptor of ours (>= 0, duplicated). */
enum {
    PROC_NULL = -1,   /* /dev/null */
    PROC_PIPE = -2,   /* a pipe, our end in proc.pipes */
    PROC_MERGED = -3, /* standard error only: where standard output goes */
};

struct proc_options {
    const char *file;        /* what to execute; NULL = argv[0]. No search: see proc_find */
    const char *const *argv; /* ends with NULL */
    const char *const *envp; /* ends with NULL; the whole environment; NULL = empty */
    const char *directory;   /* NULL = ours */
    int stdio[3];            /* standard input, output and error */
    const int *passed;       /* descriptors of ours that become 3, 4, … in the child */
    size_t passed_count;
    bool new_group; /* the child leads a process group of its own */
};

struct proc {
    pid_t pid;    /* -1 = not started or closed */
    int pidfd;    /* owned; for poll */
    int pipes[3]; /* our ends, owned, non-blocking, CLOEXEC; -1 = none or closed */
    bool has_group;
};

/* A struct proc before proc_spawn; proc_close does nothing to it. */
#define PROC_INIT                                                                                  \
    {                                                                                              \
        .pid = -1, .pidfd = -1, .pipes = { -1, -1, -1 }                                            \
    }

struct proc_exit {
    int signal; /* 0 = it exited by itself */
    int status; /* its exit status when signal is 0; -1 = not known */
};

/* Starts a program. ERR_NOT_FOUND: no such program; ERR_INVALID: no such directory; ERR_REFUSED:
 * not executable; ERR_IO: anything else. *ret is written on success only. */
int proc_spawn(const struct proc_options *options, struct proc *ret, struct err *err);
/* Sends a signal to the child's whole group, or to the child when it has none of its own. Allowed
 * after it has ended (its descendants may live), not after proc_close. */
void proc_signal_group(const struct proc *proc, int signal);
/* Closes our end of a pipe: 0, 1 or 2. */
void proc_close_pipe(struct proc *proc, int which);
/* How it ended: ERR_BUSY while it runs. Does not wait. */
int proc_status(const struct proc *proc, struct proc_exit *ret);
/* Waits for the end. deadline_ns is monotonic, INT64_MAX = none; cancel may be NULL. ERR_TIMEOUT,
 * ERR_CANCELLED; the child still runs then. */
int proc_wait(const struct proc *proc, int64_t deadline_ns, struct cancel *cancel,
              struct proc_exit *ret);
/* Collects what comes out of pipes 1 and 2 (where there are such) into the buffers until the child
 * has ended and what it wrote is read. ERR_LIMIT: a buffer's cap was reached; ERR_TIMEOUT and
 * ERR_CANCELLED as in proc_wait. Whatever was read stays in the buffers; `errors` may be NULL
 * when there is no pipe 2. */
int proc_collect(struct proc *proc, int64_t deadline_ns, struct cancel *cancel, struct buf *output,
                 struct buf *errors);
/* Kills what is left of the group (or the child), reaps, closes everything. */
void proc_close(struct proc *proc);

/* "exited with status 3", "was killed by SIGSEGV"; borrowed from `text`. */
enum { PROC_EXIT_TEXT_SIZE = 64 };
const char *proc_exit_text(const struct proc_exit *how, char text[PROC_EXIT_TEXT_SIZE]);

/* The executable file of a program: `name` itself when it has a slash, else the first hit in
 * `path` (a PATH value; NULL = the usual directories). *ret is freed by the caller. ERR_NOT_FOUND
 * names the program. */
int proc_find(const char *name, const char *path, char **ret, struct err *err);

#endif
