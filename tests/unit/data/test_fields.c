/* SPDX-License-Identifier: MIT */
#include "data/fields.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/yaml.h"
#include "unit.h"

/* A table with a row of each type. */

struct part {
    char *name;
    int64_t number;
    char *rest;
};

struct limits {
    int64_t size;
};

struct whole {
    char *text, *path, *word, *decimal, *flag, *extra, *later, *grant;
    int mode;
    bool on;
    int64_t count, size, time;
    struct text_list texts, programs;
    struct limits limits;
    struct part *list, *one, *map;
    size_t list_count, one_count, map_count;
};

static const struct field_pattern name_pattern = {.characters = "abc-",
                                                  .first = "abc",
                                                  .max_len = 4,
                                                  .regex = "[abc][abc-]{0,3}",
                                                  .words = "a to c"};

static const struct field part_fields[] = {
    {.key = "number",
     .type = FIELD_INT,
     .offset = offsetof(struct part, number),
     .doc = "N.",
     .required = true,
     .min = -5,
     .max = 5},
};
static const size_t part_rest[] = {offsetof(struct part, rest)};
static const struct field_table part_table = {
    .fields = part_fields,
    .count = COUNT_OF(part_fields),
    .size = sizeof(struct part),
    .name_offset = offsetof(struct part, name),
    .has_rest = true,
    .rest_offsets = part_rest,
    .rest_count = 1,
};

static const struct field limit_fields[] = {
    {.key = "size",
     .type = FIELD_SIZE,
     .offset = offsetof(struct limits, size),
     .doc = "S.",
     .fallback = "1KiB",
     .min = 16,
     .max = 1 << 20},
};
static const struct field_table limit_table = {
    .fields = limit_fields, .count = COUNT_OF(limit_fields), .size = sizeof(struct limits)};

static const struct field_word words[] = {{"red", 1}, {"green", 2}, {"blue", 3}, {NULL, 0}};

#define AT(member)   .offset = offsetof(struct whole, member)
#define MANY(member) AT(member), .count_offset = offsetof(struct whole, member##_count)
static const struct field whole_fields[] = {
    {.key = "text",
     .type = FIELD_TEXT,
     AT(text),
     .doc = "T.",
     .required = true,
     .pattern = &name_pattern},
    {.key = "path", .type = FIELD_TEXT, AT(path), .doc = "P.", .path = FIELD_PATH},
    {.key = "word", .type = FIELD_WORD, AT(word), .doc = "W.", .words = words, .fallback = "red"},
    {.key = "mode", .type = FIELD_ENUM, AT(mode), .doc = "M.", .words = words, .fallback = "green"},
    {.key = "on", .type = FIELD_BOOL, AT(on), .doc = "B.", .fallback = "true"},
    {.key = "count", .type = FIELD_INT, AT(count), .doc = "I.", .fallback = "20", .min = 1},
    {.key = "size", .type = FIELD_SIZE, AT(size), .doc = "S."},
    {.key = "time",
     .type = FIELD_DURATION,
     AT(time),
     .doc = "D.",
     .fallback = "1m",
     .min = 1,
     .max = 3600000},
    {.key = "cost", .type = FIELD_DECIMAL, AT(decimal), .doc = "C."},
    {.key = "texts", .type = FIELD_TEXTS, AT(texts), .doc = "L."},
    {.key = "programs", .type = FIELD_TEXTS, AT(programs), .doc = "L.", .path = FIELD_PROGRAM},
    {.key = "flag", .type = FIELD_FLAG_OR_TEXTS, AT(flag), .doc = "F."},
    {.key = "extra", .type = FIELD_JSON_OBJECT, AT(extra), .doc = "E.", .fallback = "{}"},
    {.key = "later", .type = FIELD_JSON_LATER, AT(later), .doc = "A."},
    {.key = "limits", .type = FIELD_OBJECT, AT(limits), .doc = "O.", .table = &limit_table},
    {.key = "grant",
     .type = FIELD_OBJECT_JSON,
     AT(grant),
     .doc = "G.",
     .fallback = "{}",
     .table = &limit_table},
    {.key = "list", .type = FIELD_LIST, MANY(list), .doc = "L.", .table = &part_table},
    {.key = "one",
     .type = FIELD_ONE_OR_LIST,
     MANY(one),
     .doc = "L.",
     .min = 1,
     .table = &part_table},
    {.key = "map",
     .type = FIELD_MAP,
     MANY(map),
     .doc = "M.",
     .pattern = &name_pattern,
     .table = &part_table},
};
static const struct field_table whole_table = {
    .fields = whole_fields, .count = COUNT_OF(whole_fields), .size = sizeof(struct whole)};

static char *join(const char *base, const char *path)
{
    return path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", base, path);
}

/* The struct as JSON, then every fault on a line of its own. */
static char *outcome(const char *text)
{
    struct diags diags = DIAGS_INIT;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct whole whole = {0};
    struct yaml_node *root = NULL;
    const struct fields_context context = {"/dir", join, &diags};
    CU_ASSERT_EQUAL_FATAL(yaml_parse(str_of(text), "f", &root, &diags), 0);
    vars_expand(root, "/dir", join, &diags);
    fields_load(&whole_table, root, &whole, &context);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    fields_write_json(&whole_table, &whole, &writer);
    json_end_object(&writer);
    for (size_t i = 0; i < diags.kept; i++)
        buf_addf(&out, "\n%s", diags.lines[i]);
    fields_fini(&whole_table, &whole);
    yaml_free(root);
    diags_fini(&diags);
    return buf_take(&out);
}

#define DEFAULTS                                                                                   \
    "\"word\":\"red\",\"mode\":\"green\",\"on\":true,\"count\":20,\"time\":\"1m\","                \
    "\"extra\":{},\"limits\":{\"size\":1024},\"grant\":{}}"

static void test_defaults(void)
{
    CLEANUP(free_ptr) char *have = outcome("text: a");
    CHECK_STR(have, "{\"text\":\"a\"," DEFAULTS);
}

static const char full[] =
    "text: a-b\npath: x/y\nword: blue\nmode: red\non: false\ncount: 0x10\nsize: 2MiB\n"
    "time: 1500ms\ncost: 01.50\ntexts: [no, 1.10, ~, 'x']\nprograms: [npx, ./a, /b]\n"
    "flag: [a, b]\nextra: {a: no, b: 5}\nlimits: {size: 16}\ngrant: {size: 32}\n"
    "list: [{number: 1}, {number: -5, more: 1}]\none: {number: 2}\nmap: {a: {number: 3}}\n";

static const char full_json[] =
    "{\"text\":\"a-b\",\"path\":\"/dir/x/y\",\"word\":\"blue\",\"mode\":\"red\",\"on\":false,"
    "\"count\":16,\"size\":2097152,\"time\":\"1500ms\",\"cost\":1.50,"
    "\"texts\":[\"no\",\"1.10\",\"~\",\"x\"],\"programs\":[\"npx\",\"/dir/./a\",\"/b\"],"
    "\"flag\":[\"a\",\"b\"],\"extra\":{\"a\":\"no\",\"b\":5},\"limits\":{\"size\":16},"
    "\"grant\":{\"size\":32},\"list\":[{\"number\":1},{\"number\":-5}],\"one\":[{\"number\":2}],"
    "\"map\":{\"a\":{\"number\":3}}}";

static void test_all_types(void)
{
    CLEANUP(free_ptr) char *have = outcome(full);
    CHECK_STR(have, full_json);
    CLEANUP(free_ptr) char *again = outcome(have); /* JSON is YAML */
    CHECK_STR(again, full_json);
}

static void test_variables(void)
{
    setenv("F_NUMBER", "7", 1);
    setenv("F_SECRET", "hunter2", 1);
    CLEANUP(free_ptr) char *have = outcome("text: a\ncount: \"${env:F_NUMBER}\"\n");
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"count\":7"));
    CLEANUP(free_ptr) char *fault = outcome("text: a\ncount: ${env:F_SECRET}\npath: ${secret:x}");
    CHECK_STR(fault, "{\"text\":\"a\"," DEFAULTS
                     "\nf:2:8: \"count\" must be a whole number, is a variable's value"
                     "\nf:3:7: \"path\" cannot hold a secret: only a component's own configuration "
                     "can");
    CLEANUP(free_ptr) char *once = outcome("text: a\ncount: ${env:F_NONE}\n");
    CHECK_STR(once,
              "{\"text\":\"a\"," DEFAULTS "\nf:2:8: ${env:F_NONE}: F_NONE is not set; set it, "
              "or write ${env:F_NONE:-default}");
}

/* Each is added to a good file; the field keeps its default. */
static void test_faults(void)
{
    setenv("F_EMPTY", "", 1);
    static const struct {
        const char *line, *want;
    } rows[] = {
        {"wrod: red", "2:1: unknown key \"wrod\"; did you mean \"word\"?"},
        {"zzzzzz: red",
         "2:1: unknown key \"zzzzzz\"; the keys here are: text, path, word, mode, on, "
         "count, size, time, cost, texts, programs, flag, extra, later, limits, "
         "grant, list, one, map"},
        {"word: rad", "2:7: \"word\" must be red, green or blue, is \"rad\"; did you mean red?"},
        {"mode: 12345", "2:7: \"mode\" must be red, green or blue, is \"12345\""},
        {"mode: [red]", "2:7: \"mode\" must be a text, is a list"},
        {"on: yes", "2:5: \"on\" must be true or false, is \"yes\""},
        {"on: \"true\"", "2:5: \"on\" must not be a text: write true without quotes"},
        {"on:", "2:4: \"on\" has no value"},
        {"count: abc", "2:8: \"count\" must be a whole number, is \"abc\""},
        {"count: 1.5", "2:8: \"count\" must be a whole number, is \"1.5\""},
        {"count: 0755", "2:8: \"count\" must be a whole number, is \"0755\""},
        {"count: '5'", "2:8: \"count\" must not be a text: write 5 without quotes"},
        {"count: 0", "2:8: \"count\" must be 1 or more, is \"0\""},
        {"count: 99999999999999999999", "2:8: \"count\" must be a whole number of at most 64 bits, "
                                        "is \"99999999999999999999\""},
        {"count: {a: b}", "2:8: \"count\" must be a text, is a mapping"},
        {"size: 64KB", "2:7: \"size\" must be a size (512, 64KiB, 10MiB, 2GiB), is \"64KB\""},
        {"limits: {size: 15}", "2:16: \"size\" must be from 16 to 1MiB, is \"15\""},
        {"limits: 5", "2:9: \"limits\" must be a mapping, is \"5\""},
        {"time: 5 s", "2:7: \"time\" must be a duration (250ms, 30s, 10m, 2h, 1d), is \"5 s\""},
        {"time: 2h", "2:7: \"time\" must be from 1ms to 1h, is \"2h\""},
        {"cost: -1", "2:7: \"cost\" must be a number, 0 or more, is \"-1\""},
        {"cost: '1'", "2:7: \"cost\" must not be a text: write 1 without quotes"},
        {"path: \"a\\0b\"", "2:7: \"path\" cannot hold the character U+0000"},
        {"path: ''", "2:7: \"path\" must be a path, is empty"},
        {"path: ${env:F_EMPTY}", "2:7: \"path\" must be a path, is empty"},
        {"texts: a", "2:8: \"texts\" must be a list of texts, is \"a\""},
        {"flag: maybe", "2:7: \"flag\" must be true, false or a list of texts, is \"maybe\""},
        {"extra: [1]", "2:8: \"extra\" must be a mapping, is a list"},
        {"limits: {sise: 1}", "2:10: unknown key \"sise\"; did you mean \"size\"?"},
        {"list: {number: 1}", "2:7: \"list\" must be a list, is a mapping"},
        {"one: 1", "2:6: \"one\" must be a mapping or a list of them, is \"1\""},
        {"one: []", "2:6: \"one\" needs at least 1 of them"},
        {"map: []", "2:6: \"map\" must be a mapping, is a list"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = xasprintf("text: a\n%s\n", rows[i].line);
        CLEANUP(free_ptr) char *have = outcome(text);
        CLEANUP(free_ptr)
        char *want = xasprintf("{\"text\":\"a\"," DEFAULTS "\nf:%s", rows[i].want);
        CHECK_STR(have, want);
    }
}

static void test_faults_in_items(void)
{
    CLEANUP(free_ptr)
    char *have = outcome("path: x\ntext: d\ntexts: [a, [b], '', ]\n"
                         "list:\n  - number: 6\n  - {}\n  - 5\n"
                         "map: {dd: {number: 1}}\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(strchr(have, '\n'));
    CHECK_STR(strchr(have, '\n'),
              "\nf:2:7: \"text\" must be a name (a to c), is \"d\""
              "\nf:3:12: each of \"texts\" must be a text, is a list"
              "\nf:5:13: \"number\" must be from -5 to 5, is \"6\""
              "\nf:6:5: \"number\" is missing: N."
              "\nf:7:5: each of \"list\" must be a mapping (number: …), is \"5\""
              "\nf:8:7: each key of \"map\" must be a name (a to c), is \"dd\"");
    CLEANUP(free_ptr) char *missing = outcome("path: x");
    CHECK_STR(strchr(missing, '\n'), "\nf:1:1: \"text\" is missing: T.");
}

static void test_schema(void)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    fields_write_schema(&part_table, &writer);
    json_end_object(&writer);
    CHECK_STR(out.data,
              "{\"type\":\"object\",\"required\":[\"number\"],\"properties\":{\"number\":{"
              "\"description\":\"N.\",\"anyOf\":[{\"type\":\"integer\",\"minimum\":-5,"
              "\"maximum\":5},{\"$ref\":\"#/$defs/variable\"}]}}}");
    buf_reset(&out);
    writer = (struct json_writer)JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    fields_write_schema(&limit_table, &writer);
    json_end_object(&writer);
    CHECK_STR(out.data,
              "{\"type\":\"object\",\"properties\":{\"size\":{\"description\":\"S.\","
              "\"default\":\"1KiB\",\"anyOf\":[{\"type\":[\"integer\",\"string\"],\"minimum\":16,"
              "\"maximum\":1048576,\"pattern\":\"^[0-9]+(B|KiB|MiB|GiB)?$\"},"
              "{\"$ref\":\"#/$defs/variable\"}]}},\"additionalProperties\":false}");
    buf_fini(&out);
}

int main(void)
{
    UNIT_MAIN("fields", {"defaults", test_defaults},
              {"a value of each type, and back", test_all_types},
              {"variables can stand for values", test_variables},
              {"each fault in one line with its place", test_faults},
              {"all faults of a file at once", test_faults_in_items},
              {"the schema of a table", test_schema});
}
