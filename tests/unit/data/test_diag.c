/* SPDX-License-Identifier: MIT */
#include "data/diag.h"

#include "unit.h"

static void test_lines(void)
{
    struct diags diags = DIAGS_INIT;
    diags_add(&diags, "a.yaml", 3, 7, "no %s", "such key");
    diags_add(&diags, "b.yaml", 0, 0, "is too large");
    CU_ASSERT_EQUAL(diags.count, 2);
    CHECK_STR(diags.lines[0], "a.yaml:3:7: no such key");
    CHECK_STR(diags.lines[1], "b.yaml: is too large");
    diags_fini(&diags);
    CU_ASSERT(diags.count == 0 && diags.kept == 0);
}

static void test_order(void)
{
    struct diags diags = DIAGS_INIT;
    diags_add(&diags, "f", 2, 5, "second");
    diags_add(&diags, "f", 10, 1, "third");
    diags_add(&diags, "f", 2, 4, "first");
    diags_add(&diags, "f", 2, 5, "second, too");
    diags_add(&diags, "f2", 1, 1, "of another file, after those that were there");
    CHECK_STR(diags.lines[0], "f:2:4: first");
    CHECK_STR(diags.lines[1], "f:2:5: second");
    CHECK_STR(diags.lines[2], "f:2:5: second, too");
    CHECK_STR(diags.lines[3], "f:10:1: third");
    CHECK_STR(diags.lines[4], "f2:1:1: of another file, after those that were there");
    diags_fini(&diags);
}

static void test_same(void)
{
    struct diags diags = DIAGS_INIT;
    diags_add(&diags, "f", 1, 1, "x");
    diags_add(&diags, "f", 1, 1, "x");
    CU_ASSERT_EQUAL(diags.count, 1);
    diags_fini(&diags);
}

static void test_bounds(void)
{
    struct diags diags = DIAGS_INIT;
    for (size_t i = 1; i <= DIAGS_MAX + 10; i++)
        diags_add(&diags, "f", i, 1, "x");
    CU_ASSERT_EQUAL(diags.kept, DIAGS_MAX);
    CU_ASSERT_EQUAL(diags.count, DIAGS_MAX + 10);
    diags_fini(&diags);
    char text[2 * DIAG_LINE_MAX + 1];
    for (size_t i = 0; i + 1 < sizeof text; i += 2)
        memcpy(text + i, "é", 2);
    text[sizeof text - 1] = '\0';
    diags_add(&diags, "f\x1b", 1, 1, "a\nb\t%s", text);
    CU_ASSERT(strlen(diags.lines[0]) <= DIAG_LINE_MAX);
    CU_ASSERT_EQUAL(strncmp(diags.lines[0], "f :1:1: a b é", 14), 0);
    CHECK_STR(diags.lines[0] + strlen(diags.lines[0]) - strlen("é…"), "é…");
    diags_fini(&diags);
}

int main(void)
{
    UNIT_MAIN("diag", {"one line each", test_lines}, {"in the order of their places", test_order},
              {"the same fault counts once", test_same}, {"bounded", test_bounds});
}
