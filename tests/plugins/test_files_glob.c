/* SPDX-License-Identifier: MIT */
#include "plugins/files/glob.c"

#include "unit.h"

static void test_rows(void)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } rows[] = {
        {"*.c", "a.c", true},
        {"*.c", "src/a.c", true},
        {"*.c", "a.cc", false},
        {"*", "anything", true},
        {"*", ".hidden", true},
        {"?.c", "é.c", true},
        {"?.c", "ab.c", false},
        {"a?c", "a/c", false},
        {"src/*.c", "src/a.c", true},
        {"src/*.c", "src/deep/a.c", false},
        {"src/*", "lib/src/a", false},
        {"**/*.c", "a.c", true},
        {"**/*.c", "src/deep/a.c", true},
        {"**/a.c", "ba.c", false},
        {"**/a.c", "x/ba.c", false},
        {"src/**", "src/deep/a.c", true},
        {"src/**", "srcs/a", false},
        {"src/**/a.c", "src/a.c", true},
        {"src/**/a.c", "src/x/y/a.c", true},
        {"src/**/t/*.c", "src/t/x/t/a.c", true},
        {"**", "a/b/c", true},
        {"a**c", "a/b/c", true},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a-c]x", "ax", false},
        {"[]]", "]", true},
        {"[a-]", "-", true},
        {"[a", "[a", true},
        {"[", "x", false},
        {"a[/]b", "a/b", false},
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"*a*b*c*", "xaxbxcx", true},
        {"*a*b*c*", "xaxcxbx", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool matches = glob_matches(rows[i].pattern, rows[i].path);
        if (matches != rows[i].matches)
            printf("#   %s on %s: %d\n", rows[i].pattern, rows[i].path, matches);
        CU_ASSERT_EQUAL(matches, rows[i].matches);
    }
}

/* A matcher that tries every way would need longer than the universe has. */
static void test_cost(void)
{
    char pattern[512] = "", path[2048];
    for (int i = 0; i < 60; i++)
        strcat(pattern, i % 3 == 0 ? "**a" : "*a");
    strcat(pattern, "b");
    for (size_t i = 0; i < sizeof path - 1; i++)
        path[i] = i % 7 == 6 ? '/' : 'a';
    path[sizeof path - 1] = '\0';
    CU_ASSERT_FALSE(glob_matches(pattern, path));
}

int main(void)
{
    UNIT_MAIN("glob", {"what matches", test_rows}, {"time is bounded", test_cost});
}
