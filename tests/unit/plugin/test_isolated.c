/* SPDX-License-Identifier: MIT */

/*
 * Plugins that hurt, in worker processes: each costs one call, which says why; the host is as it
 * was. That workers keep the ABI's rules as the host does is in test_instance.c.
 */

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "sys/cancel.h"
#include "sys/paths.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any of these tests may take; passing does not wait for it. */
#define PATIENCE_NS (60 * NS_PER_S)

/* A sanitiser makes another death of a bad access, and has its own idea of memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITISED true
#else
#define IS_SANITISED false
#endif

static struct plugin_info plugin = {.name = (char[]){"hostile"}};
static const struct component_info component = {
    .plugin = &plugin, .kind = KIND_TOOLS, .kind_version = 1, .name = (char[]){"hostile"}};

static void set_up(void)
{
    if (plugin.path != NULL)
        return;
    CLEANUP(free_ptr) char *plugins = paths_plugins(); /* BUILD/plugins */
    *strrchr(plugins, '/') = '\0';
    plugin.path = xasprintf("%s/tests/abi/hostile.so", plugins);
}

static struct instance *opened(const char *config)
{
    static const char grant[] = "{\"exec\":true,\"memory\":\"512MiB\"}";
    struct instance *instance = NULL;
    struct err err = {0};
    set_up();
    const struct instance_options options = {.name = "it",
                                             .isolation = ISOLATION_WORKER,
                                             .config = str_of(config),
                                             .grant = str_of(grant)};
    int status = instance_open(&component, &options, &instance, &err);
    if (status < 0)
        printf("#   %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    return instance;
}

static struct call *call_for(int64_t ms)
{
    return call_new(&(struct call_options){
        .id = "run/1", .deadline_ns = clock_monotonic_ns() + ms * NS_PER_MS, .output_max = 1000});
}

static int call_tool(struct instance *instance, struct call *call, const char *tool)
{
    return instance_call(instance, call, str_of(tool), str_of("{}"));
}

static void check_fine(struct instance *instance)
{
    struct call *call = call_for(20000);
    CU_ASSERT_EQUAL(call_tool(instance, call, "fine"), 0);
    if (call_tool_result(call) != NULL)
        CHECK_STR(call_tool_result(call)->text.ptr, "fine");
    else
        printf("#   %s\n", call_error(call)->message);
    call_free(call);
}

/* ---- what is left over ------------------------------------------------------------------------
 */

static unsigned count_fds(void)
{
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static long resident_kib(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL && fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file != NULL)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* ---- one call each ----------------------------------------------------------------------------
 */

#define KILLED "plugin hostile: its worker was killed by "
static const struct row {
    const char *tool;
    int code;
    const char *says;   /* a pattern: the error, or the result's text */
    const char *output; /* what is kept of it; NULL = whatever */
    int64_t ms;         /* the deadline; 0 = long */
    bool not_sanitised; /* a sanitiser would end it in its own way */
} rows[] = {
    {"null_write", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"overflow_stack", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"abort", ERR_UNAVAILABLE,
     KILLED "SIGABRT; it said: first of three second of three my last words", "", 0, true},
    {"leave", ERR_UNAVAILABLE, "plugin hostile: its worker exited with status 0", "", 0, true},
    {"leave_seven", ERR_UNAVAILABLE, "plugin hostile: its worker exited with status 7", "", 0,
     false},
    {"crash_in_thread", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"crash_after_delta", ERR_UNAVAILABLE, KILLED "SIGSEGV", "partial", 0, true},
    {"crash_in_frame", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"crash_in_host_call", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"fork_many", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"heir", ERR_UNAVAILABLE, KILLED "SIGSEGV", "", 0, true},
    {"eat_memory", ERR_UNAVAILABLE, KILLED "SIGABRT*", "", 0, true},

    {"spin", ERR_TIMEOUT,
     "plugin hostile: did not stop within 1 s of its deadline; its worker was killed", "begun", 100,
     false},
    {"ignore_term", ERR_TIMEOUT,
     "plugin hostile: did not stop within 1 s of its deadline; its worker was killed", "begun", 100,
     false},
    {"stop_itself", ERR_TIMEOUT,
     "plugin hostile: did not stop within 1 s of its deadline; its worker was killed", "", 100,
     false},
    {"late_answer", 0, "after all", "", 50, false},

    {"many_deltas", 0, "all sent", NULL, 0, false},
    {"much_output", 0, "all sent", NULL, 0, false},
    {"print", 0, "printed", "", 0, false},
    {"log_flood", 0, "logged", "", 0, false},
    {"big_answer", 0, "aaaaaaaa*", "", 0, false},

    {"escape", 0, "no fork: *", "", 0, false},
    {"try_to_read", 0, "not read: *", "", 0, false},
    {"try_to_connect", 0, "no socket: *", "", 0, false},

    {"close_all", ERR_PROTOCOL,
     "plugin hostile: closed its connection to the host; its worker was killed", "", 0, false},
    {"garbage", ERR_PROTOCOL, "plugin hostile: sent a frame of another length than it says; *", "",
     0, false},
    {"short_frame", ERR_PROTOCOL, "plugin hostile: sent a frame without a header; *", "", 0, false},
    {"unknown_type", ERR_PROTOCOL, "plugin hostile: sent a frame of a type that there is not; *",
     "", 0, false},
    {"unknown_call", ERR_PROTOCOL, "plugin hostile: sent what nobody had asked for; *", "", 0,
     false},
    {"even_question", ERR_PROTOCOL, "plugin hostile: sent what nobody had asked for; *", "", 0,
     false},
    {"overrun", ERR_PROTOCOL, "plugin hostile: sent a frame of another length than it says; *", "",
     0, false},
    {"endless_message", ERR_PROTOCOL, "plugin hostile: sent a message that is too large; *", "", 0,
     false},
    {"garbage_aside", ERR_PROTOCOL, "plugin hostile: sent a notice that is none; *", "", 0, false},
    {"early_done", ERR_PROTOCOL, "plugin hostile: sent what nobody had asked for; *", "", 0, false},
};

static void check_row(struct instance *instance, const struct row *row)
{
    int64_t begun_ns = clock_monotonic_ns();
    struct call *call = call_for(row->ms > 0 ? row->ms : 40000);
    int code = call_tool(instance, call, row->tool);
    const char *says = code == 0 ? call_tool_result(call)->text.ptr : call_error(call)->message;
    if (code != row->code || fnmatch(row->says, says, 0) != 0) {
        printf("#   %s: %s: %.200s\n", row->tool, err_name(code), says);
        CU_FAIL("another end");
    }
    if (row->output != NULL)
        CHECK_STR(call_output(call).ptr, row->output);
    if (row->ms > 0) /* the second that is stated, and some for a busy machine */
        CU_ASSERT(clock_monotonic_ns() - begun_ns < (row->ms + 5000) * NS_PER_MS);
    call_free(call);
}

static void test_hostile(void)
{
    struct instance *instance = opened("{}");
    check_fine(instance);
    instance_close(instance);
    unsigned fds = count_fds();
    long before_kib = resident_kib();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].not_sanitised && IS_SANITISED)
            continue;
        instance = opened("{}");
        check_row(instance, &rows[i]);
        check_fine(instance);
        instance_close(instance);
        CU_ASSERT_EQUAL(count_fds(), fds);
        CU_ASSERT_FALSE(has_children());
    }
    if (!IS_SANITISED)
        CU_ASSERT(resident_kib() - before_kib < 40 * 1024);
}

/* ---- cancel -----------------------------------------------------------------------------------
 */

static int on_delta(void *payload, const gudgeon_delta *delta)
{
    (void)delta;
    sem_post(payload);
    return 0;
}

struct running {
    struct instance *instance;
    struct call *call;
    const char *tool;
    int code;
};

static void *run(void *payload)
{
    struct running *running = payload;
    running->code = call_tool(running->instance, running->call, running->tool);
    return NULL;
}

static void test_cancel(void)
{
    pthread_t thread;
    sem_t begun;
    sem_init(&begun, 0, 0);
    struct running running = {.instance = opened("{}"), .tool = "ignore_term"};
    running.call = call_new(&(struct call_options){.on_delta = on_delta, .payload = &begun});
    pthread_create(&thread, NULL, run, &running);
    while (sem_wait(&begun) != 0)
        ;
    int64_t told_ns = clock_monotonic_ns();
    cancel_set(call_cancel(running.call));
    pthread_join(thread, NULL);
    CU_ASSERT(clock_monotonic_ns() - told_ns < 5 * NS_PER_S);
    CU_ASSERT_EQUAL(running.code, ERR_CANCELLED);
    CHECK_STR(call_error(running.call)->message,
              "plugin hostile: did not stop within 1 s of being cancelled; its worker was killed");
    CHECK_STR(call_output(running.call).ptr, "begun");
    call_free(running.call);
    check_fine(running.instance);
    instance_close(running.instance);
    sem_destroy(&begun);
}

/* What one call is told is not the next one's. */
static void test_told_once(void)
{
    struct instance *instance = opened("{}");
    for (int i = 0; i < 2; i++) {
        int64_t begun_ns = clock_monotonic_ns();
        struct call *call = call_for(200);
        CU_ASSERT_EQUAL(call_tool(instance, call, "late_answer"), 0);
        CU_ASSERT(clock_monotonic_ns() - begun_ns >= 200 * NS_PER_MS);
        call_free(call);
    }
    instance_close(instance);
}

/* ---- starting again ---------------------------------------------------------------------------
 */

static void test_back_off(void)
{
    char path[] = "/tmp/gudgeon-mark-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    unlink(path);
    CLEANUP(free_ptr) char *config = xasprintf("{\"mark\":\"%s\"}", path);
    struct instance *instance = opened(config);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    close(fd);
    static const struct {
        const char *tool, *says;
    } steps[] = {
        {"leave_seven", "plugin hostile: its worker exited with status 7"},
        {"fine", "cannot be started again: plugin hostile: its worker *"},
        {"fine", "its worker failed to start 1 times in a row; the next try is in 0.? s"},
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct call *call = call_for(20000);
        CU_ASSERT_EQUAL(call_tool(instance, call, steps[i].tool), ERR_UNAVAILABLE);
        if (fnmatch(steps[i].says, call_error(call)->message, 0) != 0) {
            printf("#   %s\n", call_error(call)->message);
            CU_FAIL("another message");
        }
        call_free(call);
    }
    unlink(path);
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_NS;
    int code = ERR_UNAVAILABLE;
    while (code == ERR_UNAVAILABLE && clock_monotonic_ns() < until_ns) {
        struct call *call = call_for(20000);
        code = call_tool(instance, call, "fine");
        call_free(call);
    }
    CU_ASSERT_EQUAL(code, 0);
    instance_close(instance);
}

static void test_crash_at_start(void)
{
    char path[] = "/tmp/gudgeon-mark-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CLEANUP(free_ptr) char *config = xasprintf("{\"mark\":\"%s\"}", path);
    struct instance *instance = NULL;
    struct err err = {0};
    set_up();
    const struct instance_options options = {
        .name = "it", .isolation = ISOLATION_WORKER, .config = str_of(config)};
    CU_ASSERT_EQUAL(instance_open(&component, &options, &instance, &err), ERR_UNAVAILABLE);
    if (!IS_SANITISED)
        CHECK_STR(err.text, "tools \"it\": plugin hostile: its worker was killed by SIGSEGV");
    unlink(path);
    CU_ASSERT_FALSE(has_children());
}

/* One that dies between two calls costs nothing. */
static pid_t only_child(void)
{
    char path[64], line[64] = "";
    snprintf(path, sizeof path, "/proc/self/task");
    DIR *tasks = opendir(path);
    struct dirent *task;
    pid_t found = -1;
    while (found < 0 && (task = readdir(tasks)) != NULL) {
        CLEANUP(free_ptr) char *name = xasprintf("/proc/self/task/%s/children", task->d_name);
        FILE *file = task->d_name[0] != '.' ? fopen(name, "re") : NULL;
        if (file != NULL && fgets(line, sizeof line, file) != NULL)
            found = (pid_t)strtol(line, NULL, 10);
        if (file != NULL)
            fclose(file);
    }
    closedir(tasks);
    return found;
}

static void test_dies_idle(void)
{
    struct instance *instance = opened("{}");
    check_fine(instance);
    pid_t worker = only_child();
    CU_ASSERT_FATAL(worker > 0);
    siginfo_t info;
    kill(worker, SIGKILL);
    waitid(P_PID, (id_t)worker, &info, WEXITED | WNOWAIT);
    check_fine(instance);
    instance_close(instance);
}

/* ---- very often -------------------------------------------------------------------------------
 */

static void test_often(void)
{
    enum { CALLS = IS_SANITISED ? 300 : 10000, PAGES_PER_HALF = 5000 * 10 / 4096 };
    unsigned crashed = 0, answered = 0;
    long half_kib = 0;
    struct instance *instance = opened("{}");
    unsigned fds = count_fds();
    for (int i = 0; i < CALLS; i++) {
        struct call *call = call_for(20000);
        int code = call_tool(instance, call, "sometimes");
        crashed += code == ERR_UNAVAILABLE;
        answered += code == 0;
        call_free(call);
        if (i == CALLS / 2)
            half_kib = resident_kib();
    }
    check_fine(instance);
    CU_ASSERT_EQUAL(crashed + answered, CALLS);
    CU_ASSERT(crashed > 0);
    CU_ASSERT_EQUAL(count_fds(), fds);
    if (!IS_SANITISED)
        CU_ASSERT(resident_kib() - half_kib <= 4 * PAGES_PER_HALF); /* 10 bytes a call */
    instance_close(instance);
    CU_ASSERT_FALSE(has_children());
}

int main(void)
{
    UNIT_MAIN(
        "isolated", {"plugins that hurt", test_hostile}, {"a cancel that is ignored", test_cancel},
        {"a call that follows one that was told to end", test_told_once},
        {"crashes at the start of a new worker", test_back_off},
        {"crashes at the first start", test_crash_at_start},
        {"a worker that dies between calls", test_dies_idle}, {"crashes at random", test_often});
}
