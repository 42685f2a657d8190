/* SPDX-License-Identifier: MIT */

/*
 * The system call filter: what is not listed here is allowed. A plugin is any library's code, so
 * the list names what such code has no business with, and what nothing else holds back.
 *
 * The kernel takes int arguments from the lower half of a register: a rule that denies one value
 * compares under a mask, or the upper half would be a way around it. Rules that deny all but one
 * value compare the whole.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "sys/sandbox.h"
#include "sys/sandbox/parts.h"

/* From kernels later than the headers; the numbers are those of every architecture here. */
enum {
    NR_FCHMODAT2 = 452,
    NR_SETXATTRAT = 463,
    NR_REMOVEXATTRAT = 466,
    NR_OPEN_TREE_ATTR = 467,
    NR_FILE_SETATTR = 469,
};

/* What a policy makes of a rule; a rule without a condition always holds. */
enum condition {
    NO_SOCKETS = 1 << 0,
    SOCKETS = 1 << 1,
    NO_EXEC = 1 << 2,
    LISTED_EXEC = 1 << 3,
    NO_PROCESSES = 1 << 4,
    NO_WRITING = 1 << 5,
    WRITING = 1 << 6,
    OLD_LANDLOCK = 1 << 7, /* one that does not know truncation */
};

enum { ABI_TRUNCATE = 3 };

struct rule {
    int number; /* of the system call */
    int errnum;
    unsigned when; /* one enum condition */
    struct scmp_arg_cmp arg;
};

/* Comparisons of one argument, the first being 0. */
#define IS(index, value)                                                                           \
    {                                                                                              \
        (index), SCMP_CMP_MASKED_EQ, UINT32_MAX, (uint32_t)(value)                                 \
    }
#define HAS_BIT(index, bit)                                                                        \
    {                                                                                              \
        (index), SCMP_CMP_MASKED_EQ, (uint32_t)(bit), (uint32_t)(bit)                              \
    }
#define LACKS_BIT(index, bit)                                                                      \
    {                                                                                              \
        (index), SCMP_CMP_MASKED_EQ, (uint32_t)(bit), 0                                            \
    }
#define BITS(index, mask, set)                                                                     \
    {                                                                                              \
        (index), SCMP_CMP_MASKED_EQ, (uint32_t)(mask), (uint32_t)(set)                             \
    }
#define IS_NOT(index, value)                                                                       \
    {                                                                                              \
        (index), SCMP_CMP_NE, (value), 0                                                           \
    }
#define ABOVE(index, value)                                                                        \
    {                                                                                              \
        (index), SCMP_CMP_GT, (value), 0                                                           \
    }
#define ALWAYS(index)                                                                              \
    {                                                                                              \
        (index), SCMP_CMP_GE, 0, 0                                                                 \
    }

/* Denied whatever the arguments. */
static const struct {
    int number;
    unsigned when;
} calls[] = {
    /* other processes */
    {SCMP_SYS(ptrace), 0},
    {SCMP_SYS(process_vm_readv), 0},
    {SCMP_SYS(process_vm_writev), 0},
    {SCMP_SYS(process_madvise), 0},
    {SCMP_SYS(process_mrelease), 0},
    {SCMP_SYS(kcmp), 0},
    {SCMP_SYS(pidfd_getfd), 0},
    {SCMP_SYS(migrate_pages), 0},
    {SCMP_SYS(move_pages), 0},
    /* mounts and the roots of paths */
    {SCMP_SYS(mount), 0},
    {SCMP_SYS(umount2), 0},
    {SCMP_SYS(pivot_root), 0},
    {SCMP_SYS(chroot), 0},
    {SCMP_SYS(open_tree), 0},
    {NR_OPEN_TREE_ATTR, 0},
    {SCMP_SYS(move_mount), 0},
    {SCMP_SYS(fsopen), 0},
    {SCMP_SYS(fsconfig), 0},
    {SCMP_SYS(fsmount), 0},
    {SCMP_SYS(fspick), 0},
    {SCMP_SYS(mount_setattr), 0},
    {SCMP_SYS(open_by_handle_at), 0},
    {SCMP_SYS(fanotify_init), 0},
    {SCMP_SYS(quotactl), 0},
    {SCMP_SYS(quotactl_fd), 0},
    {SCMP_SYS(swapon), 0},
    {SCMP_SYS(swapoff), 0},
    /* namespaces; clone is below */
    {SCMP_SYS(unshare), 0},
    {SCMP_SYS(setns), 0},
    /* wide and seldom needed parts of the kernel */
    {SCMP_SYS(add_key), 0},
    {SCMP_SYS(request_key), 0},
    {SCMP_SYS(keyctl), 0},
    {SCMP_SYS(bpf), 0},
    {SCMP_SYS(perf_event_open), 0},
    {SCMP_SYS(userfaultfd), 0},
    {SCMP_SYS(io_uring_setup), 0},
    {SCMP_SYS(io_uring_enter), 0},
    {SCMP_SYS(io_uring_register), 0},
    {SCMP_SYS(modify_ldt), 0},
    {SCMP_SYS(lookup_dcookie), 0},
    {SCMP_SYS(vmsplice), 0},
    /* the machine */
    {SCMP_SYS(init_module), 0},
    {SCMP_SYS(finit_module), 0},
    {SCMP_SYS(delete_module), 0},
    {SCMP_SYS(kexec_load), 0},
    {SCMP_SYS(kexec_file_load), 0},
    {SCMP_SYS(reboot), 0},
    {SCMP_SYS(iopl), 0},
    {SCMP_SYS(ioperm), 0},
    {SCMP_SYS(acct), 0},
    {SCMP_SYS(syslog), 0},
    {SCMP_SYS(vhangup), 0},
    {SCMP_SYS(settimeofday), 0},
    {SCMP_SYS(clock_settime), 0},
    {SCMP_SYS(clock_adjtime), 0},
    {SCMP_SYS(sethostname), 0},
    {SCMP_SYS(setdomainname), 0},
    /* what the user's other processes share by number or name, which no path rule covers */
    {SCMP_SYS(shmget), 0},
    {SCMP_SYS(shmat), 0},
    {SCMP_SYS(shmctl), 0},
    {SCMP_SYS(msgget), 0},
    {SCMP_SYS(msgsnd), 0},
    {SCMP_SYS(msgrcv), 0},
    {SCMP_SYS(msgctl), 0},
    {SCMP_SYS(semget), 0},
    {SCMP_SYS(semop), 0},
    {SCMP_SYS(semtimedop), 0},
    {SCMP_SYS(semctl), 0},
    {SCMP_SYS(mq_open), 0},
    {SCMP_SYS(mq_unlink), 0},
    /* the names of files that come and go in directories that cannot be read */
    {SCMP_SYS(inotify_add_watch), 0},

    {SCMP_SYS(socket), NO_SOCKETS},
    {SCMP_SYS(connect), NO_SOCKETS},
    {SCMP_SYS(bind), NO_SOCKETS},
    {SCMP_SYS(listen), NO_SOCKETS},
    {SCMP_SYS(accept), NO_SOCKETS},
    {SCMP_SYS(accept4), NO_SOCKETS},

    {SCMP_SYS(execve), NO_EXEC},
    {SCMP_SYS(execveat), NO_EXEC},
    /* By descriptor also what no path names can be run. */
    {SCMP_SYS(execveat), LISTED_EXEC},

    {SCMP_SYS(fork), NO_PROCESSES},
    {SCMP_SYS(vfork), NO_PROCESSES},
    {SCMP_SYS(tkill), NO_PROCESSES},
    {SCMP_SYS(pidfd_open), NO_PROCESSES},
    {SCMP_SYS(pidfd_send_signal), NO_PROCESSES},

    /* owner, mode and times: Landlock has no right for these */
    {SCMP_SYS(chmod), NO_WRITING},
    {SCMP_SYS(fchmod), NO_WRITING},
    {SCMP_SYS(fchmodat), NO_WRITING},
    {NR_FCHMODAT2, NO_WRITING},
    {SCMP_SYS(chown), NO_WRITING},
    {SCMP_SYS(fchown), NO_WRITING},
    {SCMP_SYS(lchown), NO_WRITING},
    {SCMP_SYS(fchownat), NO_WRITING},
    {SCMP_SYS(setxattr), NO_WRITING},
    {SCMP_SYS(lsetxattr), NO_WRITING},
    {SCMP_SYS(fsetxattr), NO_WRITING},
    {NR_SETXATTRAT, NO_WRITING},
    {SCMP_SYS(removexattr), NO_WRITING},
    {SCMP_SYS(lremovexattr), NO_WRITING},
    {SCMP_SYS(fremovexattr), NO_WRITING},
    {NR_REMOVEXATTRAT, NO_WRITING},
    {NR_FILE_SETATTR, NO_WRITING},
    {SCMP_SYS(utime), NO_WRITING},
    {SCMP_SYS(utimes), NO_WRITING},
    {SCMP_SYS(futimesat), NO_WRITING},
    {SCMP_SYS(utimensat), NO_WRITING},

    {SCMP_SYS(truncate), OLD_LANDLOCK},
};

/* Denied for an argument, or with an error of their own. */
static const struct rule rules[] = {
    /* Flags in memory cannot be looked at; glibc falls back on the older call. */
    {SCMP_SYS(clone3), ENOSYS, 0, ALWAYS(0)},
    {SCMP_SYS(openat2), ENOSYS, OLD_LANDLOCK, ALWAYS(0)},

    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWNS)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWCGROUP)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWUTS)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWIPC)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWUSER)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWPID)},
    {SCMP_SYS(clone), EPERM, 0, HAS_BIT(0, CLONE_NEWNET)},
    {SCMP_SYS(clone), EPERM, NO_PROCESSES, LACKS_BIT(0, CLONE_THREAD)},

    /* putting words into a terminal's mouth */
    {SCMP_SYS(ioctl), EPERM, 0, IS(1, TIOCSTI)},
    {SCMP_SYS(ioctl), EPERM, 0, IS(1, TIOCLINUX)},
    /* having the kernel send a signal to somebody */
    {SCMP_SYS(ioctl), EPERM, 0, IS(1, FIOSETOWN)},
    {SCMP_SYS(ioctl), EPERM, 0, IS(1, SIOCSPGRP)},
    {SCMP_SYS(fcntl), EPERM, 0, IS(1, F_SETOWN)},
    {SCMP_SYS(fcntl), EPERM, 0, IS(1, F_SETOWN_EX)},
    /* outliving the host; the limits of others; another kind of address space */
    {SCMP_SYS(prctl), EPERM, 0, IS(0, PR_SET_PDEATHSIG)},
    {SCMP_SYS(prlimit64), EPERM, 0, IS_NOT(0, 0)},
    {SCMP_SYS(personality), EPERM, 0, IS_NOT(0, UINT32_MAX)}, /* that one only asks */

    /* how much of the processor others get; 0 is the thread that asks */
    {SCMP_SYS(setpriority), EPERM, 0, IS_NOT(1, 0)},
    {SCMP_SYS(ioprio_set), EPERM, 0, IS_NOT(1, 0)},
    {SCMP_SYS(sched_setscheduler), EPERM, 0, IS_NOT(0, 0)},
    {SCMP_SYS(sched_setparam), EPERM, 0, IS_NOT(0, 0)},
    {SCMP_SYS(sched_setattr), EPERM, 0, IS_NOT(0, 0)},
    {SCMP_SYS(sched_setaffinity), EPERM, 0, IS_NOT(0, 0)},

    /* Programs that run with their owner's rights. Creating a file with these bits needs no rule:
     * the first write takes them off. */
    {SCMP_SYS(chmod), EPERM, WRITING, HAS_BIT(1, S_ISUID)},
    {SCMP_SYS(chmod), EPERM, WRITING, HAS_BIT(1, S_ISGID)},
    {SCMP_SYS(fchmod), EPERM, WRITING, HAS_BIT(1, S_ISUID)},
    {SCMP_SYS(fchmod), EPERM, WRITING, HAS_BIT(1, S_ISGID)},
    {SCMP_SYS(fchmodat), EPERM, WRITING, HAS_BIT(2, S_ISUID)},
    {SCMP_SYS(fchmodat), EPERM, WRITING, HAS_BIT(2, S_ISGID)},
    {NR_FCHMODAT2, EPERM, WRITING, HAS_BIT(2, S_ISUID)},
    {NR_FCHMODAT2, EPERM, WRITING, HAS_BIT(2, S_ISGID)},

    /* Pairs of streams only: a datagram socket can be pointed elsewhere. */
    {SCMP_SYS(socketpair), EACCES, 0, IS_NOT(0, AF_UNIX)},
    {SCMP_SYS(socketpair), EACCES, 0, BITS(1, 0xf, SOCK_DGRAM)},
    {SCMP_SYS(socketpair), EACCES, 0, BITS(1, 0xf, SOCK_RAW)},

    /* AF_INET and AF_INET6 stay, without their raw kinds; see deny_families. */
    {SCMP_SYS(socket), EACCES, SOCKETS, BITS(1, 0xf, SOCK_RAW)},
    {SCMP_SYS(socket), EACCES, SOCKETS, BITS(1, 0xf, SOCK_PACKET)},
    {SCMP_SYS(socket), EACCES, SOCKETS, ABOVE(0, AF_INET6)},

    /* Programs that no path names are not on any list either. */
    {SCMP_SYS(memfd_create), EACCES, LISTED_EXEC, ALWAYS(0)},

    {SCMP_SYS(open), EACCES, OLD_LANDLOCK, BITS(1, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC)},
    {SCMP_SYS(open), EACCES, OLD_LANDLOCK, BITS(1, O_ACCMODE, O_ACCMODE)},
    {SCMP_SYS(openat), EACCES, OLD_LANDLOCK, BITS(2, O_ACCMODE | O_TRUNC, O_RDONLY | O_TRUNC)},
    {SCMP_SYS(openat), EACCES, OLD_LANDLOCK, BITS(2, O_ACCMODE, O_ACCMODE)},
};

static const int signal_calls[] = {
    SCMP_SYS(kill),
    SCMP_SYS(tgkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
};

static unsigned conditions_of(const struct sandbox_policy *policy, int landlock_abi)
{
    bool has_sockets = policy->network == SANDBOX_NETWORK_FULL;
    bool may_write = (policy->write != NULL && policy->write[0] != NULL) || policy->tmp != NULL;
    unsigned found = has_sockets ? SOCKETS : NO_SOCKETS;
    found |= policy->exec == SANDBOX_EXEC_NONE ? NO_EXEC : 0;
    found |= policy->exec == SANDBOX_EXEC_LISTED ? LISTED_EXEC : 0;
    found |= policy->limits.processes == 0 ? NO_PROCESSES : 0;
    found |= may_write ? WRITING : NO_WRITING;
    found |= landlock_abi > 0 && landlock_abi < ABI_TRUNCATE ? OLD_LANDLOCK : 0;
    return found;
}

static bool applies(unsigned when, unsigned conditions)
{
    return when == 0 || (when & conditions) != 0;
}

/* A call that this architecture does not have needs no rule. */
static int deny(scmp_filter_ctx filter, const struct rule *rule)
{
    if (rule->number < 0)
        return 0;
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((uint32_t)rule->errnum), rule->number,
                                  rule->arg.op != 0, &rule->arg);
}

/* Those below the highest that stays. */
static int deny_families(scmp_filter_ctx filter)
{
    int status = 0;
    for (int family = 0; family < AF_INET6 && status == 0; family++) {
        struct rule rule = {SCMP_SYS(socket), EACCES, 0, IS(0, family)};
        if (family != AF_INET)
            status = deny(filter, &rule);
    }
    return status;
}

/* By calls that begin with a process's number. */
static int deny_signals(scmp_filter_ctx filter)
{
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(signal_calls) && status == 0; i++) {
        struct rule rule = {signal_calls[i], EPERM, 0, IS_NOT(0, (scmp_datum_t)getpid())};
        status = deny(filter, &rule);
    }
    return status;
}

static int fill(scmp_filter_ctx filter, unsigned conditions)
{
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(calls) && status == 0; i++) {
        struct rule rule = {.number = calls[i].number, .errnum = EPERM};
        if (applies(calls[i].when, conditions))
            status = deny(filter, &rule);
    }
    for (size_t i = 0; i < COUNT_OF(rules) && status == 0; i++)
        if (applies(rules[i].when, conditions))
            status = deny(filter, &rules[i]);
    if (status == 0 && (conditions & SOCKETS))
        status = deny_families(filter);
    if (status == 0 && (conditions & NO_PROCESSES))
        status = deny_signals(filter);
    return status;
}

int seccomp_apply(const struct sandbox_policy *policy, int landlock_abi, bool *ret, struct err *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (filter == NULL)
        return err_set(err, ERR_IO, "cannot make a system call filter");
    /* Calls by another ABI of the processor, which number differently. */
    int status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
    if (status == 0)
        status = fill(filter, conditions_of(policy, landlock_abi));
    if (status == 0)
        *ret = seccomp_load(filter) == 0;
    else
        err_set_errno(err, -status, "cannot make a system call filter");
    seccomp_release(filter);
    return status == 0 ? 0 : ERR_IO;
}
