/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/prompts.h"
#include "unit.h"

static void test_values(void)
{
    CLEANUP(free_ptr)
    char *inputs = prompt_render(
        "inputs", (struct prompt_value[]){{"other", "x"}, {"inputs", "{\"a\":1}"}, {NULL, NULL}});
    CHECK_STR(inputs, "Inputs of the task:\n{\"a\":1}");
}

/* What is put in is not looked at: braces of an author's instructions are text. */
static void test_once(void)
{
    CLEANUP(free_ptr)
    char *text = prompt_render(
        "system",
        (struct prompt_value[]){{"instructions", "{{finish}} {{x}} {{"}, {"finish", "F"}, {0}});
    CU_ASSERT(strncmp(text, "{{finish}} {{x}} {{\n", 20) == 0);
    CU_ASSERT_STRING_EQUAL(text + strlen(text) - 2, " F");
}

/* Every file renders with the values that the loop gives it: none is left with a placeholder, and
 * none ends in a newline. */
static void test_all(void)
{
    static const char *const names[] = {
        "cut_calls",     "cut_text",      "default_instructions",
        "dropped_calls", "finish_answer", "finish_tool",
        "forced_final",  "inputs",        "nudge_empty",
        "nudge_finish",  "repeat",        "system",
    };
    static const struct prompt_value values[] = {
        {"count", "3"}, {"finish", "F"}, {"inputs", "{}"}, {"instructions", "I"}, {NULL, NULL}};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *text = prompt_render(names[i], values);
        bool good = text[0] != '\0' && strstr(text, "{{") == NULL && strstr(text, "}}") == NULL &&
                    text[strlen(text) - 1] != '\n';
        if (!good)
            printf("#   %s: %s\n", names[i], text);
        CU_ASSERT(good);
    }
}

int main(void)
{
    UNIT_MAIN("prompts", {"values", test_values}, {"values are not rendered again", test_once},
              {"every prompt", test_all});
}
