/* SPDX-License-Identifier: MIT */
#include "plugin/kind.h"

#include <string.h>

#include <gudgeon/plugin.h>

#include "base/alloc.h"

static const char *const names[KIND_COUNT] = {
    [KIND_MODEL] = "model",
    [KIND_TOOLS] = "tools",
    [KIND_EXECUTOR] = "executor",
    [KIND_SINK] = "sink",
};

static const struct kind_row rows[] = {
    {KIND_MODEL, 1, "model/1", "gudgeon_model", {{"generate", offsetof(gudgeon_model, generate)}}},
    {KIND_TOOLS,
     1,
     "tools/1",
     "gudgeon_tools",
     {{"list", offsetof(gudgeon_tools, list)}, {"call", offsetof(gudgeon_tools, call)}}},
    {KIND_EXECUTOR,
     1,
     "executor/1",
     "gudgeon_executor",
     {{"exec", offsetof(gudgeon_executor, exec)}}},
    {KIND_SINK, 1, "sink/1", "gudgeon_sink", {{"event", offsetof(gudgeon_sink, event)}}},
};

const char *kind_name(enum kind kind)
{
    return names[kind];
}

enum kind kind_of_name(const char *name)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (strcmp(names[i], name) == 0)
            return (enum kind)i;
    return KIND_COUNT;
}

const struct kind_row *kind_row(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strcmp(rows[i].text, text) == 0)
            return &rows[i];
    return NULL;
}

const struct kind_row *kind_row_of(enum kind kind, unsigned version)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].kind == kind && rows[i].version == version)
            return &rows[i];
    return NULL;
}
