/* SPDX-License-Identifier: MIT */
#include "event/runs.h"

#include <sys/stat.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "event/journal.h"
#include "scratch.h"
#include "unit.h"

#define OLD "0192f0c1-0000-7000-8000-00000000aaaa"
#define MID "0192f0c1-0000-7000-8000-00000000bbbb"
#define NEW "0192f0c2-0000-7000-8000-0000000abbbb"

static struct journal *create(const char *runs, const char *id)
{
    struct journal *journal = NULL;
    SCRATCH_NEED(journal_create(runs, id, JOURNAL_SYNC_NEVER, &journal, NULL) == 0);
    return journal;
}

static void raw(struct journal *journal, enum event_type type, int64_t step, const char *key,
                const char *json)
{
    struct json_writer *writer = journal_begin(journal, type, step);
    if (key != NULL)
        json_field_raw(writer, key, str_of(json));
    SCRATCH_NEED(journal_commit(journal, NULL, NULL) == 0);
}

static void started(struct journal *journal, const char *task)
{
    struct json_writer *writer = journal_begin(journal, EVENT_RUN_STARTED, 0);
    json_field_raw(writer, "definition", str_of("{\"agent\":\"researcher\",\"model\":[]}"));
    json_field_text(writer, "task", task);
    SCRATCH_NEED(journal_commit(journal, NULL, NULL) == 0);
}

static void step(struct journal *journal, int64_t index, int64_t number)
{
    struct json_writer *writer = journal_begin(journal, EVENT_STEP_STARTED, index);
    json_field_text(writer, "kind", "action");
    json_field_int(writer, "number", number);
    SCRATCH_NEED(journal_commit(journal, NULL, NULL) == 0);
    raw(journal, EVENT_MODEL_REPLIED, index, "usage", "{\"input\":100,\"output\":7}");
    clock_fake_advance(1000 * NS_PER_MS);
    raw(journal, EVENT_STEP_FINISHED, index, "usage", "{\"input\":100,\"output\":7}");
}

static void finished(struct journal *journal)
{
    struct json_writer *writer = journal_begin(journal, EVENT_RUN_FINISHED, 0);
    json_field_text(writer, "state", "success");
    json_field_raw(writer, "usage", str_of("{\"input\":1000,\"output\":70}"));
    json_field_int(writer, "steps", 9);
    json_field_int(writer, "duration_ms", 1234);
    SCRATCH_NEED(journal_commit(journal, NULL, NULL) == 0);
}

struct list {
    struct run_summary items[8];
    size_t count;
};

static void collect(void *payload, const struct run_summary *summary)
{
    struct list *list = payload;
    SCRATCH_NEED(list->count < COUNT_OF(list->items));
    list->items[list->count++] = *summary;
}

static struct list list_runs(const char *runs, size_t limit)
{
    struct list list = {.count = 0};
    CU_ASSERT_EQUAL(runs_list(runs, limit, collect, &list, NULL), 0);
    return list;
}

/* What one run, as it was left, is shown as. */
static struct run_summary only(const char *runs)
{
    struct list list = list_runs(runs, 0);
    CU_ASSERT_EQUAL(list.count, 1);
    return list.items[0];
}

static void test_finished(void)
{
    SCRATCH(runs);
    clock_set_fake(true);
    struct journal *journal = create(runs, OLD);
    started(journal, "Count the notes.\nThen stop.");
    step(journal, 1, 1);
    finished(journal);
    journal_close(journal);
    struct run_summary run = only(runs);
    CHECK_STR(run.id, OLD);
    CHECK_STR(run.agent, "researcher");
    CHECK_STR(run.task, "Count the notes.…");
    CHECK_STR(run.state, "success");
    CHECK_STR(run.started, "1970-01-01T00:00:00.000Z");
    CU_ASSERT_EQUAL(run.steps, 9);
    CU_ASSERT_EQUAL(run.duration_ms, 1234);
    CU_ASSERT_EQUAL(run.input_tokens, 1000);
    CU_ASSERT_EQUAL(run.output_tokens, 70);
    clock_set_fake(false);
}

/* Without run.finished: counted from the records, exactly while the journal is short. */
static void test_unfinished(void)
{
    SCRATCH(runs);
    clock_set_fake(true);
    struct journal *journal = create(runs, OLD);
    started(journal, "x");
    step(journal, 1, 0);
    step(journal, 2, 1);
    step(journal, 3, 2);
    struct run_summary run = only(runs);
    CHECK_STR(run.state, "running");
    journal_close(journal);
    run = only(runs);
    CHECK_STR(run.state, "interrupted");
    CU_ASSERT_EQUAL(run.steps, 2);
    CU_ASSERT_EQUAL(run.duration_ms, 3000);
    CU_ASSERT_EQUAL(run.input_tokens, 300);
    CU_ASSERT_EQUAL(run.output_tokens, 21);
    clock_set_fake(false);
}

/* A long journal is not read through. */
static void test_long(void)
{
    SCRATCH(runs);
    struct journal *journal = create(runs, OLD);
    started(journal, "x");
    step(journal, 1, 1);
    CLEANUP(free_ptr) char *text = xmalloc(200001);
    memset(text, '7', 200000);
    text[200000] = '\0';
    raw(journal, EVENT_CALL_FINISHED, 2, "data", text);
    raw(journal, EVENT_CONTROL, 2, NULL, NULL);
    journal_close(journal);
    struct run_summary run = only(runs);
    CU_ASSERT_EQUAL(run.input_tokens, -1);
    CU_ASSERT_EQUAL(run.steps, 2);
    CHECK_STR(run.state, "interrupted");
}

static void test_states(void)
{
    static const struct {
        const char *name;
        enum event_type types[4];  /* after run.started; ends with EVENT_UNKNOWN */
        const char *closed, *open; /* while nobody holds the lock; while somebody does */
    } rows[] = {
        {"just started", {EVENT_UNKNOWN}, "interrupted", "running"},
        {"finished", {EVENT_RUN_FINISHED, EVENT_UNKNOWN}, "resting", "resting"},
        {"waiting", {EVENT_RUN_WAITING, EVENT_UNKNOWN}, "resting", "resting"},
        {"an answer came while waiting",
         {EVENT_RUN_WAITING, EVENT_CALL_FINISHED, EVENT_UNKNOWN},
         "resting",
         "resting"},
        {"repaired after the end",
         {EVENT_RUN_FINISHED, EVENT_JOURNAL_REPAIRED, EVENT_UNKNOWN},
         "resting",
         "resting"},
        {"resumed",
         {EVENT_RUN_FINISHED, EVENT_RUN_RESUMED, EVENT_STEP_STARTED, EVENT_UNKNOWN},
         "interrupted",
         "running"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        SCRATCH(runs);
        struct journal *journal = create(runs, OLD);
        started(journal, "x");
        for (size_t j = 0; rows[i].types[j] != EVENT_UNKNOWN; j++)
            raw(journal, rows[i].types[j], 0, "state", "\"resting\"");
        struct run_summary run = only(runs);
        CHECK_STR(run.state, rows[i].open);
        journal_close(journal);
        run = only(runs);
        CHECK_STR(run.state, rows[i].closed);
    }
}

static void test_unreadable(void)
{
    static const struct {
        const char *text; /* NULL = no journal */
        const char *task, *state;
    } rows[] = {
        {NULL, "", "unreadable"},
        {"", "", "unreadable"},
        {"rubbish\n", "", "unreadable"},
        {"{\"v\":1,\"run\":\"x\",\"seq\":1,\"time\":\"t\",\"at_ms\":0,\"type\":\"control\"}\n", "",
         "unreadable"},
        {"{\"v\":1,\"run\":\"x\",\"seq\":1,\"time\":\"t\",\"at_ms\":0,\"type\":\"run.started\","
         "\"task\":\"whole\"}\n{\"v\":1,\"to",
         "whole", "interrupted"},
        {"{\"v\":1,\"run\":\"x\",\"seq\":1,\"time\":\"t\",\"at_ms\":0,\"type\":\"run.started\","
         "\"task\":{\"blob\":\"0\",\"bytes\":5},\"definition\":[]}\n",
         "", "interrupted"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        SCRATCH(runs);
        CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", runs, OLD);
        SCRATCH_NEED(mkdir(dir, 0700) == 0);
        if (rows[i].text != NULL)
            scratch_write(rows[i].text, strlen(rows[i].text), "%s/journal.jsonl", dir);
        struct run_summary run = only(runs);
        CHECK_STR(run.id, OLD);
        CHECK_STR(run.state, rows[i].state);
        CHECK_STR(run.task, rows[i].task);
    }
}

static void test_task_cut(void)
{
    SCRATCH(runs);
    struct journal *journal = create(runs, OLD);
    struct buf task = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&task, "a");
    for (int i = 0; i < 100; i++)
        buf_add_str(&task, "\xe2\x82\xac");
    started(journal, task.data);
    journal_close(journal);
    struct run_summary run = only(runs);
    size_t len = strlen(run.task);
    CU_ASSERT(len < sizeof run.task && len > sizeof run.task - 8);
    CHECK_STR(run.task + len - 3, "…");
    CU_ASSERT_EQUAL((len - 4) % 3, 0);
    CU_ASSERT_EQUAL(memcmp(run.task, task.data, len - 3), 0);
    buf_fini(&task);
}

static void test_order(void)
{
    SCRATCH(runs);
    static const char *const ids[] = {MID, NEW, OLD};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        journal_close(create(runs, ids[i]));
    scratch_write("", 0, "%s/a-file", runs);
    CLEANUP(free_ptr) char *hidden = xasprintf("%s/.hidden", runs);
    SCRATCH_NEED(mkdir(hidden, 0700) == 0);
    struct list list = list_runs(runs, 0);
    CU_ASSERT_EQUAL_FATAL(list.count, 3);
    CHECK_STR(list.items[0].id, NEW);
    CHECK_STR(list.items[1].id, MID);
    CHECK_STR(list.items[2].id, OLD);
    list = list_runs(runs, 2);
    CU_ASSERT_EQUAL(list.count, 2);
    CLEANUP(free_ptr) char *nowhere = xasprintf("%s/nowhere", runs);
    CU_ASSERT_EQUAL(list_runs(nowhere, 0).count, 0);
}

static void test_find(void)
{
    SCRATCH(runs);
    static const char *const ids[] = {MID, NEW, OLD};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        journal_close(create(runs, ids[i]));
    static const struct {
        const char *name;
        int status;
        const char *id; /* or what the message holds */
    } rows[] = {
        {"last", 0, NEW},
        {MID, 0, MID},
        {"0192f0c2", 0, NEW},
        {"aaaa", 0, OLD},
        {"abbbb", 0, NEW},
        {"bbbb", ERR_INVALID, "\"bbbb\" means several runs: " NEW ", " MID},
        {"0192", ERR_INVALID, "\"0192\" means several runs: " NEW ", " MID ", " OLD},
        {"aaa", ERR_NOT_FOUND, "no run \"aaa\" in "},
        {"", ERR_NOT_FOUND, "no run \"\" in "},
        {"f0c1", ERR_NOT_FOUND, "; gudgeon runs lists them"},
        {"../..", ERR_NOT_FOUND, "no run \"../..\" in "},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *id = NULL;
        struct err err = {0};
        CU_ASSERT_EQUAL(runs_find(runs, rows[i].name, &id, &err), rows[i].status);
        if (rows[i].status == 0) {
            CHECK_STR(id, rows[i].id);
        } else {
            CU_ASSERT_PTR_NULL(id);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].id));
        }
    }
    CLEANUP(free_ptr) char *nowhere = xasprintf("%s/nowhere", runs);
    char *id = NULL;
    CU_ASSERT_EQUAL(runs_find(nowhere, "last", &id, NULL), ERR_NOT_FOUND);
}

/* Whatever stands in the place of a file, or of a run, is no reason to hang or to follow it. */
static void test_planted(void)
{
    SCRATCH(runs);
    static const char *const kinds[] = {"fifo", "link", "directory"};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        static const char *const files[] = {"journal.jsonl", "lock"};
        for (size_t j = 0; j < COUNT_OF(files); j++) {
            SCRATCH(place);
            CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", place, OLD);
            CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, files[j]);
            SCRATCH_NEED(mkdir(dir, 0700) == 0);
            SCRATCH_NEED((i == 0   ? mkfifo(path, 0600)
                          : i == 1 ? symlink("/dev/zero", path)
                                   : mkdir(path, 0700)) == 0);
            struct run_summary run = only(place);
            CHECK_STR(run.state, "unreadable");
        }
    }
    static const char *const names[] = {"a b", "..x", "\x1b]0;x\x07", "\xff", "caf\xc3\xa9"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", runs, names[i]);
        SCRATCH_NEED(mkdir(dir, 0700) == 0);
    }
    CLEANUP(free_ptr) char *link = xasprintf("%s/%s", runs, MID);
    SCRATCH_NEED(symlink("/tmp", link) == 0);
    CU_ASSERT_EQUAL(list_runs(runs, 0).count, 0);
}

/* What is shown of a foreign journal holds nothing that a terminal would act on. */
static void test_foreign_text(void)
{
    static const char text[] =
        "{\"v\":1,\"run\":\"x\",\"seq\":1,\"time\":\"t\\u001b[2J\",\"at_ms\":0,\"type\":"
        "\"run.started\",\"task\":\"a\\u009bb\",\"definition\":{\"agent\":\"c\xe2\x80\xae\"}}\n"
        "{\"v\":1,\"run\":\"x\",\"seq\":2,\"time\":\"t\",\"at_ms\":0,\"type\":\"run.finished\","
        "\"state\":\"\\u0007d\",\"usage\":{\"input\":9223372036854775807}}\n";
    SCRATCH(runs);
    CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", runs, OLD);
    SCRATCH_NEED(mkdir(dir, 0700) == 0);
    scratch_write(text, strlen(text), "%s/journal.jsonl", dir);
    struct run_summary run = only(runs);
    CHECK_STR(run.started, "t [2J");
    CHECK_STR(run.task, "a b");
    CHECK_STR(run.agent, "c ");
    CHECK_STR(run.state, " d");
}

int main(void)
{
    UNIT_MAIN("runs", {"a finished run", test_finished}, {"an unfinished run", test_unfinished},
              {"a long journal is not read through", test_long}, {"states", test_states},
              {"unreadable runs", test_unreadable}, {"the task is one line", test_task_cut},
              {"what was planted is not followed", test_planted},
              {"foreign text", test_foreign_text}, {"newest first", test_order},
              {"finding by name", test_find});
}
