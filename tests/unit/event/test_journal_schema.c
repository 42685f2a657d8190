/* SPDX-License-Identifier: MIT */
/*
 * config/journal.schema.json against the table of types and against records. With arguments it
 * judges journals instead: `test_journal_schema RUN_DIRECTORY...` for tests that have the real
 * program write them.
 */
#include <stdlib.h>

#include "base/str.h"
#include "event/journal.h"
#include "journal_check.h"
#include "unit.h"

/* The types that the schema describes, one bit each, in event_type's order. */
static unsigned long described_types(void)
{
    CLEANUP(json_cleanup) struct json_object *root = journal_schema_read();
    struct json_object *rules = json_get(root, "allOf"), *defs = json_get(root, "$defs");
    unsigned long described = 0;
    for (size_t i = 0; i < json_object_array_length(rules); i++) {
        struct json_object *rule = json_object_array_get_idx(rules, i);
        struct json_object *condition = json_get(json_get(rule, "if"), "properties");
        gudgeon_str name = json_get_str(json_get(condition, "type"), "const");
        CLEANUP(free_ptr) char *ref = xasprintf("#/$defs/%s", name.ptr);
        CU_ASSERT(str_is(json_get_str(json_get(rule, "then"), "$ref"), ref));
        CU_ASSERT_PTR_NOT_NULL(json_get(json_get(defs, name.ptr), "description"));
        enum event_type type = event_type_of(name.ptr);
        if (type == EVENT_UNKNOWN)
            printf("# the schema describes %s, which types.c does not have\n", name.ptr);
        CU_ASSERT_FATAL(type != EVENT_UNKNOWN);
        described |= 1UL << type;
    }
    return described;
}

static void test_types_agree(void)
{
    unsigned long described = described_types();
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        bool is_described = (described & 1UL << i) != 0;
        if (!is_described)
            printf("# the schema does not describe %s\n", event_name((enum event_type)i));
        CU_ASSERT(is_described);
    }
}

#define HASH  "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""
#define TEXT  "[{\"type\":\"text\",\"text\":\"x\"}]"
#define PLUGS "\"plugins\":[{\"name\":\"files\",\"version\":\"1.0.0\"}]"

/* One good record of each type, as the architecture's table has it, and bad ones. `fields` is
 * what stands between "{" and "}". */
static const struct {
    enum event_type type;
    const char *fields;
    bool valid;
} rows[] = {
    {EVENT_RUN_STARTED,
     "\"host\":\"0.1.0\"," PLUGS ",\"definition\":{\"agent\":\"a\"},\"task\":\"t\",\"inputs\":{}",
     true},
    {EVENT_RUN_STARTED,
     "\"host\":\"0.1.0\"," PLUGS ",\"definition\":{},\"task\":{\"blob\":" HASH ",\"bytes\":9}",
     true},
    {EVENT_RUN_STARTED, "\"host\":\"0.1.0\"," PLUGS ",\"definition\":{}", false},
    {EVENT_RUN_WAITING,
     "\"state\":\"waiting\",\"open\":[{\"run\":\"r\",\"call\":\"abcdefghi\",\"want\":\"result\","
     "\"tool\":\"ask_person\",\"input\":{},\"via\":\"ask_person\"}]",
     true},
    {EVENT_RUN_WAITING, "\"state\":\"waiting\"", false},
    {EVENT_RUN_RESUMED,
     "\"by\":\"user\",\"from\":\"waiting\",\"live\":false,\"host\":\"0.1.0\"," PLUGS, true},
    {EVENT_RUN_FINISHED,
     "\"state\":\"success\",\"why\":\"\",\"answer\":\"42\",\"usage\":{\"input\":9,\"output\":1},"
     "\"steps\":2,\"duration_ms\":10",
     true},
    {EVENT_RUN_FINISHED, "\"state\":\"success\",\"why\":\"\",\"steps\":-1,\"duration_ms\":10",
     false},
    {EVENT_TOOLS_LISTED,
     "\"revision\":1,\"tools\":[{\"name\":\"read\",\"instance\":\"files\",\"tool\":\"read\","
     "\"description\":\"d\",\"parameters\":{\"type\":\"object\"},\"effect\":\"read\",\"approve\":"
     "\"never\"}]",
     true},
    {EVENT_TOOLS_LISTED, "\"revision\":1,\"tools\":[{\"name\":\"read\"}]", false},
    {EVENT_STEP_STARTED, "\"kind\":\"action\",\"number\":1", true},
    {EVENT_STEP_STARTED, "\"kind\":\"other\"", false},
    {EVENT_STEP_FINISHED, "\"then\":\"step\",\"error\":\"e\",\"usage\":{},\"duration_ms\":5", true},
    {EVENT_STEP_FINISHED, "\"then\":\"step\",\"duration\":5", false},
    {EVENT_MODEL_REQUESTED,
     "\"id\":\"abcdefghi\",\"attempt\":1,\"purpose\":\"action\",\"model\":\"openai gpt-5-mini\","
     "\"tools\":1,\"choice\":\"auto\",\"max_output\":4096,\"count\":3,\"digest\":" HASH
     ",\"estimate\":77",
     true},
    {EVENT_MODEL_REPLIED,
     "\"id\":\"abcdefghi\",\"attempt\":1,\"blocks\":" TEXT
     ",\"finish\":\"stop\",\"finish_raw\":\"stop\","
     "\"origin\":\"o\",\"served\":\"m\",\"response_id\":\"r\",\"usage\":{\"input\":9},\"dropped\":["
     "]",
     true},
    {EVENT_MODEL_REPLIED, "\"id\":\"call_0\",\"attempt\":1,\"blocks\":" TEXT ",\"finish\":\"stop\"",
     false},
    {EVENT_MODEL_FAILED,
     "\"id\":\"abcdefghi\",\"attempt\":2,\"class\":\"retry\",\"http_status\":429,\"message\":\"m\","
     "\"retry_ms\":500,\"shown\":false,\"then\":\"retry\"",
     true},
    {EVENT_CALL_REQUESTED,
     "\"id\":\"abcdefghi\",\"by\":\"model\",\"ordinal\":0,\"tool\":\"read\",\"input\":{\"path\":"
     "\"a\"},"
     "\"to\":\"run\"",
     true},
    {EVENT_CALL_REQUESTED,
     "\"id\":\"abcdefghi\",\"by\":\"model\",\"ordinal\":0,\"tool\":\"x\",\"to\":\"nowhere\"",
     false},
    {EVENT_CALL_STARTED, "\"id\":\"abcdefghi\",\"attempt\":1,\"effect\":\"write\"", true},
    {EVENT_CALL_STARTED, "\"id\":\"abcdefghi\",\"attempt\":0,\"effect\":\"write\"", false},
    {EVENT_CALL_FINISHED,
     "\"id\":\"abcdefghi\",\"result\":" TEXT ",\"data\":[1],\"is_error\":true,\"cause\":\"tool\","
     "\"duration_ms\":3",
     true},
    {EVENT_CALL_FINISHED,
     "\"id\":\"abcdefghi\",\"result\":\"text\",\"is_error\":false,\"duration_ms\":3", false},
    {EVENT_MESSAGE_ADDED, "\"role\":\"user\",\"why\":\"nudge_empty\",\"blocks\":" TEXT, true},
    {EVENT_MESSAGE_ADDED, "\"role\":\"tool\",\"why\":\"x\",\"blocks\":" TEXT, false},
    {EVENT_CONTROL, "\"what\":\"interrupt\"", true},
    {EVENT_CONTROL, "\"what\":\"interrupt\",\"colour\":\"red\"", false},
    {EVENT_JOURNAL_REPAIRED, "\"bytes\":12,\"blob\":" HASH ",\"after\":7", true},
    {EVENT_JOURNAL_REPAIRED, "\"bytes\":12,\"blob\":\"x\",\"after\":7", false},
};

static bool is_valid_row(const struct schema *schema, size_t row, struct err *err)
{
    CLEANUP(free_ptr)
    char *text = xasprintf(
        "{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":0,"
        "\"type\":\"%s\",%s}",
        event_name(rows[row].type), rows[row].fields);
    CLEANUP(json_cleanup) struct json_object *record = NULL;
    SCRATCH_NEED(json_read_object(str_of(text), &record, NULL) == 0);
    return schema_check_err(schema, record, err) == 0;
}

static void test_records(void)
{
    struct schema *schema = journal_schema_strict();
    unsigned long seen = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        bool valid = is_valid_row(schema, i, &err);
        if (valid != rows[i].valid)
            printf("# row %zu, %s: %s\n", i, event_name(rows[i].type), err.text);
        CU_ASSERT_EQUAL(valid, rows[i].valid);
        seen |= 1UL << rows[i].type;
    }
    CU_ASSERT_EQUAL(seen, (1UL << EVENT_TYPE_COUNT) - 1);
    schema_free(schema);
}

/* As published it lets pass what a newer gudgeon may write. */
static void test_lenient(void)
{
    CLEANUP(json_cleanup) struct json_object *root = journal_schema_read();
    struct schema *schema = journal_schema_compile(root);
    static const struct {
        const char *record;
        bool valid;
    } records[] = {
        {"{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":0,"
         "\"type\":\"control\",\"what\":\"pause\",\"new\":1}",
         true},
        {"{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":0,"
         "\"type\":\"plan.made\",\"must\":true}",
         true},
        {"{\"v\":2,\"run\":\"r\",\"seq\":1,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":0,"
         "\"type\":\"plan.made\"}",
         false},
        {"{\"v\":1,\"run\":\"r\",\"seq\":0,\"time\":\"2026-11-30T12:00:00.000Z\",\"at_ms\":0,"
         "\"type\":\"plan.made\"}",
         false},
        {"{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"2026-11-30T12:00:00+01:00\",\"at_ms\":0,"
         "\"type\":\"plan.made\"}",
         false},
    };
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        CLEANUP(json_cleanup) struct json_object *record = NULL;
        SCRATCH_NEED(json_read_object(str_of(records[i].record), &record, NULL) == 0);
        CU_ASSERT_EQUAL(schema_check(schema, record, NULL, NULL) == 0, records[i].valid);
    }
    schema_free(schema);
}

/* The check itself: what the journal writes of its own, and damage. */
static void test_check(void)
{
    SCRATCH(runs);
    struct journal *journal = NULL;
    SCRATCH_NEED(journal_create(runs, "r", JOURNAL_SYNC_NEVER, &journal, NULL) == 0);
    CLEANUP(free_ptr) char *directory = xstrdup(journal_directory(journal));
    json_field_text(journal_begin(journal, EVENT_CONTROL, 0), "what", "pause");
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, NULL), 0);
    journal_close(journal);
    CU_ASSERT(journal_is_valid(directory));
    struct buf text = scratch_read("%s/journal.jsonl", directory);
    buf_add_str(&text, "{\"v\":1,\"run");
    scratch_write(text.data, text.len, "%s/journal.jsonl", directory);
    buf_fini(&text);
    CU_ASSERT_FALSE(journal_is_valid(directory));
    SCRATCH_NEED(journal_open(runs, "r", JOURNAL_SYNC_NEVER, &journal, NULL) == 0);
    CU_ASSERT(journal_is_valid(directory));
    json_field_text(journal_begin(journal, EVENT_CONTROL, 0), "whom", "pause");
    CU_ASSERT_EQUAL(journal_commit(journal, NULL, NULL), 0);
    journal_close(journal);
    CU_ASSERT_FALSE(journal_is_valid(directory));
}

int main(int argc, char **argv)
{
    int faults = 0;
    for (int i = 1; i < argc; i++)
        faults += !journal_is_valid(argv[i]);
    if (argc > 1)
        return faults > 0;
    UNIT_MAIN("journal schema", {"the types are those of types.c", test_types_agree},
              {"records of each type", test_records}, {"lenient to what is newer", test_lenient},
              {"checking a journal", test_check});
}
