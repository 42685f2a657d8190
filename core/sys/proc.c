/* SPDX-License-Identifier: MIT */
#include "sys/proc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "sys/cancel.h"

enum { STDIO_COUNT = 3, PASSED_MAX = 8, TARGET_MAX = STDIO_COUNT + PASSED_MAX };

static const char usual_path[] = "/usr/local/bin:/usr/bin:/bin";

/* ---- starting ------------------------------------------------------------------------------- */

/* What becomes the child's descriptors: sources[n] is dup'ed to n. All sources are ours to close
 * and above every target, so that no dup2 in the child overwrites a source of a later one. */
struct plumbing {
    int ours[STDIO_COUNT];
    int sources[TARGET_MAX];
    size_t count;
};

static void plumbing_fini(struct plumbing *plumbing)
{
    for (size_t i = 0; i < STDIO_COUNT; i++)
        close_fd(&plumbing->ours[i]);
    for (size_t i = 0; i < plumbing->count; i++)
        close_fd(&plumbing->sources[i]);
}

static int make_source(struct plumbing *plumbing, size_t target, int fd, struct err *err)
{
    int source = fcntl(fd, F_DUPFD_CLOEXEC, TARGET_MAX);
    if (source < 0)
        return err_set_errno(err, errno, "cannot duplicate descriptor %d", fd);
    plumbing->sources[target] = source;
    return 0;
}

static int make_pipe(struct plumbing *plumbing, size_t target, struct err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_set_errno(err, errno, "cannot make a pipe");
    CLEANUP(close_fd) int theirs = ends[target == STDIN_FILENO ? 0 : 1];
    plumbing->ours[target] = ends[target == STDIN_FILENO ? 1 : 0];
    if (fcntl(plumbing->ours[target], F_SETFL, O_NONBLOCK) < 0)
        return err_set_errno(err, errno, "cannot set up a pipe");
    return make_source(plumbing, target, theirs, err);
}

static int make_null(struct plumbing *plumbing, size_t target, struct err *err)
{
    CLEANUP(close_fd) int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(err, errno, "cannot open /dev/null");
    return make_source(plumbing, target, fd, err);
}

static int plumb(struct plumbing *plumbing, const struct proc_options *options, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < STDIO_COUNT && status == 0; i++) {
        int what = options->stdio[i];
        if (what == PROC_NULL)
            status = make_null(plumbing, i, err);
        else if (what == PROC_PIPE)
            status = make_pipe(plumbing, i, err);
        else if (what == PROC_MERGED)
            status = make_source(plumbing, i, plumbing->sources[STDOUT_FILENO], err);
        else
            status = make_source(plumbing, i, what, err);
    }
    for (size_t i = 0; i < options->passed_count && status == 0; i++)
        status = make_source(plumbing, STDIO_COUNT + i, options->passed[i], err);
    return status;
}

static int set_attributes(posix_spawnattr_t *attributes, const struct proc_options *options)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (options->new_group)
        flags |= POSIX_SPAWN_SETPGROUP;
    int errnum = posix_spawnattr_setsigmask(attributes, &none);
    if (errnum == 0)
        errnum = posix_spawnattr_setsigdefault(attributes, &all);
    if (errnum == 0)
        errnum = posix_spawnattr_setpgroup(attributes, 0);
    return errnum != 0 ? errnum : posix_spawnattr_setflags(attributes, flags);
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct plumbing *plumbing,
                       const char *directory)
{
    int errnum = 0;
    for (size_t i = 0; i < plumbing->count && errnum == 0; i++)
        errnum = posix_spawn_file_actions_adddup2(actions, plumbing->sources[i], (int)i);
    if (errnum == 0)
        errnum = posix_spawn_file_actions_addclosefrom_np(actions, (int)plumbing->count);
    if (errnum == 0 && directory != NULL)
        errnum = posix_spawn_file_actions_addchdir_np(actions, directory);
    return errnum;
}

/* 0 or an errno value. */
static int spawn(const struct proc_options *options, const struct plumbing *plumbing, pid_t *ret)
{
    static const char *const no_environment[] = {NULL};
    const char *const *envp = options->envp != NULL ? options->envp : no_environment;
    const char *file = options->file != NULL ? options->file : options->argv[0];
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
    int errnum = set_attributes(&attributes, options);
    if (errnum == 0)
        errnum = add_actions(&actions, plumbing, options->directory);
    if (errnum == 0)
        errnum = posix_spawn(ret, file, &actions, &attributes, (char *const *)options->argv,
                             (char *const *)envp);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return errnum;
}

static int spawn_error(const struct proc_options *options, int errnum, struct err *err)
{
    const char *file = options->file != NULL ? options->file : options->argv[0];
    struct stat st;
    if (options->directory != NULL && (stat(options->directory, &st) < 0 || !S_ISDIR(st.st_mode)))
        return err_set(err, ERR_INVALID, "%s is not a directory", options->directory);
    if ((errnum == ENOENT || errnum == ENOTDIR) && file[0] == '/' && stat(file, &st) == 0)
        return err_set(err, ERR_NOT_FOUND, "the interpreter that %s names is missing", file);
    if (errnum == ENOENT || errnum == ENOTDIR)
        return err_set(err, ERR_NOT_FOUND, "there is no program %s", file);
    if (errnum == EACCES || errnum == ENOEXEC)
        return err_set(err, ERR_REFUSED, "%s is not executable", file);
    return err_set_errno(err, errnum, "cannot start %s", file);
}

int proc_spawn(const struct proc_options *options, struct proc *ret, struct err *err)
{
    assert(options->passed_count <= PASSED_MAX);
    CLEANUP(plumbing_fini)
    struct plumbing plumbing = {.ours = {-1, -1, -1}, .count = STDIO_COUNT + options->passed_count};
    for (size_t i = 0; i < TARGET_MAX; i++)
        plumbing.sources[i] = -1;
    int status = plumb(&plumbing, options, err);
    if (status < 0)
        return status;
    pid_t pid;
    int errnum = spawn(options, &plumbing, &pid);
    if (errnum != 0)
        return spawn_error(options, errnum, err);
    int pidfd = pidfd_open(pid, 0);
    if (pidfd < 0) {
        status = err_set_errno(err, errno, "cannot watch process %d", (int)pid);
        kill(options->new_group ? -pid : pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return status;
    }
    *ret = (struct proc){.pid = pid, .pidfd = pidfd, .has_group = options->new_group};
    for (size_t i = 0; i < STDIO_COUNT; i++) {
        ret->pipes[i] = plumbing.ours[i];
        plumbing.ours[i] = -1;
    }
    return 0;
}

/* ---- watching ------------------------------------------------------------------------------- */

void proc_signal_group(const struct proc *proc, int signal)
{
    if (proc->pid > 0)
        kill(proc->has_group ? -proc->pid : proc->pid, signal);
}

void proc_close_pipe(struct proc *proc, int which)
{
    assert(which >= 0 && which < STDIO_COUNT);
    close_fd(&proc->pipes[which]);
}

int proc_status(const struct proc *proc, struct proc_exit *ret)
{
    siginfo_t info = {.si_pid = 0};
    int result;
    do
        result = waitid(P_PIDFD, (id_t)proc->pidfd, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0)
        return ERR_BUSY;
    *ret = (struct proc_exit){.status = -1};
    if (result == 0 && info.si_code == CLD_EXITED)
        ret->status = info.si_status;
    else if (result == 0)
        ret->signal = info.si_status;
    return 0;
}

/* The time left, for poll; rounded up, so that a wait never ends before its deadline. */
static int poll_timeout(int64_t deadline_ns)
{
    if (deadline_ns == INT64_MAX)
        return -1;
    int64_t left_ns = deadline_ns - clock_monotonic_ns();
    if (left_ns <= 0)
        return 0;
    int64_t left_ms = left_ns / NS_PER_MS + 1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* polls[0] is the child, polls[1] the cancel, the rest is the caller's. 0 or a reason to stop. */
static int wait_any(struct pollfd *polls, nfds_t count, int64_t deadline_ns)
{
    int ready;
    do
        ready = poll(polls, count, poll_timeout(deadline_ns));
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return ERR_IO;
    if (polls[1].revents != 0)
        return ERR_CANCELLED;
    /* Asked for also when something is ready: output that drips must not put the deadline off. */
    return polls[0].revents == 0 && clock_monotonic_ns() >= deadline_ns ? ERR_TIMEOUT : 0;
}

int proc_wait(const struct proc *proc, int64_t deadline_ns, struct cancel *cancel,
              struct proc_exit *ret)
{
    struct pollfd polls[] = {
        {.fd = proc->pidfd, .events = POLLIN},
        {.fd = cancel != NULL ? cancel_fd(cancel) : -1, .events = POLLIN},
    };
    int status = 0;
    while (status == 0 && polls[0].revents == 0)
        status = wait_any(polls, COUNT_OF(polls), deadline_ns);
    return status < 0 ? status : proc_status(proc, ret);
}

/* Reads until the pipe is empty for now, which is 0; at its end it is closed as well. */
static int drain(int *fd, struct buf *out)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(*fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0) {
            close_fd(fd);
            return 0;
        }
        size_t room = out->max - out->len;
        buf_add(out, chunk, (size_t)got < room ? (size_t)got : room);
        if ((size_t)got > room)
            return ERR_LIMIT;
    }
}

int proc_collect(struct proc *proc, int64_t deadline_ns, struct cancel *cancel, struct buf *output,
                 struct buf *errors)
{
    struct buf *const buffers[] = {output, errors};
    struct pollfd polls[] = {
        {.fd = proc->pidfd, .events = POLLIN},
        {.fd = cancel != NULL ? cancel_fd(cancel) : -1, .events = POLLIN},
        {.events = POLLIN},
        {.events = POLLIN},
    };
    /* The child's end is looked at before the pipes are: what it wrote is then all there. */
    while (polls[0].revents == 0) {
        polls[2].fd = proc->pipes[1];
        polls[3].fd = errors != NULL ? proc->pipes[2] : -1;
        int status = wait_any(polls, COUNT_OF(polls), deadline_ns);
        for (size_t i = 0; i < COUNT_OF(buffers) && status == 0; i++)
            if (polls[2 + i].fd >= 0)
                status = drain(&proc->pipes[1 + i], buffers[i]);
        if (status < 0)
            return status;
    }
    return 0;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void proc_close(struct proc *proc)
{
    if (proc->pid <= 0)
        return;
    proc_signal_group(proc, SIGKILL);
    reap(proc->pid);
    proc->pid = -1;
    close_fd(&proc->pidfd);
    for (int i = 0; i < STDIO_COUNT; i++)
        close_fd(&proc->pipes[i]);
}

const char *proc_exit_text(const struct proc_exit *how, char text[PROC_EXIT_TEXT_SIZE])
{
    const char *name = how->signal != 0 ? sigabbrev_np(how->signal) : NULL;
    if (name != NULL)
        snprintf(text, PROC_EXIT_TEXT_SIZE, "was killed by SIG%s", name);
    else if (how->signal != 0)
        snprintf(text, PROC_EXIT_TEXT_SIZE, "was killed by signal %d", how->signal);
    else if (how->status < 0)
        snprintf(text, PROC_EXIT_TEXT_SIZE, "ended in an unknown way");
    else
        snprintf(text, PROC_EXIT_TEXT_SIZE, "exited with status %d", how->status);
    return text;
}

/* ---- finding -------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int proc_find(const char *name, const char *path, char **ret, struct err *err)
{
    if (strchr(name, '/') != NULL) {
        *ret = xstrdup(name);
        return 0;
    }
    const char *directory = path != NULL ? path : usual_path;
    while (name[0] != '\0' && directory[0] != '\0') {
        size_t len = strcspn(directory, ":");
        CLEANUP(free_ptr) char *file = xasprintf("%.*s/%s", (int)len, directory, name);
        /* An empty or relative entry would mean the working directory: passed over. */
        if (directory[0] == '/' && is_program(file)) {
            *ret = TAKE(file);
            return 0;
        }
        directory += len + (directory[len] == ':');
    }
    return err_set(err, ERR_NOT_FOUND, "there is no program %s in %s", name,
                   path != NULL ? path : usual_path);
}
