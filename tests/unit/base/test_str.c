/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/str.h"
#include "unit.h"

static void test_nearest(void)
{
    static const char *const names[] = {"run",  "check",   "plugins", "log",
                                        "runs", "version", "help"};
    static const struct {
        const char *text, *nearest;
    } rows[] = {
        {"rnu", "run"},         {"chekc", "check"}, {"plugin", "plugins"}, {"LOG", "log"},
        {"versoin", "version"}, {"x", NULL},        {"sessions", NULL},    {"", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *nearest = nearest_name(rows[i].text, names, COUNT_OF(names));
        if (rows[i].nearest != NULL)
            CHECK_STR(nearest, rows[i].nearest);
        CU_ASSERT_EQUAL(nearest == NULL, rows[i].nearest == NULL);
    }
    char long_name[200];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CU_ASSERT_PTR_NULL(nearest_name(long_name, names, COUNT_OF(names)));
}

static void test_units(void)
{
    static const struct {
        const char *text;
        int64_t bytes, ms; /* -1 = refused */
    } rows[] = {
        {"512", 512, 512000},
        {"64KiB", 65536, -1},
        {"2GiB", INT64_C(2) << 30, -1},
        {"0", 0, 0},
        {"250ms", -1, 250},
        {"30s", -1, 30000},
        {"10m", -1, 600000},
        {"2h", -1, 7200000},
        {"1d", -1, 86400000},
        {"1.5s", -1, -1},
        {"-1", -1, -1},
        {"", -1, -1},
        {"10 s", -1, -1},
        {"99999999999999999999", -1, -1},
        {"9223372036854775807GiB", -1, -1},
        {"9223372036854775807d", -1, -1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t bytes = -1, ms = -1;
        struct err err;
        parse_size(rows[i].text, &bytes, &err);
        parse_duration(rows[i].text, &ms, &err);
        CU_ASSERT_EQUAL(bytes, rows[i].bytes);
        CU_ASSERT_EQUAL(ms, rows[i].ms);
    }
}

static void test_errors_are_one_line(void)
{
    struct err err = {0};
    char big[4000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    CU_ASSERT_EQUAL(err_set(&err, ERR_IO, "a\nb\033[31m%s", big), ERR_IO);
    CU_ASSERT_PTR_NULL(strpbrk(err.text, "\n\033"));
    CU_ASSERT(ends_with(err.text, "…"));
    CU_ASSERT(strlen(err.text) < sizeof err.text);
    err_set(&err, ERR_LIMIT, "inner");
    CU_ASSERT_EQUAL(err_prefix(&err, "agent \"%s\"", "x"), ERR_LIMIT);
    CHECK_STR(err.text, "agent \"x\": inner");
    CU_ASSERT_EQUAL(err_set(NULL, ERR_BUSY, "nobody reads this"), ERR_BUSY);
}

int main(void)
{
    UNIT_MAIN("str", {"near names", test_nearest}, {"sizes and durations", test_units},
              {"an error is one line and fits", test_errors_are_one_line});
}
