/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "unit.h"

#include <stdlib.h>

static void test_empty(void)
{
    struct buf buf = BUF_INIT(8);
    CHECK_STR(buf.data, "");
    CU_ASSERT_EQUAL(buf.len, 0);
    buf_truncate(&buf, 0);
    buf_fini(&buf);
}

static void test_cap(void)
{
    struct buf buf = BUF_INIT(5);
    CU_ASSERT_EQUAL(buf_add_str(&buf, "abcde"), 0);
    CU_ASSERT_EQUAL(buf_add_char(&buf, 'f'), ERR_LIMIT);
    CU_ASSERT_EQUAL(buf_addf(&buf, "%d", 12), ERR_LIMIT);
    CHECK_STR(buf.data, "abcde");
    buf_fini(&buf);
}

static void test_consume(void)
{
    struct buf buf = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&buf, "%s-%d", "head", 42);
    buf_consume(&buf, 5);
    CHECK_STR(buf.data, "42");
    buf_consume(&buf, 2);
    CHECK_STR(buf.data, "");
    buf_fini(&buf);
}

static void test_take(void)
{
    struct buf buf = BUF_INIT(BUF_MAX_ANY);
    char *text = buf_take(&buf);
    CHECK_STR(text, "");
    free(text);
    buf_add(&buf, "a\0b", 3);
    CU_ASSERT_EQUAL(buf.len, 3);
    text = buf_take(&buf);
    CU_ASSERT_EQUAL(memcmp(text, "a\0b", 4), 0);
    CU_ASSERT_EQUAL(buf.len, 0);
    free(text);
}

static void test_many(void)
{
    struct buf buf = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 10000; i++)
        buf_add_char(&buf, (char)('a' + i % 26));
    CU_ASSERT_EQUAL(buf.len, 10000);
    CU_ASSERT_EQUAL(buf.data[9999], 'a' + 9999 % 26);
    CU_ASSERT_EQUAL(buf.data[10000], '\0');
    buf_fini(&buf);
}

int main(void)
{
    UNIT_MAIN("buf", {"an empty buffer is an empty text", test_empty},
              {"what passes the cap adds nothing", test_cap},
              {"consume drops from the front", test_consume},
              {"take hands the text over", test_take}, {"grows", test_many});
}
