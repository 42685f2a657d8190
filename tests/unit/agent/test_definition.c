/* SPDX-License-Identifier: MIT */
#include "agent/definition.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/yaml.h"
#include "event/journal.h"
#include "fake_registry.h"
#include "unit.h"

static const struct definition_options with_registry = {.registry = &fake_registry};

/* Loads a text that is called /dir/a.yaml; NULL with the faults in `diags`. */
static struct definition *load(const char *text, const struct definition_options *options,
                               struct diags *diags)
{
    struct definition *definition = NULL;
    int status = definition_load_text(str_of(text), "/dir/a.yaml", options, &definition, diags);
    CU_ASSERT_EQUAL(status < 0, definition == NULL);
    CU_ASSERT_EQUAL(status<0, diags->count> 0);
    return definition;
}

/* The resolved definition, or its faults, one a line, without "/dir/a.yaml:". */
static char *outcome(const char *text, const struct definition_options *options)
{
    static const char file[] = "/dir/a.yaml:";
    struct diags diags = DIAGS_INIT;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct definition *definition = load(text, options, &diags);
    if (definition != NULL)
        definition_write_json(definition, &out);
    for (size_t i = 0; i < diags.kept; i++)
        buf_addf(&out, "%s%s", i > 0 ? "\n" : "",
                 diags.lines[i] + (starts_with(diags.lines[i], file) ? strlen(file) : 0));
    definition_free(definition);
    diags_fini(&diags);
    return buf_take(&out);
}

/* ---- what loads ------------------------------------------------------------------------------ */

static void test_defaults(void)
{
    struct diags diags = DIAGS_INIT;
    struct definition *d = load("agent: x\nmodel: {use: openai}\n", &with_registry, &diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CHECK_STR(d->path, "/dir/a.yaml");
    CHECK_STR(d->directory, "/dir");
    CHECK_STR(d->agent, "x");
    CHECK_STR(d->description, "");
    CHECK_STR(d->instructions, "");
    CU_ASSERT_EQUAL(d->model_count, 1);
    CHECK_STR(d->models[0].entry.use, "openai");
    CHECK_STR(d->models[0].entry.name, "openai");
    CHECK_STR(d->models[0].entry.config, "{\"base_url\":\"https://example.org\"}");
    CU_ASSERT_PTR_NULL(d->models[0].entry.grant);
    CU_ASSERT_PTR_EQUAL(d->models[0].entry.component, &fake_registry.components[0]);
    CHECK_STR(d->models[0].model, "");
    CU_ASSERT(d->models[0].stream);
    CU_ASSERT_EQUAL(d->models[0].max_output_tokens, 0);
    CHECK_STR(d->models[0].extra, "{}");
    CHECK_STR(d->models[0].parameters, "{}");
    CU_ASSERT(d->tools_count == 0 && d->sink_count == 0 && d->input_count == 0);
    CU_ASSERT_EQUAL(d->action, ACTION_TOOLS);
    CU_ASSERT_EQUAL(d->finish, FINISH_ANSWER);
    CU_ASSERT_EQUAL(d->limits.steps, 20);
    CU_ASSERT(d->limits.time_ms == 0 && d->limits.step_time_ms == 0 && d->limits.tokens == 0);
    CU_ASSERT_EQUAL(d->limits.tool_time_ms, 60000);
    CU_ASSERT_EQUAL(d->limits.parallel_tools, 4);
    CU_ASSERT_EQUAL(d->limits.repeats, 3);
    CU_ASSERT_EQUAL(d->limits.recoveries, 3);
    CU_ASSERT_EQUAL(d->limits.retries, 4);
    CU_ASSERT_EQUAL(d->tool_result_limit, 32 << 10);
    CU_ASSERT_EQUAL(d->journal_sync, JOURNAL_SYNC_STEP);
    definition_free(d);
    diags_fini(&diags);
}

static const char full[] = "agent: researcher\n"
                           "description: Answers questions.\n"
                           "instructions: |\n"
                           "  Be careful.\n"
                           "model:\n"
                           "  - use: openai\n"
                           "    name: ${env:D_MODEL:-small}\n"
                           "    api_key: ${secret:openai}\n"
                           "    temperature: 0\n"
                           "    max_output_tokens: 4096\n"
                           "    extra: {service_tier: flex, n: 12345678901234567890}\n"
                           "  - {use: openai, stream: false, seed: 7}\n"
                           "tools:\n"
                           "  - use: files\n"
                           "    root: ./notes\n"
                           "    also: [a, /b]\n"
                           "    country: no\n"
                           "    version: 1.10\n"
                           "    grant: {read: [./notes], memory: 512MiB, cpu: 90s}\n"
                           "  - use: shell\n"
                           "    name: sh\n"
                           "    approve: always\n"
                           "    anything: {deep: [1, yes]}\n"
                           "    grant: {exec: [bash, ./run], read: [/usr], network: true}\n"
                           "    limits: {time: 30s, output: 64KiB}\n"
                           "    allow: [run_*]\n"
                           "    deny: [delete_*]\n"
                           "    idempotent: [run_a]\n"
                           "  - use: clock\n"
                           "sinks:\n"
                           "  - {use: lines, file: log.jsonl}\n"
                           "inputs:\n"
                           "  folder: {type: string, default: no, description: Where.}\n"
                           "  depth: {type: integer, default: 3}\n"
                           "  task: {}\n"
                           "finish: tool\n"
                           "context: {tool_result_limit: 8KiB}\n"
                           "limits: {steps: 5, time: 10m, tokens: 500000, retries: 0}\n"
                           "journal: {sync: always}\n";

static const char full_json[] =
    "{\"agent\":\"researcher\",\"description\":\"Answers questions.\","
    "\"instructions\":\"Be careful.\\n\",\"model\":[{\"use\":\"openai\",\"name\":\"small\","
    "\"stream\":true,\"max_output_tokens\":4096,\"extra\":{\"service_tier\":\"flex\","
    "\"n\":12345678901234567890},\"api_key\":\"{secret:openai}\","
    "\"base_url\":\"https://example.org\",\"temperature\":0},{\"use\":\"openai\",\"name\":\"\","
    "\"stream\":false,\"extra\":{},\"base_url\":\"https://example.org\",\"seed\":7}],"
    "\"tools\":[{\"use\":\"files\",\"grant\":{\"read\":[\"/dir/notes\"],\"memory\":536870912,"
    "\"cpu\":\"90s\"},\"isolation\":\"worker\",\"approve\":\"never\",\"limits\":{},\"root\":\"/dir/"
    "notes\","
    "\"also\":[\"/dir/a\",\"/b\"],\"country\":\"no\",\"version\":\"1.10\",\"max\":5},"
    "{\"use\":\"shell\",\"name\":\"sh\",\"grant\":{\"read\":[\"/usr\"],\"network\":true,"
    "\"exec\":[\"bash\",\"/dir/"
    "run\"]},\"isolation\":\"worker\",\"approve\":\"always\",\"allow\":[\"run_*\"],"
    "\"deny\":[\"delete_*\"],\"idempotent\":[\"run_a\"],\"limits\":{\"time\":\"30s\","
    "\"output\":65536},\"anything\":{\"deep\":[1,\"yes\"]}},{\"use\":\"clock\",\"grant\":{},"
    "\"isolation\":\"worker\",\"approve\":\"never\",\"limits\":{}}],\"sinks\":[{\"use\":\"lines\","
    "\"name\":\"lines\","
    "\"grant\":{},\"file\":\"/dir/log.jsonl\"}],\"inputs\":{\"folder\":{\"type\":\"string\","
    "\"description\":\"Where.\",\"default\":\"no\"},\"depth\":{\"type\":\"integer\","
    "\"description\":\"\",\"default\":3},\"task\":{\"type\":\"string\",\"description\":\"\"}},"
    "\"action\":\"tools\",\"finish\":\"tool\",\"context\":{\"tool_result_limit\":8192},"
    "\"limits\":{\"steps\":5,\"time\":\"10m\",\"tool_time\":\"1m\",\"tokens\":500000,"
    "\"parallel_tools\":4,\"repeats\":3,\"recoveries\":3,\"retries\":0},"
    "\"journal\":{\"sync\":\"always\"}}";

/* Loads a resolved definition and resolves it again. */
static char *outcome_of_json(const char *json)
{
    struct diags diags = DIAGS_INIT;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct definition *definition = NULL;
    CLEANUP(json_cleanup) struct json_object *resolved = NULL;
    CU_ASSERT_EQUAL(json_read(str_of(json), &resolved, NULL), 0);
    if (definition_load_json(resolved, "/dir/a.yaml", &with_registry, &definition, &diags) == 0)
        definition_write_json(definition, &out);
    for (size_t i = 0; i < diags.kept; i++)
        buf_addf(&out, "%s\n", diags.lines[i]);
    definition_free(definition);
    diags_fini(&diags);
    return buf_take(&out);
}

static void test_all_keys(void)
{
    CLEANUP(free_ptr) char *have = outcome(full, &with_registry);
    CHECK_STR(have, full_json);
    CLEANUP(free_ptr) char *again = outcome_of_json(have);
    CHECK_STR(again, full_json);
    /* No variable is expanded again, and no character is lost that YAML has no way to write. */
    CLEANUP(free_ptr)
    char *odd = outcome("agent: x\nmodel: {use: openai, api_key: \"$${env:A}\", name: \"null\",\n"
                        "  extra: {a: \"\\L\\N\\x7f\\x80\", b: \"5\", c: \"\", d: ~}}\n",
                        &with_registry);
    CU_ASSERT_PTR_NOT_NULL(strstr(odd, "\"api_key\":\"${env:A}\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(odd, "\"extra\":{\"a\":\"\u2028\xc2\x85\x7f\xc2\x80\","));
    CLEANUP(free_ptr)
    char *secret = outcome("agent: x\nmodel: {use: openai}\ntools:\n  - {use: files, root: /x, "
                           "user: me, password: \"${secret:pw}\"}\n",
                           &with_registry);
    CU_ASSERT_PTR_NOT_NULL(strstr(secret, "\"password\":\"{secret:pw}\""));
    CLEANUP(free_ptr) char *secret_again = outcome_of_json(secret);
    CHECK_STR(secret_again, secret);
    CLEANUP(free_ptr) char *odd_again = outcome_of_json(odd);
    CHECK_STR(odd_again, odd);
    CLEANUP(free_ptr)
    char *fault =
        outcome_of_json("{\"agent\":\"x\",\"model\":[{\"use\":\"openai\"}],\"what\":null}");
    CU_ASSERT(starts_with(fault, "/dir/a.yaml: unknown key \"what\""));
    CLEANUP(free_ptr) char *deep = xasprintf("{\"agent\":%0100d}", 0);
    memset(deep + strlen("{\"agent\":"), '[', 50);
    memset(deep + strlen("{\"agent\":") + 50, ']', 50);
    CLEANUP(free_ptr) char *list = outcome_of_json(deep);
    CU_ASSERT(starts_with(list, "/dir/a.yaml: \"agent\" must be a text, is a list"));
}

static void test_entries(void)
{
    struct diags diags = DIAGS_INIT;
    struct definition *d = load(full, &with_registry, &diags);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    CHECK_STR(d->models[1].entry.name, "openai-2");
    CHECK_STR(d->models[0].parameters, "{\"temperature\":0}");
    CHECK_STR(d->models[1].parameters, "{\"seed\":7}");
    CHECK_STR(d->tools[0].entry.name, "files");
    CU_ASSERT(!d->tools[0].prefixed && d->tools[1].prefixed);
    CHECK_STR(d->tools[1].entry.name, "sh");
    CU_ASSERT_EQUAL(d->tools[1].approve, APPROVE_ALWAYS);
    CU_ASSERT_EQUAL(d->tools[1].time_ms, 30000);
    CU_ASSERT_EQUAL(d->tools[1].output_bytes, 64 << 10);
    CU_ASSERT_EQUAL(d->tools[0].time_ms, 0);
    CHECK_STR(d->tools[2].entry.config, "{}");
    CHECK_STR(d->inputs[0].fallback, "\"no\"");
    CU_ASSERT_PTR_NULL(d->inputs[2].fallback);
    definition_free(d);
    diags_fini(&diags);
}

static void test_no_registry(void)
{
    CLEANUP(free_ptr) char *have = outcome("agent: x\nmodel: {use: any, port: 80, on: no}", NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"extra\":{},\"port\":80,\"on\":\"no\"}"));
}

/* ---- faults ---------------------------------------------------------------------------------- */

struct row {
    const char *text;
    const char *want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(free_ptr) char *have = outcome(rows[i].text, &with_registry);
        CHECK_STR(have, rows[i].want);
    }
}

#define GOOD "agent: x\nmodel: {use: openai}\n" /* two lines, to which each row adds */

static void test_file_faults(void)
{
    static const struct row rows[] = {
        {"", "1:1: a definition is a mapping (agent: NAME, model: …), this is empty"},
        {"# x", "1:1: a definition is a mapping (agent: NAME, model: …), this is empty"},
        {"- a", "1:1: a definition is a mapping (agent: NAME, model: …), this is a list"},
        {"text", "1:1: a definition is a mapping (agent: NAME, model: …), this is \"text\""},
        {"description: x", "1:1: \"agent\" is missing: The agent's name.\n"
                           "1:1: \"model\" is missing: The model that answers, or several, tried "
                           "in order."},
        {GOOD "agent: y", "3:1: the key \"agent\" is given twice: first in line 1"},
        {"\xef\xbb\xbf" GOOD "x: y",
         "3:1: unknown key \"x\"; the keys here are: agent, description, "
         "instructions, model, tools, sinks, inputs, action, finish, "
         "context, limits, journal"},
        {"agent:\n\tmodel: x", "2:1: a tab is used for indentation; use spaces"},
        {GOOD "inputs: &a {b: *a}", "3:9: an alias below this anchor refers to the anchor itself"},
        {GOOD "description: !abc x",
         "3:14: the tag !abc is not known here; remove it, or quote the text"},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void test_key_faults(void)
{
    static const struct row rows[] = {
        {GOOD "modle: x", "3:1: unknown key \"modle\"; did you mean \"model\"?"},
        {GOOD "planning: {interval: 5}",
         "3:1: unknown key \"planning\"; the keys here are: agent, description, instructions, "
         "model, tools, sinks, inputs, action, finish, context, limits, journal"},
        {GOOD "action: code", "3:9: \"action\" must be tools, is \"code\""},
        {GOOD "finish: toll", "3:9: \"finish\" must be answer or tool, is \"toll\"; did you mean "
                              "tool?"},
        {GOOD "limits: {steps: abc}", "3:17: \"steps\" must be a whole number, is \"abc\""},
        {GOOD "limits: {steps: 0}", "3:17: \"steps\" must be from 1 to 1000000, is \"0\""},
        {GOOD "limits: {time: 10 minutes}", "3:16: \"time\" must be a duration (250ms, 30s, 10m, "
                                            "2h, 1d), is \"10 minutes\""},
        {GOOD "limits:", "3:8: \"limits\" has no value"},
        {GOOD "limits: {cost: 1.50}",
         "3:10: unknown key \"cost\"; the keys here are: steps, time, step_time, tool_time, "
         "tokens, parallel_tools, repeats, recoveries, retries"},
        {GOOD "context: {tool_result_limit: 1GiB}",
         "3:30: \"tool_result_limit\" must be from 1KiB to 16MiB, is \"1GiB\""},
        {GOOD "journal: {sync: yes}", "3:17: \"sync\" must be never, step or always, is \"yes\""},
        {GOOD "tools: {use: clock}", "3:8: \"tools\" must be a list, is a mapping"},
        {GOOD "tools: [clock]", "3:9: each of \"tools\" must be a mapping (use: …), is \"clock\""},
        {GOOD "tools: [{use: clock, approve: ask}]",
         "3:31: \"approve\" must be never, always or destructive, is \"ask\""},
        {GOOD "tools: [{use: clock, name: a.b}]",
         "3:28: \"name\" must be a name (letters, digits, \"_\" and \"-\", 32 at most), is "
         "\"a.b\""},
        {GOOD "tools: [{name: a}]",
         "3:9: \"use\" is missing: The tools component, as `gudgeon plugins` lists them."},
        {GOOD "tools: [{external: ask, description: x}]",
         "3:9: \"use\" is missing: The tools component, as `gudgeon plugins` lists them.\n"
         "3:10: unknown key \"external\"; the keys here are: use, name, grant, isolation, approve, "
         "allow, "
         "deny, "
         "idempotent, limits"},
        {GOOD "tools: [{use: files, root: \"\", grant: {read: [\"${env:D_EMPTY}\"]}}]",
         "3:47: each of \"read\" must be a path, is empty"},
        {GOOD "tools: [{use: clock}, {use: clock}]",
         "3:23: two of \"tools\" are called \"clock\"; give this one another \"name\""},
        {GOOD "tools: [{use: clock, name: a}, {use: clock, name: a}]",
         "3:51: two of \"tools\" are called \"a\"; give this one another \"name\""},
        {GOOD "tools: [{use: clock, grant: {raed: [x]}}]",
         "3:30: unknown key \"raed\"; did you mean \"read\"?"},
        {GOOD "tools: [{use: clock, grant: {read: x}}]",
         "3:36: \"read\" must be a list of texts, is \"x\""},
        {GOOD "tools: [{use: clock, grant: {exec: bash}}]",
         "3:36: \"exec\" must be true, false or a list of texts, is \"bash\""},
        {GOOD "tools: [{use: clock, grant: {memory: 1KiB}}]",
         "3:38: \"memory\" must be from 1MiB to 1024GiB, is \"1KiB\""},
        {GOOD "tools: [{use: clock, grant: {env: [A=B]}}]",
         "3:36: each of \"env\" must be a name (letters, digits and \"_\", no digit first, 64 at "
         "most), is \"A=B\""},
        {GOOD "inputs: {a: {type: text}}",
         "3:20: \"type\" must be string, integer, number, boolean, array or object, is \"text\""},
        {GOOD "inputs: {a: {type: integer, default: no}}",
         "3:38: the value must be of type integer, is \"no\""},
        {GOOD "inputs: {1a: {}}",
         "3:10: each key of \"inputs\" must be a name (letters, digits and "
         "\"_\", no digit first, 64 at most), is \"1a\""},
        {GOOD "description: ${env:D_NONE}", "3:14: ${env:D_NONE}: D_NONE is not set; set it, or "
                                            "write ${env:D_NONE:-default}"},
        {GOOD "instructions: ${secret:x}", "3:15: \"instructions\" cannot hold a secret: only a "
                                           "component's own configuration can"},
        {"agent: My agent\nmodel: []",
         "1:8: \"agent\" must be a name (a-z, 0-9 and \"-\", 64 at most), is \"My agent\"\n"
         "2:8: \"model\" needs at least 1 of them"},
        {"agent: x\nmodel: gpt", "2:8: \"model\" must be a mapping or a list of them, is \"gpt\""},
    };
    check_rows(rows, COUNT_OF(rows));
}

#define FILES GOOD "tools:\n  - use: files\n    " /* the row's text stands in line 5, column 5 */

static void test_component_faults(void)
{
    static const struct row rows[] = {
        {GOOD "tools:\n  - use: htpp\n    port: 1", "4:10: no component \"htpp\""},
        {GOOD "tools:\n  - use: flies\n", "4:10: no component \"flies\"; did you mean \"files\"?"},
        {"agent: x\nmodel: {use: files}", "2:14: no component \"files\""},
        {GOOD "tools:\n  - use: odd_schema",
         "4:5: odd_schema: the plugin's config_schema: /type: there is no type \"nonsense\""},
        {FILES "grant: {}", "4:5: files: \"root\" is missing: The directory."},
        {FILES "rot: x", "4:5: files: \"root\" is missing: The directory.\n"
                         "5:5: unknown key \"rot\"; did you mean \"root\"?"},
        {FILES "root: x\n    aprove: always",
         "6:5: unknown key \"aprove\"; did you mean \"approve\"?"},
        {FILES "root:", "5:10: files: \"root\" has no value"},
        {FILES "root: [x]", "5:11: files: \"root\" must be string, is array [\"x\"]"},
        {FILES "root: x\n    max: many",
         "6:10: files: \"max\" must be integer, is string \"many\""},
        {FILES "root: x\n    max: 0011", "6:10: 0011 can mean two numbers; write it without the "
                                         "leading zero, or with 0o if it is octal, or quoted if it "
                                         "is text"},
        {FILES "root: x\n    max: ${env:D_KEY}", "6:10: files: \"max\" must be integer"},
        {FILES "root: ['${env:D_KEY}']", "5:11: files: \"root\" must be string"},
        {FILES "root: x\n    user: me",
         "4:5: files: the configuration lacks \"password\", which \"user\" asks for"},
#define NO_SECRET                                                                                  \
    "files: a secret cannot stand in a definition; write ${secret:NAME}, with the value in "       \
    "~/.config/gudgeon/secrets/NAME (mode 600) or in the environment as NAME_API_KEY"
        {FILES "root: x\n    user: me\n    password: hunter2", "7:15: " NO_SECRET},
        {FILES "root: x\n    user: me\n    password: ${env:D_KEY}", "7:15: " NO_SECRET},
        {FILES "root: x\n    hidden: yes",
         "6:13: files: \"hidden\" must be boolean, is string \"yes\""},
        {FILES "root: x\n    servers: [{url: a}, {port: 1}, {url: a, prot: 1}, {url: {}}]",
         "6:25: files: \"servers[1].url\" is missing\n"
         "6:45: unknown key \"prot\"; did you mean \"port\"?\n"
         "6:61: files: \"servers[3].url\" must be string, is object {}"},
        {GOOD "tools:\n  - use: clock\n    zone: UTC",
         "5:5: unknown key \"zone\"; the keys here are: use, name, grant, isolation, approve, "
         "allow, deny, "
         "idempotent, limits"},
        {GOOD "tools:\n  - use: shell\n",
         "4:5: shell needs a grant; add   grant: {exec: true, read: [\"/usr/bin\"]}"},
        {GOOD "tools:\n  - use: shell\n    grant: {exec: false, read: [/usr]}",
         "5:12: shell needs more than is granted; add to grant: exec: true"},
        {GOOD "tools:\n  - use: shell\n    grant: {exec: [], read: [/usr/bin/x, /usr/b]}",
         "5:12: shell needs more than is granted; add to grant: exec: true, read: [\"/usr/bin\"]"},
    };
    check_rows(rows, COUNT_OF(rows));
}

static void test_all_at_once(void)
{
    CLEANUP(free_ptr)
    char *have = outcome("agent: x\n"
                         "agent: y\n"
                         "modle: z\n"
                         "model: {use: opnai, temperature: 3}\n"
                         "tools:\n"
                         "  - use: files\n"
                         "    max: 11\n"
                         "limits: {steps: -1, tim: 5}\n"
                         "description: ${env:D_NONE}\n",
                         &with_registry);
    CHECK_STR(have, "2:1: the key \"agent\" is given twice: first in line 1\n"
                    "3:1: unknown key \"modle\"; did you mean \"model\"?\n"
                    "4:14: no component \"opnai\"; did you mean \"openai\"?\n"
                    "6:5: files: \"root\" is missing: The directory.\n"
                    "7:10: files: \"max\" must be at most 10, is 11\n"
                    "8:17: \"steps\" must be from 1 to 1000000, is \"-1\"\n"
                    "8:21: unknown key \"tim\"; did you mean \"time\"?\n"
                    "9:14: ${env:D_NONE}: D_NONE is not set; set it, or write "
                    "${env:D_NONE:-default}");
}

/* ---- values that hurt others ----------------------------------------------------------------- */

static void test_country(void)
{
    CLEANUP(free_ptr)
    char *have = outcome(FILES "root: ${env:D_HOSTILE}\n    country: no\n    version: 1.10\n",
                         &with_registry);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(have, "\"root\":\"/dir/!a: #b ${X}\",\"country\":\"no\",\"version\":\"1.10\""));
    CLEANUP(free_ptr)
    char *null = outcome(FILES "root: x\n    country: ~\n    version: ~\n", &with_registry);
    CU_ASSERT_PTR_NOT_NULL(strstr(null, "\"country\":\"~\",\"version\":null"));
}

/* ---- settings, files, inputs ----------------------------------------------------------------- */

static void test_settings(void)
{
    static const char *const good[] = {"limits.steps=7", "model.temperature=1", "tools.0.root=/r",
                                       "instructions=a: b # c"};
    const struct definition_options options = {&fake_registry, good, COUNT_OF(good)};
    CLEANUP(free_ptr) char *have = outcome(FILES "root: x", &options);
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"steps\":7"));
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"temperature\":1"));
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"root\":\"/r\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(have, "\"instructions\":\"a: b # c\""));
    static const char *const bad[] = {"limits.steps=x", "limits.step=5", "tools.0.max=11",
                                      "tools.5=x", "nothing"};
    const struct definition_options wrong = {&fake_registry, bad, COUNT_OF(bad)};
    CLEANUP(free_ptr) char *faults = outcome(FILES "root: x", &wrong);
    CHECK_STR(faults, "--set tools.5=x: \"5\" is no place in a list of 1; count from 0\n"
                      "--set nothing: this is no setting; write PATH=VALUE, as in limits.steps=5\n"
                      "--set limits.step=5: unknown key \"step\"; did you mean \"steps\"?\n"
                      "--set limits.steps=x: \"steps\" must be a whole number, is \"x\"\n"
                      "--set tools.0.max=11: files: \"max\" must be at most 10, is 11");
}

static void check_file(const char *path, int want_status, const char *want)
{
    struct diags diags = DIAGS_INIT;
    struct definition *definition = NULL;
    CU_ASSERT_EQUAL(definition_load(path, NULL, &definition, &diags), want_status);
    CU_ASSERT_EQUAL_FATAL(diags.kept, want != NULL);
    if (want != NULL)
        CHECK_STR(diags.lines[0], want);
    definition_free(definition);
    diags_fini(&diags);
}

static void test_files(void)
{
    char path[] = "/tmp/gudgeon-definition-XXXXXX";
    CLEANUP(close_fd) int fd = mkostemp(path, O_CLOEXEC);
    CU_ASSERT_EQUAL(write(fd, GOOD, strlen(GOOD)), (ssize_t)strlen(GOOD));
    check_file(path, 0, NULL);
    CU_ASSERT_EQUAL(ftruncate(fd, YAML_MAX_BYTES + 1), 0);
    CLEANUP(free_ptr) char *large = xasprintf("%s: is too large (1048576 bytes at most)", path);
    check_file(path, ERR_LIMIT, large);
    unlink(path);
    CLEANUP(free_ptr) char *none = xasprintf("%s: no such file", path);
    check_file(path, ERR_NOT_FOUND, none);
    check_file("/tmp", ERR_IO, "/tmp: is no regular file");
}

static void test_inputs(void)
{
    static const struct {
        const char *type, *text, *want; /* want NULL: refused */
    } rows[] = {
        {"string", "no", "\"no\""},
        {"string", "5", "\"5\""},
        {"string", "", "\"\""},
        {"integer", "5", "5"},
        {"integer", "812345678901234567890", "812345678901234567890"},
        {"integer", "five", NULL},
        {"integer", "", NULL},
        {"integer", "1.5", NULL},
        {"number", "1.50", "1.50"},
        {"boolean", "true", "true"},
        {"boolean", "yes", NULL},
        {"array", "[a, 1]", "[\"a\",1]"},
        {"array", "a", NULL},
        {"object", "{\"a\": [1]}", "{\"a\":[1]}"},
        {"object", "{a", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct input_entry input = {.name = (char *)"x", .type = (char *)rows[i].type};
        CLEANUP(free_ptr) char *json = NULL;
        struct err err = {0};
        int status = definition_read_input(&input, rows[i].text, &json, &err);
        CU_ASSERT_EQUAL(status, rows[i].want != NULL ? 0 : ERR_INVALID);
        if (rows[i].want != NULL)
            CHECK_STR(json, rows[i].want);
        else if (i == 5)
            CHECK_STR(err.text, "input \"x\" must be of type integer, is \"five\"");
    }
}

int main(void)
{
    setenv("D_HOSTILE", "!a: #b ${X}", 1);
    setenv("D_KEY", "sk-1234", 1);
    setenv("D_EMPTY", "", 1);
    unsetenv("D_NONE");
    unsetenv("D_MODEL");
    static const struct unit_row rows[] = {
        {"two lines make an agent", test_defaults},
        {"every key, resolved, and loaded again", test_all_keys},
        {"names, prefixes, parameters", test_entries},
        {"without a registry", test_no_registry},
        {"what is wrong with a file", test_file_faults},
        {"what is wrong with a key", test_key_faults},
        {"what a component says is wrong", test_component_faults},
        {"all faults of a file at once", test_all_at_once},
        {"values are what was written", test_country},
        {"settings from the command line", test_settings},
        {"files", test_files},
        {"inputs from the command line", test_inputs},
    };
    return unit_run("definition", rows, COUNT_OF(rows));
}
