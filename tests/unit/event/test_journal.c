/* SPDX-License-Identifier: MIT */
#include "event/journal.h"

#include <json-c/json_object.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "disk.h"
#include "scratch.h"
#include "unit.h"

#define RUN "0192f0c1-2345-7000-8000-0123456789ab"

static struct journal *make(const char *runs, enum journal_sync sync)
{
    struct err err = {0};
    struct journal *journal = NULL;
    if (journal_create(runs, RUN, sync, &journal, &err) < 0)
        printf("# %s\n", err.text);
    SCRATCH_NEED(journal != NULL);
    return journal;
}

static struct journal *reopen(const char *runs)
{
    struct err err = {0};
    struct journal *journal = NULL;
    if (journal_open(runs, RUN, JOURNAL_SYNC_STEP, &journal, &err) < 0)
        printf("# %s\n", err.text);
    return journal;
}

static int add(struct journal *journal, enum event_type type, int64_t step, const char *text)
{
    struct json_writer *writer = journal_begin(journal, type, step);
    json_field_text(writer, "text", text);
    return journal_commit(journal, NULL, NULL);
}

static struct buf contents(const char *runs)
{
    return scratch_read("%s/" RUN "/journal.jsonl", runs);
}

static void replace(const char *runs, const char *bytes, size_t len)
{
    scratch_write(bytes, len, "%s/" RUN "/journal.jsonl", runs);
}

static int count_lines(const struct buf *text)
{
    int lines = 0;
    for (size_t i = 0; i < text->len; i++)
        lines += text->data[i] == '\n';
    return lines;
}

/* Parses line number `index` (from 0; negative = from the end) of a journal's text. */
static bool line_event(const struct buf *text, int index, struct event *ret)
{
    if (index < 0)
        index += count_lines(text);
    const char *line = text->data, *end = text->data + text->len;
    for (; index > 0 && line != NULL; index--) {
        line = memchr(line, '\n', (size_t)(end - line));
        line += line != NULL;
    }
    const char *newline = line != NULL ? memchr(line, '\n', (size_t)(end - line)) : NULL;
    struct err err = {0};
    if (newline != NULL &&
        event_parse((gudgeon_str){line, (size_t)(newline - line)}, ret, &err) == 0)
        return true;
    printf("# no such record: %s\n", err.text);
    return false;
}

/* ---- records -------------------------------------------------------------------------------- */

static void test_record(void)
{
    SCRATCH(runs);
    clock_set_fake(true);
    clock_fake_advance(INT64_C(1793106000) * NS_PER_S); /* 2026-10-27 13:00 UTC */
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    CHECK_STR(journal_run_id(journal), RUN);
    clock_fake_advance(1234 * NS_PER_MS);
    struct record record = {0};
    struct json_writer *writer = journal_begin(journal, EVENT_STEP_STARTED, 7);
    json_field_text(writer, "kind", "action");
    CU_ASSERT_EQUAL(journal_commit(journal, &record, NULL), 0);
    static const char expected[] =
        "{\"v\":1,\"run\":\"" RUN "\",\"seq\":1,\"time\":\"2026-10-27T13:00:01.234Z\","
        "\"at_ms\":1234,\"type\":\"step.started\",\"step\":7,\"kind\":\"action\"}";
    CU_ASSERT(str_is(record.line, expected));
    CU_ASSERT_EQUAL(record.seq, 1);
    CU_ASSERT_EQUAL(record.step, 7);
    CU_ASSERT_EQUAL(record.type, EVENT_STEP_STARTED);
    struct buf text = contents(runs);
    CU_ASSERT_EQUAL(text.len, sizeof expected);
    CU_ASSERT_EQUAL(memcmp(text.data, expected, sizeof expected - 1), 0);
    CU_ASSERT_EQUAL(text.data[text.len - 1], '\n');
    buf_fini(&text);
    journal_close(journal);
    clock_set_fake(false);
}

static void test_abandon(void)
{
    SCRATCH(runs);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    add(journal, EVENT_CONTROL, 0, "a");
    journal_begin(journal, EVENT_CONTROL, 0);
    journal_abandon(journal);
    add(journal, EVENT_CONTROL, 0, "b");
    CU_ASSERT_EQUAL(journal_last_seq(journal), 2);
    journal_close(journal);
    struct buf text = contents(runs);
    CU_ASSERT_EQUAL(count_lines(&text), 2);
    struct event event;
    CU_ASSERT_FATAL(line_event(&text, 1, &event));
    CU_ASSERT_EQUAL(event.record.seq, 2);
    CU_ASSERT_PTR_NULL(json_get(event.fields, "step"));
    event_release(&event);
    buf_fini(&text);
}

static void test_raw_newline(void)
{
    SCRATCH(runs);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    struct json_writer *writer = journal_begin(journal, EVENT_CALL_FINISHED, 1);
    json_field_raw(writer, "data", str_of("{\n  \"a\": \"x\\ny\"\n}\n"));
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, NULL), 0);
    journal_close(journal);
    struct buf text = contents(runs);
    CU_ASSERT_EQUAL(count_lines(&text), 1);
    struct event event;
    CU_ASSERT_FATAL(line_event(&text, 0, &event));
    CU_ASSERT(str_is(json_get_str(json_get(event.fields, "data"), "a"), "x\ny"));
    event_release(&event);
    buf_fini(&text);
}

/* UTC with Z whatever TZ says, also over the end of summer time. */
static void test_utc(void)
{
    SCRATCH(runs);
    setenv("TZ", "Europe/Amsterdam", 1);
    tzset();
    clock_set_fake(true);
    clock_fake_advance(INT64_C(1792889999) * NS_PER_S + 999 * NS_PER_MS);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    static const char *const times[] = {"2026-10-25T00:59:59.999Z", "2026-10-25T01:00:00.000Z",
                                        "2026-10-25T01:00:00.123Z", "2026-10-25T01:00:00.223Z"};
    static const int advance_ms[] = {1, 123, 100, 0};
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        add(journal, EVENT_CONTROL, 0, "");
        clock_fake_advance(advance_ms[i] * NS_PER_MS);
    }
    journal_close(journal);
    struct buf text = contents(runs);
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct event event;
        CU_ASSERT_FATAL(line_event(&text, (int)i, &event));
        CHECK_STR(event.time, times[i]);
        event_release(&event);
    }
    buf_fini(&text);
    clock_set_fake(false);
    unsetenv("TZ");
    tzset();
}

/* ---- files ---------------------------------------------------------------------------------- */

static void test_modes(void)
{
    SCRATCH(parent);
    CLEANUP(free_ptr) char *runs = xasprintf("%s/a/runs", parent);
    mode_t old = umask(0);
    struct journal *journal = make(runs, JOURNAL_SYNC_STEP);
    char name[BLOB_NAME_SIZE];
    CU_ASSERT_EQUAL_FATAL(journal_add_blob(journal, str_of("x"), name, NULL), 0);
    CLEANUP(free_ptr) char *blob = xasprintf("/blobs/%s", name);
    const struct {
        const char *path;
        mode_t mode;
    } rows[] = {{"", S_IFDIR | 0700},
                {"/journal.jsonl", S_IFREG | 0600},
                {"/lock", S_IFREG | 0600},
                {"/blobs", S_IFDIR | 0700},
                {blob, S_IFREG | 0600}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s%s", journal_directory(journal), rows[i].path);
        struct stat st = {0};
        CU_ASSERT_EQUAL(stat(path, &st), 0);
        CU_ASSERT_EQUAL(st.st_mode, rows[i].mode);
    }
    journal_close(journal);
    umask(old);
}

#define ID_64 "0123456789012345678901234567890123456789012345678901234567890123"

static void test_create_refuses(void)
{
    SCRATCH(runs);
    journal_close(make(runs, JOURNAL_SYNC_NEVER));
    static const struct {
        const char *id;
        const char *error;
    } rows[] = {
        {RUN, "run " RUN " exists already"}, {"", "\"\" is no run id"},
        {"..", "\"..\" is no run id"},       {"a/b", "\"a/b\" is no run id"},
        {".new", "\".new\" is no run id"},   {ID_64, "\"" ID_64 "\" is no run id"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct journal *journal = NULL;
        struct err err = {0};
        CU_ASSERT_EQUAL(journal_create(runs, rows[i].id, JOURNAL_SYNC_NEVER, &journal, &err),
                        ERR_INVALID);
        CHECK_STR(err.text, rows[i].error);
        CU_ASSERT_PTR_NULL(journal);
    }
    CU_ASSERT_EQUAL(scratch_count("%s", runs), 1);
}

/* With room for one more descriptor: the lock's, not the journal's. */
static void test_create_leaves_nothing(void)
{
    SCRATCH(runs);
    struct rlimit limit;
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    SCRATCH_NEED(next >= 0 && close(next) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const struct rlimit small = {(rlim_t)next + 1, limit.rlim_max};
    SCRATCH_NEED(setrlimit(RLIMIT_NOFILE, &small) == 0);
    struct journal *journal = NULL;
    struct err err = {0};
    int status = journal_create(runs, RUN, JOURNAL_SYNC_STEP, &journal, &err);
    SCRATCH_NEED(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CU_ASSERT_EQUAL(status, ERR_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/journal.jsonl: Too many open files"));
    CU_ASSERT_EQUAL(scratch_count("%s", runs), 0);
    CU_ASSERT_EQUAL(journal_create(runs, RUN, JOURNAL_SYNC_STEP, &journal, NULL), 0);
    journal_close(journal);
}

static void test_open_nothing(void)
{
    SCRATCH(runs);
    struct journal *journal = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(journal_open(runs, RUN, JOURNAL_SYNC_STEP, &journal, &err), ERR_NOT_FOUND);
    CLEANUP(free_ptr) char *expected = xasprintf("run " RUN ": no such run in %s", runs);
    CHECK_STR(err.text, expected);
    CU_ASSERT_EQUAL(scratch_count("%s", runs), 0);
}

/* Opens in a process of its own: 0, or the code's negation. */
static int open_elsewhere(const char *runs)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct journal *journal;
        _exit(-journal_open(runs, RUN, JOURNAL_SYNC_STEP, &journal, NULL));
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

/* The second writer is refused, here and in another process, until the first is gone. */
static void test_lock(void)
{
    SCRATCH(runs);
    struct journal *first = make(runs, JOURNAL_SYNC_NEVER), *second = NULL;
    add(first, EVENT_CONTROL, 0, "a");
    struct err err = {0};
    CU_ASSERT_EQUAL(journal_open(runs, RUN, JOURNAL_SYNC_STEP, &second, &err), ERR_BUSY);
    CHECK_STR(err.text, "run " RUN ": another process is running it; wait for that, or stop it");
    CU_ASSERT_EQUAL(open_elsewhere(runs), -ERR_BUSY);
    add(first, EVENT_CONTROL, 0, "b");
    journal_close(first);
    CU_ASSERT_EQUAL(open_elsewhere(runs), 0);
    second = reopen(runs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(second);
    CU_ASSERT_EQUAL(journal_last_seq(second), 2);
    journal_close(second);
}

static void test_continuity(void)
{
    SCRATCH(runs);
    clock_set_fake(true);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    clock_fake_advance(500 * NS_PER_MS);
    add(journal, EVENT_CONTROL, 0, "a");
    clock_fake_advance(250 * NS_PER_MS);
    add(journal, EVENT_CONTROL, 0, "b");
    journal_close(journal);
    clock_fake_advance(3600 * NS_PER_S); /* the process is away */
    journal = reopen(runs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    CU_ASSERT_EQUAL(journal_last_seq(journal), 2);
    clock_fake_advance(10 * NS_PER_MS);
    add(journal, EVENT_CONTROL, 0, "c");
    journal_close(journal);
    struct buf text = contents(runs);
    static const int64_t at_ms[] = {500, 750, 760};
    CU_ASSERT_EQUAL(count_lines(&text), 3);
    for (int i = 0; i < 3; i++) {
        struct event event;
        CU_ASSERT_FATAL(line_event(&text, i, &event));
        CU_ASSERT_EQUAL(event.record.seq, i + 1);
        CU_ASSERT_EQUAL(event.at_ms, at_ms[i]);
        event_release(&event);
    }
    buf_fini(&text);
    clock_set_fake(false);
}

/* ---- torn ends ------------------------------------------------------------------------------ */

/* How a damaged end is to be taken. */
struct expected {
    int64_t seq;       /* of the last record that is kept */
    size_t kept;       /* bytes */
    bool gets_newline; /* after them */
};

static void check_repaired_record(const char *runs, const struct event *event,
                                  const struct buf *before, const struct expected *expected)
{
    size_t cut_len = before->len - expected->kept;
    CHECK_STR(event->type_name, "journal.repaired");
    CU_ASSERT_EQUAL(json_get_int(event->fields, "bytes", -1), (int64_t)cut_len);
    CU_ASSERT_EQUAL(json_get_int(event->fields, "after", -1), expected->seq);
    gudgeon_str blob = json_get_str(event->fields, "blob");
    CU_ASSERT_EQUAL(blob.ptr != NULL, cut_len > 0);
    if (blob.ptr == NULL)
        return;
    struct buf cut = scratch_read("%s/" RUN "/blobs/%s", runs, blob.ptr);
    CU_ASSERT_EQUAL(cut.len, cut_len);
    CU_ASSERT_EQUAL(memcmp(cut.data, before->data + expected->kept, cut_len), 0);
    buf_fini(&cut);
}

/* Opens a journal of these bytes and adds one record. */
static void check_repair(const char *runs, const struct buf *before,
                         const struct expected *expected)
{
    replace(runs, before->data, before->len);
    struct journal *journal = reopen(runs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    bool is_repaired = expected->kept < before->len || expected->gets_newline;
    CU_ASSERT_EQUAL(journal_last_seq(journal), expected->seq + is_repaired);
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "after"), 0);
    journal_close(journal);

    struct buf now = contents(runs);
    struct event event;
    CU_ASSERT_FATAL(now.len > expected->kept);
    CU_ASSERT_EQUAL(memcmp(now.data, before->data, expected->kept), 0);
    CU_ASSERT_FATAL(line_event(&now, -1, &event));
    CU_ASSERT_EQUAL(event.record.seq, expected->seq + is_repaired + 1);
    event_release(&event);
    if (is_repaired) {
        CU_ASSERT_FATAL(line_event(&now, -2, &event));
        check_repaired_record(runs, &event, before, expected);
        event_release(&event);
    }
    buf_fini(&now);
}

/* A journal of three records, the last with characters of two, three and four bytes. */
static struct buf three_records(const char *runs, size_t *ret_last_at)
{
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    add(journal, EVENT_CONTROL, 0, "one");
    add(journal, EVENT_CONTROL, 3, "two");
    struct buf text = contents(runs);
    *ret_last_at = text.len;
    buf_fini(&text);
    add(journal, EVENT_CONTROL, 3, "ij \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9f \\ \" \x01 end");
    journal_close(journal);
    return contents(runs);
}

/* Torn at every byte of the last record. */
static void test_torn_everywhere(void)
{
    SCRATCH(runs);
    size_t last_at;
    struct buf whole = three_records(runs, &last_at);
    for (size_t len = last_at; len <= whole.len; len++) {
        bool is_kept = len + 1 >= whole.len;
        struct buf text = BUF_INIT(BUF_MAX_ANY);
        buf_add(&text, whole.data, len);
        check_repair(runs, &text,
                     &(struct expected){.seq = is_kept ? 3 : 2,
                                        .kept = is_kept ? len : last_at,
                                        .gets_newline = len + 1 == whole.len});
        buf_fini(&text);
    }
    buf_fini(&whole);
}

#define RECORD(run, seq)                                                                           \
    "{\"v\":1,\"run\":\"" run "\",\"seq\":" seq                                                    \
    ",\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":5,\"type\":\"control\"}"
#define TORN        "{\"v\":1,\"run\":\"" RUN "\",\"seq\":9,\"ti"
#define BYTES(text) text, sizeof(text) - 1

/* Ends that no kill of ours makes, but a power loss or another program may. */
static void test_other_ends(void)
{
    static const char nuls[300000];
    static const struct {
        const char *name;
        const char *end;
        size_t len;
        size_t kept; /* of `end` */
        int64_t seq; /* 1 = the record before the end is the last */
        bool gets_newline;
    } rows[] = {
        {"NULs", BYTES("\0\0\0\0"), 0, 1, false},
        {"many NULs", nuls, sizeof nuls, 0, 1, false},
        {"NULs with a newline", BYTES("\0\0\0\n"), 0, 1, false},
        {"no JSON", BYTES("hello\n"), 0, 1, false},
        {"several lines of no JSON", BYTES("a\nb\n\nc"), 0, 1, false},
        {"an empty line", BYTES("\n"), 0, 1, false},
        {"JSON, but no record", BYTES("{\"n\":1}\n"), 0, 1, false},
        {"JSON, but no record, no newline", BYTES("{\"n\":1}"), 0, 1, false},
        {"another run's record", BYTES(RECORD("other", "2") "\n"), 0, 1, false},
        {"UTF-8 cut after one byte", BYTES("{\"v\":1,\"t\":\"\xe2"), 0, 1, false},
        {"NULs before a record", BYTES("\0\0" RECORD(RUN, "2") "\n"), sizeof RECORD(RUN, "2") + 2,
         2, false},
        {"welded to a torn one", BYTES(TORN RECORD(RUN, "2") "\n"), sizeof TORN RECORD(RUN, "2"), 2,
         false},
        {"a torn one welded to it", BYTES(RECORD(RUN, "2") TORN), sizeof RECORD(RUN, "2") - 1, 2,
         true},
        {"two in one line", BYTES(RECORD(RUN, "2") RECORD(RUN, "3") "\n"),
         sizeof RECORD(RUN, "2") RECORD(RUN, "3"), 3, false},
    };
    SCRATCH(runs);
    journal_close(make(runs, JOURNAL_SYNC_NEVER));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf text = BUF_INIT(BUF_MAX_ANY);
        buf_add_str(&text, RECORD(RUN, "1") "\n");
        struct expected expected = {rows[i].seq, text.len + rows[i].kept, rows[i].gets_newline};
        buf_add(&text, rows[i].end, rows[i].len);
        unsigned failures = CU_get_number_of_failures();
        check_repair(runs, &text, &expected);
        if (CU_get_number_of_failures() > failures)
            printf("#   in row: %s\n", rows[i].name);
        buf_fini(&text);
    }
}

/* A run that was killed before its first record was whole. */
static void test_no_record(void)
{
    static const struct {
        const char *text;
        int64_t seq; /* after opening */
    } rows[] = {{"", 0}, {TORN, 1}, {"\n", 1}};
    SCRATCH(runs);
    journal_close(make(runs, JOURNAL_SYNC_NEVER));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        replace(runs, rows[i].text, strlen(rows[i].text));
        struct journal *journal = reopen(runs);
        CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
        CU_ASSERT_EQUAL(journal_last_seq(journal), rows[i].seq);
        CU_ASSERT_EQUAL(add(journal, EVENT_RUN_STARTED, 0, ""), 0);
        journal_close(journal);
    }
}

static void check_refused(const char *runs, const struct buf *text, int code, const char *error)
{
    replace(runs, text->data, text->len);
    struct journal *journal = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(journal_open(runs, RUN, JOURNAL_SYNC_NEVER, &journal, &err), code);
    CHECK_STR(err.text, error);
    CU_ASSERT_PTR_NULL(journal);
    struct buf now = contents(runs);
    CU_ASSERT_EQUAL(now.len, text->len);
    buf_fini(&now);
}

/* What this program cannot judge it does not cut. */
static void test_open_refuses(void)
{
    SCRATCH(runs);
    journal_close(make(runs, JOURNAL_SYNC_NEVER));
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&text, RECORD(RUN, "1") "\n{\"v\":2,\"run\":\"" RUN "\"}\n");
    check_refused(runs, &text, ERR_REFUSED,
                  "run " RUN ": format version 2 is newer than this program reads (1)");
    buf_reset(&text);
    buf_add_str(&text, RECORD(RUN, "1") "\n");
    CLEANUP(free_ptr) char *junk = xmalloc(1 << 20);
    memset(junk, 'x', 1 << 20);
    junk[(1 << 20) - 1] = '\n';
    for (int i = 0; i <= JOURNAL_MAX_LINE >> 20; i++)
        buf_add(&text, junk, 1 << 20);
    check_refused(runs, &text, ERR_INVALID,
                  "run " RUN ": its last 32 MiB hold no record of this run; look at it before "
                  "anything is written there");
    buf_fini(&text);
}

/* ---- a disk that fails ---------------------------------------------------------------------- */

static void test_one_write(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    for (int i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "text"), 0);
    CU_ASSERT_EQUAL(disk.writes, 10);
    disk.most = 1; /* the kernel takes one byte at a time, and is interrupted */
    disk.interrupts = 3;
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "text"), 0);
    journal_close(journal);
    disk_end();
    struct buf text = contents(runs);
    struct event event;
    CU_ASSERT_FATAL(line_event(&text, 10, &event));
    CU_ASSERT_EQUAL(event.record.seq, 11);
    event_release(&event);
    buf_fini(&text);
}

/* Everything after a failure fails the same way. */
static void check_shut(struct journal *journal, const char *expected)
{
    struct err err = {0};
    char name[BLOB_NAME_SIZE];
    journal_begin(journal, EVENT_CONTROL, 0);
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, &err), ERR_IO);
    CHECK_STR(err.text, expected);
    err.text[0] = '\0';
    CU_ASSERT_EQUAL(journal_sync(journal, &err), ERR_IO);
    CHECK_STR(err.text, expected);
    err.text[0] = '\0';
    CU_ASSERT_EQUAL(journal_add_blob(journal, str_of("x"), name, &err), ERR_IO);
    CHECK_STR(err.text, expected);
    CU_ASSERT_EQUAL(journal_last_seq(journal), 1);
}

static void check_full(long room)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    add(journal, EVENT_CONTROL, 0, "kept");
    struct buf before = contents(runs);
    disk.room = room;
    CU_ASSERT_EQUAL(
        add(journal, EVENT_CONTROL, 0, "a text that makes the record longer than 170 bytes"),
        ERR_IO);
    disk.room = -1; /* there is room again, but it stays shut */
    CLEANUP(free_ptr)
    char *expected =
        xasprintf("journal %s/" RUN "/journal.jsonl: No space left on device; the run stops here, "
                  "nothing was acted on after event 1",
                  runs);
    check_shut(journal, expected);
    journal_close(journal);
    struct buf after = contents(runs);
    CU_ASSERT_EQUAL(after.len, before.len);
    CHECK_STR(after.data, before.data);
    buf_fini(&before);
    buf_fini(&after);
    journal = reopen(runs); /* nothing is to be repaired */
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    CU_ASSERT_EQUAL(journal_last_seq(journal), 1);
    journal_close(journal);
    disk_end();
}

static void test_full(void)
{
    for (long room = 0; room < 170; room++)
        check_full(room);
}

/* Somebody truncates the file while it is written. No NULs, neither from going on nor from
 * taking a torn record back. */
static void test_truncated(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    for (int i = 0; i < 10; i++)
        add(journal, EVENT_CONTROL, 0, "before");
    CLEANUP(free_ptr) char *path = xasprintf("%s/" RUN "/journal.jsonl", runs);
    SCRATCH_NEED(truncate(path, 0) == 0);
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "after"), 0);
    disk.room = 20;
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "torn"), ERR_IO);
    journal_close(journal);
    disk_end();
    struct buf text = contents(runs);
    struct event event;
    CU_ASSERT_EQUAL(count_lines(&text), 1);
    CU_ASSERT_PTR_NULL(memchr(text.data, '\0', text.len));
    CU_ASSERT_FATAL(line_event(&text, 0, &event));
    CU_ASSERT_EQUAL(event.record.seq, 11);
    event_release(&event);
    buf_fini(&text);
}

static void test_cannot_cut(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    disk.room = 10;
    disk.truncate_fails = true;
    struct err err = {0};
    journal_begin(journal, EVENT_CONTROL, 0);
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, &err), ERR_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "No space left on device, and its last line cannot be "
                                            "cut off; the run stops here, nothing was acted on "
                                            "after event 0"));
    journal_close(journal);
    disk_end();
}

static void test_sync_fails(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_ALWAYS);
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "kept"), 0);
    disk.sync_fails = true;
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "not kept"), ERR_IO);
    disk.sync_fails = false;
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, "not taken"), ERR_IO);
    journal_close(journal);
    disk_end();
    struct buf text = contents(runs);
    CU_ASSERT_EQUAL(count_lines(&text), 1);
    buf_fini(&text);
}

static void test_too_long(void)
{
    SCRATCH(runs);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    CLEANUP(free_ptr) char *text = xmalloc(JOURNAL_MAX_LINE + 1);
    memset(text, 'x', JOURNAL_MAX_LINE);
    text[JOURNAL_MAX_LINE - 400] = '\0';
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, text), 0);
    text[JOURNAL_MAX_LINE - 400] = 'x';
    text[JOURNAL_MAX_LINE] = '\0';
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, text), ERR_LIMIT);
    struct err err = {0};
    journal_begin(journal, EVENT_CONTROL, 0);
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, &err), ERR_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, ": a control record is over 32 MiB; the run stops"));
    journal_close(journal);
    journal = reopen(runs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    CU_ASSERT_EQUAL(journal_last_seq(journal), 1);
    journal_close(journal);
}

static void test_levels(void)
{
    static const struct {
        enum journal_sync sync;
        enum event_type type;
        int at_once; /* fdatasyncs of a commit */
        int later;   /* of the journal_sync after it */
    } rows[] = {
        {JOURNAL_SYNC_NEVER, EVENT_RUN_FINISHED, 0, 0},
        {JOURNAL_SYNC_NEVER, EVENT_CALL_STARTED, 0, 0},
        {JOURNAL_SYNC_STEP, EVENT_RUN_FINISHED, 1, 0},
        {JOURNAL_SYNC_STEP, EVENT_RUN_WAITING, 1, 0},
        {JOURNAL_SYNC_STEP, EVENT_JOURNAL_REPAIRED, 1, 0},
        {JOURNAL_SYNC_STEP, EVENT_CALL_STARTED, 0, 1},
        {JOURNAL_SYNC_ALWAYS, EVENT_RUN_FINISHED, 1, 0},
        {JOURNAL_SYNC_ALWAYS, EVENT_CALL_STARTED, 1, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        SCRATCH(runs);
        disk_reset();
        struct journal *journal = make(runs, rows[i].sync);
        CU_ASSERT_EQUAL(disk.fsyncs, 0);
        CU_ASSERT_EQUAL(add(journal, rows[i].type, 0, ""), 0);
        CU_ASSERT_EQUAL(disk.fdatasyncs, rows[i].at_once);
        CU_ASSERT_EQUAL(journal_sync(journal, NULL), 0);
        CU_ASSERT_EQUAL(journal_sync(journal, NULL), 0);
        CU_ASSERT_EQUAL(disk.fdatasyncs, rows[i].at_once + rows[i].later);
        journal_close(journal);
        CU_ASSERT_EQUAL(disk.fdatasyncs, rows[i].at_once + rows[i].later);
        disk_end();
    }
}

/* The names of a run are on disk with its first durable record, once. */
static void test_names(void)
{
    SCRATCH(parent);
    CLEANUP(free_ptr) char *runs = xasprintf("%s/runs", parent);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_STEP);
    add(journal, EVENT_RUN_STARTED, 0, "");
    CHECK_STR(disk.order, "w");
    add(journal, EVENT_RUN_WAITING, 0, "");
    CHECK_STR(disk.order, "wwdsss"); /* the run, runs, and where runs was made */
    add(journal, EVENT_RUN_WAITING, 0, "");
    CHECK_STR(disk.order, "wwdssswd");
    journal_close(journal);
    disk_reset();
    journal = reopen(runs); /* its maker may have been killed before */
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    add(journal, EVENT_RUN_WAITING, 0, "");
    CHECK_STR(disk.order, "wdss");
    journal_close(journal);
    disk_end();
}

/* What a killed process wrote is synced by the next journal_sync, though this one wrote nothing. */
static void test_sync_after_reopen(void)
{
    SCRATCH(runs);
    journal_close(make(runs, JOURNAL_SYNC_NEVER));
    disk_reset();
    struct journal *journal = reopen(runs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(journal);
    journal_sync(journal, NULL);
    CU_ASSERT_EQUAL(disk.fdatasyncs, 1);
    journal_close(journal);
    disk_end();
}

/* ---- blobs ---------------------------------------------------------------------------------- */

static void test_blob(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_STEP);
    char name[BLOB_NAME_SIZE], again[BLOB_NAME_SIZE];
    memset(disk.order, 0, sizeof disk.order);
    CU_ASSERT_EQUAL_FATAL(journal_add_blob(journal, str_of("abc"), name, NULL), 0);
    CHECK_STR(name, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK_STR(disk.order, "swsrs"); /* blobs made, synced; written, synced, named, name synced */
    memset(disk.order, 0, sizeof disk.order);
    CU_ASSERT_EQUAL_FATAL(journal_add_blob(journal, str_of("abc"), again, NULL), 0);
    CHECK_STR(again, name);
    CHECK_STR(disk.order, "s");
    CU_ASSERT_EQUAL(scratch_count("%s/blobs", journal_directory(journal)), 1);
    struct buf text = scratch_read("%s/blobs/%s", journal_directory(journal), name);
    CHECK_STR(text.data, "abc");
    buf_fini(&text);
    CU_ASSERT_EQUAL(journal_add_blob(journal, str_of(""), again, NULL), 0);
    CU_ASSERT_EQUAL(scratch_count("%s/blobs", journal_directory(journal)), 2);
    journal_close(journal);
    disk_end();
}

static void test_blob_read(void)
{
    SCRATCH(runs);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    CLEANUP(free_ptr) char *dir = xstrdup(journal_directory(journal));
    char name[BLOB_NAME_SIZE];
    CU_ASSERT_EQUAL_FATAL(journal_add_blob(journal, str_of("0123456789"), name, NULL), 0);
    journal_close(journal);
    static const struct {
        int64_t offset;
        size_t max;
        const char *text;
    } rows[] = {{0, 100, "0123456789"}, {3, 4, "3456"}, {8, 4, "89"}, {10, 4, ""}, {99, 4, ""}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        int64_t size = 0;
        CU_ASSERT_EQUAL(blob_read(dir, name, rows[i].offset, rows[i].max, &out, &size, NULL), 0);
        CHECK_STR(out.data, rows[i].text);
        CU_ASSERT_EQUAL(size, 10);
        buf_fini(&out);
    }
    static const char *const bad[] = {
        "", "../journal.jsonl", "abc",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "../../../../../../../../../../../../../../../../../../etc/passwdd"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        int64_t size;
        CU_ASSERT_EQUAL(blob_read(dir, bad[i], 0, 10, &out, &size, NULL), ERR_NOT_FOUND);
        CU_ASSERT_EQUAL(out.len, 0);
    }
}

static void test_blob_full(void)
{
    SCRATCH(runs);
    disk_reset();
    struct journal *journal = make(runs, JOURNAL_SYNC_STEP);
    disk.room = 2;
    char name[BLOB_NAME_SIZE] = "unchanged";
    struct err err = {0};
    CU_ASSERT_EQUAL(journal_add_blob(journal, str_of("abc"), name, &err), ERR_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "cannot keep 3 bytes in "));
    CHECK_STR(name, "unchanged");
    CU_ASSERT_EQUAL(scratch_count("%s/blobs", journal_directory(journal)), 0);
    disk.room = -1; /* the journal itself lost nothing */
    CU_ASSERT_EQUAL(add(journal, EVENT_CONTROL, 0, ""), 0);
    journal_close(journal);
    disk_end();
}

/* ---- cost ----------------------------------------------------------------------------------- */

static ssize_t no_write(int fd, const void *bytes, size_t len)
{
    (void)fd, (void)bytes;
    return (ssize_t)len;
}

/* Printed only: what a record costs beside its write. */
static void test_cost(void)
{
    enum { ROUNDS = 20000 };
    SCRATCH(runs);
    struct journal_io io = disk_io;
    io.write = no_write;
    journal_set_io(&io);
    struct journal *journal = make(runs, JOURNAL_SYNC_NEVER);
    int64_t start = clock_monotonic_ns();
    for (int i = 0; i < ROUNDS; i++)
        add(journal, EVENT_CALL_STARTED, i, "a short text, as most are");
    printf("# a record costs %lld ns beside its write\n",
           (long long)(clock_monotonic_ns() - start) / ROUNDS);
    journal_close(journal);
    disk_end();
}

int main(void)
{
    UNIT_MAIN(
        "journal", {"the envelope, then the fields, one line", test_record},
        {"an abandoned record takes no seq", test_abandon},
        {"raw newlines do not break lines", test_raw_newline}, {"time is UTC", test_utc},
        {"modes", test_modes}, {"bad and taken ids", test_create_refuses},
        {"a failed creation leaves nothing", test_create_leaves_nothing},
        {"opening what is not there", test_open_nothing}, {"a second writer is refused", test_lock},
        {"seq and at_ms go on", test_continuity}, {"torn at every byte", test_torn_everywhere},
        {"other damaged ends", test_other_ends}, {"no whole record at all", test_no_record},
        {"what it cannot judge is not cut", test_open_refuses},
        {"one write a record, finished when short", test_one_write},
        {"a full disk at every byte", test_full}, {"truncated by somebody else", test_truncated},
        {"a torn line that cannot be cut is said", test_cannot_cut},
        {"a failed sync", test_sync_fails}, {"too long a record", test_too_long},
        {"levels of sync", test_levels}, {"names are synced once", test_names},
        {"sync after a reopen", test_sync_after_reopen}, {"blobs are named by hash", test_blob},
        {"reading blobs", test_blob_read}, {"no room for a blob", test_blob_full},
        {"cost", test_cost});
}
