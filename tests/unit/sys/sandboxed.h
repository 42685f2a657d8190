/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_SANDBOXED_H
#define GUDGEON_TESTS_SANDBOXED_H

/*
 * Attempts by children of the test that have entered a sandbox: a table of named rows, tried as
 * root (when the test is) and as an ordinary user, and as on kernels with an older Landlock. Where
 * it proves something, a child without a sandbox makes the same attempt, and succeeds.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "sys/sandbox.h"
#include "unit.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITISED true
#else
#define IS_SANITISED false
#endif

enum {
    NOBODY = 65534,
    KILLED = 1000 /* and the signal */,
    NOT_APPLIED = 2000,
    DENIED = 3000 /* EPERM, EACCES or EXDEV */
};

/* ---- the place and the victim --------------------------------------------------------------- */

static char *place;                /* holds inside/file, outside/secret and outside/data */
static char *inside;               /* what is granted */
static const char *inside_list[2]; /* the same as a grant */
static pid_t victim;               /* a process of the same user */
static int victim_word;            /* what it would be bad to read there */
static int server = -1;            /* listens on loopback */
static int server_port;

static inline char *in(const char *directory, const char *name)
{
    return xasprintf("%s/%s/%s", place, directory, name);
}

/* For what is no test but has to work. */
static inline void must(bool ok)
{
    if (ok)
        return;
    printf("not ok sandbox: cannot set up: %s\n", strerror(errno));
    exit(2);
}

static inline void put(const char *directory, const char *name, const char *text)
{
    CLEANUP(free_ptr) char *path = in(directory, name);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    must(fd >= 0 && fchmod(fd, 0666) == 0);
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static inline void make_place(void)
{
    static const char *const names[] = {"inside", "outside"};
    place = xstrdup("/tmp/gudgeon-test-sandbox-XXXXXX");
    must(mkdtemp(place) != NULL && chmod(place, 0755) == 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s/%s", place, names[i]);
        must(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
    }
    inside = xasprintf("%s/inside", place);
    inside_list[0] = inside;
    put("inside", "file", "inside\n");
    put("outside", "secret", "secret\n");
    put("outside", "data", "precious\n");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof address;
    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(server, (struct sockaddr *)&address, len) == 0 && listen(server, 64) == 0 &&
         getsockname(server, (struct sockaddr *)&address, &len) == 0);
    server_port = ntohs(address.sin_port);
}

static inline void remove_place(void)
{
    CLEANUP(free_ptr) char *command = xasprintf("rm -rf '%s'", place);
    must(system(command) == 0);
    free(place);
    free(inside);
    close(server);
}

static inline void become(uid_t user)
{
    if (user == getuid())
        return;
    if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(user, user, user) < 0)
        _exit(3);
    prctl(PR_SET_DUMPABLE, 1);
}

static inline void start_victim(uid_t user)
{
    victim_word = 4711;
    victim = fork();
    CU_ASSERT_FATAL(victim >= 0);
    if (victim == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        become(user);
        for (;;)
            pause();
    }
}

static inline void end_victim(void)
{
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
}

/* ---- children ------------------------------------------------------------------------------- */

/* A system call, all of it or with one first argument. */
struct lost {
    int number;   /* -1 ends a list */
    int argument; /* -1 = any */
};

/* How one child is to live. */
struct setting {
    uid_t user;
    int landlock_max;
    const struct sandbox_policy *policy; /* NULL = no sandbox */
    const struct lost *missing;          /* what the kernel is made to lack */
    int missing_errno;
};

/* Shared with the child. */
static struct outcome {
    int status; /* of sandbox_apply */
    int result; /* errno of the attempt, 0 when it succeeded */
    struct sandbox_report report;
    struct err err;
} * outcome;

/* Makes calls fail as on a kernel that does not have them. */
static inline void lose(const struct lost *calls, int errnum)
{
    for (; calls->number >= 0; calls++) {
        unsigned any = calls->argument < 0 ? 0 : ~0U;
        struct sock_filter code[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls->number, 0, 4),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
            BPF_STMT(BPF_ALU | BPF_AND | BPF_K, any),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls->argument & any, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {.len = COUNT_OF(code), .filter = code};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
            _exit(4);
    }
}

static inline void child(const struct setting *setting, int (*attempt)(void))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    become(setting->user);
    if (setting->missing != NULL)
        lose(setting->missing, setting->missing_errno);
    if (setting->policy != NULL) {
        struct sandbox_policy policy = *setting->policy;
        policy.landlock_max = setting->landlock_max;
        outcome->status = sandbox_apply(&policy, &outcome->report, &outcome->err);
        if (outcome->status < 0)
            _exit(0);
    }
    outcome->result = attempt();
    _exit(0);
}

/* The errno of the attempt, 0, KILLED + signal, or NOT_APPLIED. */
static inline int run(const struct setting *setting, int (*attempt)(void))
{
    memset(outcome, 0, sizeof *outcome);
    outcome->result = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        child(setting, attempt);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        return KILLED + WTERMSIG(status);
    return outcome->status < 0 ? NOT_APPLIED : outcome->result;
}

/* -1 and errno, or anything else, as an attempt says it. */
static inline int errno_of(long result)
{
    return result < 0 ? errno : 0;
}

static inline int try_open(const char *path, int flags)
{
    CLEANUP(close_fd) int fd = open(path, flags | O_CLOEXEC, 0600);
    return errno_of(fd);
}

static inline int try_in(const char *directory, const char *name, int flags)
{
    CLEANUP(free_ptr) char *path = in(directory, name);
    return try_open(path, flags);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

enum {
    CONTROL = 1 << 0,     /* succeeds without a sandbox */
    ROOT = 1 << 1,        /* means something for root only */
    ORDINARY = 1 << 2,    /* for an ordinary user only */
    SLOW = 1 << 3,        /* once is enough: nothing of it is Landlock's */
    UNSANITISED = 1 << 4, /* a sanitiser's memory or threads are in the way */
    SCOPED = 1 << 5,      /* with a Landlock that has scopes */
};

struct row {
    const char *name;
    int (*attempt)(void);
    const struct sandbox_policy *policy;
    int wanted;
    unsigned flags;
};

static inline bool is_wanted(int result, int wanted)
{
    if (wanted == DENIED)
        return result == EPERM || result == EACCES || result == EXDEV;
    return result == wanted;
}

static inline bool is_skipped(const struct row *row, const struct setting *setting)
{
    return ((row->flags & ROOT) && setting->user != 0) ||
           ((row->flags & ORDINARY) && setting->user == 0) ||
           ((row->flags & SLOW) && setting->landlock_max != 0) ||
           ((row->flags & UNSANITISED) && IS_SANITISED) ||
           ((row->flags & SCOPED) && setting->landlock_max != 0);
}

static inline void check_row(const struct row *row, const struct setting *given)
{
    struct setting setting = *given;
    if (is_skipped(row, &setting))
        return;
    setting.policy = row->policy;
    int result = run(&setting, row->attempt);
    bool ok = is_wanted(result, row->wanted);
    if (!ok)
        printf("#   %s, user %d, Landlock up to %d: %d (%s) %s\n", row->name, (int)setting.user,
               setting.landlock_max, result, strerror(result), outcome->err.text);
    CU_ASSERT(ok);
    if (!(row->flags & CONTROL) || setting.landlock_max != 0)
        return;
    setting.policy = NULL;
    result = run(&setting, row->attempt);
    if (is_wanted(result, row->wanted))
        printf("#   %s, user %d: also without a sandbox\n", row->name, (int)setting.user);
    CU_ASSERT(!is_wanted(result, row->wanted));
}

/* Root, when the test has it, and an ordinary user. */
static inline void for_users(void (*check)(const struct setting *setting))
{
    const uid_t users[] = {getuid(), NOBODY};
    for (size_t i = 0; i < (getuid() == 0 ? 2 : 1); i++) {
        start_victim(users[i]);
        check(&(struct setting){.user = users[i]});
        end_victim();
    }
}

/* One table by one user. */
static inline void check_rows(const struct setting *setting, const struct row *rows, size_t count)
{
    static const int abis[] = {0, 1, 2, 3};
    for (size_t i = 0; i < count; i++)
        for (size_t abi = 0; abi < COUNT_OF(abis); abi++) {
            struct setting one = *setting;
            one.landlock_max = abis[abi];
            check_row(&rows[i], &one);
        }
}

/* ---- main -------------------------------------------------------------------------------------
 */

static inline int do_nothing(void)
{
    return 0;
}

/* The rows mean something only where nothing is missing. */
static inline bool is_possible(void)
{
    static const struct sandbox_policy nothing = {.landlock_max = 0};
    const struct setting setting = {.user = getuid(), .policy = &nothing};
    return run(&setting, do_nothing) == 0 && outcome->report.landlock_abi >= 6 &&
           outcome->report.has_seccomp;
}

static inline int run_sandboxed(const char *suite, const struct unit_row *tests, size_t count)
{
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(outcome != MAP_FAILED);
    make_place();
    if (!is_possible())
        printf("# this kernel has not all of Landlock and seccomp: some rows must fail\n");
    int status = unit_run(suite, tests, count);
    remove_place();
    return status;
}

#define SANDBOXED_MAIN(suite, ...)                                                                 \
    static const struct unit_row rows_[] = {__VA_ARGS__};                                          \
    return run_sandboxed(suite, rows_, COUNT_OF(rows_))

#endif
