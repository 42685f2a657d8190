/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/diag.h"

void yaml_free(struct yaml_node *node)
{
    if (node == NULL)
        return;
    for (size_t i = 0; i < node->count; i++) {
        if (node->keys != NULL)
            yaml_free(node->keys[i]);
        yaml_free(node->items[i]);
    }
    free(node->keys);
    free(node->items);
    free(node->value);
    free(node);
}

void yaml_cleanup(struct yaml_node **node)
{
    yaml_free(*node);
    *node = NULL;
}

struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key)
{
    if (mapping == NULL || mapping->kind != YAML_MAPPING)
        return NULL;
    for (size_t i = 0; i < mapping->count; i++)
        if (str_is((gudgeon_str){mapping->keys[i]->value, mapping->keys[i]->len}, key))
            return mapping->items[i];
    return NULL;
}

bool yaml_is_empty(const struct yaml_node *node)
{
    return node->kind == YAML_SCALAR && node->is_plain && node->len == 0;
}

const char *yaml_shown(const struct yaml_node *node, char text[YAML_SHOWN_SIZE])
{
    enum { MAX_BYTES = 60 };
    if (node->kind == YAML_MAPPING)
        return "a mapping";
    if (node->kind == YAML_SEQUENCE)
        return "a list";
    if (node->is_expanded)
        return "a variable's value";
    bool is_cut = node->len > MAX_BYTES;
    size_t len = is_cut ? utf8_cut(node->value, MAX_BYTES) : node->len;
    snprintf(text, YAML_SHOWN_SIZE, "\"%.*s%s\"", (int)len, node->value, is_cut ? "…" : "");
    return text;
}

void yaml_fault(struct diags *diags, struct yaml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diags_vadd(diags, node->file, (struct diag_place){node->line, node->column}, format, args);
    va_end(args);
    node->is_faulty = true;
}
