/* SPDX-License-Identifier: MIT */
#include "agent/arguments.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/schema.h"
#include "unit.h"

#include <stdlib.h>

/* What a model wrote, and the object that is understood; NULL = refused. */
static const struct {
    const char *raw, *object;
} readings[] = {
    {"", "{}"},
    {" \n", "{}"},
    {"null", "{}"},
    {"{}", "{}"},
    {"{\"a\": 1.50}", "{\"a\": 1.50}"},
    {"{\"id\":812345678901234567890123}", "{\"id\":812345678901234567890123}"},
    {"\"{\\\"city\\\":\\\"Oslo\\\"}\"", "{\"city\":\"Oslo\"}"},
    {"\"\\\"{}\\\"\"", NULL}, /* two levels */
    {"{'name':'get_conf','arguments':{'system':'S1'}}",
     "{\"name\":\"get_conf\",\"arguments\":{\"system\":\"S1\"}}"},
    {"{'a': True, 'b': None, 'c': False}", "{\"a\": true, \"b\": null, \"c\": false}"},
    {"{'a': 'it\\'s \"so\"'}", "{\"a\": \"it's \\\"so\\\"\"}"},
    {"{'a': 'open", NULL},
    {"{\"name\":\"t\",\"arguments\":{}} close it with }", "{\"name\":\"t\",\"arguments\":{}}"},
    {"{\"a\":1}{\"b\":2}", NULL}, /* two calls in one slot: neither half may run */
    {"{\"a\":1},\n {\"b\":2}", NULL},
    {"{\"a\":1}; {\"b\":2}", NULL},
    {"{\"a\":1}, that is all", "{\"a\":1}"},
    {"{\"path\": /tmp", NULL},
    {"[]", NULL},
    {"5", NULL},
    {"\"x\"", NULL},
    {"{\"a\":1,}", NULL},
    {"{\"a\":1,\"a\":2}", NULL},
    {"{\"x\":NaN}", NULL},
};

static void test_readings(void)
{
    for (size_t i = 0; i < COUNT_OF(readings); i++) {
        struct arguments arguments;
        arguments_read(str_of(readings[i].raw), &arguments);
        bool valid = readings[i].object != NULL;
        if (arguments.valid != valid)
            printf("#   %s\n", readings[i].raw);
        CU_ASSERT_EQUAL(arguments.valid, valid);
        CHECK_STR(arguments.object, valid ? readings[i].object : "{}");
        CU_ASSERT_EQUAL(arguments.fault == NULL, valid);
        arguments_fini(&arguments);
    }
}

static void test_bounded_preview(void)
{
    size_t len = 2 << 20;
    char *junk = xmalloc(len);
    memset(junk, 'j', len);
    struct arguments arguments;
    arguments_read((gudgeon_str){junk, len}, &arguments);
    CU_ASSERT_FALSE(arguments.valid);
    CU_ASSERT(strlen(arguments.fault) < 600);
    CU_ASSERT_PTR_NOT_NULL(strstr(arguments.fault, "2097152 bytes"));
    arguments_fini(&arguments);
    free(junk);
}

static void test_any_bytes(void)
{
    static const char bytes[] = "{'\xff\0\xed\xa0\x80': '";
    struct arguments arguments;
    arguments_read((gudgeon_str){bytes, sizeof bytes - 1}, &arguments);
    CU_ASSERT_FALSE(arguments.valid);
    arguments_fini(&arguments);
}

static const char schema_text[] = "{\"type\":\"object\",\"properties\":{"
                                  "\"limit\":{\"type\":\"integer\",\"maximum\":1000},"
                                  "\"ver\":{\"type\":\"string\"},"
                                  "\"x\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
                                  "\"plan\":{\"type\":\"array\"},"
                                  "\"id\":{\"type\":\"integer\"},"
                                  "\"o\":{\"$ref\":\"#/$defs/O\"},"
                                  "\"n\":{\"type\":\"integer\",\"default\":7}},"
                                  "\"$defs\":{\"O\":{\"type\":\"object\",\"required\":[\"k\"]}}}";

static const struct {
    const char *object, *input, *fault; /* fault: a part of it */
} checks[] = {
    {"{\"limit\":\"500\"}", "{\"limit\":500,\"n\":7}", NULL},
    {"{\"ver\":1.5}", "{\"ver\":\"1.5\",\"n\":7}", NULL},
    {"{\"ver\":\"[1]\"}", "{\"ver\":\"[1]\",\"n\":7}", NULL},
    {"{\"x\":\"NaN\"}", NULL, "/x"},
    {"{\"plan\":\"[{\\\"step\\\":\\\"a\\\"}]\"}", "{\"plan\":[{\"step\":\"a\"}],\"n\":7}", NULL},
    {"{\"id\":812345678901234567}", "{\"id\":812345678901234567,\"n\":7}", NULL},
    {"{\"o\":{}}", NULL, "k"},
    {"{\"limit\":5000}", NULL, "/limit"},
};

static void test_checks(void)
{
    struct schema *schema = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(schema_compile_text(schema_text, &schema, &err), 0);
    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        char *fault;
        char *input = arguments_check(checks[i].object, schema, &fault);
        if (checks[i].input != NULL) {
            CHECK_STR(input, checks[i].input);
        } else {
            CU_ASSERT_PTR_NULL(input);
            CU_ASSERT(fault != NULL && strstr(fault, checks[i].fault) != NULL);
            if (fault == NULL || strstr(fault, checks[i].fault) == NULL)
                printf("#   %s: %s\n", checks[i].object, fault);
        }
        free(input);
        free(fault);
    }
    schema_free(schema);
}

/* "[[[…]]]" in an object, so that `levels` are nested in all. */
static char *nested(int levels, const char *before, const char *after)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&text, "{\"plan\":%s", before);
    for (int i = 1; i < levels; i++)
        buf_add_char(&text, '[');
    for (int i = 1; i < levels; i++)
        buf_add_char(&text, ']');
    buf_addf(&text, "%s}", after);
    return buf_take(&text);
}

static void check_levels(int levels, const char *quote, const char *with_schema, bool good)
{
    struct schema *schema = NULL;
    CU_ASSERT_EQUAL_FATAL(schema_compile_text(with_schema, &schema, NULL), 0);
    CLEANUP(free_ptr) char *object = nested(levels, quote, quote);
    CLEANUP(free_ptr) char *fault = NULL;
    CLEANUP(free_ptr) char *input = arguments_check(object, schema, &fault);
    if ((input != NULL) != good)
        printf("#   %d levels, %s: %s\n", levels, with_schema, fault);
    CU_ASSERT_EQUAL(input != NULL, good);
    CU_ASSERT_EQUAL(fault != NULL && strstr(fault, "more than 256 levels") != NULL, !good);
    schema_free(schema);
}

/* A record holds the input as JSON, and has to be readable. */
static void test_depth(void)
{
    check_levels(256, "", "{}", true);
    check_levels(257, "", "{}", false);
    check_levels(512, "", "{}", false);
    check_levels(256, "\"", schema_text, true);
    check_levels(257, "\"", schema_text, false); /* a text that the schema turns into an array */
    CLEANUP(free_ptr) char *fault = NULL;
    struct buf many = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&many, "{\"a\":[");
    for (int i = 0; i < 1 << 18; i++)
        buf_add_str(&many, "{},");
    buf_add_str(&many, "{}]}");
    CU_ASSERT_PTR_NULL(arguments_check(many.data, NULL, &fault));
    CU_ASSERT_PTR_NOT_NULL(fault);
    buf_fini(&many);
}

int main(void)
{
    UNIT_MAIN("arguments", {"what a model wrote, and what is understood", test_readings},
              {"a hopeless payload is shown in part, with its size", test_bounded_preview},
              {"any bytes are survived", test_any_bytes},
              {"coercion where the schema leaves no doubt, defaults, faults", test_checks},
              {"more than a record can hold", test_depth});
}
