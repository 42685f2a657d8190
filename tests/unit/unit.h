/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_UNIT_H
#define GUDGEON_TESTS_UNIT_H

/*
 * The shape of a unit test binary: a table of named functions and one line of main.
 *
 *     static void test_grows(void) { CU_ASSERT_EQUAL(…); }
 *     int main(void) { UNIT_MAIN("buf", {"grows to its cap", test_grows}, …); }
 *
 * Prints `ok NAME` or `not ok NAME` for each row (tests/run counts them) with the failed
 * assertions below it, and main returns non-zero when any row failed.
 */

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

struct unit_row {
    const char *name;
    CU_TestFunc run;
};

static inline int unit_run(const char *suite_name, const struct unit_row *rows, size_t count)
{
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 2;
    CU_pSuite suite = CU_add_suite(suite_name, NULL, NULL);
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        CU_pTest test = CU_add_test(suite, rows[i].name, rows[i].run);
        CU_ErrorCode code = CU_run_test(suite, test);
        CU_pFailureRecord failure = CU_get_failure_list();
        int ok = code == CUE_SUCCESS && failure == NULL;
        printf("%s %s: %s\n", ok ? "ok" : "not ok", suite_name, rows[i].name);
        for (; failure != NULL; failure = failure->pNext)
            printf("#   %s:%u: %s\n", failure->strFileName, failure->uiLineNumber,
                   failure->strCondition);
        fflush(stdout);
        failed += !ok;
    }
    CU_cleanup_registry();
    return failed != 0;
}

#define UNIT_MAIN(suite, ...)                                                                      \
    static const struct unit_row rows_[] = {__VA_ARGS__};                                          \
    return unit_run(suite, rows_, COUNT_OF(rows_))

/* The smallest stack of a thread, in bytes: what the plugin ABI promises. Sanitizers make frames
 * several times as large. */
#ifndef __has_feature /* clang's way of saying it */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SMALL_STACK ((size_t)2 << 20)
#else
#define UNIT_SMALL_STACK ((size_t)256 << 10)
#endif

/* CU_ASSERT_STRING_EQUAL that shows both texts. */
#define CHECK_STR(actual, expected)                                                                \
    do {                                                                                           \
        const char *actual_ = (actual), *expected_ = (expected);                                   \
        int same_ = actual_ != NULL && strcmp(actual_, expected_) == 0;                            \
        if (!same_)                                                                                \
            printf("#   have: %s\n#   want: %s\n", actual_ ? actual_ : "(null)", expected_);       \
        CU_ASSERT(same_);                                                                          \
    } while (0)

#endif
