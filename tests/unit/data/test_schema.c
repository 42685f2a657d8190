/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "data/schema.h"
#include "unit.h"

#include <pthread.h>

static struct json_object *json(const char *text)
{
    struct json_object *value = NULL;
    struct err err = {0};
    if (json_read(str_of(text), &value, &err) < 0)
        printf("# %s: %s\n", text, err.text);
    CU_ASSERT_EQUAL_FATAL(err.code, 0);
    return value;
}

static struct schema *compiled(const char *text)
{
    struct schema *schema = NULL;
    struct err err = {0};
    if (schema_compile_text(text, &schema, &err) < 0)
        printf("# %s: %s\n", text, err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    return schema;
}

/* ---- compiling ----------------------------------------------------------------------------- */

static void test_bad_schemas(void)
{
    static const struct {
        const char *schema, *message;
        int code;
    } rows[] = {
        {"", "line 1, column 1: the text ends where a value is due", ERR_INVALID},
        {"null", "must be a schema (an object or a boolean), is null", ERR_INVALID},
        {"[]", "must be a schema (an object or a boolean), is array", ERR_INVALID},
        {"{\"type\":5}", "/type: must be the name of a type or a list of such names", ERR_INVALID},
        {"{\"type\":[]}", "/type: must be the name of a type or a list of such names", ERR_INVALID},
        {"{\"type\":[\"string\",null]}",
         "/type: must be the name of a type or a list of such names", ERR_INVALID},
        {"{\"properties\":{\"a\":{\"type\":\"strin\"}}}",
         "/properties/a/type: there is no type \"strin\" (did you mean \"string\"?)", ERR_INVALID},
        {"{\"type\":\"any\"}", "/type: there is no type \"any\"", ERR_INVALID},
        {"{\"properties\":[]}", "/properties: must be an object of schemas, is array", ERR_INVALID},
        {"{\"properties\":{\"a/b~\":1}}",
         "/properties/a~1b~0: must be a schema (an object or a boolean), is integer", ERR_INVALID},
        {"{\"items\":[{}]}", "/items: must be a schema (an object or a boolean), is array",
         ERR_INVALID},
        {"{\"allOf\":[]}", "/allOf: must be a list of schemas that is not empty", ERR_INVALID},
        {"{\"anyOf\":[true,3]}", "/anyOf/1: must be a schema (an object or a boolean), is integer",
         ERR_INVALID},
        {"{\"minLength\":-1}", "/minLength: must be an integer from 0, is -1", ERR_INVALID},
        {"{\"minItems\":1.5}", "/minItems: must be an integer from 0, is 1.5", ERR_INVALID},
        {"{\"minItems\":\"1\"}", "/minItems: must be an integer from 0, is string", ERR_INVALID},
        {"{\"minimum\":\"1\"}", "/minimum: must be a number, is string", ERR_INVALID},
        {"{\"multipleOf\":0}", "/multipleOf: must be more than 0, is 0", ERR_INVALID},
        {"{\"multipleOf\":12345678901234567890123456789012345678}",
         "/multipleOf: has more than 37 digits", ERR_LIMIT},
        {"{\"required\":true}", "/required: must be a list of strings, is boolean", ERR_INVALID},
        {"{\"required\":[1]}", "/required: must be a list of strings, is array", ERR_INVALID},
        {"{\"dependentRequired\":{\"a\":\"b\"}}",
         "/dependentRequired: must be an object of lists of strings, is object", ERR_INVALID},
        {"{\"uniqueItems\":1}", "/uniqueItems: must be a boolean, is integer", ERR_INVALID},
        {"{\"enum\":{}}", "/enum: must be an array, is object", ERR_INVALID},
        {"{\"pattern\":\"(\"}",
         "/pattern: \"(\" is no regular expression that can be used: missing closing parenthesis",
         ERR_INVALID},
        {"{\"patternProperties\":{\"[\":true}}",
         "/patternProperties: \"[\" is no regular expression that can be used: missing "
         "terminating ] for character class",
         ERR_INVALID},
        {"{\"properties\":{\"o\":{\"$ref\":\"#/$defs/O\"}}}",
         "/properties/o/$ref: \"#/$defs/O\" leads nowhere", ERR_INVALID},
        {"{\"$ref\":\"http://example.com/x\"}", "/$ref: \"http://example.com/x\" leads nowhere",
         ERR_INVALID},
        {"{\"$ref\":\"#nowhere\"}", "/$ref: \"#nowhere\" leads nowhere", ERR_INVALID},
        {"{\"$ref\":\"#/$defs/a/b\",\"$defs\":{\"a\":{\"b\":5}}}",
         "/$defs/a/b: must be a schema (an object or a boolean), is integer", ERR_INVALID},
        {"{\"$ref\":7}", "/$ref: must be a string, is integer", ERR_INVALID},
        {"{\"$id\":\"x#y\"}", "/$id: must have no fragment (write an $anchor)", ERR_INVALID},
        {"{\"$anchor\":\"\"}", "/$anchor: must be a plain name", ERR_INVALID},
        {"{\"properties\":{\"\\u0000\":{\"type\":0}}}",
         "/properties/\xef\xbf\xbd\xef\xbf\xbd/type: must be the name of a type or a list of such "
         "names",
         ERR_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        struct schema *schema = NULL;
        CU_ASSERT_EQUAL(schema_compile_text(rows[i].schema, &schema, &err), rows[i].code);
        CHECK_STR(err.text, rows[i].message);
        CU_ASSERT_PTR_NULL(schema);
        CU_ASSERT_EQUAL(schema_compile_text(rows[i].schema, &schema, NULL), rows[i].code);
    }
}

static void test_documents(void)
{
    CLEANUP(json_cleanup)
    struct json_object *far = json("{\"$defs\":{\"a\":{\"type\":\"integer\"}},\"minimum\":7}");
    CLEANUP(json_cleanup) struct json_object *bad = json("{\"type\":\"nope\"}");
    CLEANUP(json_cleanup)
    struct json_object *root =
        json("{\"properties\":{\"x\":{\"$ref\":\"http://h/far#/$defs/a\"}}}");
    CLEANUP(json_cleanup) struct json_object *wrong = json("{\"$ref\":\"http://h/bad\"}");
    struct schema_document documents[] = {{"http://h/far", far}, {"http://h/bad", bad}};
    struct schema_options options = {.documents = documents, .document_count = 2};
    struct schema *schema = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(schema_compile(root, &options, &schema, &err), 0);
    json_cleanup(&far);
    json_cleanup(&root);
    CLEANUP(json_cleanup) struct json_object *instance = json("{\"x\":\"1\"}");
    CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err), ERR_INVALID);
    CHECK_STR(err.text, "/x: must be integer, is string \"1\"");
    schema_free(schema);
    options.documents++;
    options.document_count = 1;
    CU_ASSERT_EQUAL(schema_compile(wrong, &options, &schema, &err), ERR_INVALID);
    CHECK_STR(err.text, "http://h/bad#/type: there is no type \"nope\"");
}

/* A reference to where no schema is known to stand, within a resource that has its own base. */
static void test_unknown_places(void)
{
    struct schema *schema =
        compiled("{\"$ref\":\"#/$defs/a/x-parts/b%20\",\"$defs\":{\"a\":{\"$id\":\"http://h/a/\","
                 "\"x-parts\":{\"b \":{\"$ref\":\"c\"}},\"$defs\":{\"c\":{\"$id\":\"c\",\"type\":"
                 "\"null\"}}}}}");
    CLEANUP(json_cleanup) struct json_object *one = json("1");
    CU_ASSERT_EQUAL(schema_check(schema, NULL, NULL, NULL), 0);
    CU_ASSERT_EQUAL(schema_check(schema, one, NULL, NULL), ERR_INVALID);
    schema_free(schema);
}

/* ---- faults -------------------------------------------------------------------------------- */

static void test_faults(void)
{
    static const struct {
        const char *schema, *instance, *message;
    } rows[] = {
        {"{\"type\":\"integer\"}", "\"x\"", "must be integer, is string \"x\""},
        {"{\"type\":\"integer\"}", "1.5", "must be integer, is number 1.5"},
        {"{\"type\":[\"null\",\"string\",\"number\"]}", "[1]",
         "must be string or number or null, is array [1]"},
        {"{\"type\":\"object\"}", "null", "must be object, is null"},
        {"{\"const\":{\"a\":1}}", "2", "must be {\"a\":1}, is 2"},
        {"{\"enum\":[\"a\",\"b\",3]}", "\"c\"", "must be one of \"a\", \"b\", 3, is \"c\""},
        {"{\"minimum\":0}", "-1", "must be at least 0, is -1"},
        {"{\"exclusiveMinimum\":0}", "0.0", "must be more than 0, is 0.0"},
        {"{\"maximum\":9007199254740992}", "9007199254740993",
         "must be at most 9007199254740992, is 9007199254740993"},
        {"{\"maximum\":18446744073709551616}", "18446744073709551617",
         "must be at most 18446744073709551616, is 18446744073709551617"},
        {"{\"exclusiveMaximum\":1}", "1", "must be less than 1, is 1"},
        {"{\"multipleOf\":0.01}", "0.075", "must be a multiple of 0.01, is 0.075"},
        {"{\"minLength\":3}", "\"éé\"", "must have at least 3 characters, has 2"},
        {"{\"maxLength\":1}", "\"éé\"", "must have at most 1 characters, has 2"},
        {"{\"pattern\":\"^a+$\"}", "\"b\\n\"", "must match the pattern \"^a+$\", is \"b\\n\""},
        {"{\"minItems\":1}", "[]", "must have at least 1 items, has 0"},
        {"{\"maxItems\":1}", "[1,2]", "must have at most 1 items, has 2"},
        {"{\"uniqueItems\":true}", "[1,{\"a\":1,\"b\":2},1.5,{\"b\":2,\"a\":1e0}]",
         "items 1 and 3 are equal"},
        {"{\"contains\":{\"type\":\"null\"}}", "[1]",
         "must contain at least 1 items of the wanted kind, has 0"},
        {"{\"contains\":true,\"maxContains\":1}", "[1,2]",
         "must contain at most 1 items of the wanted kind, has 2"},
        {"{\"prefixItems\":[{\"type\":\"null\"}],\"items\":false}", "[1,2]",
         "/0: must be null, is integer 1; /1: is not allowed here"},
        {"{\"required\":[\"a\",\"b\"]}", "{\"b\":1}", "lacks \"a\""},
        {"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
         "lacks \"b\", which \"a\" asks for"},
        {"{\"minProperties\":1}", "{}", "must have at least 1 properties, has 0"},
        {"{\"maxProperties\":0}", "{\"a\":1}", "must have at most 0 properties, has 1"},
        {"{\"properties\":{\"path\":true},\"additionalProperties\":false}", "{\"pth\":1}",
         "unknown property \"pth\" (did you mean \"path\"?)"},
        {"{\"properties\":{\"path\":true},\"unevaluatedProperties\":false}", "{\"something\":1}",
         "unknown property \"something\""},
        {"{\"propertyNames\":{\"pattern\":\"^[a-z]*$\"}}", "{\"a\":1,\"B\":2}",
         "the name of a property must match the pattern \"^[a-z]*$\", is \"B\""},
        {"{\"properties\":{\"a/b\":{\"items\":{\"type\":\"null\"}}}}", "{\"a/b\":[null,1]}",
         "/a~1b/1: must be null, is integer 1"},
        {"{\"not\":{\"type\":\"string\"}}", "\"x\"",
         "must not fit {\"type\":\"string\"}, is \"x\""},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"minimum\":2},{\"type\":\"null\"}]}", "3",
         "fits the forms 1 and 2, but only one of them may be meant"},
        {"{\"if\":{\"type\":\"string\"},\"then\":{\"minLength\":2},\"else\":false}", "\"x\"",
         "must have at least 2 characters, has 1"},
        {"false", "1", "is not allowed here"},
        /* of alternatives, the one that is meant speaks */
        {"{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}},\"type\":\"object\"},"
         "{\"type\":\"null\"}]}",
         "{\"a\":1}", "/a: must be null, is integer 1"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "5",
         "must be string or null, is 5"},
        {"{\"anyOf\":[false,false]}", "5", "is not allowed here"},
        {"{\"anyOf\":[{\"maximum\":1},{\"minimum\":7}]}", "5",
         "fits none of the 2 forms that are allowed here, is 5"},
        {"{\"required\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]}", "{}",
         "lacks \"a\"; lacks \"b\"; lacks \"c\"; lacks \"d\"; lacks \"e\"; …"},
        {"{\"maxLength\":5}", "\"123456\"", "must have at most 5 characters, has 6"},
        {"{\"type\":\"null\"}",
         "\"ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé\"",
         "must be null, is string \"ééééééééééééééééééééééééééééééééééééééé…"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct schema *schema = compiled(rows[i].schema);
        CLEANUP(json_cleanup) struct json_object *instance = json(rows[i].instance);
        struct err err = {0};
        CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err), ERR_INVALID);
        CHECK_STR(err.text, rows[i].message);
        CU_ASSERT_EQUAL(schema_check(schema, instance, NULL, NULL), ERR_INVALID);
        schema_free(schema);
    }
}

struct seen {
    int count;
    struct buf text;
};

static void see(void *payload, const struct schema_fault *fault)
{
    struct seen *seen = payload;
    seen->count++;
    if (seen->text.len < 1000)
        buf_addf(&seen->text, "[%s %s %s]", fault->instance_path, fault->keyword,
                 fault->property != NULL ? fault->property : "-");
}

static void test_fault_fields(void)
{
    struct schema *schema = compiled(
        "{\"properties\":{\"a\":{\"type\":\"object\",\"required\":[\"x\"],\"properties\":{\"y\":"
        "false},\"additionalProperties\":false}},\"maxProperties\":1,\"propertyNames\":{"
        "\"pattern\":"
        "\"a\"}}");
    CLEANUP(json_cleanup) struct json_object *instance = json("{\"a\":{\"y\":1,\"z\":2},\"b\":1}");
    struct seen seen = {.text = BUF_INIT(BUF_MAX_ANY)};
    CU_ASSERT_EQUAL(schema_check(schema, instance, see, &seen), ERR_INVALID);
    CHECK_STR(seen.text.data, "[ maxProperties -][ pattern b][/a required x][/a/y properties -]"
                              "[/a additionalProperties z]");
    buf_fini(&seen.text);
    schema_free(schema);
}

static void test_many_faults(void)
{
    struct schema *schema = compiled("{\"items\":{\"type\":\"null\"}}");
    CLEANUP(json_cleanup) struct json_object *instance = json_object_new_array();
    for (int i = 0; i < 5000; i++)
        json_object_array_add(instance, json_object_new_int(i));
    struct seen seen = {.text = BUF_INIT(BUF_MAX_ANY)};
    CU_ASSERT_EQUAL(schema_check(schema, instance, see, &seen), ERR_INVALID);
    CU_ASSERT_EQUAL(seen.count, 100);
    buf_fini(&seen.text);
    schema_free(schema);
}

static void test_nul_in_names(void)
{
    struct schema *schema =
        compiled("{\"propertyNames\":{\"maxLength\":3},"
                 "\"patternProperties\":{\"^a\\\\u0000b$\":{\"type\":\"null\"}},"
                 "\"properties\":{\"\\u0000\":{\"const\":1}},"
                 "\"additionalProperties\":false}");
    CLEANUP(json_cleanup) struct json_object *good = json("{\"a\\u0000b\":null,\"\\u0000\":1}");
    CLEANUP(json_cleanup) struct json_object *bad = json("{\"a\\u0000b\":1,\"\\u0000c\":1}");
    struct err err = {0};
    CU_ASSERT_EQUAL(schema_check_err(schema, good, &err), 0);
    CU_ASSERT_EQUAL(schema_check_err(schema, bad, &err), ERR_INVALID);
    CHECK_STR(err.text, "/a\xef\xbf\xbd\xef\xbf\xbd"
                        "b: must be null, is integer 1; "
                        "unknown property \"\\u0000c\" (did you mean \"\\u0000\"?)");
    schema_free(schema);
}

/* ---- formats ------------------------------------------------------------------------------- */

static void test_formats(void)
{
    CLEANUP(json_cleanup) struct json_object *root = json("{\"format\":\"date-time\"}");
    CLEANUP(json_cleanup) struct json_object *instance = json("\"2026-02-30T00:00:00Z\"");
    struct schema *schema = NULL;
    CU_ASSERT_EQUAL(schema_compile(root, NULL, &schema, NULL), 0);
    CU_ASSERT_EQUAL(schema_check_err(schema, instance, NULL), 0);
    CHECK_STR(schema_annotation(schema_root(schema), "format"), "date-time");
    schema_free(schema);
    struct schema_options options = {.assert_format = true};
    struct err err = {0};
    CU_ASSERT_EQUAL(schema_compile(root, &options, &schema, NULL), 0);
    CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err), ERR_INVALID);
    CHECK_STR(err.text, "must have the format \"date-time\", is \"2026-02-30T00:00:00Z\"");
    schema_free(schema);
}

static void test_ecma_regex(void)
{
    static const struct {
        const char *pattern, *text; /* JSON strings */
        bool found;
    } rows[] = {
        {"\"^abc$\"", "\"abc\\n\"", false},
        {"\"^[\\\\s\\\\S]{3}$\"", "\"a\\u00a0\\n\"", true},
        {"\"^[^\\\\s]$\"", "\"\\u2003\"", false},
        {"\"^[^\\\\S]$\"", "\"\\u2003\"", true},
        {"\"^\\\\d$\"", "\"৪\"", false},
        {"\"^\\\\p{Lowercase_Letter}\\\\P{Number}$\"", "\"éx\"", true},
        {"\"^\\\\p{Script=Greek}$\"", "\"λ\"", true},
        {"\"^\\\\ud83d\\\\udc32$\"", "\"🐲\"", true},
        {"\"^\\\\u{1f432}.$\"", "\"🐲é\"", true},
        {"\"^[^]$\"", "\"\\n\"", true},
        {"\"[]\"", "\"x\"", false},
        {"\"^(?<y>\\\\d{4})-\\\\k<y>$\"", "\"2026-2026\"", true},
        {"\"^(a)?\\\\1b$\"", "\"b\"", true},
        {"\"^\\\\/\\\\-\\\\.$\"", "\"/-.\"", true},
        {"\"\\\\\\\\\"", "\"\\\\\"", true},
        {"\"\"", "\"\"", true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = xasprintf("{\"pattern\":%s}", rows[i].pattern);
        struct schema *schema = compiled(text);
        CLEANUP(json_cleanup) struct json_object *instance = json(rows[i].text);
        if ((schema_check(schema, instance, NULL, NULL) == 0) != rows[i].found)
            CU_FAIL(rows[i].pattern);
        schema_free(schema);
    }
}

/* ---- completing ---------------------------------------------------------------------------- */

/* A tool's parameters as model libraries write them. */
static const char tool_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"limit\":{\"type\":\"integer\",\"default\":10},"
    "\"ratio\":{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"null\"}],\"default\":null},"
    "\"ver\":{\"type\":\"string\"},"
    "\"deep\":{\"type\":\"boolean\"},"
    "\"plan\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/step\"}},"
    "\"o\":{\"anyOf\":[{\"$ref\":\"#/$defs/O\"},{\"type\":\"null\"}]},"
    "\"all\":{\"allOf\":[{\"$ref\":\"#/$defs/O\"},{\"properties\":{\"q\":{\"default\":[]}}}]}},"
    "\"$defs\":{\"step\":{\"type\":\"object\",\"properties\":{"
    "\"n\":{\"type\":\"integer\"},\"done\":{\"type\":\"boolean\",\"default\":false}}},"
    "\"O\":{\"type\":\"object\",\"properties\":{\"p\":{\"$ref\":\"#/$defs/p\"}}},"
    "\"p\":{\"type\":\"integer\",\"default\":1}}}";

static void test_complete(void)
{
    static const struct {
        const char *in;
        bool coerce;
        const char *out;
    } rows[] = {
        {"{}", false, "{\"limit\":10,\"ratio\":null}"},
        {"{\"limit\":null}", true, "{\"limit\":null,\"ratio\":null}"},
        {"{\"limit\":\"500\",\"ratio\":0}", false, "{\"limit\":\"500\",\"ratio\":0}"},
        {"{\"limit\":\"500\",\"ratio\":\"0.50\"}", true, "{\"limit\":500,\"ratio\":0.50}"},
        {"{\"limit\":1,\"ratio\":\"NaN\"}", true, "{\"limit\":1,\"ratio\":\"NaN\"}"},
        {"{\"limit\":1,\"ratio\":\"1e999\"}", true, "{\"limit\":1,\"ratio\":\"1e999\"}"},
        {"{\"limit\":\"1.5\",\"ratio\":null}", true, "{\"limit\":\"1.5\",\"ratio\":null}"},
        {"{\"limit\":\"812345678901234567890\",\"ratio\":0}", true,
         "{\"limit\":812345678901234567890,\"ratio\":0}"},
        {"{\"ver\":1.50,\"limit\":1,\"ratio\":1}", true,
         "{\"ver\":\"1.50\",\"limit\":1,\"ratio\":1}"},
        {"{\"deep\":\"true\",\"limit\":1,\"ratio\":1}", true,
         "{\"deep\":true,\"limit\":1,\"ratio\":1}"},
        {"{\"deep\":\"yes\",\"limit\":1,\"ratio\":1}", true,
         "{\"deep\":\"yes\",\"limit\":1,\"ratio\":1}"},
        /* Only where the schema wants it; what is a string by its schema stays one */
        {"{\"plan\":\"[{\\\"n\\\":\\\"1\\\"}]\",\"limit\":1,\"ratio\":1,\"ver\":\"[1]\"}", true,
         "{\"plan\":[{\"n\":1,\"done\":false}],\"limit\":1,\"ratio\":1,\"ver\":\"[1]\"}"},
        {"{\"plan\":\"[1\",\"limit\":1,\"ratio\":1}", true,
         "{\"plan\":\"[1\",\"limit\":1,\"ratio\":1}"},
        {"{\"plan\":\"{}\",\"limit\":1,\"ratio\":1}", true,
         "{\"plan\":\"{}\",\"limit\":1,\"ratio\":1}"},
        /* A branch behind $ref and null */
        {"{\"o\":\"{\\\"p\\\":\\\"7\\\"}\",\"limit\":1,\"ratio\":1}", true,
         "{\"o\":{\"p\":7},\"limit\":1,\"ratio\":1}"},
        {"{\"o\":null,\"all\":{},\"limit\":1,\"ratio\":1}", true,
         "{\"o\":null,\"all\":{\"p\":1,\"q\":[]},\"limit\":1,\"ratio\":1}"},
        {"\"{\\\"limit\\\":\\\"3\\\"}\"", true, "{\"limit\":3,\"ratio\":null}"},
        {"[]", true, "[]"},
        {"null", true, "null"},
    };
    struct schema *schema = compiled(tool_schema);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct json_object *value = json(rows[i].in);
        CU_ASSERT_EQUAL(schema_complete(schema, &value, rows[i].coerce, NULL), 0);
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        json_write(&out, value);
        CHECK_STR(out.data, rows[i].out);
        buf_fini(&out);
        json_cleanup(&value);
    }
    schema_free(schema);
}

static void test_alternatives(void)
{
    /* Two objects: nobody knows which is meant. */
    struct schema *schema =
        compiled("{\"anyOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"default\":1}}},"
                 "{\"properties\":{\"b\":{\"default\":2}}},{\"type\":\"string\"}]}");
    CLEANUP(json_cleanup) struct json_object *value = json("{}");
    CU_ASSERT_EQUAL(schema_complete(schema, &value, true, NULL), 0);
    CU_ASSERT_EQUAL(json_object_object_length(value), 0);
    schema_free(schema);
}

static void test_defaults_are_copies(void)
{
    struct schema *schema =
        compiled("{\"properties\":{\"a\":{\"default\":{\"n\":[]}}},\"additionalProperties\":"
                 "{\"properties\":{\"x\":{\"default\":2}}}}");
    struct json_object *one = json("{\"other\":{}}"), *two = json("{}");
    CU_ASSERT_EQUAL(schema_complete(schema, &one, false, NULL), 0);
    json_object_array_add(json_get(json_get(one, "a"), "n"), json_object_new_int(1));
    CU_ASSERT_EQUAL(json_get_int(json_get(one, "other"), "x", 0), 2);
    CU_ASSERT_EQUAL(schema_complete(schema, &two, false, NULL), 0);
    CU_ASSERT_EQUAL(json_object_array_length(json_get(json_get(two, "a"), "n")), 0);
    json_cleanup(&one);
    json_cleanup(&two);
    schema_free(schema);
}

/* ---- what a schema says of places ---------------------------------------------------------- */

static void test_nodes(void)
{
    struct schema *schema = compiled(
        "{\"properties\":{"
        "\"i\":{\"type\":\"integer\",\"format\":\"size\",\"x-request\":true},"
        "\"n\":{\"type\":\"number\"},\"e\":{\"enum\":[\"a\",null]},"
        "\"r\":{\"$ref\":\"#/$defs/r\"},\"any\":true,\"none\":false,"
        "\"u\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"in\":"
        "{\"type\":\"boolean\"}}}]},"
        "\"w\":{\"anyOf\":[{\"properties\":{\"in\":{\"type\":\"string\"}}},"
        "{\"properties\":{\"in\":{\"type\":\"null\"}}}]},"
        "\"both\":{\"allOf\":[{\"type\":[\"string\",\"integer\"]},{\"type\":[\"integer\","
        "\"null\"]}]},\"loop\":{\"$ref\":\"#/properties/loop\"}},"
        "\"patternProperties\":{\"^x-\":{\"type\":\"null\"}},"
        "\"additionalProperties\":{\"type\":\"array\",\"prefixItems\":[{\"type\":\"string\"}],"
        "\"items\":{\"type\":\"boolean\"}},"
        "\"$defs\":{\"r\":{\"type\":\"string\",\"description\":\"far\"}}}");
    static const struct {
        const char *name;
        unsigned types;
    } rows[] = {
        {"i", SCHEMA_INTEGER},
        {"n", SCHEMA_NUMBER | SCHEMA_INTEGER},
        {"e", SCHEMA_STRING | SCHEMA_NULL},
        {"r", SCHEMA_STRING},
        {"any", SCHEMA_ANY},
        {"none", 0},
        {"u", SCHEMA_STRING | SCHEMA_OBJECT},
        {"both", SCHEMA_INTEGER},
        {"loop", SCHEMA_ANY},
        {"x-a", SCHEMA_NULL},
        {"other", SCHEMA_ARRAY},
    };
    const struct schema_node *root = schema_root(schema);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CU_ASSERT_EQUAL(schema_types(schema_property(root, rows[i].name)), rows[i].types);
    const struct schema_node *other = schema_property(root, "other");
    CU_ASSERT_EQUAL(schema_types(schema_item(other, 0)), SCHEMA_STRING);
    CU_ASSERT_EQUAL(schema_types(schema_item(other, 1)), SCHEMA_BOOLEAN);
    CU_ASSERT_PTR_NULL(schema_item(schema_property(root, "i"), 0));
    CU_ASSERT_EQUAL(schema_types(schema_property(schema_property(root, "u"), "in")),
                    SCHEMA_BOOLEAN);
    CU_ASSERT_PTR_NULL(schema_property(schema_property(root, "w"), "in"));
    CU_ASSERT_PTR_NULL(schema_property(schema_property(root, "any"), "x"));
    CU_ASSERT_PTR_NULL(schema_property(schema_property(root, "loop"), "x"));
    CU_ASSERT_EQUAL(schema_types(NULL), SCHEMA_ANY);
    CHECK_STR(schema_annotation(schema_property(root, "i"), "format"), "size");
    CHECK_STR(schema_annotation(schema_property(root, "r"), "description"), "far");
    CU_ASSERT_PTR_NULL(schema_annotation(schema_property(root, "any"), "description"));
    CU_ASSERT_PTR_NULL(schema_annotation(NULL, "description"));
    CU_ASSERT(schema_flag(schema_property(root, "i"), "x-request"));
    CU_ASSERT(!schema_flag(schema_property(root, "n"), "x-request"));
    schema_free(schema);
}

/* ---- hostile input ------------------------------------------------------------------------- */

/* Repeats `text` count times. */
static char *repeated(const char *before, const char *text, int count, const char *after)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&out, before);
    for (int i = 0; i < count; i++)
        buf_add_str(&out, text);
    buf_add_str(&out, after);
    return buf_take(&out);
}

/* allOf of two references to the next definition, `levels` times: 2^levels visits. */
static char *doubling_schema(int levels)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&out, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < levels; i++)
        buf_addf(&out,
                 "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i,
                 i + 1, i + 1);
    buf_addf(&out, "\"d%d\":true}}", levels);
    return buf_take(&out);
}

static void test_hostile(void)
{
    CLEANUP(free_ptr) char *doubling = doubling_schema(60);
    CLEANUP(free_ptr) char *a_run = repeated("\"", "a", 40, "b\"");
    CLEANUP(free_ptr) char *long_run = repeated("\"", "a", 200000, "b\"");
    CLEANUP(free_ptr) char *deep = repeated("", "[", 500, "");
    CLEANUP(free_ptr) char *deep_value = repeated(deep, "]", 500, "");
    CLEANUP(free_ptr) char *base64 = repeated("\"", "QUJD", 250000, "\"");
    CLEANUP(free_ptr)
    char *many = repeated("[", "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\",", 2000, "1]");
    const struct {
        const char *schema, *instance;
        int status;
    } rows[] = {
        {"{\"$ref\":\"#\"}", "1", ERR_LIMIT},
        {"{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}", "1", ERR_LIMIT},
        {"{\"not\":{\"$ref\":\"#\"}}", "1", ERR_LIMIT},
        {"{\"anyOf\":[{\"$ref\":\"#\"},true]}", "1", ERR_LIMIT},
        {"{\"$dynamicAnchor\":\"a\",\"$dynamicRef\":\"#a\"}", "1", ERR_LIMIT},
        {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
         "\"b\":{\"$ref\":\"#/$defs/a\"}}}",
         "1", ERR_LIMIT},
        {"{\"properties\":{\"n\":{\"$ref\":\"#\"}}}", "{\"n\":{\"n\":{}}}", 0},
        {doubling, "1", ERR_LIMIT},
        {"{\"pattern\":\"^(a+)+$\"}", a_run, ERR_LIMIT},
        {"{\"pattern\":\"(a|aa)+$\"}", a_run, ERR_LIMIT},
        {"{\"pattern\":\"a*[c-z]\"}", long_run, ERR_LIMIT},
        {"{\"pattern\":\"^a*b$\"}", long_run, 0},
        {"{\"pattern\":\"b$\"}", long_run, 0},
        {"{\"items\":{\"pattern\":\"^(a|a)*$\"}}", many, ERR_LIMIT},
        {"{\"pattern\":\"^(?:[A-Za-z0-9+/]{4})*$\"}", base64, 0},
        {"{\"patternProperties\":{\"^(a+)+$\":true}}", "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\":1}",
         ERR_LIMIT},
        {"{\"items\":{\"$ref\":\"#\"}}", deep_value, ERR_LIMIT},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct schema *schema = compiled(rows[i].schema);
        CLEANUP(json_cleanup) struct json_object *instance = json(rows[i].instance);
        struct err err = {0};
        int status = schema_check_err(schema, instance, &err);
        if (status != rows[i].status)
            printf("# %.60s: %d %s\n", rows[i].schema, status, err.text);
        CU_ASSERT_EQUAL(status, rows[i].status);
        CU_ASSERT(status == 0 || err.text[0] != '\0');
        schema_free(schema);
    }
}

static void test_hostile_completion(void)
{
    CLEANUP(free_ptr) char *doubling = doubling_schema(60);
    CLEANUP(free_ptr)
    char *many_defaults =
        repeated("{\"items\":{\"properties\":{\"a\":{\"default\":[", "0,", 1000, "0]}}}}");
    CLEANUP(free_ptr) char *many_objects = repeated("[", "{},", 200, "{}]");
    const struct {
        const char *schema, *instance;
    } rows[] = {
        {"{\"$ref\":\"#\"}", "{}"},
        {"{\"properties\":{\"a\":{\"$ref\":\"#\",\"default\":{}}}}", "{}"},
        {"{\"properties\":{\"a\":{\"$ref\":\"#\",\"default\":{}},"
         "\"b\":{\"$ref\":\"#\",\"default\":{}}}}",
         "{}"},
        {doubling, "{}"},
        {many_defaults, many_objects},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct schema *schema = compiled(rows[i].schema);
        struct json_object *instance = json(rows[i].instance);
        struct err err = {0};
        CU_ASSERT_EQUAL(schema_complete(schema, &instance, true, &err), ERR_LIMIT);
        CHECK_STR(err.text, "is too deep or too large to be completed by its schema");
        json_cleanup(&instance);
        schema_free(schema);
    }
}

static void test_hostile_schemas(void)
{
    CLEANUP(free_ptr) char *nested = repeated("", "{\"not\":", 500, "");
    CLEANUP(free_ptr) char *deep = repeated(nested, "", 0, "true");
    CLEANUP(free_ptr) char *closed = repeated(deep, "}", 500, "");
    struct schema *schema = compiled(closed);
    CLEANUP(json_cleanup) struct json_object *one = json("1");
    CU_ASSERT_EQUAL(schema_check(schema, one, NULL, NULL), ERR_LIMIT);
    schema_free(schema);

    CLEANUP(free_ptr)
    char *patterns =
        repeated("{\"allOf\":[", "{\"pattern\":\"(([a-z]{200}){40}){4}\"},", 3000, "true]}");
    CLEANUP(free_ptr) char *long_id = repeated("{\"$id\":\"", "0123456789", 500, "\"}");
    CLEANUP(free_ptr) char *base = repeated("{\"$id\":\"", "0123456789", 400, "\",\"$defs\":{");
    struct buf anchors = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&anchors, base);
    for (int i = 0; i < 5000; i++)
        buf_addf(&anchors, "\"d%d\":{\"$anchor\":\"a%d\"},", i, i);
    buf_add_str(&anchors, "\"d\":true}}");
    const char *const limited[] = {patterns, long_id, anchors.data};
    for (size_t i = 0; i < COUNT_OF(limited); i++) {
        struct err err = {0};
        CU_ASSERT_EQUAL(schema_compile_text(limited[i], &schema, &err), ERR_LIMIT);
    }
    buf_fini(&anchors);
}

/* 100,000 different items, and as many names: nothing may be quadratic. */
static void test_large(void)
{
    struct schema *schema = compiled("{\"properties\":{\"l\":{\"uniqueItems\":true}},"
                                     "\"unevaluatedProperties\":{\"type\":\"integer\"}}");
    CLEANUP(json_cleanup) struct json_object *instance = json_object_new_object();
    struct json_object *list = json_object_new_array();
    json_object_object_add(instance, "l", list);
    char name[32];
    for (int i = 0; i < 100000; i++) {
        json_object_array_add(list, json_object_new_int(i));
        snprintf(name, sizeof name, "n%d", i);
        json_object_object_add(instance, name, json_object_new_int(i));
    }
    struct err err = {0};
    CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err), 0);
    json_object_array_add(list, json_object_new_double_s(7, "7.0"));
    CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err), ERR_INVALID);
    CHECK_STR(err.text, "/l: items 7 and 100000 are equal");
    schema_free(schema);
}

/* ---- stacks and threads -------------------------------------------------------------------- */

static void *check_deepest(void *schema)
{
    CLEANUP(free_ptr) char *open = repeated("", "{\"a\":[", 100, "null");
    CLEANUP(free_ptr) char *text = repeated(open, "]}", 100, "");
    struct err err = {0};
    for (int i = 0; i < 20; i++) {
        CLEANUP(json_cleanup) struct json_object *instance = json(text);
        if (schema_complete(schema, &instance, true, &err) != 0 && err.code != ERR_LIMIT)
            return schema;
        if (schema_check_err(schema, instance, &err) != 0 && err.code != ERR_LIMIT)
            return schema;
    }
    return NULL;
}

/* One schema serves several threads, each with the smallest stack there is, to the full depth. */
static void test_threads(void)
{
    struct schema *schema = compiled(
        "{\"$dynamicAnchor\":\"n\",\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\","
        "\"properties\":"
        "{\"a\":{\"oneOf\":[{\"type\":\"array\",\"items\":{\"$dynamicRef\":\"#n\"}}]}},"
        "\"patternProperties\":{\"^b\":{\"$ref\":\"#\"}},\"unevaluatedProperties\":false}]}");
    enum { THREADS = 4 };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    CU_ASSERT_EQUAL(pthread_attr_setstacksize(&attributes, UNIT_SMALL_STACK), 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], &attributes, check_deepest, schema), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        CU_ASSERT_PTR_NULL(failed);
    }
    pthread_attr_destroy(&attributes);
    schema_free(schema);
}

static void test_meta_schema(void)
{
    struct schema *schema = compiled("{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}");
    static const struct {
        const char *instance, *message;
    } rows[] = {
        {"true", NULL},
        {"{\"type\":[\"string\",\"null\"],\"properties\":{\"a\":{\"minLength\":2}}}", NULL},
        {"{\"properties\":{\"a\":{\"minLength\":-2}}}",
         "/properties/a/minLength: must be at least 0, is -2"},
        {"{\"allOf\":[{\"not\":5}]}", "/allOf/0/not: must be boolean or object, is integer 5"},
        {"{\"type\":\"strin\"}", "/type: must be one of \"array\", \"boolean\", \"integer\", "
                                 "\"null\", \"number\", \"object\", \"string\", is \"strin\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_cleanup) struct json_object *instance = json(rows[i].instance);
        struct err err = {0};
        CU_ASSERT_EQUAL(schema_check_err(schema, instance, &err),
                        rows[i].message != NULL ? ERR_INVALID : 0);
        CHECK_STR(err.text, rows[i].message != NULL ? rows[i].message : "");
    }
    schema_free(schema);
}

int main(void)
{
    UNIT_MAIN("schema", {"what is no schema is refused with its place", test_bad_schemas},
              {"documents that are handed in", test_documents},
              {"references to unknown places", test_unknown_places},
              {"faults say what is wrong where", test_faults},
              {"the fields of a fault", test_fault_fields},
              {"faults are bounded", test_many_faults}, {"names with U+0000", test_nul_in_names},
              {"formats are asserted when asked", test_formats},
              {"regular expressions mean what ECMA-262 says", test_ecma_regex},
              {"defaults and coercion", test_complete},
              {"only one alternative can be meant", test_alternatives},
              {"defaults are copies", test_defaults_are_copies},
              {"types, members and annotations", test_nodes}, {"hostile checks end", test_hostile},
              {"hostile completions end", test_hostile_completion},
              {"hostile schemas end", test_hostile_schemas}, {"large instances", test_large},
              {"threads with small stacks", test_threads}, {"the meta-schema", test_meta_schema});
}
