/* SPDX-License-Identifier: MIT */
#include "sys/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "sys/cancel.h"
#include "unit.h"

/* Long enough to never be the reason that a test passes. */
static int64_t far_away(void)
{
    return clock_monotonic_ns() + 30 * NS_PER_S;
}

static struct proc_options shell(const char *const argv[4])
{
    static const char *const envp[] = {"PATH=/usr/bin:/bin", NULL};
    return (struct proc_options){.file = "/bin/sh",
                                 .argv = argv,
                                 .envp = envp,
                                 .stdio = {PROC_NULL, PROC_PIPE, PROC_PIPE},
                                 .new_group = true};
}

#define SHELL(script) shell((const char *const[4]){"sh", "-c", script, NULL})

/* Runs to the end and checks what came out. */
static void check_run(const struct proc_options *options, const char *output, const char *errors,
                      const char *how)
{
    CLEANUP(proc_close) struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(65536);
    CLEANUP(buf_fini) struct buf err_out = BUF_INIT(65536);
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(proc_spawn(options, &proc, &err), 0);
    CU_ASSERT_EQUAL(proc_collect(&proc, far_away(), NULL, &out, &err_out), 0);
    struct proc_exit end;
    CU_ASSERT_EQUAL(proc_status(&proc, &end), 0);
    char text[PROC_EXIT_TEXT_SIZE];
    CHECK_STR(proc_exit_text(&end, text), how);
    CHECK_STR(out.data, output);
    CHECK_STR(err_out.data, errors);
}

static void test_output(void)
{
    struct proc_options options = SHELL("echo out; echo err >&2; exit 3");
    check_run(&options, "out\n", "err\n", "exited with status 3");
    options.stdio[2] = PROC_MERGED;
    check_run(&options, "out\nerr\n", "", "exited with status 3");
    options.stdio[1] = PROC_NULL;
    options.stdio[2] = PROC_PIPE;
    check_run(&options, "", "err\n", "exited with status 3");
}

static void test_input(void)
{
    struct proc_options options = SHELL("cat");
    check_run(&options, "", "", "exited with status 0");
    options.stdio[0] = PROC_PIPE;
    CLEANUP(proc_close) struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(100);
    CU_ASSERT_EQUAL_FATAL(proc_spawn(&options, &proc, NULL), 0);
    CU_ASSERT_EQUAL(write(proc.pipes[0], "hello", 5), 5);
    proc_close_pipe(&proc, 0);
    CU_ASSERT_EQUAL(proc_collect(&proc, far_away(), NULL, &out, NULL), 0);
    CHECK_STR(out.data, "hello");
}

static void test_surroundings(void)
{
    static const char *const argv[] = {"env", NULL};
    static const char *const envp[] = {"A=1", "B=two words", NULL};
    struct proc_options options = {.file = "/usr/bin/env",
                                   .argv = argv,
                                   .envp = envp,
                                   .stdio = {PROC_NULL, PROC_PIPE, PROC_PIPE}};
    check_run(&options, "A=1\nB=two words\n", "", "exited with status 0");
    options.envp = NULL;
    check_run(&options, "", "", "exited with status 0");
    options = SHELL("pwd");
    options.directory = "/usr";
    check_run(&options, "/usr\n", "", "exited with status 0");
}

/* A glob would show the directory that the shell reads it from. */
#define LIST_DESCRIPTORS                                                                           \
    "for fd in 3 4 5 6 7 8 9 10 11 12 13 14 15; do "                                               \
    "[ -e /proc/$$/fd/$fd ] && printf ' %s' $fd; done; exit 0"

/* Descriptors that the host has not marked CLOEXEC must not reach the child either. */
static void test_descriptors(void)
{
    CLEANUP(close_fd) int leak = open("/dev/null", O_RDONLY);
    CU_ASSERT(leak >= 0);
    struct proc_options options = SHELL(LIST_DESCRIPTORS);
    check_run(&options, "", "", "exited with status 0");
}

static int memory_file(const char *text)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Targets are the sources' numbers the other way round: each dup2 would overwrite the next. */
static void test_passed(void)
{
    CLEANUP(close_fd) int a = memory_file("A");
    CLEANUP(close_fd) int b = memory_file("B");
    int low = fcntl(a, F_DUPFD_CLOEXEC, 3), high = fcntl(b, F_DUPFD_CLOEXEC, 3);
    const int passed[] = {high, low, high};
    struct proc_options options = SHELL("cat <&4; cat <&3; " LIST_DESCRIPTORS);
    options.passed = passed;
    options.passed_count = COUNT_OF(passed);
    check_run(&options, "AB 3 4 5", "", "exited with status 0");
    close(low);
    close(high);
}

static void test_signals_are_reset(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    void (*before)(int) = signal(SIGUSR1, SIG_IGN);
    struct proc_options options = SHELL("kill -TERM $$; echo alive");
    check_run(&options, "", "", "was killed by SIGTERM");
    options = SHELL("kill -USR1 $$; echo alive");
    check_run(&options, "", "", "was killed by SIGUSR1");
    signal(SIGUSR1, before);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
}

static void make_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode);
    CU_ASSERT_EQUAL(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void test_cannot_start(void)
{
    char directory[] = "/tmp/gudgeon-test-proc-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    CLEANUP(free_ptr) char *script = xasprintf("%s/script", directory);
    CLEANUP(free_ptr) char *text = xasprintf("%s/text", directory);
    make_file(script, "#!/no/such/interpreter\n", 0755);
    make_file(text, "no program\n", 0644);
    CLEANUP(free_ptr)
    char *no_interpreter = xasprintf("the interpreter that %s names is missing", script);
    CLEANUP(free_ptr) char *not_executable = xasprintf("%s is not executable", text);
    const struct {
        const char *file, *directory;
        int code;
        const char *message;
    } rows[] = {
        {"/no/such/program", NULL, ERR_NOT_FOUND, "there is no program /no/such/program"},
        {"/bin/sh", "/no/such", ERR_INVALID, "/no/such is not a directory"},
        {"/bin/sh", "/etc/passwd", ERR_INVALID, "/etc/passwd is not a directory"},
        {script, NULL, ERR_NOT_FOUND, no_interpreter},
        {text, NULL, ERR_REFUSED, not_executable},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct proc_options options = SHELL("exit 0");
        options.file = rows[i].file;
        options.directory = rows[i].directory;
        struct proc proc = PROC_INIT;
        struct err err = {0};
        CU_ASSERT_EQUAL(proc_spawn(&options, &proc, &err), rows[i].code);
        CHECK_STR(err.text, rows[i].message);
        CU_ASSERT_EQUAL(proc.pid, -1);
    }
    unlink(script);
    unlink(text);
    rmdir(directory);
}

static void test_deadline(void)
{
    static const char *const scripts[] = {
        "echo before; exec sleep 1000",
        "echo before; while :; do echo >&2; sleep 0.005; done", /* output that never rests */
    };
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        struct proc_options options = SHELL(scripts[i]);
        CLEANUP(proc_close) struct proc proc = PROC_INIT;
        CLEANUP(buf_fini) struct buf out = BUF_INIT(65536);
        CLEANUP(buf_fini) struct buf err_out = BUF_INIT(1 << 20);
        CU_ASSERT_EQUAL_FATAL(proc_spawn(&options, &proc, NULL), 0);
        int64_t deadline = clock_monotonic_ns() + NS_PER_S;
        CU_ASSERT_EQUAL(proc_collect(&proc, deadline, NULL, &out, &err_out), ERR_TIMEOUT);
        CHECK_STR(out.data, "before\n");
        struct proc_exit end;
        CU_ASSERT_EQUAL(proc_status(&proc, &end), ERR_BUSY);
        CU_ASSERT_EQUAL(proc_wait(&proc, deadline, NULL, &end), ERR_TIMEOUT);
        proc_signal_group(&proc, SIGTERM);
        CU_ASSERT_EQUAL(proc_wait(&proc, far_away(), NULL, &end), 0);
        CU_ASSERT_EQUAL(end.signal, SIGTERM);
    }
}

static void test_cap(void)
{
    struct proc_options options = SHELL("exec yes");
    CLEANUP(proc_close) struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(100001);
    CU_ASSERT_EQUAL_FATAL(proc_spawn(&options, &proc, NULL), 0);
    CU_ASSERT_EQUAL(proc_collect(&proc, far_away(), NULL, &out, NULL), ERR_LIMIT);
    CU_ASSERT_EQUAL(out.len, 100001);
    CU_ASSERT_EQUAL(out.data[99999], '\n');
}

static void *set_cancel(void *cancel)
{
    cancel_set(cancel);
    return NULL;
}

static void test_cancel(void)
{
    struct cancel cancel;
    cancel_init(&cancel, NULL);
    struct proc_options options = SHELL("exec sleep 1000");
    CLEANUP(proc_close) struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(100);
    struct proc_exit end;
    CU_ASSERT_EQUAL_FATAL(proc_spawn(&options, &proc, NULL), 0);
    pthread_t thread;
    pthread_create(&thread, NULL, set_cancel, &cancel);
    CU_ASSERT_EQUAL(proc_wait(&proc, INT64_MAX, &cancel, &end), ERR_CANCELLED);
    CU_ASSERT_EQUAL(proc_collect(&proc, INT64_MAX, &cancel, &out, NULL), ERR_CANCELLED);
    pthread_join(thread, NULL);
    cancel_fini(&cancel);
}

/* A descendant that keeps the pipe open holds up neither the reader nor, once closed, itself. */
static void test_descendants(void)
{
    struct proc_options options = SHELL("sleep 1000 & echo done");
    struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(100);
    CU_ASSERT_EQUAL_FATAL(proc_spawn(&options, &proc, NULL), 0);
    CU_ASSERT_EQUAL(proc_collect(&proc, far_away(), NULL, &out, NULL), 0);
    CHECK_STR(out.data, "done\n");
    CLEANUP(close_fd) int pipe = fcntl(proc.pipes[1], F_DUPFD_CLOEXEC, 3);
    struct pollfd poll_pipe = {.fd = pipe, .events = POLLIN};
    CU_ASSERT_EQUAL(poll(&poll_pipe, 1, 0), 0);
    proc_close(&proc);
    CU_ASSERT_EQUAL(poll(&poll_pipe, 1, 30 * 1000), 1);
    CU_ASSERT_EQUAL(poll_pipe.revents, POLLHUP);
    CU_ASSERT_EQUAL(proc.pid, -1);
    proc_close(&proc);
}

static void test_find(void)
{
    static const struct {
        const char *name, *path, *found;
    } rows[] = {
        {"sh", NULL, "/usr/bin/sh"},
        {"sh", "/nowhere:/bin", "/bin/sh"},
        {"sh", "::bin:.:/bin", "/bin/sh"},
        {"./own", "/bin", "./own"},
        {"passwd", "/etc", NULL}, /* a file, not executable */
        {"usr", "/", NULL},       /* a directory */
        {"", "/bin", NULL},
        {"sh", "", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *found = NULL;
        struct err err = {0};
        int status = proc_find(rows[i].name, rows[i].path, &found, &err);
        CU_ASSERT_EQUAL(status, rows[i].found != NULL ? 0 : ERR_NOT_FOUND);
        if (rows[i].found != NULL)
            CHECK_STR(found, rows[i].found);
        else
            CU_ASSERT(strstr(err.text, "there is no program") == err.text);
    }
}

int main(void)
{
    UNIT_MAIN("proc", {"output, errors and status", test_output}, {"input", test_input},
              {"environment and directory", test_surroundings},
              {"no descriptor is inherited", test_descriptors}, {"passed descriptors", test_passed},
              {"signals are reset", test_signals_are_reset},
              {"what cannot be started", test_cannot_start}, {"deadline", test_deadline},
              {"cap", test_cap}, {"cancel", test_cancel},
              {"descendants with the pipe", test_descendants}, {"find", test_find});
}
