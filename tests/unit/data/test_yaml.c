/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "suites.h"
#include "unit.h"

static struct buf buf_any(void)
{
    return (struct buf)BUF_INIT(BUF_MAX_ANY);
}

/* The text as JSON by the core rules, or all its faults, one a line. Freed by the caller. */
static char *outcome(gudgeon_str text)
{
    struct diags diags = DIAGS_INIT;
    struct buf out = buf_any();
    struct yaml_node *root = NULL;
    if (yaml_parse(text, "f", &root, &diags) == 0) {
        struct json_writer writer = JSON_WRITER_INIT(&out);
        yaml_to_json(root, NULL, &writer, &diags);
    }
    if (diags.count > 0)
        buf_reset(&out);
    for (size_t i = 0; i < diags.kept; i++)
        buf_addf(&out, "%s%s", i > 0 ? "\n" : "", diags.lines[i]);
    yaml_free(root);
    diags_fini(&diags);
    return buf_take(&out);
}

struct row {
    const char *text;
    const char *want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(free_ptr) char *have = outcome(str_of(rows[i].text));
        CHECK_STR(have, rows[i].want);
    }
}

/* ---- what loads ------------------------------------------------------------------------------ */

static void test_values(void)
{
    static const struct row rows[] = {
        {"", "null"},
        {"# nothing\n", "null"},
        {"a: 1\nb: [x, 'y']\nc: {d: }\n", "{\"a\":1,\"b\":[\"x\",\"y\"],\"c\":{\"d\":null}}"},
        {"\xef\xbb\xbfname: a", "{\"name\":\"a\"}"},
        {"a: |\n  one\n  two\nb: >-\n  one\n  two\n", "{\"a\":\"one\\ntwo\\n\",\"b\":\"one two\"}"},
        {"country: no\nyes: on\n", "{\"country\":\"no\",\"yes\":\"on\"}"},
        {"a: true\nb: False\nc: ~\nd: null\ne: \"null\"\nf: 'true'",
         "{\"a\":true,\"b\":false,\"c\":null,\"d\":null,\"e\":\"null\",\"f\":\"true\"}"},
        {"a: &x {b: 1}\nc: *x\nd: [*x, *x]",
         "{\"a\":{\"b\":1},\"c\":{\"b\":1},\"d\":[{\"b\":1},{\"b\":1}]}"},
        {"a: !!str 12\nb: ! 12\nc: !!int \"12\"\nd: !!null ''\ne: !!map {}\nf: !!seq []",
         "{\"a\":\"12\",\"b\":\"12\",\"c\":12,\"d\":null,\"e\":{},\"f\":[]}"},
        {"- |\n  x\n   ", "[\"x\\n \\n\"]"}, /* no line end, and yet a line */
        {"\"<<\": 1", "{\"<<\":1}"},
        {"[what?, {a?: b?}]", "[\"what?\",{\"a?\":\"b?\"}]"},
        {"{a: b,\n\tc: d}", "{\"a\":\"b\",\"c\":\"d\"}"},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void test_numbers(void)
{
    static const struct row rows[] = {
        {"[0, -0, +7, 12345678901234567890123]", "[0,-0,7,12345678901234567890123]"},
        {"[1.10, .5, -.5, +1., 1e3, 1.E-7, 00.5]", "[1.10,0.5,-0.5,1.0,1e3,1.0E-7,0.5]"},
        {"[0x10, 0o17, 0xFFFFFFFFFFFFFFFF, -0x1]", "[16,15,18446744073709551615,\"-0x1\"]"},
        {"[1_000, 1e, ., 0x, 0o8, 1.2.3, e3, +, '-']",
         "[\"1_000\",\"1e\",\".\",\"0x\",\"0o8\",\"1.2.3\",\"e3\",\"+\",\"-\"]"},
        {"x: 0755", "f:1:4: 0755 can mean two numbers; write it without the leading zero, or with "
                    "0o if it is octal, or quoted if it is text"},
        {"[.inf, -.INF, .NaN]", "f:1:2: .inf is no number that JSON has; quote it if it is text\n"
                                "f:1:8: -.INF is no number that JSON has; quote it if it is text\n"
                                "f:1:15: .NaN is no number that JSON has; quote it if it is text"},
        {"0x10000000000000000", "f:1:1: 0x10000000000000000 is too large (64 bits at most)"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* ---- what does not --------------------------------------------------------------------------- */

static void test_faults(void)
{
    static const struct row rows[] = {
        {"port: 8080\nport: 3000", "f:2:1: the key \"port\" is given twice: first in line 1"},
        {"a: {b: 1, \"b\": 2}\nc: 1\nc: 2\nc: 3",
         "f:1:11: the key \"b\" is given twice: first in line 1\n"
         "f:3:1: the key \"c\" is given twice: first in line 2\n"
         "f:4:1: the key \"c\" is given twice: first in line 2"},
        {"agent:\n\tmodel: x", "f:2:1: a tab is used for indentation; use spaces"},
        {"agent: x\n\tmodel: y", "f:2:1: a tab is used for indentation; use spaces"},
        {"tools:\n  - use: a\n  \troot: b", "f:3:3: a tab is used for indentation; use spaces"},
        {"a: |\n\tx", "f:2:1: a tab is used for indentation; use spaces"},
        {"a: @x", "f:1:4: no value can start with \"@\"; quote it"},
        {"a: b: c", "f:1:5: no \"key:\" can stand here; check the indentation and the space behind "
                    "each \":\", or quote a text that holds \": \""},
        {"a: {b} c", "f:1:8: the value ended before this: put all of it in quotes, and double a ' "
                     "that stands inside '…'"},
        {"a: 'it's'\nb: 1",
         "f:1:8: the value ended before this: put all of it in quotes, and double "
         "a ' that stands inside '…'"},
        {"- \"a\" b\n- c",
         "f:1:7: the value ended before this: put all of it in quotes, and double "
         "a ' that stands inside '…'"},
        {"a: [*]", "f:1:6: a text that starts with * or & must be quoted"},
        {"a: > b",
         "f:1:6: the text of | or > begins in the next line; quote a text that starts with "
         "one"},
        {"a:\n  b: 1\n c: 2", "f:3:2: a key is expected here; check the indentation"},
        {"a: 1\nb c\n", "f:3:1: a \":\" and a space are missing behind a key (begun in line 2)"},
        {"a: 'x\nb: 1", "f:2:5: a quote is not closed (begun in line 1)"},
        {"a: [1,\nb: 2\n\n", "f:4:1: a \",\" or \"]\" is expected here: the list is not closed "
                             "(begun in line 1)"},
        {"a: {b: 1\nc: 2", "f:2:2: a \",\" or \"}\" is expected here: the mapping is not closed "
                           "(begun in line 1)"},
        {"a: [}", "f:1:5: a value is expected here"},
        {"a: \"\\q\"", "f:1:5: no such escape in a text in double quotes; write \\\\ for a "
                       "backslash, or use single quotes"},
        {"é: *x", "f:1:4: the alias has no anchor above it; quote a text that starts with *"},
        {"a: &x b\nc: &x d", "f:2:4: the anchor's name is taken (begun in line 1)"},
        {"a: &x:y b", "f:1:4: the name of an anchor or alias must end before a space; quote a text "
                      "that starts with & or *"},
        {"a: &x b\nc: [*x:y]",
         "f:2:5: the name of an anchor or alias must end before a space; quote "
         "a text that starts with & or *"},
        {"[é, ?x]", "f:1:6: a space is missing behind \"?\"; quote a text that starts with ?"},
        {"-\t-1", "f:1:2: a tab cannot stand here; use spaces"},
        {"a: {b: ${env:C}}", "f:1:9: inside { } and [ ] a variable must be quoted: \"${…}\""},
        {"a: !abc", "f:1:4: the tag !abc is not known here; remove it, or quote the text"},
        {"a: !!binary aGk=",
         "f:1:4: the tag !!binary is not known here; remove it, or quote the text"},
        {"a: !!map []", "f:1:4: the tag !!map is not known here; remove it, or quote the text"},
        {"a: !!int x", "f:1:4: the text does not fit its tag !!int"},
        {"a: !x!y b", "f:1:4: the tag is not known here; quote a text that starts with !"},
        {"? [a]\n: b", "f:1:3: a key must be a text, is a list"},
        {"? {a: 1}\n: b", "f:1:3: a key must be a text, is a mapping"},
        {"a: &x {b: 1}\nc:\n  <<: *x", "f:3:3: merge keys (<<) are not read; write the keys out"},
        {"a: 1\n---\nb: 2", "f:2:1: a second document starts here; a file holds one"},
        {"a: &x [*x]", "f:1:4: an alias below this anchor refers to the anchor itself"},
        {"&x a: &y\n  b: {c: *y}", "f:1:7: an alias below this anchor refers to the anchor itself"},
        {"é: \xff", "f:1:4: the byte 0xff is no UTF-8 text; save the file as UTF-8"},
        {"\xff\xfe"
         "a",
         "f:1:1: the byte 0xff is no UTF-8 text (UTF-16?); save the file as UTF-8"},
        {"a: b\r\nc\x01: d", "f:2:2: the control character U+0001 is not allowed; in a quoted text "
                             "write \\x01"},
        {"\"a\\0b\": 1", "f:1:1: a key cannot hold the character U+0000"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* `head`, `part` `count` times, `tail`. */
static char *repeat(const char *head, const char *part, size_t count, const char *tail)
{
    struct buf out = buf_any();
    buf_add_str(&out, head);
    for (size_t i = 0; i < count; i++)
        buf_add_str(&out, part);
    buf_add_str(&out, tail);
    return buf_take(&out);
}

static void check_repeated(const char *head, const char *part, size_t count, const char *want)
{
    CLEANUP(free_ptr) char *text = repeat(head, part, count, "");
    CLEANUP(free_ptr) char *have = outcome(str_of(text));
    CHECK_STR(have, want);
}

/* What passes a bound is refused in no time: without the bounds, each of the first three would
 * take from ten seconds to minutes. */
static void test_bounds(void)
{
    clock_t start = clock();
    check_repeated("", "[", 100000, "f:1:51: nested too deep (50 levels at most)");
    check_repeated("", "{a: ", 100000, "f:1:201: nested too deep (50 levels at most)");
    check_repeated("", "%TAG !a! b\n", 60000, "f: too many %TAG lines (16 at most)");
    check_repeated("", "- ", 100000, "f:1:101: nested too deep (50 levels at most)");
    check_repeated("[", "a,", 400000, "f:1:200000: too many values (100,000 at most)");
    check_repeated("", "a", YAML_MAX_BYTES + 1, "f: the file is too large (1 MiB at most)");
    check_repeated("- ", "&a x\n- ", 251, "f:251:3: too many anchors (250 at most)");
    CU_ASSERT((double)(clock() - start) / CLOCKS_PER_SEC < 5);
}

static void test_alias_growth(void)
{
    struct buf text = buf_any();
    buf_add_str(&text, "a: &a [x,x,x,x,x,x,x,x,x,x]\n");
    for (char c = 'b'; c < 'j'; c++) {
        buf_addf(&text, "%c: &%c [", c, c);
        for (int i = 0; i < 10; i++)
            buf_addf(&text, "%s*%c", i > 0 ? "," : "", c - 1);
        buf_add_str(&text, "]\n");
    }
    CLEANUP(free_ptr) char *have = outcome((gudgeon_str){text.data, text.len});
    CHECK_STR(have, "f:1:16: aliases grow this file to too many values (100,000 at most)");
    buf_reset(&text);
    buf_add_str(&text, "- &a0 [x]\n");
    for (int i = 1; i < 60; i++)
        buf_addf(&text, "- &a%d [*a%d]\n", i, i - 1);
    CLEANUP(free_ptr) char *deep = outcome((gudgeon_str){text.data, text.len});
    CHECK_STR(deep, "f:1:8: aliases nest this too deep (50 levels at most)");
    buf_fini(&text);
}

/* ---- settings -------------------------------------------------------------------------------- */

static char *outcome_of_setting(const char *text, const char *setting)
{
    struct diags diags = DIAGS_INIT;
    struct buf out = buf_any();
    struct yaml_node *root = NULL;
    CU_ASSERT_EQUAL(yaml_parse(str_of(text), "f", &root, &diags), 0);
    if (yaml_set(&root, setting, "--set", &diags) == 0) {
        struct json_writer writer = JSON_WRITER_INIT(&out);
        yaml_to_json(root, NULL, &writer, &diags);
    } else {
        CU_ASSERT_EQUAL_FATAL(diags.kept, 1);
        buf_add_str(&out, diags.lines[0]);
    }
    yaml_free(root);
    diags_fini(&diags);
    return buf_take(&out);
}

static void test_settings(void)
{
    static const struct {
        const char *text, *setting, *want;
    } rows[] = {
        {"a: 1", "a=2", "{\"a\":2}"},
        {"a: 1", "b.c=x y: z", "{\"a\":1,\"b\":{\"c\":\"x y: z\"}}"},
        {"", "a=", "{\"a\":\"\"}"},
        {"a:", "a.b=[1, {c: d}]", "{\"a\":{\"b\":[1,{\"c\":\"d\"}]}}"},
        {"a: [x, {b: 1}]", "a.1.b='2'", "{\"a\":[\"x\",{\"b\":\"2\"}]}"},
        {"a: [x]", "a.1=y", "{\"a\":[\"x\",\"y\"]}"},
        {"a: [x]", "a.3=y", "--set: \"3\" is no place in a list of 1; count from 0"},
        {"a: [x]", "a.b=y", "--set: \"b\" is no place in a list of 1; count from 0"},
        {"a: x", "a.b=y", "--set: there is nothing to set \"b\" in: the file has a text there"},
        {"a: x", "a", "--set: this is no setting; write PATH=VALUE, as in limits.steps=5"},
        {"a: x", "=a", "--set: this is no setting; write PATH=VALUE, as in limits.steps=5"},
        {"a: x", "b={c",
         "--set:2:1: a \",\" or \"}\" is expected here: the mapping is not "
         "closed (begun in line 1)"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *have = outcome_of_setting(rows[i].text, rows[i].setting);
        CHECK_STR(have, rows[i].want);
    }
}

/* ---- the public suite ------------------------------------------------------------------------ */

struct counts {
    size_t equal;          /* loads, and is what in.json says */
    size_t without_json;   /* loads; the suite has no in.json for it */
    size_t refused;        /* no YAML, and refused */
    size_t valid_refused;  /* YAML, but refused: see yaml.h */
    size_t wrong_accepted; /* no YAML, but loads: libyaml is lenient there */
    size_t different;      /* loads as something else: never */
};

static bool is_located(const char *fault)
{
    size_t line, column;
    return sscanf(fault, "f:%zu:%zu: ", &line, &column) == 2 && line > 0 && column > 0;
}

/* Whether `json` (YAML read here) is the one value of in.json. */
static bool is_same(const char *json, const struct buf *in_json)
{
    CLEANUP(json_cleanup) struct json_object *have = NULL, *want = NULL;
    if (json_read(str_of(json), &have, NULL) < 0)
        return false;
    if (in_json->len == 0)
        return have == NULL;
    return json_read((gudgeon_str){in_json->data, in_json->len}, &want, NULL) == 0 &&
           json_equal(have, want);
}

static void count_case(const char *path, struct counts *counts)
{
    struct buf yaml = buf_any(), json = buf_any();
    CLEANUP(free_ptr) char *yaml_path = xasprintf("%s/in.yaml", path);
    CLEANUP(free_ptr) char *json_path = xasprintf("%s/in.json", path);
    CLEANUP(free_ptr) char *error_path = xasprintf("%s/error", path);
    struct stat found;
    bool is_error = stat(error_path, &found) == 0;
    CU_ASSERT_EQUAL(suite_read(yaml_path, &yaml), 0);
    bool has_json = suite_read(json_path, &json) == 0;
    CLEANUP(free_ptr) char *have = outcome((gudgeon_str){yaml.data, yaml.len});
    bool is_refused = starts_with(have, "f:");
    if (is_refused && !is_located(have)) {
        printf("#   %s: no place: %s\n", path, have);
        CU_ASSERT(false);
    }
    if (is_refused)
        (*(is_error ? &counts->refused : &counts->valid_refused))++;
    else if (is_error)
        counts->wrong_accepted++;
    else if (!has_json)
        counts->without_json++;
    else if (is_same(have, &json))
        counts->equal++;
    else {
        printf("#   %s: have %s\n", path, have);
        counts->different++;
    }
    buf_fini(&yaml);
    buf_fini(&json);
}

/* A folder is a case, or holds numbered ones. */
static void visit_case(const char *path, const char *name, void *payload)
{
    (void)name;
    struct stat found;
    CLEANUP(free_ptr) char *yaml = xasprintf("%s/in.yaml", path);
    if (stat(yaml, &found) == 0)
        count_case(path, payload);
    else if (stat(path, &found) == 0 && S_ISDIR(found.st_mode))
        suite_each(path, visit_case, payload);
}

static void test_suite(void)
{
    CLEANUP(free_ptr) char *path = suite_path("yaml");
    if (path == NULL)
        return;
    struct counts counts = {0};
    suite_each(path, visit_case, &counts);
    printf("# yaml suite: %zu as in.json, %zu without one, %zu refused rightly, %zu refused though "
           "YAML, %zu loaded though none, %zu different\n",
           counts.equal, counts.without_json, counts.refused, counts.valid_refused,
           counts.wrong_accepted, counts.different);
    CU_ASSERT_EQUAL(counts.different, 0);
    CU_ASSERT(counts.equal >= 208 && counts.without_json >= 3 && counts.refused >= 82);
    CU_ASSERT(counts.wrong_accepted <= 12);
}

int main(void)
{
    UNIT_MAIN("yaml", {"values and their types", test_values},
              {"numbers keep their digits", test_numbers},
              {"each fault in one line with its place", test_faults},
              {"what passes the bounds is refused at once", test_bounds},
              {"aliases cannot grow a file without bound", test_alias_growth},
              {"settings from the command line", test_settings}, {"the public suite", test_suite});
}
