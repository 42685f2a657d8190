/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mock_host.h"
#include "unit.h"

static const char granted[] = "{\"exec\":true}";

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void open_shell(struct mock *mock, const char *config)
{
    struct answer answer;
    CU_ASSERT_EQUAL_FATAL(mock_open(mock, "shell", config, granted, &answer), GUDGEON_OK);
    answer_fini(&answer);
}

/* ---- commands and what the model is shown ---------------------------------------------------- */

struct row {
    const char *name, *arguments;
    int32_t class;
    bool is_error;
    const char *want;
    int64_t at_most_ms; /* 0 = 10 s */
    struct mock_call how;
};

static void check_row(struct mock *mock, const struct row *row)
{
    struct answer answer;
    struct mock_call how = row->how;
    int64_t start = now_ms(), at_most_ms = row->at_most_ms > 0 ? row->at_most_ms : 10000;
    int32_t class = mock_call(mock, "shell", row->arguments, &how, &answer);
    int64_t took = now_ms() - start;
    bool is_error = answer.flags == GUDGEON_IS_ERROR;
    bool is_good = class == row->class && is_error == row->is_error && took <= at_most_ms &&
                   strcmp(answer_shown(&answer), row->want) == 0;
    if (!is_good)
        printf("#   %s: class %d%s, %lld ms\n#   have: %.500s\n#   want: %.500s\n", row->name,
               class, is_error ? ", an error" : "", (long long)took, answer_shown(&answer),
               row->want);
    CU_ASSERT(is_good);
    answer_fini(&answer);
}

static void check_rows(const struct row *rows, size_t count)
{
    struct mock mock;
    open_shell(&mock, "{\"directory\":\"/usr\",\"env\":{\"GREETING\":\"hi there\",\"N\":\"\"}}");
    for (size_t i = 0; i < count; i++)
        check_row(&mock, &rows[i]);
    mock_close(&mock);
}

static void test_commands(void)
{
    static const struct row rows[] = {
        {.name = "a line",
         .arguments = "{\"command\":\"echo hi; echo there\"}",
         .want = "hi\nthere\n"},
        {.name = "no output", .arguments = "{\"command\":\"true\"}", .want = "(no output)"},
        {.name = "an open line", .arguments = "{\"command\":\"printf x\"}", .want = "x"},
        {.name = "fails silently",
         .arguments = "{\"command\":\"exit 3\"}",
         .is_error = true,
         .want = "exit status 3\n"},
        {.name = "fails in an open line",
         .arguments = "{\"command\":\"printf x; exit 1\"}",
         .is_error = true,
         .want = "x\nexit status 1\n"},
        {.name = "fails loudly",
         .arguments = "{\"command\":\"echo no >&2; exit 255\"}",
         .is_error = true,
         .want = "no\nexit status 255\n"},
        {.name = "a signal",
         .arguments = "{\"command\":\"kill -SEGV $$\"}",
         .is_error = true,
         .want = "killed by signal 11 (SIGSEGV)\n"},
        {.name = "a pipeline",
         .arguments = "{\"command\":\"printf 'b\\\\na\\\\n' | sort\"}",
         .want = "a\nb\n"},
        {.name = "an array, no shell",
         .arguments = "{\"command\":[\"printf\",\"%s|%s|%s\",\"a b\",\"\",\"$HOME;\"]}",
         .want = "a b||$HOME;"},
        {.name = "unicode",
         .arguments = "{\"command\":[\"printf\",\"\\u00e9\\ud83d\\ude00\"]}",
         .want = "é😀"},
        {.name = "input is empty",
         .arguments = "{\"command\":\"cat; echo done\"}",
         .want = "done\n"},
        {.name = "closes its output",
         .arguments = "{\"command\":\"exec >&- 2>&-; sleep 0.2; exit 5\"}",
         .is_error = true,
         .want = "exit status 5\n"},
        {.name = "the configured directory",
         .arguments = "{\"command\":\"pwd\"}",
         .want = "/usr\n"},
        {.name = "a directory below it",
         .arguments = "{\"command\":\"pwd\",\"directory\":\"bin\"}",
         .want = "/usr/bin\n"},
        {.name = "a directory of its own",
         .arguments = "{\"command\":\"pwd\",\"directory\":\"/\"}",
         .want = "/\n"},
        {.name = "variables",
         .arguments = "{\"command\":\"echo \\\"$GREETING|$N|$HOME\\\"\"}",
         .want = "hi there||\n"},
        {.name = "a time that suffices",
         .arguments = "{\"command\":\"echo a\",\"time_s\":30}",
         .want = "a\n"},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void test_bad_arguments(void)
{
#define BAD_COMMAND                                                                                \
    "command: give a command line, or an array of a program and its arguments; without NUL "       \
    "characters, at most 1024 items and 96 KiB: write what is longer to a file first"
    static const struct row rows[] = {
        {.name = "none", .arguments = "{}", .is_error = true, .want = BAD_COMMAND},
        {.name = "a number", .arguments = "{\"command\":5}", .is_error = true, .want = BAD_COMMAND},
        {.name = "an empty array",
         .arguments = "{\"command\":[]}",
         .is_error = true,
         .want = BAD_COMMAND},
        {.name = "an empty program",
         .arguments = "{\"command\":[\"\"]}",
         .is_error = true,
         .want = BAD_COMMAND},
        {.name = "a number in the array",
         .arguments = "{\"command\":[\"echo\",5]}",
         .is_error = true,
         .want = BAD_COMMAND},
        {.name = "a NUL",
         .arguments = "{\"command\":\"echo a\\u0000b\"}",
         .is_error = true,
         .want = BAD_COMMAND},
        {.name = "a NUL in the array",
         .arguments = "{\"command\":[\"echo\",\"a\\u0000b\"]}",
         .is_error = true,
         .want = BAD_COMMAND},
        {.name = "no time",
         .arguments = "{\"command\":\"true\",\"time_s\":0}",
         .is_error = true,
         .want = "time_s: give a number of seconds above 0"},
        {.name = "negative time",
         .arguments = "{\"command\":\"true\",\"time_s\":-1}",
         .is_error = true,
         .want = "time_s: give a number of seconds above 0"},
        {.name = "a NUL in the directory",
         .arguments = "{\"command\":\"true\",\"directory\":\"/\\u0000\"}",
         .is_error = true,
         .want = "directory: give a path without NUL characters, not longer than 4095 bytes"},
        {.name = "no such program",
         .arguments = "{\"command\":[\"no-such-program-here\"]}",
         .class = GUDGEON_INVALID,
         .want = "(no output)"},
        {.name = "no such directory",
         .arguments = "{\"command\":\"true\",\"directory\":\"/no/such\"}",
         .class = GUDGEON_INVALID,
         .want = "(no output)"},
    };
    check_rows(rows, COUNT_OF(rows));
    struct mock mock;
    open_shell(&mock, "{}");
    struct row relative = {.name = "relative to nothing",
                           .arguments = "{\"command\":\"true\",\"directory\":\"bin\"}",
                           .is_error = true,
                           .want = "directory: give an absolute path"};
    check_row(&mock, &relative);
    char *arguments = xcalloc(1, 200000);
    memcpy(arguments, "{\"command\":\"", 12);
    memset(arguments + 12, 'x', 150000);
    strcat(arguments, "\"}");
    struct row too_long = {
        .name = "too long", .arguments = arguments, .is_error = true, .want = BAD_COMMAND};
    check_row(&mock, &too_long);
    strcpy(arguments, "{\"command\":[\"true\"");
    for (int i = 0; i < 1024; i++)
        strcat(arguments, ",\"x\"");
    strcat(arguments, "]}");
    too_long.name = "too many";
    check_row(&mock, &too_long);
    free(arguments);
    mock_close(&mock);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void test_background(void)
{
    static const struct row rows[] = {
        {.name = "a background child",
         .arguments = "{\"command\":\"sleep 30 & echo hi\"}",
         .want = "hi\n",
         .at_most_ms = 1500},
        {.name = "one of another session",
         .arguments = "{\"command\":\"setsid sleep 6 & echo hi\"}",
         .want = "hi\n",
         .at_most_ms = 1500},
        {.name = "a failing command",
         .arguments = "{\"command\":\"sleep 30 & exit 2\"}",
         .is_error = true,
         .want = "exit status 2\n",
         .at_most_ms = 1500},
        {.name = "what a child writes soon after is kept",
         .arguments = "{\"command\":\"(sleep 0.05; echo late) & echo hi\"}",
         .want = "hi\nlate\n",
         .at_most_ms = 1500},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void test_chatty_background(void)
{
    struct mock mock;
    struct answer answer;
    open_shell(&mock, "{}");
    int64_t start = now_ms();
    CU_ASSERT_EQUAL(mock_call(&mock, "shell",
                              "{\"command\":\"(while :; do echo x; sleep 0.02; done) & echo hi\"}",
                              NULL, &answer),
                    GUDGEON_OK);
    CU_ASSERT(now_ms() - start < 5000);
    CU_ASSERT_EQUAL(answer.flags, 0);
    answer_fini(&answer);
    mock_close(&mock);
}

/* Waits for the end of a process that is no child of ours. */
static bool has_ended(pid_t pid)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (end.fd < 0)
        return errno == ESRCH;
    bool is_over = poll(&end, 1, 5000) == 1;
    close(end.fd);
    return is_over;
}

static void test_group_is_ended(void)
{
    static const struct {
        const char *arguments;
        struct mock_call how;
    } rows[] = {
        {.arguments = "{\"command\":\"sleep 300 & echo $!\"}"},
        {.arguments = "{\"command\":\"sleep 300 & echo $!; wait\"}", .how = {.cancel_at = "\n"}},
        {.arguments = "{\"command\":\"trap '' TERM; sleep 300 & echo $!; wait\"}",
         .how = {.cancel_at = "\n"}},
        {.arguments = "{\"command\":\"sleep 300 & echo $!; wait\",\"time_s\":0.2}"},
    };
    struct mock mock;
    open_shell(&mock, "{}");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer answer;
        struct mock_call how = rows[i].how;
        mock_call(&mock, "shell", rows[i].arguments, &how, &answer);
        pid_t pid = (pid_t)strtol(answer.output.data, NULL, 10);
        CU_ASSERT(pid > 1 && has_ended(pid));
        answer_fini(&answer);
    }
    mock_close(&mock);
}

static void test_stopped(void)
{
    static const struct row rows[] = {
        {.name = "the call's deadline",
         .arguments = "{\"command\":\"echo ready; sleep 30\"}",
         .class = GUDGEON_TIMEOUT,
         .want = "ready\n",
         .at_most_ms = 5000,
         .how = {.timeout_ms = 700}},
        {.name = "ignores TERM",
         .arguments = "{\"command\":\"trap '' TERM; echo ready; sleep 30; sleep 30\"}",
         .class = GUDGEON_TIMEOUT,
         .want = "ready\n",
         .at_most_ms = 5000,
         .how = {.timeout_ms = 700}},
        {.name = "says good-bye at TERM",
         .arguments = "{\"command\":\"trap 'echo bye; exit 0' TERM; echo ready; sleep 30 & wait\"}",
         .class = GUDGEON_TIMEOUT,
         .want = "ready\nbye\n",
         .at_most_ms = 5000,
         .how = {.timeout_ms = 700}},
        {.name = "cancelled",
         .arguments = "{\"command\":\"echo ready; sleep 30\"}",
         .class = GUDGEON_CANCELLED,
         .want = "ready\n",
         .at_most_ms = 5000,
         .how = {.cancel_at = "ready"}},
        {.name = "cancelled, ignores TERM",
         .arguments = "{\"command\":\"trap '' TERM; echo ready; sleep 30; sleep 30\"}",
         .class = GUDGEON_CANCELLED,
         .want = "ready\n",
         .at_most_ms = 5000,
         .how = {.cancel_at = "ready"}},
        {.name = "cancelled before it began",
         .arguments = "{\"command\":\"sleep 30\"}",
         .class = GUDGEON_CANCELLED,
         .want = "(no output)",
         .at_most_ms = 5000,
         .how = {.cancel_at = ""}},
        {.name = "a stopped process",
         .arguments = "{\"command\":\"echo ready; kill -STOP $$\"}",
         .class = GUDGEON_CANCELLED,
         .want = "ready\n",
         .at_most_ms = 5000,
         .how = {.cancel_at = "ready"}},
        {.name = "its own time",
         .arguments = "{\"command\":\"echo a; sleep 30\",\"time_s\":0.25}",
         .is_error = true,
         .want = "a\nstopped after 0.25 s, the time_s that was given\n",
         .at_most_ms = 5000},
        {.name = "its own time, beyond the call's",
         .arguments = "{\"command\":\"echo a; sleep 30\",\"time_s\":1e300}",
         .class = GUDGEON_TIMEOUT,
         .want = "a\n",
         .at_most_ms = 5000,
         .how = {.timeout_ms = 700}},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* ---- output ---------------------------------------------------------------------------------- */

static void test_channels(void)
{
    struct mock mock;
    struct answer answer;
    open_shell(&mock, "{}");
    mock_call(&mock, "shell", "{\"command\":\"echo out; echo err >&2; exit 1\"}", NULL, &answer);
    CHECK_STR(answer.output.data, "out\n");
    CHECK_STR(answer.errors.data, "err\nexit status 1\n");
    answer_fini(&answer);
    mock_close(&mock);
}

/* The program goes on only once the first part of its output has arrived here. */
static void feed(void *payload)
{
    int *fifo = payload;
    if (*fifo >= 0)
        CU_ASSERT_EQUAL(write(*fifo, "two\n", 4), 4);
    close_fd(fifo);
}

static void test_streams(void)
{
    char directory[] = "/tmp/gudgeon-shell-XXXXXX";
    struct mock mock;
    struct answer answer;
    if (mkdtemp(directory) == NULL)
        abort();
    CLEANUP(free_ptr) char *path = xasprintf("%s/fifo", directory);
    CLEANUP(free_ptr)
    char *arguments = xasprintf("{\"command\":\"echo one; read x <%s; echo $x\"}", path);
    mkfifo(path, 0600);
    int fifos[] = {open(path, O_RDWR | O_CLOEXEC), open(path, O_RDWR | O_CLOEXEC)};
    open_shell(&mock, "{}");
    struct mock_call how = {.timeout_ms = 20000, .on_output = feed, .payload = &fifos[0]};
    CU_ASSERT_EQUAL(mock_call(&mock, "shell", arguments, &how, &answer), GUDGEON_OK);
    CHECK_STR(answer.output.data, "one\ntwo\n");
    answer_fini(&answer);
    mock_close(&mock);
    close_fd(&fifos[1]);
    unlink(path);
    rmdir(directory);
}

static void test_endless_output(void)
{
    struct mock mock;
    struct answer answer;
    struct mock_call how = {.output_max = 1 << 20};
    open_shell(&mock, "{}");
    int64_t start = now_ms();
    CU_ASSERT_EQUAL(mock_call(&mock, "shell", "{\"command\":\"yes\"}", &how, &answer),
                    GUDGEON_LIMIT);
    CU_ASSERT(now_ms() - start < 5000);
    CU_ASSERT(answer.output.len > 1 << 20 && answer.output.len < (1 << 20) + (64 << 10));
    answer_fini(&answer);
    mock_close(&mock);
}

static void test_much_output(void)
{
    struct mock mock;
    struct answer answer;
    struct mock_call how = {.output_max = SIZE_MAX, .discard = true};
    open_shell(&mock, "{}");
    CU_ASSERT_EQUAL(
        mock_call(&mock, "shell", "{\"command\":\"head -c 1G /dev/zero\"}", &how, &answer),
        GUDGEON_OK);
    CU_ASSERT_EQUAL(how.output_bytes, (size_t)1 << 30);
    answer_fini(&answer);
    CU_ASSERT_EQUAL(mock_call(&mock, "shell",
                              "{\"command\":\"head -c 3M /dev/zero; head -c 3M /dev/zero >&2; "
                              "head -c 3M /dev/zero\"}",
                              NULL, &answer),
                    GUDGEON_OK);
    CU_ASSERT_EQUAL(answer.output.len, 6 << 20);
    CU_ASSERT_EQUAL(answer.errors.len, 3 << 20);
    answer_fini(&answer);
    mock_close(&mock);
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void test_create(void)
{
    static const struct {
        const char *config;
        int32_t class;
    } rows[] = {
        {"{}", GUDGEON_OK},
        {"{\"shell\":\"/bin/bash\"}", GUDGEON_OK},
        {"{\"shell\":\"a\\u0000b\"}", GUDGEON_INVALID},
        {"{\"directory\":\"/\\u0000\"}", GUDGEON_INVALID},
        {"{\"env\":{\"A\":\"b\\u0000c\"}}", GUDGEON_INVALID},
        {"{\"env\":{\"A\":5}}", GUDGEON_INVALID},
        {"{\"env\":{}}", GUDGEON_OK},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mock mock;
        struct answer answer;
        CU_ASSERT_EQUAL(mock_open(&mock, "shell", rows[i].config, granted, &answer), rows[i].class);
        answer_fini(&answer);
        mock_close(&mock);
    }
}

static void test_tool(void)
{
    struct mock mock;
    open_shell(&mock, "{\"shell\":\"/bin/bash\"}");
    const struct mock_tool *tool = mock_tool(&mock, "shell");
    CU_ASSERT_PTR_NOT_NULL_FATAL(tool);
    CU_ASSERT_EQUAL(tool->flags, GUDGEON_TOOL_DESTRUCTIVE);
    CU_ASSERT(strstr(tool->description, "/bin/bash") != NULL);
    CHECK_STR(mock.component->needs, "{\"exec\":true}");
    struct row row = {.name = "the configured shell",
                      .arguments = "{\"command\":\"echo $0 ${BASH_VERSION:+bash}\"}",
                      .want = "/bin/bash bash\n"};
    check_row(&mock, &row);
    mock_close(&mock);
}

static void test_refused(void)
{
    struct mock mock;
    struct answer answer;
    open_shell(&mock, "{}");
    mock.may_exec = false;
    CU_ASSERT_EQUAL(mock_call(&mock, "shell", "{\"command\":\"echo hi\"}", NULL, &answer),
                    GUDGEON_REFUSED);
    CHECK_STR(answer.grant.data, "{\"exec\":true}");
    answer_fini(&answer);
    mock_close(&mock);
}

static void *call_some(void *payload)
{
    struct row row = {.name = "side by side",
                      .arguments = "{\"command\":\"echo a; sleep 0.05; echo b\"}",
                      .want = "a\nb\n"};
    for (int i = 0; i < 5; i++)
        check_row(payload, &row);
    return NULL;
}

static void test_overlap(void)
{
    struct mock mock;
    pthread_t threads[4];
    open_shell(&mock, "{}");
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, call_some, &mock);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    mock_close(&mock);
}

int main(void)
{
    UNIT_MAIN("shell", {"configuration", test_create}, {"the tool", test_tool},
              {"without the grant", test_refused}, {"commands", test_commands},
              {"bad arguments", test_bad_arguments}, {"two channels", test_channels},
              {"output comes as it is written", test_streams},
              {"children in the background do not hold the call", test_background},
              {"nor when they go on writing", test_chatty_background},
              {"the whole group is ended", test_group_is_ended},
              {"stopped in time, output kept", test_stopped},
              {"endless output is cut", test_endless_output}, {"much output", test_much_output},
              {"calls overlap", test_overlap});
}
