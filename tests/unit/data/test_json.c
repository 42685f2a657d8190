/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/decimal.h"
#include "data/json.h"
#include "suites.h"
#include "unit.h"

#include <math.h>
#include <pthread.h>

static char *written(struct json_object *value)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    CU_ASSERT_EQUAL(json_write(&out, value), 0);
    return buf_take(&out);
}

/* ---- reading ------------------------------------------------------------------------------- */

static void test_round_trip(void)
{
    static const struct {
        const char *in, *out; /* out: NULL = as it went in */
    } rows[] = {
        {"null", NULL},
        {" [ true , false , null ] ", "[true,false,null]"},
        {"{\"b\":1,\"a\":{},\"c\":[]}", NULL},
        {"\"\"", NULL},
        {"\"plain\"", NULL},
        {"\"\\u0041\\/\\u00e9\\ud83d\\ude00\"", "\"A/é😀\""},
        {"\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u0000x\\u001f\"", NULL},
        {"\"\\u0008\\u000a\\u007f\"", "\"\\b\\n\x7f\""},
        {"\"日本語 and a long run of plain text \xf4\x8f\xbf\xbf\"", NULL},
        {"{\"a\\u0000b\":1,\"a\":2,\"\\u0000\":3,\"\":4}", NULL},
        {"\"a quote after exactly sixteen\\\"\"", NULL},
        /* Digits are what they were */
        {"{\"id\":812345678901234567}", NULL},
        {"[9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809]",
         NULL},
        {"[18446744073709551615,18446744073709551616,5500000000]", NULL},
        {"[0,-0,1.0,1e5,1E+5,0.10,-0.0,1e-7,1e400,123456789012345678901234567890.5]", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        struct json_object *value = NULL;
        CU_ASSERT_EQUAL(json_read(str_of(rows[i].in), &value, &err), 0);
        CLEANUP(free_ptr) char *text = written(value);
        CHECK_STR(text, rows[i].out != NULL ? rows[i].out : rows[i].in);
        CHECK_STR(err.text, "");
        json_cleanup(&value);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *in, *message;
    } rows[] = {
        {"", "line 1, column 1: the text ends where a value is due"},
        {" \n ", "line 2, column 2: the text ends where a value is due"},
        {"{\"a\":1}}", "line 1, column 8: the end of the text is due, not }"},
        {"{\"a\":1,}", "line 1, column 8: a name in double quotes is due, not }"},
        {"[1,]", "line 1, column 4: a value is due, not ]"},
        {"[1 2]", "line 1, column 4: a comma or ] is due, not 2"},
        {"[,1]", "line 1, column 2: a value is due, not ,"},
        {"{\"a\" 1}", "line 1, column 6: a colon is due, not 1"},
        {"{\"a\":1", "line 1, column 7: the text ends where a comma or } is due"},
        {"[1}", "line 1, column 3: a comma or ] is due, not }"},
        {"nulL", "line 1, column 1: a value is due, not n"},
        /* what models write instead: the message says what is wrong */
        {"{'a':1}", "line 1, column 2: a name in double quotes is due, not ' (JSON text stands in "
                    "double quotes)"},
        {"[NaN]", "line 1, column 2: a value is due, not N (JSON has no NaN, Infinity or None)"},
        {"[-Infinity]",
         "line 1, column 3: a digit is due, not I (JSON has no NaN, Infinity or None)"},
        {"True", "line 1, column 1: a value is due, not T (true and false are lower case)"},
        {"// x\n1", "line 1, column 1: a value is due, not / (JSON has no comments)"},
        {"{\"a\":1,\n \"é\":2,\n \"é\":3}",
         "line 3, column 2: the name \"é\" stands twice in one object"},
        {"{\"a\":{\"a\":1},\"a\":2}",
         "line 1, column 14: the name \"a\" stands twice in one object"},
        {"{\"\\u0061\":1,\"a\":2}", "line 1, column 13: the name \"a\" stands twice in one object"},
        {"01", "line 1, column 1: a number does not begin with a superfluous 0"},
        {"-", "line 1, column 2: the text ends where a digit is due"},
        {"1.", "line 1, column 3: the text ends where a digit is due"},
        {"1e+x", "line 1, column 4: a digit is due, not x"},
        {"+1", "line 1, column 1: a value is due, not + (a number begins with a digit or a minus)"},
        {"\"abc", "line 1, column 1: the text ends inside the string that begins here"},
        {"\"a\tb\"", "line 1, column 3: the control character 0x09 stands in a string (write it as "
                     "an escape)"},
        {"\"é\\x\"",
         "line 1, column 4: one of \" \\ / b f n r t u after a backslash is due, not x"},
        {"\"\\u12\"", "line 1, column 6: a hexadecimal digit (\\u takes four) is due, not \""},
        {"\"\\ud83d\"", "line 1, column 4: \\ud83d is half of a surrogate pair"},
        {"\"\\ude00\\ud83d\"", "line 1, column 4: \\ude00 is half of a surrogate pair"},
        {"\"\\ud83d\\u0041\"", "line 1, column 4: \\ud83d is half of a surrogate pair"},
        {"\"a\xff\"", "line 1, column 3: the byte 0xff is not UTF-8 here"},
        {"\"a\xc0\x80\"", "line 1, column 3: the byte 0xc0 is not UTF-8 here"},
        {"\"\xe4\xbd", "line 1, column 2: the byte 0xe4 is not UTF-8 here"},
        {"\xef\xbb\xbf{}", "line 1, column 1: a byte order mark stands before the value"},
        {"[\x01]", "line 1, column 2: a value is due, not the byte 0x01"},
        {"é", "line 1, column 1: a value is due, not é"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        struct json_object *value = (struct json_object *)&err;
        CU_ASSERT_EQUAL(json_read(str_of(rows[i].in), &value, &err), ERR_INVALID);
        CHECK_STR(err.text, rows[i].message);
        CU_ASSERT_PTR_EQUAL(value, &err);
        CU_ASSERT_EQUAL(json_read(str_of(rows[i].in), &value, NULL), ERR_INVALID);
    }
}

static void test_absent_and_nul(void)
{
    struct json_object *value;
    CU_ASSERT_EQUAL(json_read((gudgeon_str){NULL, 0}, &value, NULL), ERR_INVALID);
    CU_ASSERT_EQUAL(json_read((gudgeon_str){"1\0", 2}, &value, NULL), ERR_INVALID);
    /* The length decides, not a terminator */
    CU_ASSERT_EQUAL(json_read((gudgeon_str){"nullx", 4}, &value, NULL), 0);
    CU_ASSERT_PTR_NULL(value);
    CU_ASSERT_EQUAL(json_read((gudgeon_str){"null", 3}, &value, NULL), ERR_INVALID);
    CU_ASSERT_EQUAL(json_read((gudgeon_str){"12", 1}, &value, NULL), 0);
    CU_ASSERT_EQUAL(json_object_get_int64(value), 1);
    json_cleanup(&value);
}

static void test_read_tolerant(void)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    CU_ASSERT_EQUAL(json_read_tolerant(str_of("{\"a\":[1],\"b\":2,\"a\":{}}"), &value, NULL), 0);
    CLEANUP(free_ptr) char *text = written(value);
    CHECK_STR(text, "{\"a\":{},\"b\":2}");
    struct json_object *none;
    CU_ASSERT_EQUAL(json_read_tolerant(str_of("{\"a\":1,}"), &none, NULL), ERR_INVALID);
}

static void test_read_object(void)
{
    struct err err = {0};
    struct json_object *value = NULL;
    CU_ASSERT_EQUAL(json_read_object(str_of("{}"), &value, &err), 0);
    json_cleanup(&value);
    static const char *const others[][2] = {
        {"[]", "must be an object, is array"},   {"5", "must be an object, is integer"},
        {"5.5", "must be an object, is number"}, {"\"x\"", "must be an object, is string"},
        {"null", "must be an object, is null"},  {"true", "must be an object, is boolean"},
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        CU_ASSERT_EQUAL(json_read_object(str_of(others[i][0]), &value, &err), ERR_INVALID);
        CHECK_STR(err.text, others[i][1]);
    }
    CU_ASSERT_PTR_NULL(value);
}

static void test_read_first(void)
{
    static const struct {
        const char *in;
        size_t used;
    } rows[] = {
        {"{\"name\":\"t\",\"arguments\":{}} close it with }", 27},
        {" {\"a\":1}{\"b\":2}", 8},
        {"12 34", 2},
        {"\"x\"\xff", 3},
        {"nullify", 4},
        {"[]", 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_object *value;
        size_t used = 0;
        CU_ASSERT_EQUAL(json_read_first(str_of(rows[i].in), &value, &used, NULL), 0);
        CU_ASSERT_EQUAL(used, rows[i].used);
        json_object_put(value);
    }
    struct json_object *value;
    size_t used;
    CU_ASSERT_EQUAL(json_read_first(str_of("close it with }"), &value, &used, NULL), ERR_INVALID);
    CU_ASSERT_EQUAL(json_read_first(str_of("{\"a\":"), &value, &used, NULL), ERR_INVALID);
}

/* ---- bounds -------------------------------------------------------------------------------- */

/* `{"x":` and then `depth` brackets, closed or not. */
static char *nested(const char *open, const char *close, int depth)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < depth; i++)
        buf_add_str(&text, open);
    buf_add_str(&text, "1");
    for (int i = 0; i < depth && close != NULL; i++)
        buf_add_str(&text, close);
    return buf_take(&text);
}

/* Read, write, compare, copy and free at the full depth. */
static void *use_deepest(void *ret_ok)
{
    bool ok = true;
    static const char *const brackets[][2] = {{"[", "]"}, {"{\"k\":", "}"}};
    for (size_t i = 0; i < COUNT_OF(brackets); i++) {
        CLEANUP(free_ptr) char *text = nested(brackets[i][0], brackets[i][1], JSON_MAX_DEPTH);
        CLEANUP(json_cleanup) struct json_object *value = NULL;
        ok = ok && json_read(str_of(text), &value, NULL) == 0;
        CLEANUP(json_cleanup) struct json_object *copy = json_copy(value);
        CLEANUP(free_ptr) char *again = written(copy);
        ok = ok && json_equal(value, copy) && strcmp(text, again) == 0;
    }
    *(bool *)ret_ok = ok;
    return NULL;
}

static void test_deepest_on_small_stack(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CU_ASSERT_EQUAL(pthread_attr_setstacksize(&attributes, UNIT_SMALL_STACK), 0);
    pthread_t thread;
    bool ok = false;
    CU_ASSERT_EQUAL(pthread_create(&thread, &attributes, use_deepest, &ok), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    CU_ASSERT(ok);
}

static void test_too_deep(void)
{
    static const struct {
        const char *open, *close;
        int depth;
    } rows[] = {
        {"[", "]", JSON_MAX_DEPTH + 1}, {"[", NULL, 10000},         {"[", NULL, 100000},
        {"{\"k\":", "}", 10000},        {"{\"k\":[", NULL, 100000}, {"[[],[", NULL, 100000},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = nested(rows[i].open, rows[i].close, rows[i].depth);
        struct err err = {0};
        struct json_object *value;
        CU_ASSERT_EQUAL(json_read(str_of(text), &value, &err), ERR_LIMIT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "nested deeper than 512 levels"));
    }
}

static void test_long_number(void)
{
    char digits[JSON_MAX_NUMBER + 2];
    memset(digits, '7', sizeof digits);
    digits[JSON_MAX_NUMBER + 1] = '\0';
    struct json_object *value = NULL;
    CU_ASSERT_EQUAL(json_read(str_of(digits), &value, NULL), ERR_LIMIT);
    digits[JSON_MAX_NUMBER] = '\0';
    CU_ASSERT_EQUAL(json_read(str_of(digits), &value, NULL), 0);
    CLEANUP(free_ptr) char *text = written(value);
    CHECK_STR(text, digits);
    json_cleanup(&value);
}

static void test_many_containers(void)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_add_char(&text, '[');
    for (int i = 0; i < JSON_MAX_CONTAINERS; i++)
        buf_add_str(&text, i > 0 ? ",[]" : "[]");
    buf_add_char(&text, ']');
    struct json_object *value;
    CU_ASSERT_EQUAL(json_read((gudgeon_str){text.data, text.len}, &value, NULL), ERR_LIMIT);
    buf_fini(&text);
}

/* A quadratic search for duplicates would take minutes here. */
static void test_large_object(void)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    enum { MEMBERS = 300000 };
    buf_add_char(&text, '{');
    for (int i = 0; i < MEMBERS; i++)
        buf_addf(&text, "%s\"key%d\":%d", i > 0 ? "," : "", i, i);
    buf_add_str(&text, ",\"key7\":0}");
    struct json_object *value;
    struct err err = {0};
    gudgeon_str whole = {text.data, text.len};
    CU_ASSERT_EQUAL(json_read(whole, &value, &err), ERR_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"key7\" stands twice"));
    buf_fini(&text);
}

/* ---- values -------------------------------------------------------------------------------- */

static void test_members(void)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    const char *text =
        "{\"s\":\"a\\u0000b\",\"i\":5500000000,\"d\":3.0,\"e\":3e2,\"f\":2.5,"
        "\"big\":9223372036854775808,\"t\":true,\"n\":null,\"m\":-9223372036854775808}";
    CU_ASSERT_EQUAL(json_read(str_of(text), &object, NULL), 0);
    CU_ASSERT_EQUAL(json_get_str(object, "s").len, 3);
    CU_ASSERT_PTR_NULL(json_get_str(object, "i").ptr);
    CU_ASSERT_PTR_NULL(json_get_str(object, "none").ptr);
    CU_ASSERT_EQUAL(json_get_int(object, "i", 1), 5500000000);
    CU_ASSERT_EQUAL(json_get_int(object, "d", 1), 3);
    CU_ASSERT_EQUAL(json_get_int(object, "e", 1), 300);
    CU_ASSERT_EQUAL(json_get_int(object, "f", 1), 1);
    CU_ASSERT_EQUAL(json_get_int(object, "big", 1), 1);
    CU_ASSERT_EQUAL(json_get_int(object, "m", 1), INT64_MIN);
    CU_ASSERT_EQUAL(json_get_int(object, "s", 1), 1);
    CU_ASSERT_EQUAL(json_get_int(NULL, "s", 7), 7);
    CU_ASSERT_EQUAL(json_get_double(object, "f", 1), 2.5);
    CU_ASSERT_EQUAL(json_get_double(object, "i", 1), 5500000000.0);
    CU_ASSERT_EQUAL(json_get_double(object, "n", 1), 1);
    CU_ASSERT_EQUAL(json_get_bool(object, "t", false), true);
    CU_ASSERT_EQUAL(json_get_bool(object, "i", false), false);
    CU_ASSERT_EQUAL(json_get_bool(object, "n", true), true);
    CU_ASSERT_PTR_NULL(json_get(object, "n"));
    CU_ASSERT_PTR_NULL(json_get(json_get(object, "s"), "x"));
}

static void test_equal(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"1", "1.0", true},
        {"100", "1e2", true},
        {"0", "-0.0", true},
        {"1.50", "15e-1", true},
        {"9007199254740993", "9007199254740992.0", false},
        {"18446744073709551616", "18446744073709551617", false},
        {"1e400", "1e401", false},
        {"1e-400", "0", false},
        {"-1", "1", false},
        {"0", "false", false},
        {"null", "null", true},
        {"null", "0", false},
        {"\"a\"", "\"a\"", true},
        {"\"a\\u0000b\"", "\"a\\u0000c\"", false},
        {"{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1}", true},
        {"{\"a\":null}", "{\"b\":null}", false},
        {"{\"a\":1}", "{\"a\":1,\"b\":1}", false},
        {"[1,2]", "[2,1]", false},
        {"[1]", "[1,1]", false},
        {"[]", "{}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_object *a = NULL, *b = NULL;
        CU_ASSERT_EQUAL(json_read(str_of(rows[i].a), &a, NULL), 0);
        CU_ASSERT_EQUAL(json_read(str_of(rows[i].b), &b, NULL), 0);
        if (json_equal(a, b) != rows[i].equal || json_equal(b, a) != rows[i].equal)
            CU_FAIL_FATAL(rows[i].a);
        json_cleanup(&a);
        json_cleanup(&b);
    }
}

static void test_copy(void)
{
    const char *text =
        "{\"a\":[1,2.50,18446744073709551616,\"x\\u0000y\",null,true],\"\\u0000\":{}}";
    struct json_object *value = NULL;
    CU_ASSERT_EQUAL(json_read(str_of(text), &value, NULL), 0);
    CLEANUP(json_cleanup) struct json_object *copy = json_copy(value);
    json_object_array_add(json_get(value, "a"), NULL);
    json_cleanup(&value);
    CLEANUP(free_ptr) char *again = written(copy);
    CHECK_STR(again, text);
}

/* ---- writing ------------------------------------------------------------------------------- */

static void test_made_numbers(void)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {5e-324, "4.94065645841247e-324"},
        {1e300, "1e+300"},
        {3, "3"},
        {NAN, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_cleanup)
        struct json_object *value = json_object_new_double(rows[i].number);
        CLEANUP(free_ptr) char *text = written(value);
        CHECK_STR(text, rows[i].text);
    }
    CLEANUP(json_cleanup) struct json_object *largest = json_object_new_uint64(UINT64_MAX);
    CLEANUP(json_cleanup) struct json_object *copy = json_copy(largest);
    CLEANUP(free_ptr) char *text = written(copy);
    CHECK_STR(text, "18446744073709551615");
    CLEANUP(json_cleanup) struct json_object *greatest = json_object_new_int64(INT64_MAX);
    CU_ASSERT(!json_equal(largest, greatest));
    CU_ASSERT(json_equal(largest, copy));
}

static void test_write_cap(void)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    const char *text = "{\"key\":[1,\"two\",3.5,null,true,\"\\n\"]}";
    CU_ASSERT_EQUAL(json_read(str_of(text), &value, NULL), 0);
    for (size_t max = 0; max < strlen(text); max++) {
        struct buf out = BUF_INIT(max);
        CU_ASSERT_EQUAL(json_write(&out, value), ERR_LIMIT);
        buf_fini(&out);
    }
    struct buf out = BUF_INIT(strlen(text));
    CU_ASSERT_EQUAL(json_write(&out, value), 0);
    CHECK_STR(out.data, text);
    buf_fini(&out);
}

static void test_writer(void)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer w = JSON_WRITER_INIT(&out);
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    json_read(str_of("[1.0]"), &value, NULL);
    json_begin_object(&w);
    json_field_text(&w, "text", "a\"b");
    json_field_text(&w, "absent", NULL);
    json_field_str(&w, "empty", (gudgeon_str){"", 0});
    json_field_int(&w, "min", INT64_MIN);
    json_field_bool(&w, "b\n", true);
    json_field_raw(&w, "raw", str_of("{\"x\": 1}"));
    json_field_raw(&w, "none", (gudgeon_str){NULL, 0});
    json_key(&w, "list");
    json_begin_array(&w);
    json_begin_object(&w);
    json_end_object(&w);
    json_begin_array(&w);
    json_end_array(&w);
    json_add_null(&w);
    json_add_bool(&w, false);
    json_add_value(&w, value);
    json_end_array(&w);
    json_field_int(&w, "last", 0);
    json_end_object(&w);
    CU_ASSERT_EQUAL(w.status, 0);
    CU_ASSERT_EQUAL(w.depth, 0);
    CHECK_STR(out.data, "{\"text\":\"a\\\"b\",\"empty\":\"\",\"min\":-9223372036854775808,"
                        "\"b\\n\":true,\"raw\":{\"x\": 1},\"list\":[{},[],null,false,[1.0]],"
                        "\"last\":0}");
    buf_fini(&out);
}

static void test_writer_cap(void)
{
    struct buf out = BUF_INIT(10);
    struct json_writer w = JSON_WRITER_INIT(&out);
    json_begin_array(&w);
    json_add_str(&w, str_of("far too long"));
    CU_ASSERT_EQUAL(w.status, ERR_LIMIT);
    json_begin_object(&w);
    json_field_int(&w, "a", 1);
    json_end_object(&w);
    json_end_array(&w);
    CU_ASSERT_EQUAL(w.status, ERR_LIMIT);
    CU_ASSERT(out.len <= 10);
    buf_fini(&out);
}

/* ---- decimals ------------------------------------------------------------------------------ */

static struct decimal decimal(const char *text)
{
    struct json_object *value = NULL;
    CU_ASSERT_EQUAL_FATAL(json_read(str_of(text), &value, NULL), 0);
    struct decimal result;
    decimal_of(value, &result);
    json_object_put(value);
    return result;
}

static void test_decimal_order(void)
{
    static const char *const ascending[] = {
        "-1e999999999999999999999",
        "-18446744073709551617",
        "-18446744073709551616",
        "-1.1",
        "-1",
        "-0.5",
        "0",
        "1e-999999999999999999999",
        "0.0999",
        "0.1",
        "9",
        "10",
        "10.5",
        "9007199254740992",
        "9007199254740993",
        "1e300",
        "1e301",
    };
    for (size_t i = 0; i < COUNT_OF(ascending); i++)
        for (size_t j = 0; j < COUNT_OF(ascending); j++) {
            struct decimal a = decimal(ascending[i]), b = decimal(ascending[j]);
            int order = decimal_compare(&a, &b);
            CU_ASSERT((order > 0) - (order < 0) == (i > j) - (i < j));
        }
}

static void test_decimal_multiple(void)
{
    static const struct {
        const char *value, *step;
        bool multiple;
    } rows[] = {
        {"0.0075", "0.0001", true},
        {"0.00751", "0.0001", false},
        {"0", "7", true},
        {"12391239123", "1e-8", true},
        {"1e308", "0.123456789", false},
        {"1e308", "0.5", true},
        {"7", "2", false},
        {"-8", "2", true},
        {"4.5", "1.5", true},
        {"35", "1.5", false},
        {"1e400", "3", false},
        {"3e400", "3", true},
        {"1e999999999999999999", "1024", true},
        {"1", "1e5", false},
        {"1e6", "64", true},
        {"1e5", "64", false},
        {"1208925819614629174706176", "1208925819614629174706176", true},
        {"1208925819614629174706177", "1208925819614629174706176", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct decimal value = decimal(rows[i].value), step = decimal(rows[i].step);
        if (decimal_is_multiple(&value, &step) != rows[i].multiple)
            CU_FAIL_FATAL(rows[i].value);
    }
}

/* ---- the public suite ---------------------------------------------------------------------- */

struct counts {
    int accepted[3], all[3]; /* of the kinds below */
    int strict;              /* "must be read" and read by json_read too */
};

static void run_suite_file(const char *path, const char *name, void *payload)
{
    static const char kinds[] = "yni"; /* must be read, must be refused, free */
    struct counts *counts = payload;
    const char *kind = strchr(kinds, name[0]);
    CU_ASSERT_FATAL(kind != NULL);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    CU_ASSERT_EQUAL(suite_read(path, &text), 0);
    struct json_object *value = NULL;
    struct err err = {0};
    gudgeon_str whole = {text.data, text.len};
    bool accepted = json_read_tolerant(whole, &value, &err) == 0;
    struct json_object *strict = NULL;
    if (json_read(whole, &strict, NULL) == 0) {
        CU_ASSERT(accepted);
        counts->strict += *kind == 'y';
    }
    json_object_put(strict);
    if ((*kind == 'y' && !accepted) || (*kind == 'n' && accepted))
        printf("# %s: %s %s\n", name, accepted ? "read" : "refused:", err.text);
    if (accepted) {
        CLEANUP(free_ptr) char *again = written(value);
        CLEANUP(json_cleanup) struct json_object *reread = NULL;
        CU_ASSERT_EQUAL(json_read(str_of(again), &reread, NULL), 0);
        CU_ASSERT(json_equal(value, reread));
    }
    counts->all[kind - kinds]++;
    counts->accepted[kind - kinds] += accepted;
    json_object_put(value);
    buf_fini(&text);
}

static void test_suite(void)
{
    CLEANUP(free_ptr) char *path = suite_path("json/test_parsing");
    if (path == NULL)
        return;
    struct counts counts = {0};
    suite_each(path, run_suite_file, &counts);
    printf("# JSON suite: %d of %d read that must be, %d of %d refused that must be, %d of %d "
           "others read\n",
           counts.accepted[0], counts.all[0], counts.all[1] - counts.accepted[1], counts.all[1],
           counts.accepted[2], counts.all[2]);
    CU_ASSERT(counts.all[0] >= 95 && counts.accepted[0] == counts.all[0]);
    enum { WITH_DUPLICATE_NAMES = 2 };
    CU_ASSERT_EQUAL(counts.strict, counts.all[0] - WITH_DUPLICATE_NAMES);
    CU_ASSERT(counts.all[1] >= 188 && counts.accepted[1] == 0);
}

int main(void)
{
    UNIT_MAIN("json", {"what is read is written with the same digits", test_round_trip},
              {"what is no JSON is refused with place and reason", test_refused},
              {"the length of the text decides", test_absent_and_nul},
              {"of equal names the last counts when asked", test_read_tolerant},
              {"an object is asked for", test_read_object},
              {"the first value of a text", test_read_first},
              {"the greatest depth works on a small stack", test_deepest_on_small_stack},
              {"deeper text is refused", test_too_deep},
              {"long numbers are refused", test_long_number},
              {"too many containers are refused", test_many_containers},
              {"duplicates in a large object are found fast", test_large_object},
              {"members with fallbacks", test_members}, {"equality", test_equal},
              {"copies share nothing", test_copy}, {"numbers that we make", test_made_numbers},
              {"writing stops at the buffer's cap", test_write_cap},
              {"the streaming writer", test_writer},
              {"the streaming writer stops at the cap", test_writer_cap},
              {"order of decimals", test_decimal_order},
              {"multiples of decimals", test_decimal_multiple}, {"the public suite", test_suite});
}
