/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/channel.h"
#include "plugin/protocol.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- headers ----------------------------------------------------------------------------------
 */

static void test_headers(void)
{
    static const struct {
        const char *name;
        struct frame_header header;
        size_t len; /* of the frame */
        const char *fault;
    } rows[] = {
        {"empty", {.type = FRAME_LIST, .call = 2}, 24, NULL},
        {"full", {.length = FRAME_PAYLOAD_MAX, .type = FRAME_DELTA}, FRAME_MAX, NULL},
        {"more", {FRAME_PAYLOAD_MAX, FRAME_DELTA, FRAME_MORE, 2, 0}, FRAME_MAX, NULL},
        {"cut", {.type = FRAME_LIST}, 23, "sent a frame without a header"},
        {"none", {.type = FRAME_LIST}, 0, "sent a frame without a header"},
        {"too short",
         {.length = 8, .type = FRAME_LIST},
         31,
         "sent a frame of another length than it says"},
        {"too long",
         {.length = 8, .type = FRAME_LIST},
         33,
         "sent a frame of another length than it says"},
        {"over the cap",
         {.length = FRAME_PAYLOAD_MAX + 1, .type = FRAME_LIST},
         FRAME_MAX + 1,
         "sent a frame of another length than it says"},
        {"type 0", {.type = 0}, 24, "sent a frame of a type that there is not"},
        {"type beyond", {.type = FRAME_TYPE_COUNT}, 24, "sent a frame of a type that there is not"},
        {"flags", {.type = FRAME_LIST, .flags = 2}, 24, "sent a frame with unknown flags"},
        {"more, not full",
         {.length = 8, .type = FRAME_CALL, .flags = FRAME_MORE},
         32,
         "sent a part of a message that is not full"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned char bytes[FRAME_HEADER_SIZE];
        struct frame_header got = {.type = 99};
        const char *fault = NULL;
        frame_header_write(&rows[i].header, bytes);
        int status = frame_header_read(bytes, rows[i].len, &got, &fault);
        CU_ASSERT_EQUAL(status, rows[i].fault != NULL ? ERR_PROTOCOL : 0);
        if (rows[i].fault != NULL)
            CHECK_STR(fault, rows[i].fault);
        else
            CU_ASSERT_EQUAL(memcmp(&got, &rows[i].header, sizeof got), 0);
    }
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static bool same(gudgeon_str a, gudgeon_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && str_same(a, b);
}

static void test_messages(void)
{
    CLEANUP(buf_fini) struct buf list = BUF_INIT(1000);
    CLEANUP(buf_fini) struct buf bytes = BUF_INIT(1000);
    list_add(&list, str_of("one"));
    list_add(&list, str_of(NULL));
    list_add(&list, str_of(""));
    const struct msg_ask ask = {.op = ASK_SPAWN,
                                .which = 7,
                                .handle = UINT64_MAX,
                                .numbers = {1, 2, 3, 4, 5},
                                .texts = {str_of("a\xff"), str_of(""), str_of(NULL)},
                                .list = {list.data, list.len}};
    struct msg_ask got;
    CU_ASSERT_EQUAL(message_write(FRAME_ASK, &ask, &bytes), 0);
    CU_ASSERT_EQUAL(message_read(FRAME_ASK, (gudgeon_str){bytes.data, bytes.len}, &got), 0);
    CU_ASSERT_EQUAL(got.op, ASK_SPAWN);
    CU_ASSERT_EQUAL(got.which, 7);
    CU_ASSERT_EQUAL(got.handle, UINT64_MAX);
    CU_ASSERT_EQUAL(got.numbers[4], 5);
    for (size_t i = 0; i < ASK_TEXTS; i++)
        CU_ASSERT_TRUE(same(got.texts[i], ask.texts[i]));
    CU_ASSERT_EQUAL(got.texts[0].ptr[2], '\0');
    CU_ASSERT_TRUE(same(got.list, ask.list));
    CU_ASSERT_PTR_NULL(got.more.ptr);
    CU_ASSERT_EQUAL(list_count(got.list), 3);
    size_t at = 0;
    gudgeon_str item;
    CU_ASSERT_TRUE(list_next(got.list, &at, &item) && str_is(item, "one"));
    CU_ASSERT_TRUE(list_next(got.list, &at, &item) && item.ptr == NULL);
    CU_ASSERT_TRUE(list_next(got.list, &at, &item) && item.ptr != NULL && item.len == 0);
    CU_ASSERT_FALSE(list_next(got.list, &at, &item));
}

/* No part of a message is one, and nothing may follow it. */
static void test_cut_messages(void)
{
    CLEANUP(buf_fini) struct buf bytes = BUF_INIT(1000);
    const struct msg_log log = {.level = 2, .text = str_of("text")};
    struct msg_log got;
    message_write(FRAME_LOG, &log, &bytes);
    for (size_t len = 0; len < bytes.len; len++)
        CU_ASSERT_EQUAL(message_read(FRAME_LOG, (gudgeon_str){bytes.data, len}, &got),
                        ERR_PROTOCOL);
    CU_ASSERT_EQUAL(message_read(FRAME_LOG, (gudgeon_str){bytes.data, bytes.len}, &got), 0);
    buf_add_char(&bytes, '\0');
    CU_ASSERT_EQUAL(message_read(FRAME_LOG, (gudgeon_str){bytes.data, bytes.len}, &got),
                    ERR_PROTOCOL);
    buf_truncate(&bytes, bytes.len - 1);
    bytes.data[bytes.len - 1] = 'x'; /* where the NUL is to be */
    CU_ASSERT_EQUAL(message_read(FRAME_LOG, (gudgeon_str){bytes.data, bytes.len}, &got),
                    ERR_PROTOCOL);
    CU_ASSERT_EQUAL(message_read(FRAME_LIST, (gudgeon_str){"x", 1}, NULL), ERR_PROTOCOL);
    CU_ASSERT_EQUAL(message_read(FRAME_LIST, (gudgeon_str){"", 0}, NULL), 0);
}

static void test_bad_list(void)
{
    CLEANUP(buf_fini) struct buf bytes = BUF_INIT(1000);
    struct msg_ask got;
    message_write(FRAME_ASK, &(struct msg_ask){.op = 1, .list = str_of("no list")}, &bytes);
    CU_ASSERT_EQUAL(message_read(FRAME_ASK, (gudgeon_str){bytes.data, bytes.len}, &got),
                    ERR_PROTOCOL);
}

/* ---- channels ---------------------------------------------------------------------------------
 */

struct two {
    struct channel a, b;
};

static void two_init(struct two *two)
{
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    channel_init(&two->a, ends[0]);
    channel_init(&two->b, ends[1]);
}

static void two_fini(struct two *two)
{
    channel_fini(&two->a);
    channel_fini(&two->b);
}

/* Sends and receives by turns, as no end waits. */
static int pass(struct two *two, struct message *ret, const char **fault)
{
    int sent = ERR_BUSY, received = ERR_BUSY;
    while (received == ERR_BUSY) {
        if (sent == ERR_BUSY)
            sent = channel_flush(&two->a);
        received = channel_receive(&two->b, ret, fault);
    }
    return received;
}

static void test_sizes(void)
{
    static const size_t sizes[] = {0,     1,      FRAME_PAYLOAD_MAX - 9, FRAME_PAYLOAD_MAX - 8,
                                   70000, 5 << 20};
    struct two two;
    two_init(&two);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        CLEANUP(free_ptr) char *text = malloc(sizes[i] + 1);
        memset(text, 'a' + (int)i, sizes[i]);
        const struct msg_log log = {.text = {text, sizes[i]}};
        struct msg_log got;
        struct message message;
        const char *fault = NULL;
        CU_ASSERT_EQUAL(channel_begin(&two.a, FRAME_LOG, 2 * i, &log), 0);
        CU_ASSERT_EQUAL(pass(&two, &message, &fault), 0);
        CU_ASSERT_EQUAL(message.type, FRAME_LOG);
        CU_ASSERT_EQUAL(message.call, 2 * i);
        CU_ASSERT_EQUAL(message_read(FRAME_LOG, message.payload, &got), 0);
        CU_ASSERT_TRUE(str_same(got.text, log.text));
    }
    const struct msg_log huge = {.text = {"", MESSAGE_MAX}};
    CU_ASSERT_EQUAL(channel_begin(&two.a, FRAME_LOG, 0, &huge), ERR_LIMIT);
    struct message message;
    const char *fault;
    CU_ASSERT_EQUAL(channel_receive(&two.b, &message, &fault), ERR_BUSY);
    close_fd(&two.a.fd);
    CU_ASSERT_EQUAL(channel_receive(&two.b, &message, &fault), ERR_NOT_FOUND);
    CU_ASSERT_EQUAL(channel_begin(&two.b, FRAME_LIST, 2, NULL), 0);
    CU_ASSERT_EQUAL(channel_flush(&two.b), ERR_IO);
    two_fini(&two);
}

static void test_interleaved(void)
{
    static unsigned char frame[FRAME_MAX];
    struct two two;
    struct message message;
    const char *fault = NULL;
    two_init(&two);
    frame_header_write(&(struct frame_header){FRAME_PAYLOAD_MAX, FRAME_DELTA, FRAME_MORE, 2, 0},
                       frame);
    CU_ASSERT_EQUAL(send(two.a.fd, frame, sizeof frame, 0), (ssize_t)sizeof frame);
    CU_ASSERT_EQUAL(channel_receive(&two.b, &message, &fault), ERR_BUSY);
    frame_header_write(&(struct frame_header){.type = FRAME_DONE, .call = 2}, frame);
    send(two.a.fd, frame, FRAME_HEADER_SIZE, 0);
    CU_ASSERT_EQUAL(channel_receive(&two.b, &message, &fault), ERR_PROTOCOL);
    CHECK_STR(fault, "began a message before it had ended another");
    two_fini(&two);
}

/* Descriptors come only to who takes them; to others none is ever open. */
static void test_descriptors(void)
{
    for (int takes = 0; takes < 2; takes++) {
        struct two two;
        struct message message;
        const char *fault = NULL;
        two_init(&two);
        two.b.takes_fds = takes;
        int before = dup(0);
        close(before);
        const int fds[] = {0, 0};
        channel_begin(&two.a, FRAME_LANE, 1, NULL);
        channel_attach(&two.a, fds, COUNT_OF(fds));
        CU_ASSERT_EQUAL(pass(&two, &message, &fault), 0);
        CU_ASSERT_EQUAL(message.fd_count, takes ? 2 : 0);
        for (size_t i = 0; i < message.fd_count; i++) {
            CU_ASSERT_EQUAL(fcntl(message.fds[i], F_GETFD), FD_CLOEXEC);
            close(message.fds[i]);
        }
        int after = dup(0);
        close(after);
        CU_ASSERT_EQUAL(before, after);
        two_fini(&two);
    }
}

int main(void)
{
    UNIT_MAIN("protocol", {"headers", test_headers}, {"a message there and back", test_messages},
              {"messages that are cut", test_cut_messages}, {"a list that is none", test_bad_list},
              {"messages of any size", test_sizes}, {"messages do not mix", test_interleaved},
              {"descriptors", test_descriptors});
}
