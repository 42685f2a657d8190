/* SPDX-License-Identifier: MIT */

/*
 * One running command.
 *
 *     RUNNING ──(the program has ended)──▶ DRAINING ──(silence, or no pipe left)──▶ OVER
 *        │                                    ▲
 *        └─(time up, cancelled)─▶ STOPPING ───┤ SIGTERM, then after a grace SIGKILL
 *
 * The end of the program is what counts, not the end of its output: a child that it leaves in the
 * background may hold the pipes for ever. So after the end what is still in the pipes is read until
 * they have been silent for a moment.
 */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gudgeon/util.h>

#include "shell.h"

#define MS_NS INT64_C(1000000)

static const int64_t silence_ns = 200 * MS_NS;     /* of the pipes, after the program's end */
static const int64_t drain_max_ns = 2000 * MS_NS;  /* whatever is still written */
static const int64_t grace_ns = 300 * MS_NS;       /* from SIGTERM to SIGKILL */
static const int64_t margin_max_ns = 1000 * MS_NS; /* kept of the call's time for stopping */

enum { CHUNK = 32 << 10 };

enum state { RUNNING, STOPPING, DRAINING, OVER };

/* Why it was stopped. */
enum cause { BY_ITSELF, BY_LIMIT, BY_DEADLINE, BY_CANCEL, BY_HOST };

struct run {
    const gudgeon_call *call;
    const gudgeon_process *process;
    gudgeon_process_handle *handle;
    enum state state;
    enum cause cause;
    int64_t margin_ns; /* before the call's deadline */
    int64_t due_ns;    /* when its own time, the grace or the draining is over */
    int64_t quiet_ns;  /* DRAINING: how long the pipes have to be silent */
    bool is_line_open; /* the last byte that was read was no newline */
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * MS_NS + now.tv_nsec;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- from state to state --------------------------------------------------------------------- */

/* When something has to be done though nothing is readable. */
static int64_t next_due(const struct run *run)
{
    int64_t deadline = run->call->deadline_ns(run->call);
    if (deadline == INT64_MAX || run->state == STOPPING)
        return run->due_ns;
    return earlier(run->due_ns, run->state == RUNNING ? deadline - run->margin_ns : deadline);
}

static void drain(struct run *run)
{
    run->quiet_ns = run->state == RUNNING ? silence_ns : 0;
    run->due_ns = now_ns() + drain_max_ns;
    run->state = DRAINING;
}

static void stop(struct run *run, enum cause cause)
{
    run->cause = cause;
    run->state = STOPPING;
    run->due_ns = now_ns() + earlier(grace_ns, run->margin_ns / 2);
    run->process->signal(run->handle, SIGTERM);
}

static void time_is_up(struct run *run)
{
    if (run->state == RUNNING) {
        stop(run, now_ns() >= run->due_ns ? BY_LIMIT : BY_DEADLINE);
    } else if (run->state == STOPPING) {
        run->process->signal(run->handle, SIGKILL);
        drain(run);
    } else {
        run->state = OVER;
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void give(struct run *run, uint32_t channel, const char *bytes, size_t len)
{
    run->is_line_open = bytes[len - 1] != '\n';
    if (gudgeon_stream(run->call, channel, bytes, len) == 0)
        return;
    /* The host takes no more because the call is cancelled, or because enough is kept. */
    run->state = OVER;
    if (run->cause == BY_ITSELF)
        run->cause = run->call->cancelled(run->call) ? BY_CANCEL : BY_HOST;
}

/* `which` is 1 for standard output, 2 for standard error. */
static void read_pipe(struct run *run, uint32_t which)
{
    char bytes[CHUNK];
    ssize_t got = read(run->process->fd(run->handle, which), bytes, sizeof bytes);
    if (got > 0)
        give(run, which == 1 ? GUDGEON_STDOUT : GUDGEON_STDERR, bytes, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        run->process->close_fd(run->handle, which);
}

static bool has_pipes(const struct run *run)
{
    return run->process->fd(run->handle, 1) >= 0 || run->process->fd(run->handle, 2) >= 0;
}

/* A line of our own after what the program wrote. */
static void add_line(struct run *run, const char *line)
{
    char text[128];
    int len = snprintf(text, sizeof text, "%s%s\n", run->is_line_open ? "\n" : "", line);
    gudgeon_stream(run->call, GUDGEON_STDERR, text, (size_t)len);
}

/* ---- following it ---------------------------------------------------------------------------- */

static void wait_for_more(struct run *run, int64_t left_ns)
{
    bool is_alive = run->state != DRAINING;
    struct pollfd fds[] = {
        {.fd = run->process->fd(run->handle, 1), .events = POLLIN},
        {.fd = run->process->fd(run->handle, 2), .events = POLLIN},
        {.fd = is_alive ? run->process->exit_fd(run->handle) : -1, .events = POLLIN},
        {.fd = run->state == RUNNING ? run->call->cancel_fd(run->call) : -1, .events = POLLIN},
    };
    int64_t wait_ns = is_alive ? left_ns : earlier(left_ns, run->quiet_ns);
    struct timespec wait = {.tv_sec = wait_ns / (1000 * MS_NS),
                            .tv_nsec = wait_ns % (1000 * MS_NS)};
    int ready = ppoll(fds, 4, &wait, NULL);
    if (ready == 0 && !is_alive)
        run->state = OVER;
    for (uint32_t which = 1; which <= 2 && ready > 0 && run->state != OVER; which++)
        if (fds[which - 1].revents != 0)
            read_pipe(run, which);
    if (ready <= 0 || run->state == OVER)
        return;
    if (fds[2].revents != 0)
        drain(run);
    else if (fds[3].revents != 0)
        stop(run, BY_CANCEL);
}

static void follow(struct run *run)
{
    while (run->state != OVER) {
        int64_t left_ns = next_due(run) - now_ns();
        if (left_ns <= 0)
            time_is_up(run);
        else if (run->state == DRAINING && !has_pipes(run))
            run->state = OVER;
        else
            wait_for_more(run, left_ns);
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* It ended by itself, or its own time was up: the model is told how. */
static int32_t answer_end(struct run *run, const struct command *command)
{
    gudgeon_process_exit how = {.size = sizeof how};
    gudgeon_tool_result result = {.size = sizeof result, .flags = GUDGEON_IS_ERROR};
    char line[96];
    if (run->cause == BY_LIMIT) {
        snprintf(line, sizeof line, "stopped after %.3g s, the time_s that was given",
                 (double)command->limit_ns / 1e9);
        add_line(run, line);
    } else if (run->process->wait(run->handle, &how) != GUDGEON_OK) {
        return gudgeon_fail(run->call, GUDGEON_PROTOCOL, "the command's end is not known");
    } else if (how.signal != 0) {
        const char *name = sigabbrev_np((int)how.signal);
        snprintf(line, sizeof line, "killed by signal %u (SIG%s)", how.signal,
                 name != NULL ? name : "?");
        add_line(run, line);
    } else if (how.status != 0) {
        snprintf(line, sizeof line, "exit status %d", how.status);
        add_line(run, line);
    } else {
        result.flags = 0;
    }
    return run->call->result(run->call, &result);
}

static int32_t answer(struct run *run, const struct command *command)
{
    switch (run->cause) {
    case BY_CANCEL:
        return gudgeon_fail(run->call, GUDGEON_CANCELLED, "the command was stopped");
    case BY_DEADLINE:
        return gudgeon_fail(run->call, GUDGEON_TIMEOUT,
                            "the command did not end in time and was stopped");
    case BY_HOST:
        return gudgeon_fail(run->call, GUDGEON_LIMIT,
                            "the command wrote more than is kept and was stopped; send what is "
                            "long to a file");
    default:
        return answer_end(run, command);
    }
}

/* A tenth of what the call still has, so that the program can be stopped within it. */
static int64_t margin_of(const gudgeon_call *call, int64_t now)
{
    int64_t deadline = call->deadline_ns(call);
    return deadline == INT64_MAX ? margin_max_ns : earlier((deadline - now) / 10, margin_max_ns);
}

int32_t run_command(const struct shell *shell, const gudgeon_call *call,
                    const struct command *command)
{
    int64_t now = now_ns();
    struct run run = {.call = call,
                      .process = shell->process,
                      .state = RUNNING,
                      .margin_ns = margin_of(call, now),
                      .due_ns = command->limit_ns < INT64_MAX - now ? now + command->limit_ns
                                                                    : INT64_MAX};
    int32_t class = shell->process->spawn(call, &command->request, &run.handle);
    if (class != GUDGEON_OK)
        return class;
    follow(&run);
    class = answer(&run, command);
    shell->process->close(run.handle);
    return class;
}
