/* SPDX-License-Identifier: MIT */

/* Escape attempts by signals, tracing, programs and processes, and resources past their limits. */
#include "sandboxed.h"

#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* ---- attempts: processes ----------------------------------------------------------------------
 */

static int kill_victim(void)
{
    return errno_of(kill(victim, SIGURG));
}

static int kill_group(void)
{
    signal(SIGURG, SIG_IGN);
    return errno_of(kill(0, SIGURG));
}

static int signal_by_owner(void)
{
    int pair[2];
    return pipe(pair) < 0 ? -1 : errno_of(fcntl(pair[0], F_SETOWN, victim));
}

static int trace_victim(void)
{
    return errno_of(ptrace(PTRACE_SEIZE, victim, NULL, NULL));
}

static int trace_parent(void)
{
    return errno_of(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
}

static int read_victim(void)
{
    int word = 0;
    struct iovec here = {&word, sizeof word}, there = {&victim_word, sizeof victim_word};
    return errno_of(process_vm_readv(victim, &here, 1, &there, 1, 0));
}

static int limit_victim(void)
{
    struct rlimit limit = {64, 64};
    return errno_of(prlimit(victim, RLIMIT_MEMLOCK, &limit, NULL));
}

static int run_program(const char *path)
{
    char *const argv[] = {(char *)path, NULL};
    char *const envp[] = {NULL};
    outcome->result = 0;
    execve(path, argv, envp);
    return errno;
}

static int run_true(void)
{
    return run_program("/bin/true");
}

static int run_false(void)
{
    return run_program("/bin/false");
}

static int run_memory(void)
{
    CLEANUP(close_fd) int source = open("/bin/true", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("program", 0);
    char bytes[4096];
    if (source < 0 || fd < 0)
        return errno;
    for (ssize_t len; (len = read(source, bytes, sizeof bytes)) > 0;)
        if (write(fd, bytes, (size_t)len) != len)
            return -1;
    CLEANUP(free_ptr) char *path = xasprintf("/proc/self/fd/%d", fd);
    return run_program(path);
}

/* The other flags contradict each other: where the filter does not refuse, the kernel makes
 * nothing either. */
static int clone_spaces(void)
{
    static const unsigned long flags[] = {CLONE_NEWNS,  CLONE_NEWCGROUP, CLONE_NEWUTS,
                                          CLONE_NEWIPC, CLONE_NEWUSER,   CLONE_NEWPID,
                                          CLONE_NEWNET};
    int result = EPERM;
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        long pid = syscall(SYS_clone, flags[i] | CLONE_THREAD | CLONE_SIGHAND, 0, 0, 0, 0);
        if (errno_of(pid) != EPERM)
            result = errno_of(pid);
    }
    return result;
}

static int fork_one(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return errno_of(pid);
}

static void *return_data(void *data)
{
    return data;
}

static int thread_one(void)
{
    pthread_t thread;
    int status = pthread_create(&thread, NULL, return_data, NULL);
    return status != 0 ? status : pthread_join(thread, NULL);
}

static void *wait_for_end(void *data)
{
    for (;;)
        pause();
    return data;
}

static int thread_bomb(void)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int i = 0; i < 8192; i++) {
        pthread_t thread;
        int status = pthread_create(&thread, &small, wait_for_end, NULL);
        if (status != 0)
            return status;
    }
    return 0;
}

/* EAGAIN when the limit of 4 held. */
static int fork_bomb(void)
{
    enum { LIMIT = 4, TRIES = 64 };
    pid_t pids[TRIES];
    int count = 0, last = 0;
    for (; count < TRIES; count++) {
        pids[count] = fork();
        last = errno;
        if (pids[count] == 0)
            for (;;)
                pause();
        if (pids[count] < 0)
            break;
    }
    for (int i = 0; i < count; i++)
        kill(pids[i], SIGKILL);
    while (wait(NULL) > 0)
        continue;
    return count <= LIMIT && count > 0 ? last : 0;
}

/* ---- attempts: resources ----------------------------------------------------------------------
 */

static int take_memory(void)
{
    void *bytes =
        mmap(NULL, (size_t)1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return bytes == MAP_FAILED ? errno : 0;
}

static int take_descriptors(void)
{
    for (int i = 0; i < 64; i++)
        if (fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) < 0)
            return errno;
    return 0;
}

static int take_disk(void)
{
    static const char block[4096];
    CLEANUP(free_ptr) char *path = in("inside", "large");
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    unlink(path);
    for (int i = 0; i < 64; i++)
        if (write(fd, block, sizeof block) < 0)
            return errno;
    return 0;
}

static int take_processor(void)
{
    for (volatile unsigned long i = 0; i < ~0UL; i++)
        continue;
    return 0;
}

static int dump_core(void)
{
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_CORE, &limit);
    return limit.rlim_max <= 1 ? EPERM : 0;
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

static const char *const program_list[] = {"/bin/true", NULL};

static const struct sandbox_policy
    nothing = {.network = SANDBOX_NETWORK_NONE},
    small = {.write = inside_list, .limits = {.file_bytes = 64 << 10}},
    listed = {.exec = SANDBOX_EXEC_LISTED, .programs = program_list},
    running = {.exec = SANDBOX_EXEC_ALL, .limits = {.processes = 64}},
    narrow = {.limits = {.memory_bytes = 512 << 20, .files = 16, .cpu_s = 1}},
    forking = {.limits = {.processes = 4}};

static const struct row rows[] = {
    {"signal another process", kill_victim, &nothing, DENIED, CONTROL},
    {"signal another process, forking", kill_victim, &running, DENIED, CONTROL | SCOPED},
    {"signal its group", kill_group, &nothing, DENIED, 0},
    {"signal another process by a pipe", signal_by_owner, &running, DENIED, CONTROL},
    {"trace another process", trace_victim, &running, DENIED, CONTROL | ROOT},
    {"trace the parent", trace_parent, &running, DENIED, 0},
    {"read another process's memory", read_victim, &running, DENIED, CONTROL | ROOT},
    {"limit another process", limit_victim, &running, DENIED, CONTROL},
    {"run a program", run_true, &nothing, DENIED, CONTROL},
    {"run a program from memory", run_memory, &nothing, DENIED, CONTROL},
    {"run a listed program", run_true, &listed, 0, 0},
    {"run another than the listed", run_false, &listed, DENIED, CONTROL},
    {"run one from memory beside the listed", run_memory, &listed, DENIED, CONTROL},
    {"run any program", run_false, &running, 0, 0},
    {"fork", fork_one, &nothing, DENIED, CONTROL},
    {"clone into namespaces", clone_spaces, &running, DENIED, CONTROL},
    {"start a thread", thread_one, &nothing, 0, 0},
    {"fork when it may", fork_one, &running, 0, 0},
    {"fork bomb", fork_bomb, &forking, EAGAIN, CONTROL | ORDINARY | SLOW},

    {"thread bomb", thread_bomb, &nothing, EAGAIN, ORDINARY | SLOW | UNSANITISED},

    {"memory past the limit", take_memory, &narrow, ENOMEM, CONTROL | UNSANITISED},
    {"descriptors past the limit", take_descriptors, &narrow, EMFILE, CONTROL},
    {"file past the limit", take_disk, &small, KILLED + SIGXFSZ, 0},
    {"processor past the limit", take_processor, &narrow, KILLED + SIGXCPU, SLOW},
    {"core dump", dump_core, &nothing, DENIED, 0},
};

static void check(const struct setting *setting)
{
    check_rows(setting, rows, COUNT_OF(rows));
}

static void test_attempts(void)
{
    for_users(check);
}

int main(void)
{
    SANDBOXED_MAIN("sandbox_process", {"processes and resources", test_attempts});
}
