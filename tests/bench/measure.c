/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and prints what it cost: monotonic start (s), CPU (ms), peak RSS (KiB), exit
 * status. A program of its own because a child's peak RSS begins with that of the process that it
 * was forked from, and an interpreter's is larger than what is measured.
 *
 * usage: measure COMMAND…
 */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

int main(int argc, char **argv)
{
    struct timespec started;
    struct rusage usage;
    pid_t pid;
    int status;
    if (argc < 2)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, environ) != 0 ||
        wait4(pid, &status, 0, &usage) != pid)
        return 1;
    fprintf(stderr, "%.9f %.3f %ld %d\n", (double)started.tv_sec + (double)started.tv_nsec / 1e9,
            milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime), usage.ru_maxrss,
            WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
