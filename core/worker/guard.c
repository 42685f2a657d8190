/* SPDX-License-Identifier: MIT */
#include "worker/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/sandbox.h"

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
/* The sanitiser asks for it. Its search for leaks traces the process, which the sandbox forbids. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

int guard_enter(const struct sandbox_policy *policy, struct sandbox_report *report, struct err *err)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return err_set_errno(err, errno, "cannot be tied to the host");
    return sandbox_apply(policy, report, err);
}

void guard_close_from(int first)
{
    close_range((unsigned)first, ~0U, 0);
}

size_t guard_split(char *list, const char **ret, size_t room)
{
    size_t count = 0;
    for (char *next; list != NULL && count < room; list = next) {
        next = strchr(list, ':');
        if (next != NULL)
            *next++ = '\0';
        if (access(list, F_OK) == 0)
            ret[count++] = list;
    }
    return count;
}
