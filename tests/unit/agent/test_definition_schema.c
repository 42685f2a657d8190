/* SPDX-License-Identifier: MIT */
/*
 * config/agent.schema.json and the loader are made from one table: that the file is up to date, and
 * that they say the same of the same texts. `--write FILE` brings the file up to date.
 */
#include "agent/definition.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/schema.h"
#include "data/yaml.h"
#include "unit.h"

static const char schema_path[] = "config/agent.schema.json";

static void test_file(void)
{
    CLEANUP(buf_fini) struct buf want = BUF_INIT(BUF_MAX_ANY), have = BUF_INIT(BUF_MAX_ANY);
    CU_ASSERT_EQUAL(definition_write_schema(&want), 0);
    CU_ASSERT_EQUAL(file_read(schema_path, 1 << 20, &have, NULL), 0);
    bool is_same = strcmp(have.data, want.data) == 0;
    if (!is_same)
        printf("# %s is not what the table says: make schema\n", schema_path);
    CU_ASSERT(is_same);
}

static bool loads(const char *text)
{
    struct diags diags = DIAGS_INIT;
    struct definition *definition = NULL;
    bool is_good =
        definition_load_text(str_of(text), "/dir/a.yaml", NULL, &definition, &diags) == 0;
    definition_free(definition);
    diags_fini(&diags);
    return is_good;
}

static bool is_valid(const struct schema *schema, const char *text)
{
    struct diags diags = DIAGS_INIT;
    CLEANUP(buf_fini) struct buf json = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(yaml_cleanup) struct yaml_node *root = NULL;
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    CU_ASSERT_EQUAL_FATAL(yaml_parse(str_of(text), "f", &root, &diags), 0);
    struct json_writer writer = JSON_WRITER_INIT(&json);
    yaml_to_json(root, NULL, &writer, &diags);
    CU_ASSERT_EQUAL(json_read((gudgeon_str){json.data, json.len}, &value, NULL), 0);
    diags_fini(&diags);
    return schema_check(schema, value, NULL, NULL) == 0;
}

#define GOOD "agent: x\nmodel: {use: openai}\n"

static void test_agreement(void)
{
    static const struct {
        const char *text;
        bool is_good;
    } rows[] = {
        {GOOD, true},
        {"agent: x", false},
        {"model: {use: openai}", false},
        {"agent: X\nmodel: {use: openai}", false},
        {"agent: x\nmodel: []", false},
        {"agent: x\nmodel: [{use: a}, {use: a}]", true},
        {"agent: x\nmodel: {name: a}", false},
        {"agent: x\nmodel: gpt", false},
        {"agent: ${env:S_NAME}\nmodel: {use: a}", true},
        {GOOD "what: 5", false},
        {GOOD "description: text\ninstructions: |\n  more\n", true},
        {GOOD "finish: tool\naction: tools", true},
        {GOOD "finish: tools", false},
        {GOOD "action: code", false},
        {GOOD "limits: {steps: 5, time: 10m, tool_time: 1500ms, tokens: 1}", true},
        {GOOD "limits: {steps: 0}", false},
        {GOOD "limits: {steps: 1.5}", false},
        {GOOD "limits: {steps: \"5\"}", false},
        {GOOD "limits: {steps: five}", false},
        {GOOD "limits: {steps: \"${env:S_STEPS}\"}", true},
        {GOOD "limits: {time: 10 m}", false},
        {GOOD "limits: {time: 30}", true},
        {GOOD "limits: {time: 0}", false},
        {GOOD "limits: {cost: 1.5}", false},
        {GOOD "limits: []", false},
        {GOOD "limits:", false},
        {GOOD "context: {tool_result_limit: 32KiB}", true},
        {GOOD "context: {tool_result_limit: 4096}", true},
        {GOOD "context: {tool_result_limit: 32kB}", false},
        {GOOD "context: {tool_result_limit: 10}", false},
        {GOOD "journal: {sync: never}", true},
        {GOOD "journal: {sync: often}", false},
        {GOOD "tools: [{use: a, anything: [1], approve: always, limits: {time: 5s}}]", true},
        {GOOD "tools: {use: a}", false},
        {GOOD "tools: [a]", false},
        {GOOD "tools: [{}]", false},
        {GOOD "tools: [{use: a, name: a b}]", false},
        {GOOD "tools: [{use: a, allow: x}]", false},
        {GOOD "tools: [{use: a, grant: {exec: true, network: [h], read: [a], memory: 1GiB}}]",
         true},
        {GOOD "tools: [{use: a, grant: {exec: bash}}]", false},
        {GOOD "tools: [{use: a, grant: {all: true}}]", false},
        {GOOD "tools: [{use: a, grant: {processes: 0}}]", false},
        {GOOD "sinks: [{use: a, file: x}]", true},
        {GOOD "sinks: [{use: a, grant: []}]", false},
        {GOOD "inputs: {a: {}, b: {type: integer, default: 5}}", true},
        {GOOD "inputs: {a-b: {}}", false},
        {GOOD "inputs: {a: {type: text}}", false},
        {GOOD "inputs: {a: string}", false},
        {"agent: x\nmodel: {use: a, stream: false, max_output_tokens: 5, extra: {a: 1}}", true},
        {"agent: x\nmodel: {use: a, stream: no}", false},
        {"agent: x\nmodel: {use: a, extra: x}", false},
        {"[]", false},
    };
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    CU_ASSERT_EQUAL(definition_write_schema(&text), 0);
    struct schema *schema = NULL;
    struct err err = {0};
    if (schema_compile_text(text.data, &schema, &err) < 0)
        printf("# %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool by_table = loads(rows[i].text), by_schema = is_valid(schema, rows[i].text);
        if (by_table != rows[i].is_good || by_schema != rows[i].is_good)
            printf("# by table %d, by schema %d:\n%s\n", by_table, by_schema, rows[i].text);
        CU_ASSERT(by_table == rows[i].is_good && by_schema == rows[i].is_good);
    }
    schema_free(schema);
}

static int write_file(const char *path)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    FILE *file = definition_write_schema(&text) == 0 ? fopen(path, "we") : NULL;
    if (file == NULL)
        return 1;
    bool is_written = fwrite(text.data, 1, text.len, file) == text.len;
    return fclose(file) == 0 && is_written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--write") == 0)
        return write_file(argv[2]);
    setenv("S_NAME", "name", 1);
    setenv("S_STEPS", "7", 1);
    UNIT_MAIN("definition schema", {"the file is what the table says", test_file},
              {"loader and schema say the same", test_agreement});
}
