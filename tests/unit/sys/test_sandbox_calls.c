/* SPDX-License-Identifier: MIT */

/* What the filter denies, call by call, and what is said when a mechanism is missing. */
#include "sandboxed.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

static const struct sandbox_policy nothing = {.network = SANDBOX_NETWORK_NONE},
                                   reading = {.read = inside_list},
                                   running = {.exec = SANDBOX_EXEC_ALL,
                                              .limits = {.processes = 64}},
                                   narrow = {.limits = {.memory_bytes = 512 << 20,
                                                        .files = 16,
                                                        .cpu_s = 1}};

/* ---- small attempts ---------------------------------------------------------------------------
 */

static int read_passwd(void)
{
    return try_open("/etc/passwd", O_RDONLY);
}

static int read_inside(void)
{
    return try_in("inside", "file", O_RDONLY);
}

static int make_socket(void)
{
    return errno_of(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int fork_one(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return errno_of(pid);
}

static int run_true(void)
{
    char *const words[] = {(char *)"true", NULL};
    return errno_of(execve("/bin/true", words, words + 1));
}

/* ---- system calls -----------------------------------------------------------------------------
 */

#define HIGH (1UL << 32) /* what the kernel cuts off from an int */

/* Mostly with arguments that the kernel finds fault with before it looks at rights, so that EPERM
 * is the filter's. */
static const struct call_row {
    const char *name;
    long number;
    unsigned long args[3];
    int wanted;
} call_rows[] = {
    {"mount", SYS_mount, {0, 0, 0}, EPERM},
    {"umount2", SYS_umount2, {0, 0}, EPERM},
    {"pivot_root", SYS_pivot_root, {0, 0}, EPERM},
    {"chroot", SYS_chroot, {0}, EPERM},
    {"open_tree", 428, {0, 0, ~0UL}, EPERM},
    {"move_mount", 429, {0, 0, 0}, EPERM},
    {"fsopen", 430, {0, ~0UL}, EPERM},
    {"fsconfig", 431, {~0UL, 99}, EPERM},
    {"fsmount", 432, {~0UL, 99}, EPERM},
    {"fspick", 433, {0, 0, ~0UL}, EPERM},
    {"mount_setattr", 442, {0, 0, ~0UL}, EPERM},
    {"open_tree_attr", 467, {0, 0, ~0UL}, EPERM},
    {"open_by_handle_at", SYS_open_by_handle_at, {~0UL, 0}, EPERM},
    {"unshare", SYS_unshare, {CLONE_NEWUSER}, EPERM},
    {"unshare nothing", SYS_unshare, {0}, EPERM},
    {"setns", SYS_setns, {~0UL, 0}, EPERM},
    {"clone, namespace", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
    {"clone, namespace, high bits", SYS_clone, {HIGH | CLONE_NEWPID | SIGCHLD}, EPERM},
    {"clone, process", SYS_clone, {HIGH | SIGCHLD}, EPERM},
    {"clone3", SYS_clone3, {0, 0}, ENOSYS},
    {"vfork", SYS_clone, {CLONE_VM | CLONE_VFORK | SIGCHLD}, EPERM},
    {"keyctl", SYS_keyctl, {999}, EPERM},
    {"add_key", SYS_add_key, {0}, EPERM},
    {"request_key", SYS_request_key, {0}, EPERM},
    {"bpf", SYS_bpf, {0, 0, 0}, EPERM},
    {"perf_event_open", SYS_perf_event_open, {0}, EPERM},
    {"userfaultfd", SYS_userfaultfd, {~0UL}, EPERM},
    {"io_uring_setup", SYS_io_uring_setup, {1, 0}, EPERM},
    {"io_uring_enter", SYS_io_uring_enter, {~0UL}, EPERM},
    {"init_module", SYS_init_module, {0}, EPERM},
    {"finit_module", SYS_finit_module, {~0UL}, EPERM},
    {"kexec_load", SYS_kexec_load, {0, 0, 0}, EPERM},
    {"reboot", SYS_reboot, {0}, EPERM},
    {"swapon", SYS_swapon, {0}, EPERM},
    {"acct", SYS_acct, {0}, EPERM},
    {"syslog", SYS_syslog, {99}, EPERM},
    {"ptrace", SYS_ptrace, {PTRACE_TRACEME}, EPERM},
    {"process_vm_writev", SYS_process_vm_writev, {0}, EPERM},
    {"process_madvise", 440, {~0UL}, EPERM},
    {"pidfd_getfd", SYS_pidfd_getfd, {~0UL}, EPERM},
    {"pidfd_open", SYS_pidfd_open, {1}, EPERM},
    {"kcmp", SYS_kcmp, {0, 0, 99}, EPERM},
    {"personality", SYS_personality, {ADDR_NO_RANDOMIZE}, EPERM},
    {"personality, asked", SYS_personality, {0xffffffff}, 0},
    {"shmget", SYS_shmget, {1, 0}, EPERM},
    {"msgget", SYS_msgget, {1, 0}, EPERM},
    {"semget", SYS_semget, {1, 0}, EPERM},
    {"mq_open", SYS_mq_open, {0}, EPERM},
    {"ioctl TIOCSTI", SYS_ioctl, {~0UL, TIOCSTI}, EPERM},
    {"ioctl TIOCSTI, high bits", SYS_ioctl, {~0UL, HIGH | TIOCSTI}, EPERM},
    {"ioctl TIOCLINUX", SYS_ioctl, {~0UL, TIOCLINUX}, EPERM},
    {"ioctl FIONREAD", SYS_ioctl, {~0UL, FIONREAD}, EBADF},
    {"fcntl F_SETOWN, high bits", SYS_fcntl, {0, HIGH | F_SETOWN, 1}, EPERM},
    {"fcntl F_SETOWN_EX", SYS_fcntl, {0, F_SETOWN_EX, 0}, EPERM},
    {"prctl PR_SET_PDEATHSIG", SYS_prctl, {PR_SET_PDEATHSIG, 0}, EPERM},
    {"socket, high bits", SYS_socket, {HIGH | AF_INET, SOCK_STREAM, 0}, EPERM},
    {"socketpair, high bits", SYS_socketpair, {AF_UNIX, HIGH | SOCK_DGRAM, 0}, EACCES},
    {"connect", SYS_connect, {~0UL}, EPERM},
    {"bind", SYS_bind, {~0UL}, EPERM},
    {"execve", SYS_execve, {0}, EPERM},
    {"execveat", SYS_execveat, {~0UL}, EPERM},
    {"tkill", SYS_tkill, {1, 0}, EPERM},
    {"tgkill", SYS_tgkill, {1, 1, 0}, EPERM},
    {"rt_sigqueueinfo", SYS_rt_sigqueueinfo, {1, 0, 0}, EPERM},
    {"fchmod", SYS_fchmod, {~0UL, 0}, EPERM},
    {"fchmodat2", 452, {~0UL, 0}, EPERM},
    {"fchown", SYS_fchown, {~0UL, 0}, EPERM},
    {"inotify_add_watch", SYS_inotify_add_watch, {~0UL, 0}, EPERM},
    {"setpriority", SYS_setpriority, {PRIO_PROCESS, 1, 5}, EPERM},
    {"setpriority, own", SYS_setpriority, {PRIO_PROCESS, 0, 19}, 0},
    {"sched_setaffinity", SYS_sched_setaffinity, {1, 0, 0}, EPERM},
    {"sched_setscheduler", SYS_sched_setscheduler, {HIGH | 1, 0, 0}, EPERM},
    {"utimensat", SYS_utimensat, {~0UL, 0, 0}, EPERM},
    {"setxattr", SYS_setxattr, {0}, EPERM},
};

static int make_calls(void)
{
    int failed = 0;
    for (size_t i = 0; i < COUNT_OF(call_rows); i++) {
        const struct call_row *row = &call_rows[i];
        errno = 0;
        syscall(row->number, row->args[0], row->args[1], row->args[2], 0, 0, 0);
        if (errno == row->wanted)
            continue;
        printf("#   %s: %s\n", row->name, strerror(errno));
        fflush(stdout);
        failed++;
    }
    return failed;
}

static void check_calls(const struct setting *setting)
{
    struct setting one = *setting;
    one.policy = &nothing;
    CU_ASSERT_EQUAL(run(&one, make_calls), 0);
}

static void test_calls(void)
{
    for_users(check_calls);
}

#ifdef __x86_64__
/* The same kernel by the numbers of 32-bit programs, and of x32: getpid. */
static int call_as_other(void)
{
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
    if (result != -ENOSYS)
        return 1;
    return syscall(0x40000000 + SYS_getpid) < 0 && errno == ENOSYS ? 0 : 2;
}

#else
/* Only x86-64 has others that a process of it can call. */
static int call_as_other(void)
{
    return 0;
}
#endif

static void check_others(const struct setting *setting)
{
    struct setting one = *setting;
    one.policy = &nothing;
    CU_ASSERT_EQUAL(run(&one, call_as_other), 0);
}

static void test_other_abis(void)
{
    for_users(check_others);
}

/* ---- what holds, and what is said of it -------------------------------------------------------
 */

#define LAST                                                                                       \
    {                                                                                              \
        -1, -1                                                                                     \
    }
static const struct lost no_landlock[] = {{SYS_landlock_create_ruleset, -1}, LAST};
static const struct lost no_restriction[] = {{SYS_landlock_restrict_self, -1}, LAST};
static const struct lost no_seccomp[] = {{SYS_prctl, PR_SET_SECCOMP}, {SYS_seccomp, -1}, LAST};
static const struct lost neither[] = {
    {SYS_landlock_create_ruleset, -1}, {SYS_prctl, PR_SET_SECCOMP}, {SYS_seccomp, -1}, LAST};

/* Mechanisms that are missing are reported, and the others hold. */
static const struct missing_row {
    const char *name;
    const struct lost *missing;
    int errnum;
    int (*attempt)(void);
    int result;
    bool has_landlock, has_seccomp;
    unsigned gaps; /* of a policy that grants nothing */
} missing_rows[] = {
    {"all is there", NULL, 0, do_nothing, 0, true, true, 0},
    {"no Landlock", no_landlock, ENOSYS, make_socket, EPERM, false, true, SANDBOX_GAP_FILES},
    {"Landlock turned off", no_landlock, EOPNOTSUPP, fork_one, EPERM, false, true,
     SANDBOX_GAP_FILES},
    {"Landlock filtered", no_landlock, EPERM, read_passwd, 0, false, true, SANDBOX_GAP_FILES},
    {"Landlock filtered in part", no_restriction, EPERM, read_passwd, 0, false, true,
     SANDBOX_GAP_FILES},
    {"no seccomp", no_seccomp, ENOSYS, read_passwd, EACCES, true, false,
     SANDBOX_GAP_NETWORK | SANDBOX_GAP_PROCESSES | SANDBOX_GAP_KERNEL},
    {"no seccomp: exec", no_seccomp, EPERM, run_true, EACCES, true, false,
     SANDBOX_GAP_NETWORK | SANDBOX_GAP_PROCESSES | SANDBOX_GAP_KERNEL},
    {"neither", neither, ENOSYS, do_nothing, 0, false, false,
     SANDBOX_GAP_FILES | SANDBOX_GAP_NETWORK | SANDBOX_GAP_EXEC | SANDBOX_GAP_SIGNALS |
         SANDBOX_GAP_PROCESSES | SANDBOX_GAP_KERNEL},
};

static void check_missing(const struct setting *setting)
{
    for (size_t i = 0; i < COUNT_OF(missing_rows); i++) {
        const struct missing_row *row = &missing_rows[i];
        struct setting one = *setting;
        one.policy = &nothing;
        one.missing = row->missing;
        one.missing_errno = row->errnum;
        int result = run(&one, row->attempt);
        bool ok =
            result == row->result && (outcome->report.landlock_abi > 0) == row->has_landlock &&
            outcome->report.has_seccomp == row->has_seccomp && outcome->report.gaps == row->gaps;
        if (!ok)
            printf("#   %s: %d, Landlock %d, seccomp %d, gaps %x\n", row->name, result,
                   outcome->report.landlock_abi, outcome->report.has_seccomp, outcome->report.gaps);
        CU_ASSERT(ok);
    }
}

static void test_missing(void)
{
    for_users(check_missing);
}

static void check_gaps(const struct setting *setting)
{
    struct setting one = *setting;
    one.policy = &running;
    CU_ASSERT_EQUAL(run(&one, do_nothing), 0);
    CU_ASSERT_EQUAL(outcome->report.gaps, one.user == 0 ? SANDBOX_GAP_PROCESSES : 0);
    one.landlock_max = 2;
    CU_ASSERT_EQUAL(run(&one, do_nothing), 0);
    CU_ASSERT_EQUAL(outcome->report.landlock_abi, 2);
    CU_ASSERT_EQUAL(outcome->report.gaps,
                    SANDBOX_GAP_SIGNALS | (one.user == 0 ? SANDBOX_GAP_PROCESSES : 0));
    one.policy = &narrow;
    CU_ASSERT_EQUAL(run(&one, do_nothing), 0);
    CU_ASSERT_EQUAL(outcome->report.gaps, IS_SANITISED ? SANDBOX_GAP_MEMORY : 0);
}

static void test_gaps(void)
{
    for_users(check_gaps);
}

/* A grant that cannot be given is a mistake of whoever wrote it. */
static void test_absent_grant(void)
{
    static const char *const absent[] = {"/usr", "/nonexistent/data", NULL};
    const struct sandbox_policy policy = {.read = absent};
    const struct setting setting = {.user = getuid(), .policy = &policy};
    CU_ASSERT_EQUAL(run(&setting, do_nothing), NOT_APPLIED);
    CU_ASSERT_EQUAL(outcome->status, ERR_NOT_FOUND);
    CHECK_STR(outcome->err.text, "cannot grant \"/nonexistent/data\": it does not exist");
}

/* A worker may start a stricter child. */
static int apply_again(void)
{
    struct sandbox_report report;
    int status = sandbox_apply(&nothing, &report, NULL);
    return status < 0 ? -1 : read_inside();
}

static void test_twice(void)
{
    const struct setting setting = {.user = getuid(), .policy = &reading};
    CU_ASSERT_EQUAL(run(&setting, apply_again), EACCES);
}

static void test_text(void)
{
    static const struct {
        struct sandbox_report report;
        const char *text;
    } texts[] = {
        {{7, true, 0}, "Landlock 7, seccomp"},
        {{0, true, SANDBOX_GAP_FILES | SANDBOX_GAP_KERNEL},
         "no Landlock, seccomp; not enforced: files, kernel"},
        {{2, false, SANDBOX_GAP_NETWORK}, "Landlock 2, no seccomp; not enforced: network"},
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        CLEANUP(buf_fini) struct buf text = BUF_INIT(1024);
        sandbox_report_text(&texts[i].report, &text);
        CHECK_STR(text.data, texts[i].text);
    }
}

int main(void)
{
    SANDBOXED_MAIN("sandbox_calls", {"system calls", test_calls},
                   {"other numbers of system calls", test_other_abis},
                   {"missing mechanisms", test_missing}, {"gaps of a policy", test_gaps},
                   {"a grant that is not there", test_absent_grant}, {"applied twice", test_twice},
                   {"the report as text", test_text});
}
