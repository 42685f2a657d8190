/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "sys/cancel.h"
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

static struct call *begun(const struct call_options *options, enum result_kind gives)
{
    struct call *call = call_new(options);
    call_begin(call, &(struct call_op){.gives = gives});
    return call;
}

static const struct call_options plain;

static int32_t stream(struct call *call, uint32_t channel, const char *bytes)
{
    gudgeon_delta delta = {
        .size = sizeof delta, .channel = channel, .bytes = {bytes, strlen(bytes)}};
    return call_abi(call)->delta(call_abi(call), &delta);
}

static int32_t answer(struct call *call, const void *result)
{
    return call_abi(call)->result(call_abi(call), result);
}

static int32_t answer_text(struct call *call, const char *text)
{
    gudgeon_tool_result result = {.size = sizeof result, .text = str_of(text)};
    return answer(call, &result);
}

/* ---- results --------------------------------------------------------------------------------- */

static void test_copies(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    char text[] = "out", content[] = "[{\"type\":\"text\",\"text\":\"x\"}]", data[] = "1.50";
    gudgeon_tool_result result = {.size = sizeof result,
                                  .flags = GUDGEON_IS_ERROR | 0x80,
                                  .text = {text, 2},
                                  .content = str_of(content),
                                  .data = str_of(data)};
    CU_ASSERT_EQUAL(answer(call, &result), 0);
    memset(text, 'z', sizeof text - 1);
    memset(content, 'z', sizeof content - 1);
    memset(data, 'z', sizeof data - 1);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    const gudgeon_tool_result *kept = call_tool_result(call);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    CHECK_STR(kept->text.ptr, "ou");
    CHECK_STR(kept->content.ptr, "[{\"type\":\"text\",\"text\":\"x\"}]");
    CHECK_STR(kept->data.ptr, "1.50");
    CU_ASSERT_EQUAL(kept->flags, GUDGEON_IS_ERROR);
    CU_ASSERT_PTR_NULL(call_reply(call));
    call_free(call);
}

static void test_reply(void)
{
    struct call *call = begun(&plain, RESULT_REPLY);
    gudgeon_reply reply = {.size = sizeof reply,
                           .finish = 77,
                           .finish_raw = {"st\xffop", 5},
                           .usage_known = 0xffff,
                           .input_tokens = 7};
    CU_ASSERT_EQUAL(answer(call, &reply), 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(call_reply(call));
    CU_ASSERT_EQUAL(call_reply(call)->finish, GUDGEON_FINISH_OTHER);
    CHECK_STR(call_reply(call)->finish_raw.ptr, "st\xef\xbf\xbdop");
    CHECK_STR(call_reply(call)->content.ptr, "[]");
    CU_ASSERT_PTR_NULL(call_reply(call)->origin.ptr);
    CU_ASSERT_EQUAL(call_reply(call)->usage_known, 0x1f);
    CU_ASSERT_EQUAL(call_reply(call)->input_tokens, 7);
    call_free(call);
}

/* A plugin of a later minor has a longer struct; its first fields are read. */
static void test_future_struct(void)
{
    struct {
        gudgeon_capabilities known;
        uint64_t newer;
    } future = {.known = {.size = sizeof future, .can = 1, .window_tokens = 9}, .newer = 1};
    struct call *call = begun(&plain, RESULT_CAPABILITIES);
    CU_ASSERT_EQUAL(answer(call, &future), 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(call_capabilities(call));
    CU_ASSERT_EQUAL(call_capabilities(call)->size, sizeof(gudgeon_capabilities));
    CU_ASSERT_EQUAL(call_capabilities(call)->window_tokens, 9);
    call_free(call);
}

static void test_malformed(void)
{
    static const gudgeon_tool_result rows[] = {
        {.size = sizeof rows[0] - 8},
        {.size = 0},
        {.size = sizeof rows[0], .text = {NULL, 3}},
        {.size = sizeof rows[0], .content = {"{}", 2}},
        {.size = sizeof rows[0], .content = {"[1]", 3}},
        {.size = sizeof rows[0], .content = {"[{\"type\":1}]", 12}},
        {.size = sizeof rows[0], .content = {"[{}]", 4}},
        {.size = sizeof rows[0], .content = {"[]]", 3}},
        {.size = sizeof rows[0], .content = {"", 0}},
        {.size = sizeof rows[0], .data = {"NaN", 3}},
        {.size = sizeof rows[0], .data = {"\"\xff\"", 3}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct call *call = begun(&plain, RESULT_TOOL_RESULT);
        CU_ASSERT_EQUAL(answer(call, &rows[i]), GUDGEON_INVALID);
        CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
        CU_ASSERT(call_error(call)->message[0] != '\0');
        CU_ASSERT_PTR_NULL(call_tool_result(call));
        call_free(call);
    }
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    CU_ASSERT_EQUAL(answer(call, NULL), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
    call_free(call);
}

static void test_too_large(void)
{
    gudgeon_tool_result huge = {.size = sizeof huge, .text = {"x", RESULT_MAX_BYTES}};
    huge.data = (gudgeon_str){"1", 1};
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    CU_ASSERT_EQUAL(answer(call, &huge), GUDGEON_LIMIT);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_LIMIT);
    call_free(call);
    call = begun(&plain, RESULT_TOOL_RESULT);
    huge.text.len = UINT64_MAX;
    CU_ASSERT_EQUAL(answer(call, &huge), GUDGEON_LIMIT);
    CU_ASSERT_EQUAL(answer_text(call, "a smaller one"), GUDGEON_OK);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    call_free(call);
}

static void count_tool(void *payload, const gudgeon_tool *tool)
{
    buf_addf(payload, "%s %s;", tool->name.ptr, tool->parameters.ptr ? tool->parameters.ptr : "-");
}

static void test_list(void)
{
    struct buf seen = BUF_INIT(1000);
    const gudgeon_tool a = {.size = sizeof a, .name = {"ab", 1}, .parameters = {"{}", 2}};
    const gudgeon_tool b = {.size = sizeof b, .name = {"b", 1}};
    const gudgeon_tool unnamed = {.size = sizeof unnamed};
    const gudgeon_tool array = {.size = sizeof array, .name = {"c", 1}, .parameters = {"[]", 2}};
    const struct call_op op = {.gives = RESULT_TOOL, .on_tool = count_tool, .payload = &seen};
    struct call *call = call_new(&plain);
    call_begin(call, &op);
    CU_ASSERT_EQUAL(answer(call, &a), 0);
    CU_ASSERT_EQUAL(answer(call, &b), 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CHECK_STR(seen.data, "a {};b -;");
    call_free(call);
    call = call_new(&plain);
    call_begin(call, &op);
    CU_ASSERT_EQUAL(answer(call, &unnamed), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(answer(call, &array), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
    CHECK_STR(seen.data, "a {};b -;");
    call_free(call);
    buf_fini(&seen);
}

/* ---- what the op returns --------------------------------------------------------------------- */

static void test_classes(void)
{
    static const struct {
        enum result_kind gives;
        bool answers;
        int32_t op_class;
        int code;
        const char *message;
    } rows[] = {
        {RESULT_TOOL_RESULT, true, GUDGEON_OK, 0, ""},
        {RESULT_TOOL_RESULT, false, GUDGEON_OK, ERR_PROTOCOL,
         "the plugin returned success without a result"},
        {RESULT_TOOL, false, GUDGEON_OK, 0, ""},
        {RESULT_NONE, false, GUDGEON_OK, 0, ""},
        {RESULT_NONE, true, GUDGEON_OK, ERR_PROTOCOL,
         "the plugin gave a result where none is owed"},
        {RESULT_TOOL_RESULT, true, GUDGEON_RETRY, ERR_RETRY, ""},
        {RESULT_TOOL_RESULT, false, GUDGEON_PROTOCOL, ERR_PROTOCOL, ""},
        {RESULT_TOOL_RESULT, false, GUDGEON_CLASS_COUNT, ERR_INVALID,
         "the plugin returned a class that this host does not know"},
        {RESULT_TOOL_RESULT, true, INT32_MAX, ERR_INVALID,
         "the plugin returned a class that this host does not know"},
        {RESULT_TOOL_RESULT, true, -1, ERR_PROTOCOL,
         "the plugin returned a value that is no class"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct call *call = begun(&plain, rows[i].gives);
        if (rows[i].answers)
            answer_text(call, "t");
        CU_ASSERT_EQUAL(call_end(call, rows[i].op_class), rows[i].code);
        CHECK_STR(call_error(call)->message, rows[i].message);
        CU_ASSERT_EQUAL(call_tool_result(call) != NULL, rows[i].code == 0 && rows[i].answers);
        call_free(call);
    }
}

static void test_twice(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    CU_ASSERT_EQUAL(answer_text(call, "one"), GUDGEON_OK);
    CU_ASSERT_EQUAL(answer_text(call, "two"), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
    CHECK_STR(call_error(call)->message, "the plugin answered twice");
    call_free(call);
}

static void test_error(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    gudgeon_error error = {.size = sizeof error, .message = {"first", 5}};
    call_abi(call)->error(call_abi(call), &error);
    error = (gudgeon_error){.size = sizeof error,
                            .http_status = 429,
                            .retry_after_ms = 1500,
                            .message = {"slow\ndown\xff!", 11},
                            .provider_code = {"rate", 4},
                            .grant = {"{\"exec\":true}", 13}};
    call_abi(call)->error(call_abi(call), &error);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_RETRY), ERR_RETRY);
    const struct call_error *kept = call_error(call);
    CU_ASSERT_EQUAL(kept->http_status, 429);
    CU_ASSERT_EQUAL(kept->retry_after_ms, 1500);
    CHECK_STR(kept->message, "slow down\xef\xbf\xbd!");
    CHECK_STR(kept->provider_code, "rate");
    CHECK_STR(kept->grant, "{\"exec\":true}");
    call_free(call);
}

static void test_error_malformed(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    gudgeon_error error = {.size = sizeof error, .grant = {"[1", 2}};
    call_abi(call)->error(call_abi(call), &error);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_REFUSED), ERR_REFUSED);
    CHECK_STR(call_error(call)->grant, "");
    CHECK_STR(call_error(call)->message, "");
    call_free(call);
    call = begun(&plain, RESULT_TOOL_RESULT);
    error.size = 8;
    call_abi(call)->error(call_abi(call), &error);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_REFUSED), ERR_PROTOCOL);
    call_free(call);
}

/* ---- deltas ---------------------------------------------------------------------------------- */

static int collect(void *payload, const gudgeon_delta *delta)
{
    struct buf *seen = payload;
    buf_addf(seen, "%u:", delta->channel);
    buf_add(seen, delta->bytes.ptr, delta->bytes.len);
    return seen->len > 30;
}

static void test_deltas(void)
{
    struct buf seen = BUF_INIT(1000);
    struct call_options options = {.on_delta = collect, .payload = &seen};
    struct call *call = begun(&options, RESULT_REPLY);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_PROGRESS, "p"), 0);
    CU_ASSERT_EQUAL(stream(call, 99, "newer channel"), 0);
    CU_ASSERT_FALSE(call_has_shown(call));
    CU_ASSERT_EQUAL(stream(call, GUDGEON_TEXT, "t"), 0);
    CU_ASSERT_TRUE(call_has_shown(call));
    CHECK_STR(seen.data, "6:p1:t");
    CU_ASSERT_EQUAL(call_output(call).len, 0);
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_TEXT, "and so on, for quite a while"), 0);
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_TEXT, ""), 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_CANCELLED), ERR_CANCELLED);
    CU_ASSERT_TRUE(call_has_shown(call));
    call_free(call);
    buf_fini(&seen);
}

static void test_output(void)
{
    struct buf seen = BUF_INIT(1000);
    struct call_options options = {.on_delta = collect, .payload = &seen, .output_max = 8};
    struct call *call = begun(&options, RESULT_TOOL_RESULT);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDOUT, "out"), 0);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDERR, "err"), 0);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDOUT, "!!"), 0);
    CU_ASSERT_FALSE(call_output_is_cut(call));
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_STDOUT, "over"), 0);
    CU_ASSERT_TRUE(call_output_is_cut(call));
    CHECK_STR(call_output(call).ptr, "outerr!!");
    CHECK_STR(seen.data, "4:out5:err4:!!4:");
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_TIMEOUT), ERR_TIMEOUT);
    CHECK_STR(call_output(call).ptr, "outerr!!");
    call_free(call);
    buf_fini(&seen);
}

static void test_delta_malformed(void)
{
    static const gudgeon_delta rows[] = {
        {.size = sizeof rows[0] - 16, .channel = GUDGEON_STDOUT},
        {.size = sizeof rows[0], .channel = GUDGEON_STDOUT, .bytes = {NULL, 1}},
        {.size = sizeof rows[0], .channel = GUDGEON_ARGUMENTS, .name = {NULL, 1}},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct call *call = begun(&plain, RESULT_NONE);
        CU_ASSERT_NOT_EQUAL(call_abi(call)->delta(call_abi(call), &rows[i]), 0);
        CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
        call_free(call);
    }
}

/* ---- threads, cancel, deadline --------------------------------------------------------------- */

static void *misuse(void *payload)
{
    struct call *call = payload;
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_STDOUT, "x"), 0);
    CU_ASSERT_EQUAL(answer_text(call, "x"), GUDGEON_INVALID);
    const gudgeon_error error = {.size = sizeof error, .message = {"no", 2}};
    call_abi(call)->error(call_abi(call), &error);
    call_abi(call)->deadline_ns(call_abi(call)); /* these are allowed */
    CU_ASSERT(call_abi(call)->cancel_fd(call_abi(call)) >= 0);
    CU_ASSERT_EQUAL(call_abi(call)->cancelled(call_abi(call)), 0);
    return NULL;
}

static void test_wrong_thread(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    pthread_t thread;
    pthread_create(&thread, NULL, misuse, call);
    CU_ASSERT_EQUAL(answer_text(call, "mine"), GUDGEON_OK);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(call_output(call).len, 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), ERR_PROTOCOL);
    CHECK_STR(call_error(call)->message, "the plugin used a call on another thread than its own");
    call_free(call);
}

static void test_after_end(void)
{
    struct call *call = begun(&plain, RESULT_TOOL_RESULT);
    CU_ASSERT_EQUAL(answer_text(call, "in time"), GUDGEON_OK);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_STDOUT, "late"), 0);
    CU_ASSERT_EQUAL(answer_text(call, "late"), GUDGEON_INVALID);
    CHECK_STR(call_tool_result(call)->text.ptr, "in time");
    CU_ASSERT_EQUAL(call_output(call).len, 0);
    call_free(call);
    call_free(NULL);
}

static void test_cancel(void)
{
    struct cancel run;
    cancel_init(&run, NULL);
    struct call_options options = {.id = "r/c", .parent = &run};
    struct call *call = begun(&options, RESULT_TOOL_RESULT);
    CHECK_STR(call_abi(call)->id.ptr, "r/c");
    struct pollfd wait = {.fd = call_abi(call)->cancel_fd(call_abi(call)), .events = POLLIN};
    CU_ASSERT_EQUAL(poll(&wait, 1, 0), 0);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDOUT, "a"), 0);
    cancel_set(&run);
    CU_ASSERT_EQUAL(poll(&wait, 1, 0), 1);
    CU_ASSERT_EQUAL(call_abi(call)->cancelled(call_abi(call)), 1);
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_STDOUT, "b"), 0);
    CHECK_STR(call_output(call).ptr, "ab");
    call_end(call, GUDGEON_CANCELLED);
    call_free(call);
    cancel_fini(&run);
}

static void test_cancel_one(void)
{
    struct cancel run;
    cancel_init(&run, NULL);
    struct call_options options = {.parent = &run};
    struct call *call = begun(&options, RESULT_NONE);
    CU_ASSERT_PTR_NULL(call_abi(call)->id.ptr);
    cancel_set(call_cancel(call));
    CU_ASSERT_TRUE(call_abi(call)->cancelled(call_abi(call)));
    CU_ASSERT_FALSE(cancel_is_set(&run));
    call_end(call, GUDGEON_OK);
    call_free(call);
    cancel_fini(&run);
}

static void test_deadline(void)
{
    clock_set_fake(true);
    struct call_options options = {.deadline_ns = clock_monotonic_ns() + 100};
    struct call *call = begun(&options, RESULT_NONE);
    CU_ASSERT_EQUAL(call_abi(call)->deadline_ns(call_abi(call)), options.deadline_ns);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDOUT, "a"), 0);
    clock_fake_advance(100);
    CU_ASSERT_NOT_EQUAL(stream(call, GUDGEON_STDOUT, "b"), 0);
    call_set_deadline(call, INT64_MAX);
    CU_ASSERT_EQUAL(stream(call, GUDGEON_STDOUT, "c"), 0);
    call_end(call, GUDGEON_OK);
    call_free(call);
    call = begun(&plain, RESULT_NONE);
    CU_ASSERT_EQUAL(call_abi(call)->deadline_ns(call_abi(call)), INT64_MAX);
    call_end(call, GUDGEON_OK);
    call_free(call);
    clock_set_fake(false);
}

/* ---- resources ------------------------------------------------------------------------------- */

struct noted {
    struct call_resource base;
    struct buf *seen;
    const char *name;
};

static void note_release(struct call_resource *resource)
{
    struct noted *noted = (struct noted *)resource;
    buf_add_str(noted->seen, noted->name);
}

static void test_resources(void)
{
    struct buf seen = BUF_INIT(100);
    struct noted a = {{note_release, NULL}, &seen, "a"}, b = {{note_release, NULL}, &seen, "b"},
                 c = {{note_release, NULL}, &seen, "c"};
    struct call *call = begun(&plain, RESULT_NONE);
    CU_ASSERT_PTR_NULL(call_find(call, note_release));
    call_own(call, &a.base);
    call_own(call, &b.base);
    call_own(call, &c.base);
    CU_ASSERT_PTR_EQUAL(call_find(call, note_release), &c.base);
    CU_ASSERT_TRUE(call_disown(call, &b.base));
    CU_ASSERT_FALSE(call_disown(call, &b.base));
    CU_ASSERT_EQUAL(seen.len, 0);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CHECK_STR(seen.data, "ca");
    call_free(call);
    buf_fini(&seen);
}

int main(void)
{
    UNIT_MAIN(
        "call", {"results are deep copies", test_copies},
        {"a reply's unknowns are mapped", test_reply},
        {"a longer struct is read by its known fields", test_future_struct},
        {"malformed results", test_malformed}, {"too large results", test_too_large},
        {"listed tools", test_list}, {"every class", test_classes}, {"a second answer", test_twice},
        {"error detail", test_error}, {"malformed error detail", test_error_malformed},
        {"deltas reach the listener, which can stop", test_deltas},
        {"output is kept to its cap", test_output}, {"malformed deltas", test_delta_malformed},
        {"another thread", test_wrong_thread}, {"after the end", test_after_end},
        {"cancel from above", test_cancel}, {"cancel of one call", test_cancel_one},
        {"the deadline", test_deadline}, {"resources are released, last first", test_resources});
}
