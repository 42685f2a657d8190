/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "sys/sandbox/parts.h"

static const uint32_t kept =
    1U << CAP_CHOWN | 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH | 1U << CAP_FOWNER;

/* Without new privileges no program that is started gets more back, whoever owns it. */
int capabilities_apply(struct err *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (syscall(SYS_capget, &header, data) < 0)
        return err_set_errno(err, errno, "cannot read the capabilities");
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted &= i == 0 ? kept : 0;
        data[i].effective &= i == 0 ? kept : 0;
        data[i].inheritable = 0;
    }
    if (syscall(SYS_capset, &header, data) < 0)
        return err_set_errno(err, errno, "cannot drop capabilities");
    return 0;
}
