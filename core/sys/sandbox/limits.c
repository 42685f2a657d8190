/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "sys/sandbox.h"
#include "sys/sandbox/parts.h"

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
const bool is_sanitised = true;
#else
const bool is_sanitised = false;
#endif

/* Processes and threads of the user: the kernel's limit counts those too. A process that hides its
 * owner is missed, which makes the limit tighter. */
static uint64_t count_tasks(void)
{
    uint64_t tasks = 0;
    DIR *processes = opendir("/proc");
    if (processes == NULL)
        return 0;
    for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
        char path[32];
        struct stat st;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        snprintf(path, sizeof path, "%.16s/task", entry->d_name);
        /* A directory has two links more than it has directories: here, threads. */
        if (fstatat(dirfd(processes), path, &st, 0) == 0 && st.st_uid == getuid())
            tasks += st.st_nlink - 2;
    }
    closedir(processes);
    return tasks;
}

/* All processes and threads of the machine: no exact count of the user's, but quickly read. */
static uint64_t count_all_tasks(void)
{
    unsigned long long tasks = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (file == NULL || fscanf(file, "%*f %*f %*f %*u/%llu", &tasks) != 1)
        tasks = 0;
    if (file != NULL)
        fclose(file);
    return tasks;
}

/* Where no process may be made, what is left to hold back is a flood of threads. */
static uint64_t find_task_limit(const struct sandbox_limits *limits)
{
    enum { THREADS_MAX = 512 };
    if (getuid() == 0)
        return 0; /* the kernel does not count root's */
    if (limits->processes > 0)
        return limits->processes + count_tasks();
    uint64_t all = count_all_tasks();
    return all > 0 ? all + THREADS_MAX : 0;
}

/* Lowers both limits, the hard one by `grace` less; one that is lower already stays. */
static int lower(int resource, rlim_t value, rlim_t grace, struct err *err)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
        return err_set_errno(err, errno, "cannot read a resource limit");
    if (limit.rlim_max > value + grace)
        limit.rlim_max = value + grace;
    if (limit.rlim_cur > value)
        limit.rlim_cur = value;
    if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
        return err_set_errno(err, errno, "cannot set a resource limit");
    return 0;
}

int limits_apply(const struct sandbox_policy *policy, struct err *err)
{
    const struct sandbox_limits *limits = &policy->limits;
    const struct {
        int resource;
        rlim_t value, grace;
    } rows[] = {
        /* 0 would still feed a core dump to a program that collects them; 1 feeds none. */
        {RLIMIT_CORE, 1, 0},
        {RLIMIT_CPU, limits->cpu_s, 1},
        {RLIMIT_FSIZE, limits->file_bytes, 0},
        {RLIMIT_NOFILE, limits->files, 0},
        {RLIMIT_AS, is_sanitised ? 0 : limits->memory_bytes, 0},
        {RLIMIT_NPROC, find_task_limit(limits), 0},
    };
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(rows) && status == 0; i++)
        if (rows[i].value > 0)
            status = lower(rows[i].resource, rows[i].value, rows[i].grace, err);
    return status;
}
