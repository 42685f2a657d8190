/* SPDX-License-Identifier: MIT */
/* The toolbox over real instances: tests/abi/awkward.c changes its list when it is told to. */
#include <stdlib.h>
#include <string.h>

#include "agent/toolbox.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "event/intake.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "plugin/services.h"
#include "sys/paths.h"
#include "unit.h"

enum { ENTRIES = 2 };

/* A definition of up to two entries of the fixture, and what opening them needs. */
struct rig {
    struct plugin_info plugin;
    struct component_info component;
    struct tools_entry entries[ENTRIES];
    struct definition definition;
    struct services *services;
    struct secrets *secrets;
    struct intake *intake;
    struct buf log;
};

static void on_log(void *payload, const char *instance, int level, const char *message)
{
    struct rig *rig = payload;
    buf_addf(&rig->log, "%s %d %s\n", instance, level, message);
}

static void rig_init(struct rig *rig, size_t count)
{
    *rig = (struct rig){.component = {.kind = KIND_TOOLS, .kind_version = 1}};
    CLEANUP(free_ptr) char *plugins = paths_plugins(); /* BUILD/plugins */
    *strrchr(plugins, '/') = '\0';
    rig->plugin.path = xasprintf("%s/tests/abi/awkward.so", plugins);
    rig->component.plugin = &rig->plugin;
    rig->component.name = (char *)"awkward";
    for (size_t i = 0; i < ENTRIES; i++)
        rig->entries[i].entry = (struct use_entry){.name = (char *)(i == 0 ? "first" : "second"),
                                                   .config = (char *)"{}",
                                                   .grant = (char *)"{}",
                                                   .component = &rig->component};
    rig->definition = (struct definition){.tools = rig->entries, .tools_count = count};
    rig->services = services_new();
    rig->secrets = secrets_new();
    rig->intake = intake_new();
    buf_init(&rig->log, BUF_MAX_ANY);
}

static void rig_fini(struct rig *rig)
{
    free(rig->plugin.path);
    secrets_free(rig->secrets);
    intake_free(rig->intake);
    services_free(rig->services);
    buf_fini(&rig->log);
}

static int try_open(struct rig *rig, struct toolbox **ret, struct err *err)
{
    struct instance_options shared = {
        .services = rig->services, .secrets = rig->secrets, .on_log = on_log, .payload = rig};
    return toolbox_open(&rig->definition, &shared, rig->intake, ret, err);
}

static struct toolbox *opened(struct rig *rig)
{
    struct toolbox *toolbox = NULL;
    struct err err = {0};
    if (try_open(rig, &toolbox, &err) < 0)
        printf("#   %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(toolbox);
    return toolbox;
}

static void check_names(const struct toolbox *toolbox, const char *expected)
{
    struct buf names = BUF_INIT(BUF_MAX_ANY);
    toolbox_names(toolbox, &names);
    CHECK_STR(names.data, expected);
    buf_fini(&names);
}

/* Tells the instance of the first tool what its next list is. */
static void list_as(const struct tool *any, const char *how)
{
    struct call *call =
        call_new(&(struct call_options){.deadline_ns = clock_monotonic_ns() + 20 * NS_PER_S});
    CLEANUP(free_ptr) char *arguments = xasprintf("{\"how\":\"%s\"}", how);
    CU_ASSERT_EQUAL(instance_call(any->instance, call, str_of("list_as"), str_of(arguments)), 0);
    call_free(call);
}

static const struct tool *find(const struct toolbox *toolbox, const char *name)
{
    return toolbox_find(toolbox, str_of(name));
}

/* The list as a model gets it is the one that find looks in. */
static void check_view(const struct toolbox *toolbox)
{
    size_t count;
    const gudgeon_tool *const *tools = toolbox_list(toolbox, &count);
    for (size_t i = 0; i < count; i++)
        CU_ASSERT_PTR_EQUAL(&toolbox_find(toolbox, tools[i]->name)->abi, tools[i]);
}

static const char plain[] = "list_as, echo, no_grant, too_much, wait";

static void test_names(void)
{
    struct rig rig;
    rig_init(&rig, 2);
    rig.entries[1].prefixed = true;
    rig.entries[1].allow =
        (struct text_list){.items = (char *[]){(char *)"e*", (char *)"wait"}, .count = 2};
    rig.entries[1].deny = (struct text_list){.items = (char *[]){(char *)"w?it"}, .count = 1};
    rig.definition.finish = FINISH_TOOL;
    struct toolbox *toolbox = opened(&rig);
    check_names(toolbox, "final_answer, list_as, echo, no_grant, too_much, wait, second_echo");
    check_view(toolbox);
    const struct tool *tool = find(toolbox, "second_echo");
    CHECK_STR(tool->plugin_name, "echo");
    CU_ASSERT_PTR_EQUAL(tool->entry, &rig.entries[1]);
    CU_ASSERT_PTR_NOT_EQUAL(tool->instance, find(toolbox, "echo")->instance);
    CU_ASSERT_EQUAL(find(toolbox, "final_answer")->builtin, BUILTIN_FINAL_ANSWER);
    CU_ASSERT_PTR_NULL(find(toolbox, "final_answer")->instance);
    CHECK_STR(toolbox_nearest(toolbox, "ecko"), "echo");
    CU_ASSERT_PTR_NULL(toolbox_nearest(toolbox, "something else"));
    CU_ASSERT_PTR_NULL(find(toolbox, "second_wait"));
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static void test_unmatched(void)
{
    struct rig rig;
    rig_init(&rig, 1);
    rig.entries[0].deny = (struct text_list){
        .items = (char *[]){(char *)"ecko", (char *)"w*", (char *)"shell*"}, .count = 3};
    rig.entries[0].idempotent = (struct text_list){.items = (char *[]){(char *)"w*"}, .count = 1};
    struct toolbox *toolbox = opened(&rig);
    check_names(toolbox, "list_as, echo, no_grant, too_much");
    CHECK_STR(rig.log.data, "first 2 deny: no tool is called \"ecko\"; did you mean \"echo\"?\n"
                            "first 2 deny: no tool is called \"shell*\"\n");
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static void test_long_name(void)
{
    static const char name[] = "an_entry_with_a_name_that_leaves_no_room_for_the_names_of_tools";
    struct rig rig;
    rig_init(&rig, 1);
    rig.entries[0].prefixed = true;
    rig.entries[0].entry.name = (char *)name;
    struct toolbox *toolbox = opened(&rig);
    size_t count;
    const gudgeon_tool *const *tools = toolbox_list(toolbox, &count);
    CU_ASSERT_EQUAL(count, 5);
    for (size_t i = 0; i < count; i++) {
        CU_ASSERT_EQUAL(tools[i]->name.len, 64);
        CU_ASSERT(strncmp(tools[i]->name.ptr, name, 55) == 0);
    }
    check_view(toolbox); /* so no two are the same */
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static void test_clash(void)
{
    struct rig rig;
    rig_init(&rig, 2);
    struct toolbox *toolbox = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(try_open(&rig, &toolbox, &err), ERR_INVALID);
    CHECK_STR(err.text, "tools \"second\": there is a tool \"list_as\" already; give this entry a "
                        "`name:`, which goes before its tools' names");
    CU_ASSERT_EQUAL(try_open(&rig, &toolbox, NULL), ERR_INVALID);
    CU_ASSERT_PTR_NULL(toolbox);
    rig_fini(&rig);
}

static void test_missing_secret(void)
{
    struct rig rig;
    rig_init(&rig, 1);
    rig.entries[0].entry.config = (char *)"{\"key\":\"{secret:not-there-at-all}\"}";
    struct toolbox *toolbox = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(try_open(&rig, &toolbox, &err), ERR_AUTH);
    CU_ASSERT(starts_with(err.text, "tools \"first\": no secret \"not-there-at-all\""));
    CU_ASSERT_EQUAL(try_open(&rig, &toolbox, NULL), ERR_AUTH);
    rig_fini(&rig);
}

/* What tools say of themselves passes the intake like every foreign text. */
static void test_masked(void)
{
    setenv("GUDGEON_SECRET_TOOLBOX", "hunter2", 1);
    struct rig rig;
    rig_init(&rig, 1);
    rig.entries[0].entry.config = (char *)"{\"key\":\"{secret:toolbox}\"}";
    struct toolbox *toolbox = opened(&rig);
    const struct tool *tool = find(toolbox, "echo");
    CHECK_STR(tool->description, "For {secret}.");
    CHECK_STR(tool->parameters, "{\"type\":\"object\",\"title\":\"{secret}\"}");
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static void test_refresh(void)
{
    struct rig rig;
    rig_init(&rig, 1);
    struct toolbox *toolbox = opened(&rig);
    CU_ASSERT_EQUAL(toolbox_revision(toolbox), 1);
    CU_ASSERT_FALSE(toolbox_refresh(toolbox));
    list_as(find(toolbox, "echo"), "more");
    CU_ASSERT_TRUE(toolbox_refresh(toolbox));
    CU_ASSERT_EQUAL(toolbox_revision(toolbox), 2);
    check_names(toolbox, "list_as, echo, no_grant, too_much, wait, late");
    check_view(toolbox);
    list_as(find(toolbox, "echo"), "more"); /* another list with the same in it */
    CU_ASSERT_FALSE(toolbox_refresh(toolbox));
    CU_ASSERT_EQUAL(toolbox_revision(toolbox), 2);
    check_view(toolbox);
    CHECK_STR(rig.log.data, "");
    toolbox_free(toolbox);
    rig_fini(&rig);
}

/* A list that fails leaves the old one in place, and is asked for again. */
static void test_broken(void)
{
    struct rig rig;
    rig_init(&rig, 1);
    struct toolbox *toolbox = opened(&rig);
    list_as(find(toolbox, "echo"), "broken");
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_FALSE(toolbox_refresh(toolbox));
        check_names(toolbox, plain);
        check_view(toolbox);
        CHECK_STR(rig.log.data,
                  "first 2 tools \"first\": cannot list its tools: the list is lost\n");
        buf_reset(&rig.log);
    }
    CU_ASSERT_EQUAL(toolbox_revision(toolbox), 1);
    list_as(find(toolbox, "echo"), "more");
    CU_ASSERT_TRUE(toolbox_refresh(toolbox));
    CU_ASSERT_PTR_NOT_NULL(find(toolbox, "late"));
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static void test_twice(void)
{
    struct rig rig;
    rig_init(&rig, 1);
    struct toolbox *toolbox = opened(&rig);
    list_as(find(toolbox, "echo"), "twice");
    CU_ASSERT_TRUE(toolbox_refresh(toolbox));
    size_t count;
    const gudgeon_tool *const *tools = toolbox_list(toolbox, &count);
    CU_ASSERT_EQUAL_FATAL(count, 8);
    CHECK_STR(tools[5]->name.ptr, "late");
    CHECK_STR(tools[6]->name.ptr, "a_b");
    CU_ASSERT(starts_with(tools[7]->name.ptr, "a_b_") && tools[7]->name.len == 12);
    CHECK_STR(toolbox_find(toolbox, tools[7]->name)->plugin_name, "a.b");
    CHECK_STR(rig.log.data, "first 2 tool \"late\" is left out: it is listed twice\n");
    toolbox_free(toolbox);
    rig_fini(&rig);
}

/* At the start a clash is a fault of the definition; in a run it is no reason to end it. */
static void test_late_clash(void)
{
    struct rig rig;
    rig_init(&rig, 2);
    rig.entries[0].allow = (struct text_list){.items = (char *[]){(char *)"l*"}, .count = 1};
    rig.entries[1].deny = (struct text_list){.items = (char *[]){(char *)"list_as"}, .count = 1};
    struct toolbox *toolbox = opened(&rig);
    list_as(find(toolbox, "list_as"), "more");
    CU_ASSERT_TRUE(toolbox_refresh(toolbox));
    list_as(find(toolbox, "echo"), "more");
    CU_ASSERT_FALSE(toolbox_refresh(toolbox));
    check_names(toolbox, "list_as, late, echo, no_grant, too_much, wait");
    CU_ASSERT_PTR_EQUAL(find(toolbox, "late")->entry, &rig.entries[0]);
    CHECK_STR(rig.log.data,
              "second 2 tool \"late\" is left out: another entry's tool has its name\n");
    toolbox_free(toolbox);
    rig_fini(&rig);
}

static const struct {
    const char *name, *tool;
    unsigned component_flags;
    enum approve approve;
    const char *idempotent;
    enum effect effect;
    bool needs_approval;
} effects[] = {
    {"a native tool's word stands", "echo", 0, APPROVE_NEVER, NULL, EFFECT_READ, false},
    {"no word is a write", "list_as", 0, APPROVE_NEVER, NULL, EFFECT_WRITE, false},
    {"the operator's word", "list_as", 0, APPROVE_NEVER, "list*", EFFECT_IDEMPOTENT, false},
    {"relayed words say nothing good", "echo", GUDGEON_RELAYED, APPROVE_NEVER, NULL, EFFECT_WRITE,
     false},
    {"the operator's word for relayed ones", "echo", GUDGEON_RELAYED, APPROVE_NEVER, "echo",
     EFFECT_IDEMPOTENT, false},
    {"always", "echo", 0, APPROVE_ALWAYS, NULL, EFFECT_READ, true},
    {"destructive, by a tool that is not", "list_as", 0, APPROVE_DESTRUCTIVE, NULL, EFFECT_WRITE,
     false},
    {"destructive, relayed and not known to read", "list_as", GUDGEON_RELAYED, APPROVE_DESTRUCTIVE,
     NULL, EFFECT_WRITE, true},
    {"destructive, relayed and said to read", "echo", GUDGEON_RELAYED, APPROVE_DESTRUCTIVE, NULL,
     EFFECT_WRITE, false},
};

static void test_effects(void)
{
    for (size_t i = 0; i < COUNT_OF(effects); i++) {
        struct rig rig;
        rig_init(&rig, 1);
        rig.component.flags = effects[i].component_flags;
        rig.entries[0].approve = effects[i].approve;
        char *idempotent[] = {(char *)effects[i].idempotent};
        rig.entries[0].idempotent =
            (struct text_list){.items = idempotent, .count = effects[i].idempotent != NULL};
        struct toolbox *toolbox = opened(&rig);
        const struct tool *tool = find(toolbox, effects[i].tool);
        bool good =
            tool->effect == effects[i].effect && tool->needs_approval == effects[i].needs_approval;
        if (!good)
            printf("#   %s: %s, %d\n", effects[i].name, effect_name(tool->effect),
                   tool->needs_approval);
        CU_ASSERT(good);
        toolbox_free(toolbox);
        rig_fini(&rig);
    }
}

int main(void)
{
    UNIT_MAIN("toolbox", {"names, prefixes, allow and deny", test_names},
              {"patterns that no tool matches", test_unmatched},
              {"names that are too long", test_long_name}, {"two tools of one name", test_clash},
              {"a missing secret shows at once", test_missing_secret},
              {"secrets in descriptions", test_masked}, {"the list changes", test_refresh},
              {"a list that fails", test_broken},
              {"listed twice, and names that are not legal", test_twice},
              {"a clash in the middle of a run", test_late_clash},
              {"effects and approvals", test_effects});
}
