/* SPDX-License-Identifier: MIT */
#include "event/reader.h"

#include <json-c/json_object.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "event/journal.h"
#include "scratch.h"
#include "unit.h"

#define RECORD_OF(run, seq)                                                                        \
    "{\"v\":1,\"run\":\"" run "\",\"seq\":" seq                                                    \
    ",\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":5,\"type\":\"control\"}"
#define RECORD(seq) RECORD_OF("r", seq)
#define LINE(seq)   RECORD(seq) "\n"
#define TORN        "{\"v\":1,\"run\":\"r\",\"seq\":9,\"text\":\"caf\xc3"
#define BYTES(text) text, sizeof(text) - 1

/* The seqs that were delivered, as text. */
static int collect(void *payload, const struct event *event)
{
    buf_addf(payload, "%lld ", (long long)event->record.seq);
    return 0;
}

static int collect_two(void *payload, const struct event *event)
{
    collect(payload, event);
    return ((struct buf *)payload)->len >= 4;
}

static void test_damage(void)
{
    static const struct {
        const char *name, *text;
        size_t len;
        const char *seqs;
        size_t skipped;
        int64_t missing;
        bool torn;
        const char *first;
    } rows[] = {
        {"whole", BYTES(LINE("1") LINE("2")), "1 2 ", 0, 0, false, ""},
        {"empty file", BYTES(""), "", 0, 0, false, ""},
        {"torn", BYTES(LINE("1") TORN), "1 ", 0, 0, true, "line 2: torn after 37 bytes"},
        {"only the newline lacks", BYTES(LINE("1") RECORD("2")), "1 2 ", 0, 0, true, ""},
        {"no JSON", BYTES(LINE("1") "hello\n" LINE("2")), "1 2 ", 1, 0, false,
         "line 2: column 1: a value is due, not h"},
        {"empty line", BYTES(LINE("1") "\n" LINE("2")), "1 2 ", 1, 0, false, "line 2: empty"},
        {"JSON, but no record", BYTES("[1]\n{\"n\":2}\n" LINE("1")), "1 ", 2, 0, false,
         "line 1: JSON, but no record: v, run, seq, time, at_ms or type is missing or wrong"},
        {"NUL run", BYTES(LINE("1") "\0\0\0" LINE("2")), "1 2 ", 1, 0, false,
         "line 2: 3 NUL bytes"},
        {"NULs to the end", BYTES(LINE("1") "\0\0\0"), "1 ", 0, 0, true,
         "line 2: torn after 3 bytes"},
        {"NULs within a record", BYTES(LINE("1") "{\"v\":1,\"run\":\"\0\0\0\"}\n" LINE("3")),
         "1 3 ", 1, 1, false, NULL},
        {"welded to a torn one", BYTES(LINE("1") TORN RECORD("3") "\n" LINE("4")), "1 3 4 ", 1, 1,
         false, NULL},
        {"two in one line", BYTES(LINE("1") RECORD("2") LINE("3") "\n" LINE("4")), "1 2 3 4 ", 2, 0,
         false, "line 2: bytes after the end of the record"},
        {"seq twice", BYTES(LINE("1") LINE("2") LINE("2") LINE("1") LINE("3")), "1 2 3 ", 2, 0,
         false, "line 3: record 2 again"},
        {"seq missing", BYTES(LINE("1") LINE("5") LINE("6")), "1 5 6 ", 0, 3, false,
         "line 2: 3 records before record 5 are missing"},
        {"the beginning missing", BYTES(LINE("3")), "3 ", 0, 2, false,
         "line 1: 2 records before record 3 are missing"},
        {"a number that no counter of ours reaches", BYTES(LINE("1") LINE("9007199254740992")),
         "1 ", 1, 0, false,
         "line 2: JSON, but no record: v, run, seq, time, at_ms or type is missing or wrong"},
        {"another run's record", BYTES(LINE("1") RECORD_OF("q\\u001b", "2") "\n" LINE("2")), "1 2 ",
         1, 0, false, "line 2: a record of run q "},
        {"a newer format", BYTES(LINE("1") "{\"v\":2}\n"), "1 ", 1, 0, false,
         "line 2: format version 2 is newer than this program reads (1)"},
        {"white space around", BYTES(LINE("1") " " RECORD("2") " \r\n"), "1 2 ", 0, 0, false, ""},
        {"a type of the future",
         BYTES("{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"t\",\"at_ms\":0,\"type\":\"x.y\"}\n"),
         "1 ", 0, 0, false, ""},
    };
    SCRATCH(dir);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        scratch_write(rows[i].text, rows[i].len, "%s/journal.jsonl", dir);
        struct buf seqs = BUF_INIT(BUF_MAX_ANY);
        struct reader_report report = {0};
        CU_ASSERT_EQUAL(reader_run(dir, collect, &seqs, &report, NULL), 0);
        CHECK_STR(seqs.data, rows[i].seqs);
        CU_ASSERT_EQUAL(report.skipped, rows[i].skipped);
        CU_ASSERT_EQUAL(report.missing, rows[i].missing);
        CU_ASSERT_EQUAL(report.torn, rows[i].torn);
        if (rows[i].first != NULL)
            CHECK_STR(report.first, rows[i].first);
        else
            CU_ASSERT(report.first[0] != '\0');
        if (CU_get_number_of_failures() > failures)
            printf("#   in row: %s\n", rows[i].name);
        buf_fini(&seqs);
    }
}

/* A line that is too long is passed over without being held, and the next one is read. */
static void test_long_line(void)
{
    SCRATCH(dir);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&text, LINE("1"));
    CLEANUP(free_ptr) char *junk = xmalloc(JOURNAL_MAX_LINE + 100000);
    memset(junk, 'x', JOURNAL_MAX_LINE + 100000);
    buf_add(&text, junk, JOURNAL_MAX_LINE + 100000);
    buf_add_str(&text, "\n" LINE("2"));
    scratch_write(text.data, text.len, "%s/journal.jsonl", dir);
    struct buf seqs = BUF_INIT(BUF_MAX_ANY);
    struct reader_report report;
    CU_ASSERT_EQUAL(reader_run(dir, collect, &seqs, &report, NULL), 0);
    CHECK_STR(seqs.data, "1 2 ");
    CHECK_STR(report.first, "line 2: over 32 MiB long");
    CU_ASSERT_EQUAL(report.skipped, 1);
    buf_fini(&seqs);
    buf_fini(&text);
}

static void test_stop(void)
{
    SCRATCH(dir);
    static const char text[] = LINE("1") LINE("2") LINE("3") TORN;
    scratch_write(BYTES(text), "%s/journal.jsonl", dir);
    struct buf seqs = BUF_INIT(BUF_MAX_ANY);
    struct reader_report report;
    CU_ASSERT_EQUAL(reader_run(dir, collect_two, &seqs, &report, NULL), 0);
    CHECK_STR(seqs.data, "1 2 ");
    CU_ASSERT_EQUAL(report.records, 2);
    CU_ASSERT_FALSE(report.torn);
    buf_fini(&seqs);
}

static void test_no_journal(void)
{
    SCRATCH(dir);
    struct err err = {0};
    CU_ASSERT_EQUAL(reader_run(dir, collect, NULL, NULL, &err), ERR_NOT_FOUND);
    CLEANUP(free_ptr) char *expected = xasprintf("there is no journal in %s", dir);
    CHECK_STR(err.text, expected);
}

static void test_parse(void)
{
    struct event event;
    struct err err = {0};
    static const char text[] =
        "{\"v\":1,\"run\":\"r\",\"seq\":7,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":12,"
        "\"type\":\"step.finished\",\"step\":3,\"then\":\"step\",\"big\":18446744073709551617}";
    CU_ASSERT_EQUAL_FATAL(event_parse(str_of(text), &event, &err), 0);
    CU_ASSERT_EQUAL(event.record.type, EVENT_STEP_FINISHED);
    CU_ASSERT_EQUAL(event.record.seq, 7);
    CU_ASSERT_EQUAL(event.record.step, 3);
    CU_ASSERT_EQUAL(event.at_ms, 12);
    CHECK_STR(event.type_name, "step.finished");
    CHECK_STR(event.run, "r");
    CU_ASSERT(str_is(event.record.line, text));
    struct buf again = BUF_INIT(BUF_MAX_ANY);
    json_write(&again, event.fields);
    CHECK_STR(again.data, text); /* digits kept */
    buf_fini(&again);
    event_release(&event);
    event_release(&event); /* harmless */
    CU_ASSERT_EQUAL(event_parse(str_of(RECORD("1") RECORD("2")), &event, &err), ERR_INVALID);
    CHECK_STR(err.text, "bytes after the end of the record");
    CU_ASSERT_EQUAL(event_parse(str_of("{\"v\":2}"), &event, &err), ERR_REFUSED);
    CU_ASSERT_EQUAL(event_parse(str_of(""), &event, &err), ERR_INVALID);
}

static void test_types(void)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        CU_ASSERT_EQUAL(event_type_of(event_name((enum event_type)i)), (enum event_type)i);
    CU_ASSERT_EQUAL(event_type_of("no.such"), EVENT_UNKNOWN);
    CU_ASSERT_FALSE(event_is_durable(EVENT_UNKNOWN));
    CU_ASSERT(event_is_durable(EVENT_RUN_FINISHED));
}

static int count_one(void *payload, const struct event *event)
{
    (void)event;
    ++*(size_t *)payload;
    return 0;
}

/* Printed only. */
static void test_cost(void)
{
    enum { RECORDS = 100000 };
    SCRATCH(runs);
    struct journal *journal;
    CU_ASSERT_EQUAL_FATAL(journal_create(runs, "r", JOURNAL_SYNC_NEVER, &journal, NULL), 0);
    CLEANUP(free_ptr) char *dir = xstrdup(journal_directory(journal));
    int64_t start = clock_monotonic_ns();
    for (int i = 0; i < RECORDS; i++) {
        struct json_writer *writer = journal_begin(journal, EVENT_CALL_FINISHED, i / 10);
        json_field_text(writer, "id", "abcdefghi");
        json_field_raw(
            writer, "result",
            str_of("[{\"type\":\"text\",\"text\":\"a result of some length, as most\"}]"));
        json_field_bool(writer, "is_error", false);
        json_field_int(writer, "duration_ms", i);
        journal_commit(journal, NULL, NULL);
    }
    int64_t written = clock_monotonic_ns();
    journal_close(journal);
    size_t count = 0;
    struct reader_report report;
    CU_ASSERT_EQUAL(reader_run(dir, count_one, &count, &report, NULL), 0);
    CU_ASSERT_EQUAL(count, RECORDS);
    CHECK_STR(report.first, "");
    printf("# %d records: written in %lld ms, read in %lld ms\n", RECORDS,
           (long long)((written - start) / NS_PER_MS),
           (long long)((clock_monotonic_ns() - written) / NS_PER_MS));
}

int main(void)
{
    UNIT_MAIN("reader", {"damage is passed over and said", test_damage},
              {"too long a line", test_long_line}, {"stopping", test_stop},
              {"no journal", test_no_journal}, {"one record", test_parse}, {"types", test_types},
              {"cost", test_cost});
}
