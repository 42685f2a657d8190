/* SPDX-License-Identifier: MIT */
#include "agent/inputs.h"

#include "agent/definition.h"
#include "base/err.h"
#include "unit.h"

static struct input_entry inputs[] = {
    {.name = (char *)"customer", .type = (char *)"string"},
    {.name = (char *)"priority", .type = (char *)"integer", .fallback = (char *)"3"},
    {.name = (char *)"tags", .type = (char *)"array", .fallback = (char *)"[]"},
};

static const struct definition definition = {.inputs = inputs, .input_count = COUNT_OF(inputs)};

static void test_values(void)
{
    static const struct {
        const char *given[3];
        const char *want, *fault; /* one of them */
    } rows[] = {
        {{"customer=Bob"}, "{\"customer\":\"Bob\",\"priority\":3,\"tags\":[]}", NULL},
        {{"customer=a=b\"c", "priority=-1"},
         "{\"customer\":\"a=b\\\"c\",\"priority\":-1,\"tags\":[]}",
         NULL},
        {{"customer=", "tags=[a, 1]"},
         "{\"customer\":\"\",\"priority\":3,\"tags\":[\"a\",1]}",
         NULL},
        {{"customer=5", "customer=6"}, "{\"customer\":\"6\",\"priority\":3,\"tags\":[]}", NULL},
        {{NULL}, NULL, "input \"customer\" is missing; give --input customer=VALUE"},
        {{"customer=B", "priority=high"},
         NULL,
         "input \"priority\" must be of type integer, is \"high\""},
        {{"customer=B", "tags=a"}, NULL, "input \"tags\" must be of type array, is \"a\""},
        {{"customer=\xff"}, NULL, "input \"customer\" is no UTF-8 text"},
        {{"customer"}, NULL, "input \"customer\" has no value (write customer=VALUE)"},
        {{"custmer=B"}, NULL, "this agent has no input \"custmer\"; did you mean \"customer\"?"},
        {{"x=B"}, NULL, "this agent has no input \"x\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t count = 0;
        while (count < COUNT_OF(rows[i].given) && rows[i].given[count] != NULL)
            count++;
        CLEANUP(free_ptr) char *json = NULL;
        struct err err = {0};
        int status = inputs_resolve(&definition, rows[i].given, count, &json, &err);
        CU_ASSERT_EQUAL(status, rows[i].want != NULL ? 0 : ERR_INVALID);
        if (rows[i].want != NULL)
            CHECK_STR(json, rows[i].want);
        else
            CHECK_STR(err.text, rows[i].fault);
    }
}

int main(void)
{
    static const struct unit_row rows[] = {
        {"what is given, what is missing, what is wrong", test_values},
    };
    return unit_run("inputs", rows, COUNT_OF(rows));
}
