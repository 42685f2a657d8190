/* SPDX-License-Identifier: MIT */
#include <gudgeon/args.h>

#include "unit.h"

#include <float.h>

static gudgeon_str args(const char *json)
{
    return gudgeon_text(json);
}

static void test_text(void)
{
    static const struct {
        const char *name, *json, *want;
        int32_t status;
        size_t cap;
    } rows[] = {
        {"plain", "{\"a\":\"x\"}", "x", GUDGEON_OK, 16},
        {"empty", "{\"a\":\"\"}", "", GUDGEON_OK, 1},
        {"fills the room exactly", "{\"a\":\"four\"}", "four", GUDGEON_OK, 5},
        {"one byte too long", "{\"a\":\"four\"}", NULL, GUDGEON_LIMIT, 4},
        {"escapes", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "\"\\/\b\f\n\r\t", GUDGEON_OK, 16},
        {"two bytes", "{\"a\":\"gr\\u00f6\\u00dfe\"}", "größe", GUDGEON_OK, 16},
        {"a surrogate pair", "{\"a\":\"\\ud83d\\ude00\"}", "😀", GUDGEON_OK, 16},
        {"half a pair", "{\"a\":\"\\ud83d\"}", "\xef\xbf\xbd", GUDGEON_OK, 16},
        {"holds a NUL", "{\"a\":\"x\\u0000y\"}", NULL, GUDGEON_INVALID, 16},
        {"absent", "{\"b\":\"x\"}", NULL, GUDGEON_INVALID, 16},
        {"a number", "{\"a\":5}", NULL, GUDGEON_INVALID, 16},
        {"null", "{\"a\":null}", NULL, GUDGEON_INVALID, 16},
        {"only in a nested object", "{\"o\":{\"a\":\"x\"}}", NULL, GUDGEON_INVALID, 16},
        {"a value that looks like the key", "{\"b\":\"a\",\"a\":\"x\"}", "x", GUDGEON_OK, 16},
        {"after nested values", "{\"o\":[{\"a\":\"]}\"}],\"a\":\"x\"}", "x", GUDGEON_OK, 16},
        {"an escaped key", "{\"\\u0061\":\"x\"}", "x", GUDGEON_OK, 16},
        {"white space", " {\n\t\"a\" :\r \"x\" } ", "x", GUDGEON_OK, 16},
        {"no object", "[\"a\",\"x\"]", NULL, GUDGEON_INVALID, 16},
        {"no text", "", NULL, GUDGEON_INVALID, 16},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[16] = "untouched";
        int32_t status = gudgeon_arg_text(args(rows[i].json), "a", text, rows[i].cap);
        if (status != rows[i].status)
            printf("# %s: %d\n", rows[i].name, status);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CHECK_STR(text, rows[i].want != NULL ? rows[i].want : "untouched");
    }
}

static void test_bytes(void)
{
    gudgeon_buf out = {.max = 4};
    CU_ASSERT_EQUAL(gudgeon_arg_bytes(args("{\"a\":\"x\\u0000yz\"}"), "a", &out), GUDGEON_OK);
    CU_ASSERT_EQUAL(out.len, 4);
    CU_ASSERT_EQUAL(memcmp(out.ptr, "x\0yz", 5), 0);
    CU_ASSERT_EQUAL(gudgeon_arg_bytes(args("{\"a\":\"more\"}"), "a", &out), GUDGEON_LIMIT);
    gudgeon_buf_free(&out);
}

static void test_int(void)
{
    enum { NOT = 0x7ead };
    static const struct {
        const char *json;
        int64_t want;
        int32_t status;
    } rows[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"5", 5, 0},
        {"5.0", 5, 0},
        {"5e2", 500, 0},
        {"5.25e2", 525, 0},
        {"1200E-2", 12, 0},
        {"1.50e+1", 15, 0},
        {"0.0", 0, 0},
        {"0e999999999999999999999", 0, 0},
        {"9223372036854775807", INT64_MAX, 0},
        {"9223372036854775808", NOT, GUDGEON_LIMIT},
        {"-9223372036854775808", INT64_MIN, 0},
        {"-9223372036854775809", NOT, GUDGEON_LIMIT},
        {"9.223372036854775807e18", INT64_MAX, 0},
        {"18446744073709551616", NOT, GUDGEON_LIMIT},
        {"12345678901234567890123", NOT, GUDGEON_LIMIT},
        {"1e19", NOT, GUDGEON_LIMIT},
        {"1e99999999999999999999", NOT, GUDGEON_LIMIT},
        {"1.00000000000000000000000000000000", 1, 0},
        {"100000000000000000000000e-23", 1, 0},
        {"5.5", NOT, GUDGEON_INVALID},
        {"1e-1", NOT, GUDGEON_INVALID},
        {"0.00000000000000000000000000000001", NOT, GUDGEON_INVALID},
        {"\"5\"", NOT, GUDGEON_INVALID},
        {"true", NOT, GUDGEON_INVALID},
        {"[5]", NOT, GUDGEON_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char json[128];
        int64_t number = NOT;
        snprintf(json, sizeof json, "{\"n\":%s}", rows[i].json);
        CU_ASSERT_EQUAL(gudgeon_arg_int(args(json), "n", &number), rows[i].status);
        if (number != rows[i].want)
            printf("# %s: %lld\n", rows[i].json, (long long)number);
        CU_ASSERT_EQUAL(number, rows[i].want);
    }
}

static void test_number(void)
{
    double number = 7;
    CU_ASSERT_EQUAL(gudgeon_arg_number(args("{\"n\":-2.5e-1}"), "n", &number), GUDGEON_OK);
    CU_ASSERT_EQUAL(number, -0.25);
    CU_ASSERT_EQUAL(gudgeon_arg_number(args("{\"n\":1e999}"), "n", &number), GUDGEON_LIMIT);
    CU_ASSERT_EQUAL(gudgeon_arg_number(args("{\"n\":\"1\"}"), "n", &number), GUDGEON_INVALID);
    char json[600] = "{\"n\":0.";
    memset(json + 7, '1', 500);
    strcat(json, "}");
    CU_ASSERT_EQUAL(gudgeon_arg_number(args(json), "n", &number), GUDGEON_LIMIT);
    CU_ASSERT_EQUAL(number, -0.25);
}

static void test_bool(void)
{
    int flag = 7;
    CU_ASSERT_EQUAL(gudgeon_arg_bool(args("{\"n\":true}"), "n", &flag), GUDGEON_OK);
    CU_ASSERT_EQUAL(flag, 1);
    CU_ASSERT_EQUAL(gudgeon_arg_bool(args("{\"n\":false}"), "n", &flag), GUDGEON_OK);
    CU_ASSERT_EQUAL(flag, 0);
    CU_ASSERT_EQUAL(gudgeon_arg_bool(args("{\"n\":1}"), "n", &flag), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(gudgeon_arg_bool(args("{}"), "n", &flag), GUDGEON_INVALID);
    CU_ASSERT_EQUAL(flag, 0);
}

static void test_size(void)
{
    static const struct {
        const char *json;
        uint64_t want;
        int32_t status;
    } rows[] = {
        {"512", 512, 0},
        {"\"512\"", 512, 0},
        {"\"512B\"", 512, 0},
        {"\"64KiB\"", 65536, 0},
        {"\"3MiB\"", 3 << 20, 0},
        {"\"2GiB\"", UINT64_C(2) << 30, 0},
        {"\"64kb\"", 1, GUDGEON_INVALID},
        {"\"KiB\"", 1, GUDGEON_INVALID},
        {"\"-1KiB\"", 1, GUDGEON_INVALID},
        {"\" 1\"", 1, GUDGEON_INVALID},
        {"\"1 KiB\"", 1, GUDGEON_INVALID},
        {"\"\"", 1, GUDGEON_INVALID},
        {"\"9223372036854775807GiB\"", 1, GUDGEON_LIMIT},
        {"\"99999999999999999999999\"", 1, GUDGEON_LIMIT},
        {"-5", 1, GUDGEON_INVALID},
        {"1.5", 1, GUDGEON_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char json[128];
        uint64_t bytes = 1;
        snprintf(json, sizeof json, "{\"n\":%s}", rows[i].json);
        int32_t status = gudgeon_arg_size(args(json), "n", &bytes);
        if (status != rows[i].status || bytes != rows[i].want)
            printf("# %s: %d, %llu\n", rows[i].json, status, (unsigned long long)bytes);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CU_ASSERT_EQUAL(bytes, rows[i].want);
    }
}

static void test_format(void)
{
    gudgeon_buf buf = {.max = 8};
    gudgeon_buf_addf(&buf, "%s-%d", "ab", 42);
    CHECK_STR(buf.ptr, "ab-42");
    gudgeon_buf_addf(&buf, "%s", "");
    CU_ASSERT_EQUAL(buf.len, 5);
    gudgeon_buf_addf(&buf, "%d", 1234);
    CU_ASSERT(buf.failed);
    CHECK_STR(buf.ptr, "ab-42");
    gudgeon_buf_free(&buf);
}

int main(void)
{
    UNIT_MAIN("args.h", {"a string as C text", test_text}, {"a string as bytes", test_bytes},
              {"integers, however written", test_int}, {"numbers", test_number},
              {"true and false", test_bool}, {"sizes", test_size},
              {"formatted text in a buffer", test_format});
}
