/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <time.h>

#include <gudgeon/args.h>

#include "mock_host.h"
#include "unit.h"

/* The moment that "2026-11-30T14:03:05+01:00" means; -1 when it is no such text. */
static int64_t moment(const char *stamp)
{
    struct tm tm = {0};
    const char *rest = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest == NULL || strlen(rest) != 6 || rest[3] != ':')
        return -1;
    long offset_s = strtol(rest + 1, NULL, 10) * 3600 + strtol(rest + 4, NULL, 10) * 60;
    return (int64_t)timegm(&tm) - (*rest == '-' ? -offset_s : offset_s);
}

static void text_of(const struct answer *answer, const char *name, char text[64])
{
    text[0] = '\0';
    gudgeon_arg_text(gudgeon_text(answer->data.data), name, text, 64);
}

/* All that is said is one moment, between the two that the test took. */
static void check_now(struct mock *mock, const char *arguments, const char *suffix)
{
    struct answer answer;
    char stamp[64], utc[64], weekday[64];
    int64_t before = time(NULL), unix_time = 0;
    CU_ASSERT_EQUAL(mock_call(mock, "now", arguments, NULL, &answer), GUDGEON_OK);
    CU_ASSERT_EQUAL(answer.flags, 0);
    text_of(&answer, "time", stamp);
    text_of(&answer, "utc", utc);
    text_of(&answer, "weekday", weekday);
    gudgeon_arg_int(gudgeon_text(answer.data.data), "unix", &unix_time);
    CU_ASSERT(before <= unix_time && unix_time <= (int64_t)time(NULL));
    CU_ASSERT_EQUAL(moment(stamp), unix_time);
    CU_ASSERT_EQUAL(moment(utc), unix_time);
    CHECK_STR(strlen(utc) > 6 ? utc + strlen(utc) - 6 : "", "+00:00");
    if (suffix != NULL)
        CHECK_STR(strlen(stamp) > 6 ? stamp + strlen(stamp) - 6 : "", suffix);
    CLEANUP(free_ptr)
    char *whole =
        xasprintf("%s, %s. UTC: %s. Unix time: %lld.", weekday, stamp, utc, (long long)unix_time);
    CHECK_STR(answer.text.data, whole);
    struct tm tm = {0};
    char day[32];
    strptime(stamp, "%Y-%m-%d", &tm);
    timegm(&tm);
    strftime(day, sizeof day, "%A", &tm);
    CHECK_STR(weekday, day);
    answer_fini(&answer);
}

static void test_zones(void)
{
    static const struct {
        const char *arguments, *suffix;
    } rows[] = {
        {"{}", "+05:30"},
        {"{\"zone\":\"local\"}", "+05:30"},
        {"{\"zone\":\"UTC\"}", "+00:00"},
        {"{\"zone\":\"Z\"}", "+00:00"},
        {"{\"zone\":\"+02:00\"}", "+02:00"},
        {"{\"zone\":\"-0330\"}", "-03:30"},
        {"{\"zone\":\"-00:30\"}", "-00:30"},
        {"{\"zone\":\"+14\"}", "+14:00"},
        {"{\"zone\":\"-23:59\"}", "-23:59"},
    };
    struct mock mock;
    struct answer answer;
    CU_ASSERT_EQUAL_FATAL(mock_open(&mock, "clock", "{}", "{}", &answer), GUDGEON_OK);
    answer_fini(&answer);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_now(&mock, rows[i].arguments, rows[i].suffix);
    CU_ASSERT_EQUAL(mock_tool(&mock, "now")->flags, GUDGEON_TOOL_READ);
    mock_close(&mock);
}

static void test_bad_zones(void)
{
    static const char *const zones[] = {
        "\"\"",           "\"+24:00\"", "\"+02:60\"", "\"+2\"",
        "\"02:00\"",      "\"+02:\"",   "\"+02:0\"",  "\"+02:000\"",
        "\"+02:00x\"",    "\"utc\"",    "\"Mars\"",   "\"+-2:00\"",
        "\"UTC\\u0000\"", "5",          "null",       "\"Europe/Amsterdam-and-much-more\"",
    };
    struct mock mock;
    struct answer answer;
    mock_open(&mock, "clock", "{\"zone\":\"UTC\"}", "{}", &answer);
    answer_fini(&answer);
    for (size_t i = 0; i < COUNT_OF(zones); i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"zone\":%s}", zones[i]);
        CU_ASSERT_EQUAL(mock_call(&mock, "now", text, NULL, &answer), GUDGEON_OK);
        if (answer.flags != GUDGEON_IS_ERROR)
            printf("#   %s: %s\n", text, answer.text.data);
        CU_ASSERT_EQUAL(answer.flags, GUDGEON_IS_ERROR);
        CHECK_STR(answer.text.data,
                  "zone: give UTC, local (the machine's), or an offset such as +02:00");
        answer_fini(&answer);
        struct mock other;
        CU_ASSERT_EQUAL(mock_open(&other, "clock", text, "{}", &answer), GUDGEON_INVALID);
        answer_fini(&answer);
        mock_close(&other);
    }
    mock_close(&mock);
}

static void test_configured(void)
{
    struct mock mock;
    struct answer answer;
    mock_open(&mock, "clock", "{\"zone\":\"-07:00\"}", "{}", &answer);
    answer_fini(&answer);
    check_now(&mock, "{}", "-07:00");
    check_now(&mock, "{\"zone\":\"UTC\"}", "+00:00");
    CU_ASSERT_EQUAL(mock_call(&mock, "then", "{}", NULL, &answer), GUDGEON_INVALID);
    answer_fini(&answer);
    mock_close(&mock);
}

int main(void)
{
    setenv("TZ", "XST-5:30", 1); /* no thread has been started yet */
    UNIT_MAIN("clock", {"zones", test_zones}, {"what is no zone", test_bad_zones},
              {"the configured zone", test_configured});
}
