/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_ABI_FIXTURE_H
#define GUDGEON_TESTS_ABI_FIXTURE_H

/*
 * The ordinary parts of a fixture plugin, so that each fixture shows only what is wrong with it:
 * a tools component that lists nothing, as groups of initialisers, and a descriptor.
 */

#include <stddef.h>

#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

#define FIXTURE_PART static __attribute__((unused))

FIXTURE_PART int32_t fixture_create(void **self, const gudgeon_call *call,
                                    const gudgeon_create *request)
{
    static const char nothing = 0;
    (void)call, (void)request;
    *self = (void *)&nothing;
    return 0;
}

FIXTURE_PART int32_t fixture_destroy(void *self, const gudgeon_call *call,
                                     const gudgeon_stop *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

FIXTURE_PART int32_t fixture_list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

FIXTURE_PART int32_t fixture_call(void *self, const gudgeon_call *call,
                                  const gudgeon_tool_call *request)
{
    (void)self, (void)call, (void)request;
    return GUDGEON_INVALID;
}

FIXTURE_PART int32_t fixture_generate(void *self, const gudgeon_call *call,
                                      const gudgeon_generate *request)
{
    (void)self, (void)call, (void)request;
    return GUDGEON_UNAVAILABLE;
}

FIXTURE_PART const gudgeon_tools fixture_ops = {
    .size = sizeof fixture_ops, .list = fixture_list, .call = fixture_call};

#define FIXTURE_HEAD  .size = sizeof(gudgeon_component), .summary = "A fixture"
#define FIXTURE_TOOLS FIXTURE_HEAD, .kind = "tools/1"
#define FIXTURE_LIFE  .create = fixture_create, .destroy = fixture_destroy
#define FIXTURE_OPS   FIXTURE_LIFE, .ops = &fixture_ops

/* The descriptor; the rest of the arguments are pointers to components. */
#define FIXTURE_PLUGIN(plugin_name, ...)                                                           \
    static const gudgeon_component *const fixture_components[] = {__VA_ARGS__, NULL};              \
    const struct gudgeon_plugin gudgeon_plugin = {                                                 \
        GUDGEON_PLUGIN_PREFIX, plugin_name, "1.0.0", "MIT", fixture_components, 0}

/* A whole plugin of one ordinary component. */
#define FIXTURE_ORDINARY(plugin_name)                                                              \
    static const gudgeon_component fixture_component = {FIXTURE_TOOLS, .name = plugin_name,        \
                                                        FIXTURE_OPS};                              \
    FIXTURE_PLUGIN(plugin_name, &fixture_component)

#endif
