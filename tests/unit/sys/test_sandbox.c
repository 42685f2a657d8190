/* SPDX-License-Identifier: MIT */

/*
 * Escape attempts, each by a child that has entered a sandbox: as root, as an ordinary user, and
 * as on kernels with an older Landlock. Where it proves something, the same attempt is made by a
 * child without a sandbox, and succeeds.
 */
#include "base/buf.h"
#include "base/err.h"
#include "sys/sandbox.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

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

static char *place;     /* holds inside/file, outside/secret and outside/data */
static char *inside;    /* what is granted */
static pid_t victim;    /* a process of the same user */
static int victim_word; /* what it would be bad to read there */
static int server = -1; /* listens on loopback */
static int server_port;

static char *in(const char *directory, const char *name)
{
    return xasprintf("%s/%s/%s", place, directory, name);
}

/* For what is no test but has to work. */
static void must(bool ok)
{
    if (ok)
        return;
    printf("not ok sandbox: cannot set up: %s\n", strerror(errno));
    exit(2);
}

static void put(const char *directory, const char *name, const char *text)
{
    CLEANUP(free_ptr) char *path = in(directory, name);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    must(fd >= 0 && fchmod(fd, 0666) == 0);
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void make_place(void)
{
    static const char *const names[] = {"inside", "outside"};
    place = xstrdup("/tmp/gudgeon-test-sandbox-XXXXXX");
    must(mkdtemp(place) != NULL && chmod(place, 0755) == 0);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s/%s", place, names[i]);
        must(mkdir(path, 0777) == 0 && chmod(path, 0777) == 0);
    }
    inside = xasprintf("%s/inside", place);
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

static void remove_place(void)
{
    CLEANUP(free_ptr) char *command = xasprintf("rm -rf '%s'", place);
    must(system(command) == 0);
    free(place);
    free(inside);
    close(server);
}

static void become(uid_t user)
{
    if (user == getuid())
        return;
    if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(user, user, user) < 0)
        _exit(3);
    prctl(PR_SET_DUMPABLE, 1);
}

static void start_victim(uid_t user)
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

static void end_victim(void)
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
static void lose(const struct lost *calls, int errnum)
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

static void child(const struct setting *setting, int (*attempt)(void))
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
static int run(const struct setting *setting, int (*attempt)(void))
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
static int errno_of(long result)
{
    return result < 0 ? errno : 0;
}

/* ---- attempts: files --------------------------------------------------------------------------
 */

static int try_open(const char *path, int flags)
{
    CLEANUP(close_fd) int fd = open(path, flags | O_CLOEXEC, 0600);
    return errno_of(fd);
}

static int try_in(const char *directory, const char *name, int flags)
{
    CLEANUP(free_ptr) char *path = in(directory, name);
    return try_open(path, flags);
}

static int read_shadow(void)
{
    return try_open("/etc/shadow", O_RDONLY);
}

static int read_passwd(void)
{
    return try_open("/etc/passwd", O_RDONLY);
}

static int list_home(void)
{
    return try_open("/home", O_RDONLY | O_DIRECTORY);
}

static int read_process(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/cmdline", (int)victim);
    return try_open(path, O_RDONLY);
}

static int read_outside(void)
{
    return try_in("outside", "secret", O_RDONLY);
}

static int read_by_dots(void)
{
    return try_in("inside/../outside", "secret", O_RDONLY);
}

static int read_by_root_link(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("/proc/self/root%s/outside/secret", place);
    return try_open(path, O_RDONLY);
}

static int read_inside(void)
{
    return try_in("inside", "file", O_RDONLY);
}

static int read_library(void)
{
    return try_open("/usr/bin/env", O_RDONLY);
}

static int write_null(void)
{
    return try_open("/dev/null", O_WRONLY);
}

static int write_outside(void)
{
    return try_in("outside", "data", O_WRONLY);
}

static int make_outside(void)
{
    return try_in("outside", "new", O_WRONLY | O_CREAT);
}

static int truncate_outside(void)
{
    CLEANUP(free_ptr) char *path = in("outside", "data");
    return errno_of(truncate(path, 0));
}

static int truncate_by_reading(void)
{
    return try_in("inside", "file", O_RDONLY | O_TRUNC);
}

static int chmod_outside(void)
{
    CLEANUP(free_ptr) char *path = in("outside", "new");
    return errno_of(chmod(path, 0600)); /* absent: only the filter says EPERM */
}

static int set_owner_bit(void)
{
    CLEANUP(free_ptr) char *path = in("inside", "file");
    return errno_of(chmod(path, 04755));
}

static int set_mode(void)
{
    CLEANUP(free_ptr) char *path = in("inside", "nothing");
    return errno_of(chmod(path, 0644));
}

static int write_inside(void)
{
    int result = try_in("inside", "written", O_RDWR | O_CREAT | O_TRUNC);
    CLEANUP(free_ptr) char *from = in("inside", "written"), *to = in("inside", "moved");
    if (result == 0)
        result = errno_of(rename(from, to));
    return result == 0 ? errno_of(unlink(to)) : result;
}

static int rename_out(void)
{
    CLEANUP(free_ptr) char *from = in("inside", "file"), *to = in("outside", "new");
    return errno_of(rename(from, to));
}

static int link_in(void)
{
    CLEANUP(free_ptr) char *from = in("outside", "secret"), *to = in("inside", "linked");
    return errno_of(link(from, to));
}

static int read_by_link(void)
{
    CLEANUP(free_ptr) char *to = in("outside", "secret"), *link = in("inside", "link");
    unlink(link);
    return symlink(to, link) < 0 ? -1 : try_open(link, O_RDONLY);
}

static atomic_bool race_over;

static void *flip(void *data)
{
    CLEANUP(free_ptr) char *link = in("inside", "race"), *next = in("inside", "next");
    CLEANUP(free_ptr) char *out = in("outside", "secret"), *home = in("inside", "file");
    (void)data;
    for (bool is_out = false; !race_over; is_out = !is_out) {
        if (symlink(is_out ? out : home, next) == 0)
            rename(next, link);
    }
    return NULL;
}

/* 0 when it got the secret even once; it has met both ends of the link otherwise. */
static int race_links(void)
{
    enum { ENOUGH = 50, TRIES = 2000000 };
    CLEANUP(free_ptr) char *link = in("inside", "race");
    pthread_t thread;
    int opened = 0, refused = 0, got = 0;
    if (pthread_create(&thread, NULL, flip, NULL) != 0)
        return -1;
    for (int i = 0; i < TRIES && (opened < ENOUGH || refused < ENOUGH) && !got; i++) {
        char text[8] = "";
        CLEANUP(close_fd) int fd = open(link, O_RDONLY | O_CLOEXEC);
        refused += fd < 0 && errno == EACCES;
        opened += fd >= 0 && read(fd, text, sizeof text - 1) > 0;
        got = memcmp(text, "secret", 6) == 0;
    }
    race_over = true;
    pthread_join(thread, NULL);
    if (got)
        return 0;
    return opened >= ENOUGH && refused >= ENOUGH ? EACCES : -1;
}

/* ---- attempts: the network --------------------------------------------------------------------
 */

static int try_connect(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server_port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CLEANUP(close_fd) int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : errno_of(connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int connect_tcp(void)
{
    return try_connect(SOCK_STREAM);
}

static int connect_udp(void)
{
    return try_connect(SOCK_DGRAM);
}

static int try_socket(int family, int type)
{
    CLEANUP(close_fd) int fd = socket(family, type | SOCK_CLOEXEC, 0);
    return errno_of(fd);
}

static int raw_socket(void)
{
    return try_socket(AF_INET, SOCK_RAW);
}

static int packet_socket(void)
{
    return try_socket(AF_PACKET, SOCK_DGRAM);
}

static int unix_socket(void)
{
    return try_socket(AF_UNIX, SOCK_STREAM);
}

static int netlink_socket(void)
{
    return try_socket(AF_NETLINK, SOCK_RAW);
}

static int vsock_socket(void)
{
    return try_socket(AF_VSOCK, SOCK_STREAM);
}

static int pair_of(int type)
{
    int pair[2];
    return errno_of(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair));
}

static int stream_pair(void)
{
    return pair_of(SOCK_STREAM) != 0 ? errno : pair_of(SOCK_SEQPACKET);
}

static int datagram_pair(void)
{
    return pair_of(SOCK_DGRAM);
}

static int datagram_pair_as_raw(void)
{
    return pair_of(SOCK_RAW);
}

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

static const char *inside_list[2], *program_list[] = {"/bin/true", NULL};

static const struct sandbox_policy
    nothing = {.network = SANDBOX_NETWORK_NONE},
    reading = {.read = inside_list},
    writing = {.write = inside_list, .network = SANDBOX_NETWORK_HOSTS},
    small = {.write = inside_list, .limits = {.file_bytes = 64 << 10}},
    online = {.network = SANDBOX_NETWORK_FULL},
    listed = {.exec = SANDBOX_EXEC_LISTED, .programs = program_list},
    running = {.exec = SANDBOX_EXEC_ALL, .limits = {.processes = 64}},
    narrow = {.limits = {.memory_bytes = 512 << 20, .files = 16, .cpu_s = 1}},
    forking = {.limits = {.processes = 4}};

enum {
    CONTROL = 1 << 0,     /* succeeds without a sandbox */
    ROOT = 1 << 1,        /* means something for root only */
    ORDINARY = 1 << 2,    /* for an ordinary user only */
    SLOW = 1 << 3,        /* once is enough: nothing of it is Landlock's */
    UNSANITISED = 1 << 4, /* a sanitiser's memory or threads are in the way */
    SCOPED = 1 << 5,      /* with a Landlock that has scopes */
};

static const struct row {
    const char *name;
    int (*attempt)(void);
    const struct sandbox_policy *policy;
    int wanted;
    unsigned flags;
} rows[] = {
    {"read /etc/shadow", read_shadow, &reading, DENIED, CONTROL | ROOT},
    {"read /etc/passwd", read_passwd, &reading, DENIED, CONTROL},
    {"list /home", list_home, &reading, DENIED, CONTROL},
    {"read another process's file", read_process, &reading, DENIED, CONTROL},
    {"read outside", read_outside, &writing, DENIED, CONTROL},
    {"read outside by dots", read_by_dots, &writing, DENIED, CONTROL},
    {"read outside by /proc/self/root", read_by_root_link, &writing, DENIED, CONTROL},
    {"read outside by a link", read_by_link, &writing, DENIED, CONTROL},
    {"read outside by a race", race_links, &writing, DENIED, CONTROL},
    {"read inside", read_inside, &reading, 0, 0},
    {"read inside without the grant", read_inside, &nothing, DENIED, CONTROL},
    {"read a system file", read_library, &nothing, 0, 0},
    {"write to /dev/null", write_null, &nothing, 0, 0},
    {"write outside", write_outside, &writing, DENIED, CONTROL},
    {"create outside", make_outside, &writing, DENIED, 0},
    {"truncate outside", truncate_outside, &reading, DENIED, 0},
    {"truncate what may be read", truncate_by_reading, &reading, DENIED, 0},
    {"change a mode", chmod_outside, &reading, DENIED, 0},
    {"write inside", write_inside, &writing, 0, 0},
    {"set a mode inside", set_mode, &writing, ENOENT, 0},
    {"set the bit of the owner's rights", set_owner_bit, &writing, DENIED, ROOT},
    {"write inside when reading is granted", write_inside, &reading, DENIED, CONTROL},
    {"rename to the outside", rename_out, &writing, DENIED, 0},
    {"link from the outside", link_in, &writing, DENIED, 0},

    {"connect, TCP", connect_tcp, &writing, DENIED, CONTROL},
    {"connect, UDP", connect_udp, &nothing, DENIED, CONTROL},
    {"raw socket", raw_socket, &nothing, DENIED, CONTROL | ROOT},
    {"packet socket", packet_socket, &nothing, DENIED, 0},
    {"unix socket", unix_socket, &nothing, DENIED, CONTROL},
    {"netlink socket", netlink_socket, &nothing, DENIED, CONTROL},
    {"pair of streams", stream_pair, &nothing, 0, 0},
    {"pair of datagram sockets", datagram_pair, &nothing, DENIED, CONTROL},
    {"pair of datagram sockets, raw", datagram_pair_as_raw, &nothing, DENIED, CONTROL},
    {"online: connect, TCP", connect_tcp, &online, 0, 0},
    {"online: connect, UDP", connect_udp, &online, 0, 0},
    {"online: raw socket", raw_socket, &online, DENIED, CONTROL | ROOT},
    {"online: packet socket", packet_socket, &online, DENIED, 0},
    {"online: unix socket", unix_socket, &online, DENIED, CONTROL},
    {"online: netlink socket", netlink_socket, &online, DENIED, CONTROL},
    {"online: vsock socket", vsock_socket, &online, DENIED, 0},

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

static bool is_wanted(int result, int wanted)
{
    if (wanted == DENIED)
        return result == EPERM || result == EACCES || result == EXDEV;
    return result == wanted;
}

static bool is_skipped(const struct row *row, const struct setting *setting)
{
    return ((row->flags & ROOT) && setting->user != 0) ||
           ((row->flags & ORDINARY) && setting->user == 0) ||
           ((row->flags & SLOW) && setting->landlock_max != 0) ||
           ((row->flags & UNSANITISED) && IS_SANITISED) ||
           ((row->flags & SCOPED) && setting->landlock_max != 0);
}

static void check_row(const struct row *row, const struct setting *given)
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
static void for_users(void (*check)(const struct setting *setting))
{
    const uid_t users[] = {getuid(), NOBODY};
    for (size_t i = 0; i < (getuid() == 0 ? 2 : 1); i++) {
        start_victim(users[i]);
        check(&(struct setting){.user = users[i]});
        end_victim();
    }
}

static void check_rows(const struct setting *setting)
{
    static const int abis[] = {0, 1, 2, 3};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (size_t abi = 0; abi < COUNT_OF(abis); abi++) {
            struct setting one = *setting;
            one.landlock_max = abis[abi];
            check_row(&rows[i], &one);
        }
}

static void test_attempts(void)
{
    for_users(check_rows);
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
#endif

/* ---- what holds, and what is said of it -------------------------------------------------------
 */

static int do_nothing(void)
{
    return 0;
}

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
    {"no Landlock", no_landlock, ENOSYS, connect_tcp, EPERM, false, true, SANDBOX_GAP_FILES},
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

/* The rows of missing mechanisms mean something only where they are not missing. */
static bool is_possible(void)
{
    const struct setting setting = {.user = getuid(), .policy = &nothing};
    return run(&setting, do_nothing) == 0 && outcome->report.landlock_abi >= 6 &&
           outcome->report.has_seccomp;
}

int main(void)
{
    outcome =
        mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return 2;
    if (!is_possible())
        printf("# this kernel has not all of Landlock and seccomp: some rows must fail\n");
    make_place();
    inside_list[0] = inside;
    static const struct unit_row tests[] = {
        {"escape attempts", test_attempts},
        {"system calls", test_calls},
#ifdef __x86_64__
        {"other numbers of system calls", test_other_abis},
#endif
        {"missing mechanisms", test_missing},
        {"gaps of a policy", test_gaps},
        {"a grant that is not there", test_absent_grant},
        {"applied twice", test_twice},
        {"the report as text", test_text},
    };
    int status = unit_run("sandbox", tests, COUNT_OF(tests));
    remove_place();
    return status;
}
