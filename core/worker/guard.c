/* SPDX-License-Identifier: MIT */
#include "worker/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif

/* A sanitiser reserves terabytes of address space. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
static const bool is_sanitised = true;
#else
static const bool is_sanitised = false;
#endif

/* Lowers both limits; one that is lower already stays. */
static int lower(int resource, uint64_t value, struct err *err)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
        return err_set_errno(err, errno, "cannot read a resource limit");
    if (limit.rlim_max > value)
        limit.rlim_max = value;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    if (setrlimit((__rlimit_resource_t)resource, &limit) < 0)
        return err_set_errno(err, errno, "cannot set a resource limit");
    return 0;
}

int guard_enter(const struct guard_limits *limits, struct err *err)
{
    const struct {
        int resource;
        uint64_t value;
    } rows[] = {
        {RLIMIT_CORE, 0},
        {RLIMIT_CPU, limits->cpu_s},
        {RLIMIT_FSIZE, limits->file_bytes},
        {RLIMIT_NOFILE, limits->files},
        {RLIMIT_AS, is_sanitised ? RLIM_INFINITY : limits->memory_bytes},
    };
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(rows) && status == 0; i++)
        status = lower(rows[i].resource, rows[i].value, err);
    if (status == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        status = err_set_errno(err, errno, "cannot give up new privileges");
    if (status == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        status = err_set_errno(err, errno, "cannot be tied to the host");
    return status;
}

void guard_close_from(int first)
{
    close_range((unsigned)first, ~0U, 0);
}
