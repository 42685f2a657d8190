/* SPDX-License-Identifier: MIT */
#include "agent/memory.h"
#include "base/err.h"
#include "base/str.h"
#include "event/event.h"
#include "unit.h"

#include <stdlib.h>

static int64_t seq;

/* Applies one event given by its type and fields. */
static int apply(struct memory *memory, const char *type, const char *fields)
{
    CLEANUP(free_ptr)
    char *line =
        xasprintf("{\"v\":1,\"run\":\"r\",\"seq\":%lld,\"time\":\"2026-11-30T00:00:00.000Z\","
                  "\"at_ms\":0,\"type\":\"%s\"%s%s}",
                  (long long)++seq, type, fields[0] ? "," : "", fields);
    struct event event;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(event_parse(str_of(line), &event, &err), 0);
    int status = memory_apply(memory, &event, &err);
    event_release(&event);
    return status;
}

static struct memory *started(void)
{
    seq = 0;
    struct memory *memory = memory_new();
    apply(memory, "run.started", "\"task\":\"do it\"");
    apply(memory, "message.added",
          "\"role\":\"system\",\"why\":\"system\",\"blocks\":[{\"type\":\"text\",\"text\":\"S\"}]");
    return memory;
}

static void reply(struct memory *memory, const char *blocks)
{
    CLEANUP(free_ptr) char *fields = xasprintf("\"blocks\":%s", blocks);
    apply(memory, "model.requested", "\"purpose\":\"action\"");
    apply(memory, "model.replied", fields);
}

static void finish(struct memory *memory, const char *id, const char *text)
{
    CLEANUP(free_ptr)
    char *fields = xasprintf("\"id\":\"%s\",\"result\":[{\"type\":\"text\",\"text\":\"%s\"}],"
                             "\"is_error\":false",
                             id, text);
    apply(memory, "call.finished", fields);
}

/* "role:content|role:content" */
static char *shown(struct memory *memory)
{
    const gudgeon_msg *const *messages;
    size_t count;
    struct err err = {0};
    if (memory_messages(memory, &messages, &count, &err) < 0)
        return xasprintf("refused: %s", err.text);
    char *all = xstrdup("");
    for (size_t i = 0; i < count; i++) {
        char *more = xasprintf("%s%s%s:%s", all, i ? "|" : "", messages[i]->role.ptr,
                               messages[i]->content.ptr);
        free(all);
        all = more;
    }
    return all;
}

#define CALL(id)   "{\"type\":\"tool_call\",\"id\":\"" id "\",\"name\":\"t\",\"arguments\":\"{}\"}"
#define TEXT(text) "[{\"type\":\"text\",\"text\":\"" text "\"}]"
#define RESULT(id, text)                                                                           \
    "tool:[{\"type\":\"tool_result\",\"id\":\"" id                                                 \
    "\",\"name\":\"t\",\"content\":" TEXT(text) ",\"is_error\":false}]"

static void test_order(void)
{
    struct memory *memory = started();
    CLEANUP(free_ptr) char *first = shown(memory);
    CHECK_STR(first, "system:" TEXT("S") "|user:" TEXT("do it"));
    reply(memory, "[" CALL("a") "," CALL("b") "]");
    CU_ASSERT_EQUAL(memory_open_calls(memory), 2);
    finish(memory, "b", "second");
    CLEANUP(free_ptr) char *open = shown(memory);
    CHECK_STR(open, "refused: 1 call(s) have no result yet");
    finish(memory, "nested", "of no call of this turn");
    finish(memory, "a", "first");
    CLEANUP(free_ptr) char *all = shown(memory);
    CHECK_STR(all, "system:" TEXT("S") "|user:" TEXT("do it") "|assistant:[" CALL("a") "," CALL(
                       "b") "]|" RESULT("a", "first") "|" RESULT("b", "second"));
    memory_free(memory);
}

static void test_never_after_assistant(void)
{
    struct memory *memory = started();
    reply(memory, TEXT("hm"));
    CLEANUP(free_ptr) char *refused = shown(memory);
    CHECK_STR(refused, "refused: the last message is the model's own");
    apply(memory, "message.added", "\"role\":\"user\",\"why\":\"nudge\",\"blocks\":" TEXT("go on"));
    apply(memory, "message.added",
          "\"role\":\"user\",\"why\":\"nudge\",\"blocks\":" TEXT("please"));
    CLEANUP(free_ptr) char *merged = shown(memory);
    CHECK_STR(merged, "system:" TEXT("S") "|user:" TEXT("do it") "|assistant:" TEXT(
                          "hm") "|user:[{\"type\":\"text\",\"text\":\"go on\"},{\"type\":\"text\","
                                "\"text\":\"please\"}]");
    memory_free(memory);
}

static void test_other_purposes_leave_no_trace(void)
{
    struct memory *memory = started();
    apply(memory, "model.requested", "\"purpose\":\"summary\"");
    apply(memory, "model.replied", "\"blocks\":" TEXT("a summary"));
    apply(memory, "something.new", "\"x\":1");
    CLEANUP(free_ptr) char *all = shown(memory);
    CHECK_STR(all, "system:" TEXT("S") "|user:" TEXT("do it"));
    memory_free(memory);
}

static void test_ids_and_origin(void)
{
    struct memory *memory = started();
    apply(memory, "model.requested", "\"purpose\":\"action\"");
    apply(memory, "model.replied", "\"origin\":\"o1\",\"blocks\":[" CALL("a") "]");
    finish(memory, "a", "x");
    const gudgeon_msg *const *messages;
    size_t count;
    CU_ASSERT_EQUAL(memory_messages(memory, &messages, &count, NULL), 0);
    CU_ASSERT_EQUAL(messages[0]->id, 2);
    CU_ASSERT_EQUAL(messages[1]->id, 1);
    CU_ASSERT_EQUAL(messages[2]->id, 4);
    CU_ASSERT_EQUAL(messages[3]->id, 5);
    CHECK_STR(messages[2]->origin.ptr, "o1");
    memory_free(memory);
}

/* The digest of a history that grew is that of the same history made at once. */
static void test_digest(void)
{
    char grown[65], again[65], other[65];
    for (int round = 0; round < 2; round++) {
        struct memory *memory = started();
        if (round == 0)
            memory_digest(memory, grown);
        reply(memory, "[" CALL("a") "]");
        finish(memory, "a", "x");
        memory_digest(memory, round == 0 ? grown : again);
        if (round == 1) {
            apply(memory, "message.added", "\"role\":\"user\",\"why\":\"n\",\"blocks\":" TEXT("y"));
            memory_digest(memory, other);
        }
        memory_free(memory);
    }
    CHECK_STR(again, grown);
    CU_ASSERT_NOT_EQUAL(strcmp(other, grown), 0);
}

static const struct {
    const char *type, *fields;
} damaged[] = {
    {"message.added", "\"role\":\"user\",\"why\":\"x\""},
    {"message.added", "\"role\":\"user\",\"why\":\"x\",\"blocks\":\"text\""},
    {"message.added", "\"role\":\"tool\",\"why\":\"x\",\"blocks\":[]"},
    {"model.replied", ""},
    {"model.replied", "\"blocks\":{}"},
    {"call.finished", "\"id\":\"a\""},
    {"call.finished", "\"id\":\"a\",\"result\":\"text\""},
};

/* A journal that was tampered with or half restored is refused, and what stands is not touched. */
static void test_damaged(void)
{
    for (size_t i = 0; i < COUNT_OF(damaged); i++) {
        struct memory *memory = started();
        apply(memory, "model.requested", "\"purpose\":\"action\"");
        CLEANUP(free_ptr) char *before = shown(memory);
        CU_ASSERT_EQUAL(apply(memory, damaged[i].type, damaged[i].fields), ERR_INVALID);
        CLEANUP(free_ptr) char *after = shown(memory);
        CHECK_STR(after, before);
        memory_free(memory);
    }
}

/* A word of the user's while a call is open: the result still gets its place before it. */
static void test_word_between(void)
{
    struct memory *memory = started();
    reply(memory, "[{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"t\",\"arguments\":\"{}\"}]");
    apply(memory, "message.added",
          "\"role\":\"user\",\"why\":\"x\",\"blocks\":[{\"type\":\"text\",\"text\":\"hurry\"}]");
    finish(memory, "a", "done");
    CU_ASSERT_EQUAL(memory_open_calls(memory), 0);
    const gudgeon_msg *const *messages;
    size_t count;
    CU_ASSERT_EQUAL_FATAL(memory_messages(memory, &messages, &count, NULL), 0);
    CU_ASSERT_EQUAL_FATAL(count, 5);
    CU_ASSERT(str_is(messages[3]->role, "tool") && str_is(messages[4]->role, "user"));
    memory_free(memory);
}

int main(void)
{
    UNIT_MAIN("memory", {"results stand in call order, whenever they come", test_order},
              {"nothing is sent after the model's own words; user turns merge",
               test_never_after_assistant},
              {"replies of other purposes and unknown events leave no trace",
               test_other_purposes_leave_no_trace},
              {"a message's id is its event's seq", test_ids_and_origin},
              {"the digest does not depend on when it is asked", test_digest},
              {"damaged journals", test_damaged},
              {"a word while a call is open", test_word_between});
}
