/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/str.h"
#include "sys/sse.h"
#include "unit.h"

#include <stdlib.h>
#include <time.h>

/* Events are compared as text: [TYPE|ID|DATA] each. */
static void describe(struct buf *out, const struct sse_event *event)
{
    buf_addf(out, "[%.*s|%.*s|", STR_ARG(event->type), STR_ARG(event->id));
    buf_add(out, event->data.ptr, event->data.len);
    buf_add_char(out, ']');
    CU_ASSERT_EQUAL(event->data.ptr[event->data.len], '\0');
}

static void pull(struct sse *sse, struct buf *out)
{
    struct sse_event event;
    int status;
    while ((status = sse_next(sse, &event)) == 1)
        describe(out, &event);
    if (status < 0)
        buf_add_str(out, err_name(status));
}

/* Pushes the text in slices, each a copy of exactly its size, so that ASan sees overreads. */
static void push_copy(struct sse *sse, struct buf *out, const char *text, size_t len)
{
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    sse_push(sse, copy, len);
    pull(sse, out);
    free(copy);
}

static const struct {
    const char *name;
    const char *text;
    size_t len;
    const char *want;
    size_t want_len;
} streams[] = {
#define STREAM(name, text, want)                                                                   \
    {                                                                                              \
        name, text, sizeof(text) - 1, want, sizeof(want) - 1                                       \
    }
    STREAM("one event", "data: a\n\n", "[||a]"),
    STREAM("CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", "[||a][||b]"),
    STREAM("lone CR", "data: a\r\rdata: b\r\r", "[||a][||b]"),
    STREAM("CR then LF are one line end", "data: a\r\ndata: b\r\n\r\n", "[||a\nb]"),
    STREAM("LF then CR are two", "data: a\n\rdata: b\n\n", "[||a][||b]"),
    STREAM("CR CR LF LF", "data: a\r\r\n\ndata: b\n\n", "[||a][||b]"),
    STREAM("two data lines", "data:{\"a\":\r\ndata: 1}\r\n\r\n", "[||{\"a\":\n1}]"),
    STREAM("no space after the colon", "data:x\n\n", "[||x]"),
    STREAM("only one space is dropped", "data:  x \n\n", "[|| x ]"),
    STREAM("a tab is kept", "data:\tx\n\n", "[||\tx]"),
    STREAM("type and id", "event: ping\nid: 7\ndata: x\n\n", "[ping|7|x]"),
    STREAM("the type is for one event, the id stays", "event:e\nid:1\ndata:a\n\ndata:b\n\n",
           "[e|1|a][|1|b]"),
    STREAM("an empty id takes it back", "id:1\ndata:a\n\nid\ndata:b\n\n", "[|1|a][||b]"),
    STREAM("an id with NUL is ignored", "id:1\ndata:a\n\nid:2\0\ndata:b\n\n", "[|1|a][|1|b]"),
    STREAM("an event without data is none, its type is forgotten", "event: x\n\ndata: a\n\n",
           "[||a]"),
    STREAM("an id without data counts", "id: 9\n\ndata: a\n\n", "[|9|a]"),
    STREAM("empty data is an event", "data\n\ndata:\n\n", "[||][||]"),
    STREAM("two empty data lines are a line feed", "data\ndata\n\n", "[||\n]"),
    STREAM("comments", ": keep-alive\n\n:\n\ndata: a\n: in between\ndata: b\n\n", "[||a\nb]"),
    STREAM("unknown fields", "retry: 10\nfoo: bar\nDATA: x\n data: y\ndata: a\n\n", "[||a]"),
    STREAM("colons in the value", "data: a: b:c\n\n", "[||a: b:c]"),
    STREAM("byte order mark",
           "\xef\xbb\xbf"
           "data: a\n\n",
           "[||a]"),
    STREAM("only the first byte order mark",
           "\xef\xbb\xbf\xef\xbb\xbf"
           "data: a\n\ndata:b\n\n",
           "[||b]"),
    STREAM("a begun byte order mark is text",
           "\xef\xbb"
           "data: a\n\ndata:b\n\n",
           "[||b]"),
    STREAM("blank lines first", "\n\r\n\rdata: a\n\n", "[||a]"),
    STREAM("no final blank line", "data: a\n\ndata: b\n", "[||a]"),
    STREAM("no final line end", "data: a\n\ndata: b", "[||a]"),
    STREAM("characters of four bytes", "data: \xf0\x9f\x98\x80\xe4\xbd\xa0\n\n",
           "[||\xf0\x9f\x98\x80\xe4\xbd\xa0]"),
    STREAM("NUL in the data is kept", "data: a\0b\n\n", "[||a\0b]"),
    STREAM("the field error is an event", "error: {\"code\":500}\n\ndata: a\n\n",
           "[error||{\"code\":500}][||a]"),
    STREAM("data goes before the field error", "error: x\ndata: a\n\ndata: b\n\n", "[||a][||b]"),
    STREAM("chat", "data: {\"x\":1}\n\n: OPENROUTER PROCESSING\n\ndata: [DONE]\n\n",
           "[||{\"x\":1}][||[DONE]]"),
};

static void check_stream(size_t row, const struct buf *have)
{
    const char *want = streams[row].want;
    int same = have->len == streams[row].want_len && memcmp(have->data, want, have->len) == 0;
    if (!same)
        printf("#   %s\n#   have: %s\n#   want: %s\n", streams[row].name, have->data, want);
    CU_ASSERT(same);
}

static void test_whole(void)
{
    for (size_t row = 0; row < COUNT_OF(streams); row++) {
        struct sse sse;
        struct buf have = BUF_INIT(BUF_MAX_ANY);
        sse_init(&sse, 1000);
        push_copy(&sse, &have, streams[row].text, streams[row].len);
        check_stream(row, &have);
        buf_fini(&have);
        sse_fini(&sse);
    }
}

static void test_every_split(void)
{
    for (size_t row = 0; row < COUNT_OF(streams); row++)
        for (size_t at = 0; at <= streams[row].len; at++) {
            struct sse sse;
            struct buf have = BUF_INIT(BUF_MAX_ANY);
            sse_init(&sse, 1000);
            push_copy(&sse, &have, streams[row].text, at);
            push_copy(&sse, &have, streams[row].text + at, streams[row].len - at);
            check_stream(row, &have);
            buf_fini(&have);
            sse_fini(&sse);
        }
}

static void test_byte_by_byte(void)
{
    for (size_t row = 0; row < COUNT_OF(streams); row++) {
        struct sse sse;
        struct buf have = BUF_INIT(BUF_MAX_ANY);
        sse_init(&sse, 1000);
        for (size_t at = 0; at < streams[row].len; at++) {
            push_copy(&sse, &have, streams[row].text + at, 1);
            push_copy(&sse, &have, "", 0);
        }
        check_stream(row, &have);
        buf_fini(&have);
        sse_fini(&sse);
    }
}

static const struct {
    const char *name, *text, *want;
} limits[] = {
    {"data as long as the cap", "data: 0123456789\n\n", "limit"},
    {"a line as long as the cap", "data:01234\n\n", "[||01234]"},
    {"a line over it", "data:012345\n\n", "limit"},
    {"an endless line", ":0123456789", "limit"},
    {"lines that sum up", "data:0\ndata:1\ndata:2\ndata:3\ndata:4\ndata:5\n\n", "limit"},
    {"lines that just fit", "data:0\ndata:1\ndata:2\ndata:3\ndata:4\n\n", "[||0\n1\n2\n3\n4]"},
    {"what came before it is given", "data:a\n\ndata:0123456789\n\ndata:b\n\n", "[||a]limit"},
};

static void test_limits(void)
{
    for (size_t row = 0; row < COUNT_OF(limits); row++)
        for (size_t slice = 1; slice < 40; slice++) {
            struct sse sse;
            struct buf have = BUF_INIT(BUF_MAX_ANY);
            sse_init(&sse, 10);
            size_t len = strlen(limits[row].text);
            for (size_t at = 0; at < len && !sse.failed; at += slice)
                push_copy(&sse, &have, limits[row].text + at, len - at < slice ? len - at : slice);
            CHECK_STR(have.data, limits[row].want);
            buf_fini(&have);
            sse_fini(&sse);
        }
}

static void test_limit_is_for_good(void)
{
    struct sse sse;
    struct sse_event event;
    sse_init(&sse, 4);
    sse_push(&sse, "data:abcdefg\n\n", 14);
    CU_ASSERT_EQUAL(sse_next(&sse, &event), ERR_LIMIT);
    sse_push(&sse, "id:\n", 4);
    CU_ASSERT_EQUAL(sse_next(&sse, &event), ERR_LIMIT);
    sse_fini(&sse);
}

/* CPU seconds for `len` bytes of `unit` repeated, pushed in slices of 64 bytes. */
static double cost(const char *unit, size_t len)
{
    struct sse sse;
    struct sse_event event;
    sse_init(&sse, (size_t)64 << 20);
    char slice[64];
    size_t unit_len = strlen(unit);
    struct timespec before, after;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (size_t at = 0; at < len; at += sizeof slice) {
        for (size_t i = 0; i < sizeof slice; i++)
            slice[i] = unit[(at + i) % unit_len];
        sse_push(&sse, slice, sizeof slice);
        while (sse_next(&sse, &event) == 1)
            ;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    sse_fini(&sse);
    return (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
}

/* Sixteen times the bytes may not cost more than a wide multiple of that: quadratic is 256. */
static void test_linear(void)
{
    static const char *const units[] = {"x", "data:x\n", "\r", "data: hello\n\n"};
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        double small = cost(units[i], (size_t)1 << 18), large = cost(units[i], (size_t)1 << 22);
        CU_ASSERT(large < 100 * small);
    }
}

int main(void)
{
    UNIT_MAIN(
        "sse", {"streams, whole", test_whole}, {"split at every byte", test_every_split},
        {"byte by byte", test_byte_by_byte}, {"the cap, in slices of every size", test_limits},
        {"a passed cap is for good", test_limit_is_for_good}, {"cost is linear", test_linear});
}
