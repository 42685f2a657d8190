/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/secrets.h"
#include "plugin/service.h"
#include "sys/tmpdir.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gudgeon/util.h>

enum { PATIENCE_MS = 20000 };

/* One instance's scope and one call of it. */
struct bench {
    struct secrets *secrets;
    struct service_scope scope;
    struct call *call;
};

static void bench_begin(struct bench *bench)
{
    bench->call = call_new(&(struct call_options){0});
    call_begin(bench->call, &(struct call_op){.scope = &bench->scope});
}

static void bench_init(struct bench *bench, const char *grant, const char *config)
{
    bench->secrets = secrets_new();
    const struct service_scope_options options = {.kind = KIND_TOOLS,
                                                  .secrets = bench->secrets,
                                                  .config = str_of(config),
                                                  .grant = str_of(grant)};
    CU_ASSERT_EQUAL_FATAL(service_scope_init(&bench->scope, &options, NULL), 0);
    bench_begin(bench);
}

static void bench_end(struct bench *bench)
{
    CU_ASSERT_EQUAL(call_end(bench->call, GUDGEON_OK), 0);
    call_free(bench->call);
}

static void bench_fini(struct bench *bench)
{
    service_scope_fini(&bench->scope);
    secrets_free(bench->secrets);
}

static int32_t spawn(struct bench *bench, const gudgeon_process_request *request,
                     gudgeon_process_handle **ret)
{
    return service_process.spawn(call_abi(bench->call), request, ret);
}

static gudgeon_process_handle *shell(struct bench *bench, uint32_t flags, const char *script)
{
    const gudgeon_str argv[] = {gudgeon_text("sh"), gudgeon_text("-c"), gudgeon_text(script)};
    const gudgeon_process_request request = {
        .size = sizeof request, .flags = flags, .argv = argv, .argv_count = COUNT_OF(argv)};
    gudgeon_process_handle *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(spawn(bench, &request, &handle), GUDGEON_OK);
    return handle;
}

/* Adds what comes from a pipe until `enough` has come, or its end. */
static void read_until(int fd, struct buf *out, const char *enough)
{
    char chunk[4096];
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (enough == NULL || strstr(out->data, enough) == NULL) {
        CU_ASSERT_EQUAL_FATAL(poll(&wait, 1, PATIENCE_MS), 1);
        ssize_t got = read(fd, chunk, sizeof chunk);
        CU_ASSERT_FATAL(got >= 0);
        if (got == 0)
            return;
        buf_add(out, chunk, (size_t)got);
    }
}

static gudgeon_process_exit wait_for(gudgeon_process_handle *handle)
{
    struct pollfd wait = {.fd = service_process.exit_fd(handle), .events = POLLIN};
    gudgeon_process_exit how = {.size = sizeof how};
    CU_ASSERT_EQUAL(poll(&wait, 1, PATIENCE_MS), 1);
    CU_ASSERT_EQUAL(service_process.wait(handle, &how), GUDGEON_OK);
    return how;
}

/* What a script prints, with the process ended. */
static void output_of(struct bench *bench, const char *script, struct buf *out)
{
    gudgeon_process_handle *handle = shell(bench, GUDGEON_PROCESS_MERGED, script);
    read_until(service_process.fd(handle, 1), out, NULL);
    CU_ASSERT_EQUAL(wait_for(handle).status, 0);
    service_process.close(handle);
}

/* ---- pipes and ends -------------------------------------------------------------------------- */

static void test_pipes(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(1000), errors = BUF_INIT(1000);
    bench_init(&bench, "{\"exec\":true}", NULL);
    gudgeon_process_handle *handle =
        shell(&bench, GUDGEON_PROCESS_STDIN, "read x; echo \"got $x\"; echo bad >&2; exit 3");
    int in = service_process.fd(handle, 0);
    for (uint32_t which = 0; which < 3; which++) {
        int fd = service_process.fd(handle, which);
        CU_ASSERT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        CU_ASSERT(fcntl(fd, F_GETFL) & O_NONBLOCK);
    }
    gudgeon_process_exit how = {.size = sizeof how};
    CU_ASSERT_EQUAL(service_process.wait(handle, &how), GUDGEON_RETRY);
    CU_ASSERT_EQUAL(write(in, "it", 2), 2);
    service_process.close_fd(handle, 0); /* the end of its input */
    CU_ASSERT_EQUAL(service_process.fd(handle, 0), -1);
    CU_ASSERT_EQUAL(service_process.fd(handle, 3), -1);
    service_process.close_fd(handle, 3);
    read_until(service_process.fd(handle, 1), &out, NULL);
    read_until(service_process.fd(handle, 2), &errors, NULL);
    CHECK_STR(out.data, "got it\n");
    CHECK_STR(errors.data, "bad\n");
    how = wait_for(handle);
    CU_ASSERT_EQUAL(how.status, 3);
    CU_ASSERT_EQUAL(how.signal, 0);
    service_process.close(handle);
    service_process.close(NULL);
    bench_end(&bench);
    bench_fini(&bench);
    buf_fini(&out);
    buf_fini(&errors);
}

static void test_no_input(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(1000);
    bench_init(&bench, "{\"exec\":true}", NULL);
    output_of(&bench, "cat; echo end", &out);
    CHECK_STR(out.data, "end\n");
    bench_end(&bench);
    bench_fini(&bench);
    buf_fini(&out);
}

/* A background child holds the pipe; the program's own end is seen all the same, and a child that
 * has left the group does not hold up the close. */
static void test_background(void)
{
    static const char *const scripts[] = {"sleep 600 & echo hi", "setsid sleep 4 & echo hi"};
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        struct bench bench;
        struct buf out = BUF_INIT(1000);
        bench_init(&bench, "{\"exec\":true}", NULL);
        gudgeon_process_handle *handle = shell(&bench, 0, scripts[i]);
        CU_ASSERT_EQUAL(wait_for(handle).status, 0);
        read_until(service_process.fd(handle, 1), &out, "hi\n");
        struct pollfd pipe = {.fd = service_process.fd(handle, 1), .events = POLLIN};
        CU_ASSERT_EQUAL(poll(&pipe, 1, 0), 0); /* still held open */
        service_process.close(handle);
        bench_end(&bench);
        bench_fini(&bench);
        buf_fini(&out);
    }
}

/* The end of a pipe that the background child writes to shows that it is dead. */
static void test_group_dies(void)
{
    struct bench bench;
    char *directory = NULL;
    CU_ASSERT_EQUAL_FATAL(tmpdir_new(&directory, NULL), 0);
    bench_init(&bench, "{\"exec\":true}", NULL);
    CLEANUP(free_ptr) char *fifo = xasprintf("%s/fifo", directory);
    CU_ASSERT_EQUAL(mkfifo(fifo, 0600), 0);
    CLEANUP(close_fd) int fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    CLEANUP(free_ptr) char *script = xasprintf("exec 9>%s; sleep 600 & echo started; wait", fifo);
    struct buf out = BUF_INIT(1000), rest = BUF_INIT(1000);
    gudgeon_process_handle *handle = shell(&bench, 0, script);
    read_until(service_process.fd(handle, 1), &out, "started");
    bench_end(&bench); /* not closed by the plugin: the call's end ends it, background child too */
    read_until(fd, &rest, NULL);
    bench_fini(&bench);
    tmpdir_remove(directory);
    buf_fini(&out);
    buf_fini(&rest);
}

static void test_kept(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(1000);
    bench_init(&bench, "{\"exec\":true}", NULL);
    gudgeon_process_handle *kept =
        shell(&bench, GUDGEON_PROCESS_KEEP | GUDGEON_PROCESS_STDIN, "exec cat");
    gudgeon_process_handle *closed = shell(&bench, GUDGEON_PROCESS_KEEP, "exec sleep 600");
    int watch = fcntl(service_process.exit_fd(kept), F_DUPFD_CLOEXEC, 0);
    bench_end(&bench);
    bench_begin(&bench);
    CU_ASSERT_EQUAL(write(service_process.fd(kept, 0), "still\n", 6), 6);
    read_until(service_process.fd(kept, 1), &out, "still\n");
    service_process.close(closed);
    bench_end(&bench);
    struct pollfd wait = {.fd = watch, .events = POLLIN};
    CU_ASSERT_EQUAL(poll(&wait, 1, 0), 0);
    bench_fini(&bench);
    CU_ASSERT_EQUAL(poll(&wait, 1, PATIENCE_MS), 1);
    close(watch);
    buf_fini(&out);
}

static void test_signal(void)
{
    struct bench bench;
    bench_init(&bench, "{\"exec\":true}", NULL);
    gudgeon_process_handle *handle = shell(&bench, 0, "sleep 600; true");
    service_process.signal(handle, 0);
    service_process.signal(handle, 1000);
    service_process.signal(handle, SIGTERM);
    gudgeon_process_exit how = wait_for(handle);
    CU_ASSERT_EQUAL(how.signal, SIGTERM);
    CU_ASSERT_EQUAL(how.status, -1);
    how.size = 4;
    CU_ASSERT_EQUAL(service_process.wait(handle, &how), GUDGEON_INVALID);
    service_process.signal(handle, SIGTERM); /* after its end: harmless */
    bench_end(&bench);
    bench_fini(&bench);
}

/* ---- what a child sees ------------------------------------------------------------------------
 */

static void test_environment(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(10000);
    setenv("SOME_API_KEY", "sk-leak", 1);
    setenv("WANTED", "granted value", 1);
    setenv("LC_TIME", "C.UTF-8", 1);
    setenv("TZ", "UTC", 1);
    setenv("GUDGEON_SECRET_TOKEN", "s3cr3t-token", 1);
    bench_init(&bench, "{\"exec\":true,\"env\":[\"WANTED\",\"NOT_SET\"]}",
               "{\"header\":\"{secret:token}\"}");
    const gudgeon_str argv[] = {gudgeon_text("env")};
    const gudgeon_str env[] = {gudgeon_text("A=1=2"), gudgeon_text("TZ=Asia/Tokyo"),
                               gudgeon_text("T=x{secret:token}y")};
    const gudgeon_process_request request = {.size = sizeof request,
                                             .argv = argv,
                                             .argv_count = 1,
                                             .env = env,
                                             .env_count = COUNT_OF(env)};
    gudgeon_process_handle *handle = NULL;
    CU_ASSERT_EQUAL_FATAL(spawn(&bench, &request, &handle), GUDGEON_OK);
    buf_add_char(&out, '\n');
    read_until(service_process.fd(handle, 1), &out, NULL);
    static const char *const there[] = {"\nWANTED=granted value\n", "\nLC_TIME=C.UTF-8\n",
                                        "\nTZ=Asia/Tokyo\n",        "\nA=1=2\n",
                                        "\nT=xs3cr3t-tokeny\n",     "\nPATH=/"};
    static const char *const absent[] = {"sk-leak", "SECRET", "NOT_SET", "TZ=UTC", "PWD="};
    for (size_t i = 0; i < COUNT_OF(there); i++)
        CU_ASSERT_PTR_NOT_NULL(strstr(out.data, there[i]));
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        CU_ASSERT_PTR_NULL(strstr(out.data, absent[i]));
    CLEANUP(free_ptr) char *temporary = xasprintf("\nTMPDIR=%s\n", bench.scope.temporary);
    CU_ASSERT_PTR_NOT_NULL(strstr(out.data, temporary));
    bench_end(&bench);
    bench_fini(&bench);
    buf_fini(&out);
}

static void test_directory(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(1000);
    struct stat info;
    bench_init(&bench, "{\"exec\":true}", NULL);
    CU_ASSERT_PTR_NULL(bench.scope.temporary);
    output_of(&bench, "pwd; touch left-behind", &out);
    CLEANUP(free_ptr) char *expected = xasprintf("%s\n", bench.scope.temporary);
    CHECK_STR(out.data, expected);
    CU_ASSERT_EQUAL(stat(bench.scope.temporary, &info), 0);
    CU_ASSERT_EQUAL(info.st_mode & 07777, 0700);
    CLEANUP(free_ptr) char *name = xstrdup(bench.scope.temporary);
    bench_end(&bench);
    bench_fini(&bench);
    CU_ASSERT_EQUAL(access(name, F_OK), -1);
    buf_fini(&out);
}

/* No descriptor of the host reaches a child, also not one that lacks close-on-exec. */
static void test_descriptors(void)
{
    struct bench bench;
    struct buf out = BUF_INIT(1000);
    int leaky = dup(STDIN_FILENO);
    bench_init(&bench, "{\"exec\":true}", NULL);
    gudgeon_process_handle *other = shell(&bench, GUDGEON_PROCESS_STDIN, "exec cat");
    output_of(&bench, "for fd in /proc/self/fd/*; do echo ${fd##*/}; done | sort -n | tail -1",
              &out);
    CU_ASSERT(atoll(out.data) <= 3); /* 3 is the shell's own, for the directory */
    service_process.close(other);
    close(leaky);
    bench_end(&bench);
    bench_fini(&bench);
    buf_fini(&out);
}

/* ---- what is refused --------------------------------------------------------------------------
 */

static void test_grants(void)
{
    char *directory = NULL;
    CU_ASSERT_EQUAL_FATAL(tmpdir_new(&directory, NULL), 0);
    CLEANUP(free_ptr) char *fake = xasprintf("%s/true", directory);
    CU_ASSERT_EQUAL(symlink("/bin/sh", fake), 0);
    const struct {
        const char *grant, *program;
        int32_t op_class;
        const char *to_add;
    } rows[] = {
        {NULL, "true", GUDGEON_REFUSED, "{\"exec\":[\"true\"]}"},
        {"{}", "true", GUDGEON_REFUSED, "{\"exec\":[\"true\"]}"},
        {"{\"exec\":false}", "true", GUDGEON_REFUSED, "{\"exec\":[\"true\"]}"},
        {"{\"exec\":[]}", "true", GUDGEON_REFUSED, "{\"exec\":[\"true\"]}"},
        {"{\"exec\":[\"false\",\"nosuch\"]}", "true", GUDGEON_REFUSED, "{\"exec\":[\"true\"]}"},
        {"{\"exec\":true}", "true", GUDGEON_OK, ""},
        {"{\"exec\":[\"false\",\"true\"]}", "true", GUDGEON_OK, ""},
        {"{\"exec\":[\"/bin/sh\"]}", "/bin/sh", GUDGEON_OK, ""},
        {"{\"exec\":[\"true\"]}", fake, GUDGEON_REFUSED, NULL},
        {"{\"exec\":true}", fake, GUDGEON_OK, ""},
        {"{\"exec\":true}", "no-such-program", GUDGEON_INVALID, ""},
        {"{\"exec\":true}", "/etc/passwd", GUDGEON_INVALID, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        bench_init(&bench, rows[i].grant, NULL);
        const gudgeon_str argv[] = {gudgeon_text(rows[i].program)};
        const gudgeon_process_request request = {
            .size = sizeof request, .argv = argv, .argv_count = 1};
        gudgeon_process_handle *handle = NULL;
        CU_ASSERT_EQUAL(spawn(&bench, &request, &handle), rows[i].op_class);
        CU_ASSERT_EQUAL(handle != NULL, rows[i].op_class == GUDGEON_OK);
        if (rows[i].to_add != NULL)
            CHECK_STR(call_error(bench.call)->grant, rows[i].to_add);
        CU_ASSERT_EQUAL(call_error(bench.call)->message[0] == '\0', rows[i].op_class == GUDGEON_OK);
        bench_end(&bench);
        bench_fini(&bench);
    }
    tmpdir_remove(directory);
}

static void test_invalid(void)
{
    static const gudgeon_str argv[] = {{"true", 4}}, nul[] = {{"tr\0ue", 5}},
                             absent[] = {{NULL, 0}};
    static const gudgeon_str no_name[] = {{"=x", 2}}, no_value[] = {{"x", 1}},
                             unnamed_secret[] = {{"A={secret:other}", 16}};
    enum { SIZE = sizeof(gudgeon_process_request) };
    static const struct {
        gudgeon_process_request request;
        int32_t op_class;
    } rows[] = {
        {{.size = SIZE - 8, .argv = argv, .argv_count = 1}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = NULL, .argv_count = 1}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 0}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = nul, .argv_count = 1}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = absent, .argv_count = 1}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .directory = {"/no/such", 8}},
         GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .directory = {"usr", 3}}, GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .env = no_name, .env_count = 1},
         GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .env = no_value, .env_count = 1},
         GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .env = absent, .env_count = 1},
         GUDGEON_INVALID},
        {{.size = SIZE, .argv = argv, .argv_count = 1, .env = unnamed_secret, .env_count = 1},
         GUDGEON_REFUSED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct bench bench;
        bench_init(&bench, "{\"exec\":true}", NULL);
        gudgeon_process_handle *handle = NULL;
        CU_ASSERT_EQUAL(spawn(&bench, &rows[i].request, &handle), rows[i].op_class);
        CU_ASSERT_PTR_NULL(handle);
        bench_end(&bench);
        bench_fini(&bench);
    }
}

int main(void)
{
    UNIT_MAIN("service_process", {"pipes, input's end, exit status", test_pipes},
              {"no input unless asked for", test_no_input},
              {"the end is seen while a background child holds the pipe", test_background},
              {"the group ends with the call", test_group_dies},
              {"kept processes end with the instance", test_kept}, {"signals", test_signal},
              {"the environment is scrubbed", test_environment},
              {"the private directory", test_directory}, {"no descriptor leaks", test_descriptors},
              {"grants", test_grants}, {"bad requests", test_invalid});
}
