/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/sandbox.h"
#include "sys/sandbox/parts.h"

enum { ABI_SIGNALS = 6 }; /* the first Landlock that holds signals back */

static unsigned gaps(const struct sandbox_policy *policy, const struct sandbox_report *report)
{
    bool has_landlock = report->landlock_abi > 0, has_seccomp = report->has_seccomp;
    bool may_fork = policy->limits.processes > 0;
    unsigned found = 0;
    if (!has_landlock)
        found |= SANDBOX_GAP_FILES;
    /* Landlock knows of TCP only. */
    if (policy->network != SANDBOX_NETWORK_FULL && !has_seccomp)
        found |= SANDBOX_GAP_NETWORK;
    if ((policy->exec == SANDBOX_EXEC_NONE && !has_landlock && !has_seccomp) ||
        (policy->exec == SANDBOX_EXEC_LISTED && !has_landlock))
        found |= SANDBOX_GAP_EXEC;
    if (report->landlock_abi < ABI_SIGNALS && (may_fork || !has_seccomp))
        found |= SANDBOX_GAP_SIGNALS;
    /* The kernel does not count root's processes. */
    if (may_fork ? getuid() == 0 : !has_seccomp)
        found |= SANDBOX_GAP_PROCESSES;
    if (policy->limits.memory_bytes > 0 && is_sanitised)
        found |= SANDBOX_GAP_MEMORY;
    if (!has_seccomp)
        found |= SANDBOX_GAP_KERNEL;
    return found;
}

int sandbox_apply(const struct sandbox_policy *policy, struct sandbox_report *report,
                  struct err *err)
{
    struct sandbox_report made = {.landlock_abi = 0};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_set_errno(err, errno, "cannot give up new privileges");
    int status = limits_apply(policy, err);
    if (status == 0)
        status = landlock_apply(policy, &made.landlock_abi, err);
    if (status == 0)
        status = capabilities_apply(err);
    if (status == 0)
        status = seccomp_apply(policy, made.landlock_abi, &made.has_seccomp, err);
    if (status < 0)
        return status;
    made.gaps = gaps(policy, &made);
    *report = made;
    return 0;
}
