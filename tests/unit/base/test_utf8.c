/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "unit.h"

static const struct {
    const char *name, *bytes;
    size_t len;
    const char *safe;
    bool valid;
} rows[] = {
    {"ascii", "abc", 3, "abc", true},
    {"two bytes", "\xc3\xa9", 2, "\xc3\xa9", true},
    {"four bytes", "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80", true},
    {"cut", "a\xf0\x9f\x98", 4, "a\xef\xbf\xbd", false},
    {"overlong", "\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd", false},
    {"surrogate", "\xed\xa0\xbd", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", false},
    {"too high", "\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", false},
    {"NUL", "a\0b", 3,
     "a\xef\xbf\xbd"
     "b",
     true},
    {"stray continuation",
     "\x80"
     "x",
     2,
     "\xef\xbf\xbd"
     "x",
     false},
};

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        CU_ASSERT_EQUAL(utf8_is_valid(rows[i].bytes, rows[i].len), rows[i].valid);
        CU_ASSERT_EQUAL(utf8_sanitise(&out, rows[i].bytes, rows[i].len), 0);
        CHECK_STR(out.data, rows[i].safe);
        buf_fini(&out);
    }
}

static void test_cut(void)
{
    static const char text[] = "a\xc3\xa9\xf0\x9f\x98\x80z";
    static const size_t cuts[] = {0, 1, 1, 3, 3, 3, 3, 7, 8};
    for (size_t i = 0; i < COUNT_OF(cuts); i++)
        CU_ASSERT_EQUAL(utf8_cut(text, i), cuts[i]);
}

/* What a terminal acts on, or what hides or turns around text, is not shown; bytes that are no text
 * are not passed on either. */
static void test_line(void)
{
    static const struct {
        const char *name, *text, *line;
    } lines[] = {
        {"plain", "caf\xc3\xa9 \xf0\x9f\x98\x80", "caf\xc3\xa9 \xf0\x9f\x98\x80"},
        {"C0 and DEL", "\x1b]0;x\x07\r\n\t\x7f.", " ]0;x     ."},
        {"C1",
         "a\xc2\x9b"
         "31mb",
         "a 31mb"},
        {"marks of direction", "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f|", "   |"},
        {"overrides and isolates",
         "\xe2\x80\xae"
         "a\xe2\x81\xa6"
         "b\xe2\x81\xa9",
         " a b "},
        {"invisible",
         "a\xe2\x80\x8b\xef\xbb\xbf\xe2\x81\xa0"
         "b",
         "a   b"},
        {"tags",
         "a\xf3\xa0\x81\x81"
         "b",
         "a b"},
        {"line separators",
         "a\xe2\x80\xa8\xe2\x80\xa9"
         "b",
         "a  b"},
        {"joiners", "\xe2\x80\x8c\xe2\x80\x8d", "\xe2\x80\x8c\xe2\x80\x8d"},
        {"no UTF-8",
         "a\x9b"
         "31m\xff\xc3",
         "a?31m??"},
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        CLEANUP(free_ptr) char *text = xstrdup(lines[i].text);
        utf8_make_line(text);
        CHECK_STR(text, lines[i].line);
    }
    CU_ASSERT_TRUE(utf8_is_shown(' '));
    CU_ASSERT_FALSE(utf8_is_shown(0));
    CU_ASSERT_TRUE(utf8_is_shown(0x10ffff));
}

/* Every code point there is, there and back. */
static void test_round_trip(void)
{
    size_t wrong = 0;
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        char bytes[4];
        uint32_t back = 0;
        size_t n = utf8_encode(c, bytes);
        wrong += utf8_decode(bytes, n, &back) != n || back != c;
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_clock(void)
{
    char text[CLOCK_TEXT_SIZE], a[UUID_TEXT_SIZE], b[UUID_TEXT_SIZE];
    clock_format_utc(INT64_C(1796083199999), text);
    CHECK_STR(text, "2026-11-30T23:59:59.999Z");
    uuid7_new(a);
    uuid7_new(b);
    CU_ASSERT_EQUAL(strlen(a), 36);
    CU_ASSERT_EQUAL(a[14], '7');
    CU_ASSERT_PTR_NOT_NULL(strchr("89ab", a[19]));
    CU_ASSERT_NOT_EQUAL(strcmp(a, b), 0);
}

int main(void)
{
    UNIT_MAIN("utf8", {"valid and invalid bytes", test_rows},
              {"a cut never splits a character", test_cut}, {"foreign text as one line", test_line},
              {"every code point, there and back", test_round_trip},
              {"times are UTC, ids are UUIDv7", test_clock});
}
