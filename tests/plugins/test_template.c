/* SPDX-License-Identifier: MIT */

/*
 * The plugin that others start from. With an argument, the same of a copy: a path with a slash.
 */

#include "mock_host.h"
#include "unit.h"

static const char *file = "template";

static void test_tools(void)
{
    static const struct {
        const char *name, *tool, *arguments;
        bool is_error;
        const char *want;
    } rows[] = {
        {"words", "count_words", "{\"text\":\"one two\\n three\\n\"}", false,
         "3 words, 2 lines, 15 bytes"},
        {"no words", "count_words", "{\"text\":\" \\t\\n\"}", false, "0 words, 1 lines, 3 bytes"},
        {"nothing", "count_words", "{\"text\":\"\"}", false, "0 words, 0 lines, 0 bytes"},
        {"no text", "count_words", "{}", true, "text is missing or too long"},
        {"once", "greet", "{\"name\":\"World\"}", false, "Good day, World!\n"},
        {"several times", "greet", "{\"name\":\"\\u00c9va\",\"times\":2}", false,
         "Good day, Éva!\nGood day, Éva!\n"},
        {"nobody", "greet", "{}", true, "name: give a text of at most 255 bytes"},
        {"a NUL", "greet", "{\"name\":\"a\\u0000b\"}", true,
         "name: give a text of at most 255 bytes"},
    };
    struct mock mock;
    struct answer answer;
    CU_ASSERT_EQUAL_FATAL(mock_open(&mock, file, "{\"greeting\":\"Good day\"}", "{}", &answer),
                          GUDGEON_OK);
    answer_fini(&answer);
    CU_ASSERT_EQUAL(mock.tool_count, 2);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CU_ASSERT_EQUAL(mock_call(&mock, rows[i].tool, rows[i].arguments, NULL, &answer),
                        GUDGEON_OK);
        if (strcmp(answer_shown(&answer), rows[i].want) != 0)
            printf("#   %s\n", rows[i].name);
        CHECK_STR(answer_shown(&answer), rows[i].want);
        CU_ASSERT_EQUAL(answer.flags, rows[i].is_error ? GUDGEON_IS_ERROR : 0);
        answer_fini(&answer);
    }
    mock_close(&mock);
}

static void test_default_greeting(void)
{
    struct mock mock;
    struct answer answer;
    mock_open(&mock, file, "{}", "{}", &answer);
    answer_fini(&answer);
    mock_call(&mock, "greet", "{\"name\":\"you\"}", NULL, &answer);
    CHECK_STR(answer_shown(&answer), "Hello, you!\n");
    answer_fini(&answer);
    CU_ASSERT_EQUAL(mock_call(&mock, "grate", "{}", NULL, &answer), GUDGEON_INVALID);
    answer_fini(&answer);
    mock_close(&mock);
}

static void test_full_output(void)
{
    struct mock mock;
    struct answer answer;
    struct mock_call how = {.output_max = 10};
    mock_open(&mock, file, "{}", "{}", &answer);
    answer_fini(&answer);
    CU_ASSERT_EQUAL(mock_call(&mock, "greet", "{\"name\":\"you\",\"times\":9}", &how, &answer),
                    GUDGEON_LIMIT);
    CHECK_STR(answer.output.data, "Hello, you!\n");
    answer_fini(&answer);
    mock_close(&mock);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        file = argv[1];
    UNIT_MAIN(argc > 1 ? "a copy of the template" : "template", {"the tools", test_tools},
              {"without configuration", test_default_greeting},
              {"stops when the output is full", test_full_output});
}
