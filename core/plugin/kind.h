/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_KIND_H
#define GUDGEON_PLUGIN_KIND_H

/*
 * The kinds of component that this host knows, each with its version and the ops that a component
 * of it must have. One table, in kind.c: a new kind or version is one row. Pure functions on
 * static data.
 */

#include <stddef.h>

enum kind { KIND_MODEL, KIND_TOOLS, KIND_EXECUTOR, KIND_SINK, KIND_COUNT };

enum { KIND_OPS_MAX = 2 };

struct kind_row {
    enum kind kind;
    unsigned version;
    const char *text;        /* as in gudgeon_component.kind: "tools/1" */
    const char *struct_name; /* of its table of ops, for messages */
    struct {
        const char *name; /* NULL = no more */
        size_t offset;    /* in the table */
    } mandatory[KIND_OPS_MAX];
};

/* "model", "tools", "executor", "sink". */
const char *kind_name(enum kind kind);
/* The kind of that name, or KIND_COUNT. */
enum kind kind_of_name(const char *name);
/* The row for a component's kind, or NULL when this host does not know it. */
const struct kind_row *kind_row(const char *text);
/* The row for a kind and version, or NULL. */
const struct kind_row *kind_row_of(enum kind kind, unsigned version);

#endif
