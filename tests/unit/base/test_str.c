/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <stdlib.h>

#include "base/err.h"
#include "unit.h"

static void test_sizes(void)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {{0, "0"},          {1, "1"},
                {1000, "1000"},    {1024, "1KiB"},
                {1536, "1536"},    {64 << 10, "64KiB"},
                {1 << 20, "1MiB"}, {INT64_C(5) << 30, "5GiB"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = format_size(rows[i].bytes);
        int64_t bytes = -1;
        CHECK_STR(text, rows[i].text);
        CU_ASSERT(parse_size(text, &bytes, NULL) == 0 && bytes == rows[i].bytes);
    }
}

static void test_durations(void)
{
    static const struct {
        int64_t ms;
        const char *text;
    } rows[] = {{0, "0ms"},        {250, "250ms"},
                {1500, "1500ms"},  {1000, "1s"},
                {60000, "1m"},     {90000, "90s"},
                {3600000, "1h"},   {86400000, "1d"},
                {90000000, "25h"}, {INT64_MAX, "9223372036854775807ms"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = format_duration(rows[i].ms);
        int64_t ms = -1;
        CHECK_STR(text, rows[i].text);
        CU_ASSERT(parse_duration(text, &ms, NULL) == 0 && ms == rows[i].ms);
    }
}

static void test_refused(void)
{
    static const char *const sizes[] = {
        "", "B", "-1", "1.5KiB", "64KB", "1 KiB", "9223372036854775807KiB", "99999999999999999999"};
    static const char *const durations[] = {"", "s", "-1s", "1.5s", "5 s", "5w"};
    int64_t number;
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        CU_ASSERT_EQUAL(parse_size(sizes[i], &number, NULL), ERR_INVALID);
    for (size_t i = 0; i < COUNT_OF(durations); i++)
        CU_ASSERT_EQUAL(parse_duration(durations[i], &number, NULL), ERR_INVALID);
}

static void test_near_names(void)
{
    static const char *const names[] = {"model", "tools", "sinks", "approve"};
    static const struct {
        const char *text, *near;
    } rows[] = {{"modle", "model"},    {"TOOLS", "tools"}, {"sink", "sinks"},
                {"aprove", "approve"}, {"what", NULL},     {"", NULL}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *near = nearest_name(rows[i].text, names, COUNT_OF(names));
        CU_ASSERT_EQUAL(near == NULL, rows[i].near == NULL);
        if (near != NULL && rows[i].near != NULL)
            CHECK_STR(near, rows[i].near);
    }
}

int main(void)
{
    UNIT_MAIN("str", {"sizes, and back", test_sizes}, {"durations, and back", test_durations},
              {"what is no size or duration", test_refused}, {"near names", test_near_names});
}
