/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "data/diag.h"

static struct yaml_node *scalar_new(gudgeon_str text, bool is_plain, const char *file)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    node->kind = YAML_SCALAR;
    node->is_plain = is_plain;
    node->value = str_dup(text);
    node->len = (size_t)text.len;
    node->file = file;
    return node;
}

static struct yaml_node *mapping_new(const char *file)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    node->kind = YAML_MAPPING;
    node->file = file;
    return node;
}

/* The value's place within the setting says nothing to a person. */
static void forget_places(struct yaml_node *node)
{
    node->line = node->column = 0;
    for (size_t i = 0; i < node->count; i++) {
        if (node->keys != NULL)
            forget_places(node->keys[i]);
        forget_places(node->items[i]);
    }
}

/* NULL when the text is no YAML, which is told then. */
static struct yaml_node *value_of(const char *text, const char *file, struct diags *diags)
{
    if (text[0] == '\0' || strchr("{[\"'", text[0]) == NULL)
        return scalar_new(str_of(text), text[0] != '\0', file);
    struct yaml_node *value;
    if (yaml_parse(str_of(text), file, &value, diags) < 0)
        return NULL;
    forget_places(value);
    return value;
}

static struct yaml_node **add_pair(struct yaml_node *mapping, gudgeon_str key, const char *file)
{
    size_t count = mapping->count++;
    mapping->keys = xreallocarray(mapping->keys, count + 1, sizeof *mapping->keys);
    mapping->items = xreallocarray(mapping->items, count + 1, sizeof *mapping->items);
    mapping->keys[count] = scalar_new(key, true, file);
    mapping->items[count] = mapping_new(file);
    return &mapping->items[count];
}

static struct yaml_node **add_item(struct yaml_node *list, const char *file)
{
    size_t count = list->count++;
    list->items = xreallocarray(list->items, count + 1, sizeof *list->items);
    list->items[count] = mapping_new(file);
    return &list->items[count];
}

static struct yaml_node **slot_in_list(struct yaml_node *list, const char *name, const char *file,
                                       struct diags *diags)
{
    char *end;
    errno = 0;
    unsigned long index = strtoul(name, &end, 10);
    bool is_number = name[0] >= '0' && name[0] <= '9' && *end == '\0' && errno == 0;
    if (!is_number || index > list->count) {
        diags_add(diags, file, 0, 0, "\"%s\" is no place in a list of %zu; count from 0", name,
                  list->count);
        return NULL;
    }
    return index == list->count ? add_item(list, file) : &list->items[index];
}

/* Where the part `name` of a path leads from `node`. A scalar on the way gives way to a mapping
 * only when it is empty. */
static struct yaml_node **slot_in(struct yaml_node **node, const char *name, const char *file,
                                  struct diags *diags)
{
    if (yaml_is_empty(*node)) {
        yaml_free(*node);
        *node = mapping_new(file);
    }
    struct yaml_node *parent = *node;
    if (parent->kind == YAML_SEQUENCE)
        return slot_in_list(parent, name, file, diags);
    if (parent->kind == YAML_SCALAR) {
        diags_add(diags, file, 0, 0, "there is nothing to set \"%s\" in: the file has a text there",
                  name);
        return NULL;
    }
    for (size_t i = 0; i < parent->count; i++)
        if (str_is((gudgeon_str){parent->keys[i]->value, parent->keys[i]->len}, name))
            return &parent->items[i];
    return add_pair(parent, str_of(name), file);
}

int yaml_set(struct yaml_node **root, const char *setting, const char *file, struct diags *diags)
{
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting) {
        diags_add(diags, file, 0, 0, "this is no setting; write PATH=VALUE, as in limits.steps=5");
        return ERR_INVALID;
    }
    CLEANUP(yaml_cleanup) struct yaml_node *value = value_of(equals + 1, file, diags);
    if (value == NULL)
        return ERR_INVALID;
    CLEANUP(free_ptr) char *path = xstrndup(setting, (size_t)(equals - setting));
    struct yaml_node **slot = root;
    for (char *rest = path, *name; (name = strsep(&rest, ".")) != NULL;) {
        slot = slot_in(slot, name, file, diags);
        if (slot == NULL)
            return ERR_INVALID;
    }
    yaml_free(*slot);
    *slot = TAKE(value);
    return 0;
}
