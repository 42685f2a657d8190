/* SPDX-License-Identifier: MIT */

/*
 * gudgeon.process/1 for the mock host: real programs by posix_spawn, watched by pidfd, in process
 * groups of their own, with an environment of PATH and what the request adds.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gudgeon/ext/process.h>
#include <gudgeon/util.h>

#include "base/alloc.h"
#include "mock_host.h"

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

struct gudgeon_process_handle {
    struct mock *mock;
    pid_t pid;
    int pidfd;
    int pipes[3]; /* our ends; -1 = none or closed */
};

static char **copy_strings(const char *first, const gudgeon_str *strings, uint64_t count)
{
    char **copy = xcalloc(count + 2, sizeof *copy);
    size_t used = 0;
    if (first != NULL)
        copy[used++] = xstrdup(first);
    for (uint64_t i = 0; i < count; i++)
        copy[used++] = xstrndup(strings[i].ptr, strings[i].len);
    return copy;
}

static void free_strings(char **strings)
{
    for (size_t i = 0; strings[i] != NULL; i++)
        free(strings[i]);
    free(strings);
}

/* Makes the pipe for one standard descriptor: ours into *ours, the child's is returned. */
static int add_pipe(int which, int *ours)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        abort();
    *ours = ends[which == 0];
    fcntl(*ours, F_SETFL, O_NONBLOCK);
    return ends[which != 0];
}

static int spawn_child(struct gudgeon_process_handle *handle,
                       const gudgeon_process_request *request)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int theirs[3] = {-1, -1, -1};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int i = (request->flags & GUDGEON_PROCESS_STDIN) != 0 ? 0 : 1; i < 3; i++) {
        if (i == 2 && (request->flags & GUDGEON_PROCESS_MERGED) != 0) {
            posix_spawn_file_actions_adddup2(&actions, 1, 2);
            continue;
        }
        theirs[i] = add_pipe(i, &handle->pipes[i]);
        posix_spawn_file_actions_adddup2(&actions, theirs[i], i);
    }
    char *directory = xstrndup(request->directory.ptr != NULL ? request->directory.ptr : "/tmp",
                               request->directory.ptr != NULL ? request->directory.len : 4);
    posix_spawn_file_actions_addchdir_np(&actions, directory);
    char **argv = copy_strings(NULL, request->argv, request->argv_count);
    char **envp = copy_strings("PATH=/usr/bin:/bin", request->env, request->env_count);
    int error = posix_spawnp(&handle->pid, argv[0], &actions, &attributes, argv, envp);
    free_strings(argv);
    free_strings(envp);
    free(directory);
    for (int i = 0; i < 3; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static void process_close_fd(gudgeon_process_handle *handle, uint32_t which)
{
    close_fd(&handle->pipes[which]);
}

static int32_t process_spawn(const gudgeon_call *call, const gudgeon_process_request *request,
                             gudgeon_process_handle **ret)
{
    struct mock *mock = mock_of_call(call);
    if (request->size != sizeof *request || request->argv_count == 0)
        return gudgeon_fail(call, GUDGEON_INVALID, "a malformed request");
    if (!mock->may_exec)
        return gudgeon_refuse(call, "{\"exec\":true}", "programs are not granted");
    struct gudgeon_process_handle *handle = xcalloc(1, sizeof *handle);
    *handle = (struct gudgeon_process_handle){.mock = mock, .pidfd = -1, .pipes = {-1, -1, -1}};
    int error = spawn_child(handle, request);
    if (error != 0) {
        for (uint32_t i = 0; i < 3; i++)
            process_close_fd(handle, i);
        free(handle);
        return gudgeon_fail(call, GUDGEON_INVALID, "cannot start '%.*s': %s",
                            (int)request->argv[0].len, request->argv[0].ptr,
                            strerrordesc_np(error));
    }
    handle->pidfd = (int)syscall(SYS_pidfd_open, handle->pid, 0);
    __atomic_add_fetch(&mock->open_processes, 1, __ATOMIC_SEQ_CST);
    *ret = handle;
    return GUDGEON_OK;
}

static int32_t process_fd(gudgeon_process_handle *handle, uint32_t which)
{
    return which < 3 ? handle->pipes[which] : -1;
}

static int32_t process_exit_fd(gudgeon_process_handle *handle)
{
    return handle->pidfd;
}

static void process_signal(gudgeon_process_handle *handle, int32_t number)
{
    kill(-handle->pid, number);
}

static int32_t process_wait(gudgeon_process_handle *handle, gudgeon_process_exit *result)
{
    siginfo_t info = {0};
    if (waitid((idtype_t)P_PIDFD, (id_t)handle->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0)
        return GUDGEON_RETRY;
    result->signal = info.si_code == CLD_EXITED ? 0 : (uint32_t)info.si_status;
    result->status = info.si_code == CLD_EXITED ? info.si_status : 0;
    return GUDGEON_OK;
}

static void process_close(gudgeon_process_handle *handle)
{
    if (handle == NULL)
        return;
    siginfo_t info;
    kill(-handle->pid, SIGKILL);
    while (waitid(P_PID, (id_t)handle->pid, &info, WEXITED) != 0 && errno == EINTR)
        continue;
    close(handle->pidfd);
    for (uint32_t i = 0; i < 3; i++)
        process_close_fd(handle, i);
    __atomic_sub_fetch(&handle->mock->open_processes, 1, __ATOMIC_SEQ_CST);
    free(handle);
}

static const gudgeon_process process_service = {
    .size = sizeof process_service,
    .spawn = process_spawn,
    .fd = process_fd,
    .close_fd = process_close_fd,
    .exit_fd = process_exit_fd,
    .signal = process_signal,
    .wait = process_wait,
    .close = process_close,
};

const void *const mock_process_service = &process_service;
