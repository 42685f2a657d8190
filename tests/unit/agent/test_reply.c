/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "agent/reply.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "event/intake.h"
#include "unit.h"

static struct reply *read_as(const char *content, unsigned finish, struct intake *intake)
{
    gudgeon_reply raw = {.size = sizeof raw, .finish = finish, .content = str_of(content)};
    struct reply *reply = NULL;
    struct err err = {0};
    if (reply_read(&raw, intake, &reply, &err) < 0)
        printf("#   %s: %s\n", content, err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(reply);
    return reply;
}

/* The JSON with every call id of ours as ID. */
static char *without_ids(const struct buf *json)
{
    static const char key[] = "\"id\":\"";
    char *text = xstrndup(json->data, json->len);
    for (char *at = strstr(text, key); at != NULL; at = strstr(at, key)) {
        at += sizeof key - 1;
        CU_ASSERT_EQUAL_FATAL(at[CALL_ID_SIZE - 1], '"');
        memmove(at + 2, at + CALL_ID_SIZE - 1, strlen(at + CALL_ID_SIZE - 1) + 1);
        memcpy(at, "ID", 2);
    }
    return text;
}

#define TEXT(text)       "{\"type\":\"text\",\"text\":\"" text "\"}"
#define REASONING(text)  "{\"type\":\"reasoning\",\"text\":\"" text "\"}"
#define OPAQUE           "{\"type\":\"opaque\",\"kind\":\"sig\",\"data\":\"{\\\"b\\\" :1}\\u0000\"}"
#define CALL(name, args) "{\"type\":\"tool_call\",\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define TAKEN(name, args)                                                                          \
    "{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define HOST(text) "{\"type\":\"text\",\"text\":\"" text "\",\"host\":true}"

static const struct {
    const char *name, *content;
    unsigned finish;
    const char *blocks, *dropped, *text;
    size_t calls;
    bool empty, refused;
} rows[] = {
    {"a text", "[" TEXT("hello") "]", GUDGEON_FINISH_STOP, "[" TEXT("hello") "]", "", "hello",
     .calls = 0},
    {"several texts, blank ones left out",
     "[" TEXT("a") "," TEXT(" \\n") "," TEXT("") "," TEXT("b") "]", GUDGEON_FINISH_STOP,
     "[" TEXT("a") "," TEXT("b") "]", "", "ab", .calls = 0},
    {"reasoning and opaque data stay where they were",
     "[" REASONING("hm") "," OPAQUE "," TEXT("a") "]", GUDGEON_FINISH_STOP,
     "[" REASONING("hm") "," OPAQUE "," TEXT("a") "]", "", "a", .calls = 0},
    {"a call", "[" CALL("now", "{\\\"a\\\": 1}") "]", GUDGEON_FINISH_STOP,
     "[" TAKEN("now", "{\\\"a\\\": 1}") "]", "", "", .calls = 1},
    {"the backend's id is kept beside ours",
     "[{\"type\":\"tool_call\",\"wire_id\":\"call_1\",\"name\":\"now\",\"arguments\":\"{}\"}]",
     GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"wire_id\":\"call_1\",\"name\":\"now\","
     "\"arguments\":\"{}\"}]",
     "", "", .calls = 1},
    {"no arguments at all", "[{\"type\":\"tool_call\",\"name\":\"now\"}]", GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"now\",\"arguments\":\"{}\",\"raw\":\"\"}]",
     "", "", .calls = 1},
    {"repaired arguments, what was written beside them", "[" CALL("now", "{'a': True}") "]",
     GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"now\",\"arguments\":\"{\\\"a\\\": true}\","
     "\"raw\":\"{'a': True}\"}]",
     "", "", .calls = 1},
    {"hopeless arguments", "[" CALL("now", "[1") "]", GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"now\",\"arguments\":\"{}\",\"raw\":\"[1\"}"
     "]",
     "", "", .calls = 1},
    {"a name that no dialect takes back", "[" CALL("get.it \xc3\xa4", "{}") "]",
     GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"get_it___\",\"raw_name\":\"get.it "
     "\xc3\xa4\""
     ",\"arguments\":\"{}\"}]",
     "", "", .calls = 1},
    {"no name", "[" CALL("", "{}") "]", GUDGEON_FINISH_CALLS,
     "[{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"unnamed\",\"raw_name\":\"\",\"arguments\":"
     "\"{}\"}]",
     "", "", .calls = 1},
    {"cut: calls may not run, half a thought may not go back",
     "[" REASONING("hm") "," OPAQUE
                         "," TEXT("a") "," CALL("now", "{}") "," CALL("now", "{\\\"a") "]",
     GUDGEON_FINISH_LENGTH, "[" TEXT("a") "]",
     "[" TAKEN("now",
               "{}") ",{\"type\":\"tool_call\",\"id\":\"ID\",\"name\":\"now\",\"arguments\":\"{}\","
                     "\"raw\":\"{\\\"a\"}]",
     "a", .calls = 0},
    {"cut inside a thought", "[" REASONING("hm") "]", GUDGEON_FINISH_LENGTH,
     "[" HOST("(cut off)") "]", "", "", .empty = true},
    {"nothing", "[]", GUDGEON_FINISH_STOP, "[" HOST("(empty reply)") "]", "", "", .empty = true},
    {"a thought alone", "[" REASONING("hm") "]", GUDGEON_FINISH_STOP,
     "[" REASONING("hm") "," HOST("(empty reply)") "]", "", "", .empty = true},
    {"a refusal", "[{\"type\":\"refusal\",\"text\":\"no\"}]", GUDGEON_FINISH_STOP,
     "[{\"type\":\"refusal\",\"text\":\"no\"}]", "", "", .empty = true, .refused = true},
    {"a refusal without a word", "[]", GUDGEON_FINISH_REFUSAL, "[" HOST("(empty reply)") "]", "",
     "", .empty = true, .refused = true},
    {"blocks of the future are passed over", "[{\"type\":\"song\",\"text\":\"x\"}," TEXT("a") "]",
     GUDGEON_FINISH_STOP, "[" TEXT("a") "]", "", "a", .calls = 0},
};

static void test_rows(void)
{
    struct intake *intake = intake_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct reply *reply = read_as(rows[i].content, rows[i].finish, intake);
        CLEANUP(free_ptr) char *blocks = without_ids(&reply->blocks);
        CLEANUP(free_ptr) char *dropped = without_ids(&reply->dropped);
        bool good = strcmp(blocks, rows[i].blocks) == 0 && strcmp(dropped, rows[i].dropped) == 0 &&
                    reply->call_count == rows[i].calls && reply->empty == rows[i].empty &&
                    reply->refused == rows[i].refused;
        if (!good)
            printf("#   %s: %s, dropped %s\n", rows[i].name, blocks, dropped);
        CU_ASSERT(good);
        CHECK_STR(reply->text.data, rows[i].text);
        reply_free(reply);
    }
    intake_free(intake);
}

static void test_calls(void)
{
    struct intake *intake = intake_new();
    struct reply *reply = read_as("[" CALL("a.b", "{\\\"x\\\":1}") "," CALL("c", "]") "]",
                                  GUDGEON_FINISH_CALLS, intake);
    CU_ASSERT_EQUAL_FATAL(reply->call_count, 2);
    CHECK_STR(reply->calls[0].name, "a.b");
    CHECK_STR(reply->calls[0].arguments.object, "{\"x\":1}");
    CU_ASSERT_TRUE(reply->calls[0].arguments.valid);
    CHECK_STR(reply->calls[1].name, "c");
    CU_ASSERT_FALSE(reply->calls[1].arguments.valid);
    CU_ASSERT_PTR_NOT_NULL(reply->calls[1].arguments.fault);
    CU_ASSERT_PTR_NOT_NULL(strstr(reply->blocks.data, reply->calls[0].id));
    CU_ASSERT_STRING_NOT_EQUAL(reply->calls[0].id, reply->calls[1].id);
    reply_free(reply);
    intake_free(intake);
}

static void test_too_many(void)
{
    struct intake *intake = intake_new();
    struct buf content = BUF_INIT(BUF_MAX_ANY);
    buf_add_char(&content, '[');
    for (int i = 0; i < REPLY_CALLS_MAX + 2; i++)
        buf_addf(&content, CALL("c%d", "{}") ",", i);
    buf_add_str(&content, TEXT("x") "]");
    struct reply *reply = read_as(content.data, GUDGEON_FINISH_CALLS, intake);
    CU_ASSERT_EQUAL(reply->call_count, REPLY_CALLS_MAX);
    CU_ASSERT_EQUAL(reply->dropped_count, 2);
    CLEANUP(free_ptr) char *dropped = without_ids(&reply->dropped);
    CHECK_STR(dropped, "[" TAKEN("c128", "{}") "," TAKEN("c129", "{}") "]");
    CU_ASSERT_PTR_NULL(strstr(reply->blocks.data, "c128"));
    buf_fini(&content);
    reply_free(reply);
    intake_free(intake);
}

static void test_long_name(void)
{
    struct intake *intake = intake_new();
    struct buf content = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&content, "[{\"type\":\"tool_call\",\"arguments\":\"{}\",\"name\":\"");
    for (int i = 0; i < 1 << 20; i++)
        buf_add_str(&content, "\xc3\xa4");
    buf_add_str(&content, "\"}]");
    struct reply *reply = read_as(content.data, GUDGEON_FINISH_CALLS, intake);
    CU_ASSERT_EQUAL(strlen(reply->calls[0].name), 256);
    CU_ASSERT(reply->blocks.len < 500);
    buf_fini(&content);
    reply_free(reply);
    intake_free(intake);
}

static void test_refused(void)
{
    struct intake *intake = intake_new();
    struct reply *reply = NULL;
    struct err err = {0};
    gudgeon_reply raw = {.size = sizeof raw, .content = str_of("{}")};
    CU_ASSERT_EQUAL(reply_read(&raw, intake, &reply, &err), ERR_PROTOCOL);
    CU_ASSERT_EQUAL(reply_read(&raw, intake, &reply, NULL), ERR_PROTOCOL);
    raw.content = str_of("[");
    CU_ASSERT_EQUAL(reply_read(&raw, intake, &reply, NULL), ERR_PROTOCOL);

    struct buf content = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&content, "[{\"type\":\"text\",\"text\":\"");
    size_t text = content.len;
    buf_reserve(&content, REPLY_BYTES_MAX);
    memset(content.data + text, 'x', REPLY_BYTES_MAX);
    content.len += REPLY_BYTES_MAX;
    buf_add_str(&content, "\"}]");
    raw.content = (gudgeon_str){content.data, content.len};
    CU_ASSERT_EQUAL(reply_read(&raw, intake, &reply, &err), ERR_LIMIT);
    CHECK_STR(err.text, "the reply is over 24 MiB");
    CU_ASSERT_PTR_NULL(reply);
    buf_fini(&content);
    intake_free(intake);
}

/* The provider's own data goes back byte for byte or, with a secret in it, not at all. */
static void test_masked(void)
{
    struct intake *intake = intake_new();
    intake_add_secret(intake, "hunter2");
    struct reply *reply = read_as(
        "[" TEXT("a hunter2") "," REASONING(
            "hunter2") ","
                       "{\"type\":\"opaque\",\"kind\":\"sig\",\"data\":\"hunter2\"},"
                       "{\"type\":\"opaque\",\"kind\":\"sig\",\"data\":\"hunter\"},"
                       "{\"type\":\"tool_call\",\"wire_id\":\"hunter2\",\"name\":\"hunter2\","
                       "\"arguments\":\"{\\\"hunter2\\\":\\\"hunter2\\\"}\"}]",
        GUDGEON_FINISH_CALLS, intake);
    CLEANUP(free_ptr) char *blocks = without_ids(&reply->blocks);
    CHECK_STR(blocks,
              "[" TEXT("a {secret}") "," REASONING(
                  "{secret}") ","
                              "{\"type\":\"opaque\",\"kind\":\"sig\",\"data\":\"hunter\"},"
                              "{\"type\":\"tool_call\",\"id\":\"ID\",\"wire_id\":\"{secret}\","
                              "\"name\":\"_secret_\",\"raw_name\":\"{secret}\","
                              "\"arguments\":\"{\\\"{secret}\\\":\\\"{secret}\\\"}\"}]");
    CHECK_STR(reply->text.data, "a {secret}");
    reply_free(reply);
    intake_free(intake);
}

static void test_write(void)
{
    struct intake *intake = intake_new();
    struct buf long_label = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 5000; i++)
        buf_add_str(&long_label, "\xc3\xa4");
    gudgeon_reply raw = {.size = sizeof raw,
                         .finish = 77,
                         .content = str_of("[" TEXT("a") "]"),
                         .finish_raw = str_of("weird\n"),
                         .response_id = {long_label.data, long_label.len},
                         .origin = str_of("o"),
                         .usage_known = GUDGEON_USAGE_OUTPUT,
                         .input_tokens = 5,
                         .output_tokens = UINT64_MAX};
    struct reply *reply = NULL;
    CU_ASSERT_EQUAL_FATAL(reply_read(&raw, intake, &reply, NULL), 0);
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    reply_write(reply, &writer);
    json_end_object(&writer);
    CLEANUP(json_cleanup) struct json_object *written = NULL;
    CU_ASSERT_EQUAL_FATAL(json_read_object((gudgeon_str){out.data, out.len}, &written, NULL), 0);
    CU_ASSERT(str_is(json_get_str(written, "finish"), "other"));
    CU_ASSERT(str_is(json_get_str(written, "finish_raw"), "weird\n"));
    CU_ASSERT(str_is(json_get_str(written, "origin"), "o"));
    CU_ASSERT_EQUAL(json_get_str(written, "response_id").len, 1024);
    CU_ASSERT_PTR_NULL(json_get(written, "served"));
    CU_ASSERT_PTR_NULL(json_get(written, "dropped"));
    CU_ASSERT_EQUAL(json_get_int(json_get(written, "usage"), "output", 0), INT64_MAX / 1024);
    CU_ASSERT_PTR_NULL(json_get(json_get(written, "usage"), "input"));
    buf_fini(&out);
    buf_fini(&long_label);
    reply_free(reply);
    intake_free(intake);
}

static void test_ids(void)
{
    char ids[200][CALL_ID_SIZE];
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        call_id_new(ids[i]);
        CU_ASSERT_EQUAL(strspn(ids[i], "abcdefghijklmnopqrstuvwxyz0123456789"), 9);
        CU_ASSERT_EQUAL(ids[i][9], '\0');
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_STRING_NOT_EQUAL(ids[i], ids[j]);
    }
}

int main(void)
{
    UNIT_MAIN("reply", {"blocks of every kind", test_rows}, {"the calls", test_calls},
              {"more calls than are taken", test_too_many}, {"a name without end", test_long_name},
              {"what is no reply", test_refused}, {"secrets", test_masked},
              {"what model.replied says", test_write}, {"call ids", test_ids});
}
