/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/cancel.h"
#include "sys/signals.h"
#include "unit.h"

/* Each case needs a process of its own: signals_start is for good. What the child returns is its
 * exit status; -N says that signal N ended it. */
static int in_child(int (*run)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    int status = 0;
    CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static struct cancel *start_and_send(int number)
{
    struct cancel *cancel = signals_start();
    kill(getpid(), number);
    struct pollfd pollfd = {.fd = cancel_fd(cancel), .events = POLLIN};
    poll(&pollfd, 1, 10000);
    return cancel;
}

static int one_signal(void)
{
    return cancel_is_set(start_and_send(SIGTERM)) ? 7 : 8;
}

static int two_signals(void)
{
    start_and_send(SIGINT);
    kill(getpid(), SIGTERM);
    poll(NULL, 0, 10000);
    return 8;
}

static int hang_ups(void)
{
    struct cancel *cancel = start_and_send(SIGHUP);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGHUP);
    poll(NULL, 0, 100); /* nothing is to come of them that one could wait for */
    return cancel_is_set(cancel) ? 7 : 8;
}

static int hang_up_ignored(void)
{
    signal(SIGHUP, SIG_IGN);
    struct cancel *cancel = signals_start();
    kill(getpid(), SIGHUP);
    poll(NULL, 0, 100);
    return cancel_is_set(cancel) ? 8 : 7;
}

static int no_pipe(void)
{
    int fds[2];
    signals_start();
    if (pipe(fds) < 0)
        return 8;
    close(fds[0]);
    return write(fds[1], "x", 1) < 0 ? 7 : 8;
}

static void test_first(void)
{
    CU_ASSERT_EQUAL(in_child(one_signal), 7);
}

static void test_second(void)
{
    CU_ASSERT_EQUAL(in_child(two_signals), -SIGTERM);
}

static void test_hang_up(void)
{
    CU_ASSERT_EQUAL(in_child(hang_ups), 7);
    CU_ASSERT_EQUAL(in_child(hang_up_ignored), 7);
}

static void test_pipe(void)
{
    CU_ASSERT_EQUAL(in_child(no_pipe), 7);
}

int main(void)
{
    UNIT_MAIN("signals", {"the first sets the cancel", test_first},
              {"the second ends the process", test_second},
              {"SIGHUP only asks, under nohup not even that", test_hang_up},
              {"SIGPIPE is ignored", test_pipe});
}
