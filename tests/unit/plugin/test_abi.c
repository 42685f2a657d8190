/* SPDX-License-Identifier: MIT */
#include "plugin/abi.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "plugin/kind.h"
#include "sys/paths.h"
#include "unit.h"

/* The rules of the header's comment, for hosts of 0.x and 1.x. */
static void test_negotiate(void)
{
    static const struct {
        struct abi_version plugin;
        unsigned minimum;
        struct abi_version host;
        const char *refused;
    } rows[] = {
        {{0, 1}, 0, {0, 1}, NULL},
        {{0, 1}, 1, {0, 1}, NULL},
        {{0, 0}, 0, {0, 1}, "made for ABI 0.0, this host has 0.1"},
        {{0, 2}, 0, {0, 1}, "made for ABI 0.2, this host has 0.1"},
        {{0, 1}, 2, {0, 1}, "needs a host with ABI 0.2 or later, this one has 0.1"},
        {{1, 0}, 0, {0, 1}, "made for ABI 1.0, this host has 0.1"},
        {{0, 1}, 0, {1, 1}, "made for ABI 0.1, this host has 1.1"},
        {{1, 0}, 0, {1, 0}, NULL},
        {{1, 0}, 0, {1, 5}, NULL},
        {{1, 7}, 0, {1, 5}, NULL},
        {{1, 7}, 5, {1, 5}, NULL},
        {{1, 7}, 6, {1, 5}, "needs a host with ABI 1.6 or later, this one has 1.5"},
        {{2, 0}, 0, {1, 5}, "made for ABI 2.0, this host has 1.5"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct gudgeon_plugin plugin = {
            .magic = GUDGEON_MAGIC,
            .abi_major = rows[i].plugin.major,
            .abi_minor = rows[i].plugin.minor,
            .size = sizeof plugin,
            .minimum_host_minor = rows[i].minimum,
        };
        struct err err = {0};
        int status = abi_negotiate(&plugin, rows[i].host, &err);
        CU_ASSERT_EQUAL(status, rows[i].refused != NULL ? ERR_PROTOCOL : 0);
        if (rows[i].refused != NULL)
            CU_ASSERT(strncmp(err.text, rows[i].refused, strlen(rows[i].refused)) == 0);
    }
}

/* Fixtures of the ABI's past and future, seen by a host of 1.2. */
static void test_other_minors(void)
{
    static const struct {
        const char *name;
        const char *component;
        const char *kind;
        int code;
    } rows[] = {
        {"older_minor", "older", "model/1", 0},
        {"future_minor", "future", "tools/1", 0},
        {"future_minimum", NULL, NULL, ERR_PROTOCOL},
        {"wrong_major", NULL, NULL, ERR_PROTOCOL},
    };
    static const struct abi_version host = {1, 2};
    CLEANUP(free_ptr) char *worker = paths_worker();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr)
        char *path = xasprintf("%.*s/tests/abi/%s.so", (int)(strrchr(worker, '/') - worker), worker,
                               rows[i].name);
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(handle);
        const struct gudgeon_plugin *plugin = dlsym(handle, "gudgeon_plugin");
        CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
        CLEANUP(buf_fini) struct buf warnings = BUF_INIT(1000);
        CU_ASSERT_EQUAL(abi_negotiate(plugin, host, NULL), rows[i].code);
        if (rows[i].code != 0)
            continue;
        CU_ASSERT_EQUAL(abi_check(plugin, rows[i].name, &warnings, NULL), 0);
        CHECK_STR(warnings.data, "");
        const gudgeon_component *component = plugin->components[0];
        CHECK_STR(component->name, rows[i].component);
        CHECK_STR(component->kind, rows[i].kind);
        CU_ASSERT_PTR_NULL(plugin->components[1]);
    }
}

/* What is newer than the plugin reads as absent, what is newer than the host does no harm. */
static void test_has(void)
{
    const size_t older_size = offsetof(gudgeon_model, capabilities);
    CLEANUP(free_ptr) gudgeon_model *model = xcalloc(1, older_size);
    model->size = (uint32_t)older_size;
    CU_ASSERT(GUDGEON_HAS(model, generate));
    CU_ASSERT_FALSE(GUDGEON_HAS(model, capabilities));
    const gudgeon_model current = {.size = sizeof current};
    CU_ASSERT(GUDGEON_HAS(&current, capabilities));
    const gudgeon_model cut = {.size = sizeof cut - 1};
    CU_ASSERT_FALSE(GUDGEON_HAS(&cut, capabilities));
}

static void test_names(void)
{
    static const struct {
        const char *text;
        bool is_name;
    } rows[] = {
        {"openai", true},
        {"a", true},
        {"a-b_c9", true},
        {"9", true},
        {"", false},
        {"Openai", false},
        {"a b", false},
        {"a/b", false},
        {"a.b", false},
        {"\xc3\xa4", false},
        {NULL, false},
        {"0123456789012345678901234567890123456789012345678901234567890123", true},
        {"01234567890123456789012345678901234567890123456789012345678901234", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CU_ASSERT_EQUAL(abi_is_name(rows[i].text), rows[i].is_name);
}

static void test_kinds(void)
{
    CU_ASSERT_PTR_NULL(kind_row("tools"));
    CU_ASSERT_PTR_NULL(kind_row("tools/2"));
    CU_ASSERT_PTR_NULL(kind_row("gizmo/1"));
    CU_ASSERT_EQUAL(kind_of_name("gizmo"), KIND_COUNT);
    for (int i = 0; i < KIND_COUNT; i++) {
        const char *name = kind_name((enum kind)i);
        CLEANUP(free_ptr) char *text = xasprintf("%s/1", name);
        CU_ASSERT_EQUAL((int)kind_of_name(name), i);
        CU_ASSERT_PTR_NOT_NULL_FATAL(kind_row(text));
        CU_ASSERT_EQUAL((int)kind_row(text)->kind, i);
        CU_ASSERT_PTR_EQUAL(kind_row_of((enum kind)i, 1), kind_row(text));
        CU_ASSERT_PTR_NULL(kind_row_of((enum kind)i, 2));
    }
}

static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

static int32_t event(void *self, const gudgeon_call *call, const gudgeon_event *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

/* An array whose NULL was forgotten is noticed before it is followed for ever. */
static void test_endless(void)
{
    static const gudgeon_sink ops = {.size = sizeof ops, .event = event};
    static gudgeon_component component[ABI_COMPONENTS_MAX + 1];
    static char names[ABI_COMPONENTS_MAX + 1][8];
    static const gudgeon_component *components[ABI_COMPONENTS_MAX + 2];
    for (size_t i = 0; i < COUNT_OF(component); i++) {
        snprintf(names[i], sizeof names[i], "c%zu", i);
        component[i] = (gudgeon_component){.size = sizeof component[i],
                                           .kind = "sink/1",
                                           .name = names[i],
                                           .create = create,
                                           .destroy = destroy,
                                           .ops = &ops};
        components[i] = &component[i];
    }
    const struct gudgeon_plugin plugin = {GUDGEON_PLUGIN_PREFIX, "many", "1", "MIT", components, 0};
    CLEANUP(buf_fini) struct buf warnings = BUF_INIT(1000);
    struct err err = {0};
    CU_ASSERT_EQUAL(abi_check(&plugin, "many", &warnings, &err), ERR_INVALID);
    CHECK_STR(err.text, "lists more than 64 components; does the array end with NULL?");
    components[ABI_COMPONENTS_MAX] = NULL;
    CU_ASSERT_EQUAL(abi_check(&plugin, "many", &warnings, &err), 0);
}

int main(void)
{
    UNIT_MAIN("abi", {"negotiation", test_negotiate}, {"other minors", test_other_minors},
              {"size-based reads", test_has}, {"names", test_names}, {"kinds", test_kinds},
              {"array without an end", test_endless});
}
