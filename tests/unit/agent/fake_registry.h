/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_FAKE_REGISTRY_H
#define GUDGEON_TESTS_FAKE_REGISTRY_H

/*
 * A registry of a few components that exist only as descriptions, for tests of definitions: it
 * stands in for core/plugin/registry.c, whose registry_find it defines.
 */

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/registry.h"

struct registry {
    struct component_info components[8];
    size_t count;
};

static struct registry fake_registry = {
    .components =
        {
            {.kind = KIND_MODEL,
             .name = (char *)"openai",
             .config_schema =
                 (char *)"{\"type\":\"object\",\"properties\":{"
                         "\"base_url\":{\"type\":\"string\",\"default\":\"https://example.org\"},"
                         "\"api_key\":{\"type\":\"string\"},"
                         "\"temperature\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2,"
                         "\"x-request\":true},"
                         "\"seed\":{\"type\":\"integer\",\"x-request\":true}},"
                         "\"additionalProperties\":false}"},
            {.kind = KIND_TOOLS,
             .name = (char *)"files",
             .config_schema =
                 (char *)"{\"type\":\"object\",\"properties\":{"
                         "\"root\":{\"type\":\"string\",\"format\":\"path\","
                         "\"description\":\"The directory.\"},"
                         "\"also\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/path\"}},"
                         "\"country\":{\"type\":\"string\"},"
                         "\"version\":{\"type\":[\"string\",\"null\"]},"
                         "\"hidden\":{\"type\":\"boolean\"},"
                         "\"user\":{\"type\":\"string\"},\"password\":{\"type\":\"string\","
                         "\"writeOnly\":true},"
                         "\"max\":{\"type\":\"integer\",\"maximum\":10,\"default\":5},"
                         "\"servers\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
                         "\"properties\":{\"url\":{\"type\":\"string\"},\"port\":{\"type\":"
                         "\"integer\"}},\"required\":[\"url\"],\"additionalProperties\":false}}},"
                         "\"required\":[\"root\"],\"additionalProperties\":false,"
                         "\"dependentRequired\":{\"user\":[\"password\"]},"
                         "\"$defs\":{\"path\":{\"type\":\"string\",\"format\":\"path\"}}}"},
            {.kind = KIND_TOOLS,
             .name = (char *)"shell",
             .config_schema = (char *)"{\"type\":\"object\"}",
             .needs = (char *)"{\"exec\":true,\"read\":[\"/usr/bin\"]}"},
            {.kind = KIND_TOOLS, .name = (char *)"clock"},
            {.kind = KIND_SINK,
             .name = (char *)"lines",
             .config_schema = (char *)"{\"type\":\"object\",\"properties\":{\"file\":{\"type\":"
                                      "\"string\",\"format\":\"path\"}},"
                                      "\"additionalProperties\":false}"},
            {.kind = KIND_TOOLS,
             .name = (char *)"odd_schema",
             .config_schema = (char *)"{\"type\":\"nonsense\"}"},
        },
    .count = 6,
};

const struct component_info *registry_find(const struct registry *registry, enum kind kind,
                                           const char *name, struct err *err)
{
    const char *names[COUNT_OF(registry->components)];
    size_t count = 0;
    for (size_t i = 0; i < registry->count; i++) {
        const struct component_info *component = &registry->components[i];
        if (component->kind != kind)
            continue;
        if (strcmp(component->name, name) == 0)
            return component;
        names[count++] = component->name;
    }
    const char *near = nearest_name(name, names, count);
    err_set(err, ERR_NOT_FOUND, "no component \"%s\"%s%s%s", name, near ? "; did you mean \"" : "",
            near ? near : "", near ? "\"?" : "");
    return NULL;
}

#endif
