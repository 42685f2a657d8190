/* SPDX-License-Identifier: MIT */
/* What a compiled schema says about places in an instance: types, members, annotations. */
#include <json-c/linkhash.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "data/decimal.h"
#include "data/json.h"
#include "data/schema_compiler.h"
#include "data/schema_regex.h"

/* ---- types --------------------------------------------------------------------------------- */

/* "number" stands before "integer", which it includes. */
static const struct {
    const char *name;
    unsigned bits;
} types_by_name[] = {
    {"string", SCHEMA_STRING},   {"number", SCHEMA_NUMBER | SCHEMA_INTEGER},
    {"integer", SCHEMA_INTEGER}, {"boolean", SCHEMA_BOOLEAN},
    {"array", SCHEMA_ARRAY},     {"object", SCHEMA_OBJECT},
    {"null", SCHEMA_NULL},
};

unsigned schema_type_named(gudgeon_str name)
{
    for (size_t i = 0; i < COUNT_OF(types_by_name); i++)
        if (str_is(name, types_by_name[i].name))
            return types_by_name[i].bits;
    return 0;
}

void schema_add_type_names(struct buf *out, unsigned types)
{
    const char *between = "";
    for (size_t i = 0; i < COUNT_OF(types_by_name); i++) {
        unsigned bits = types_by_name[i].bits;
        if ((types & bits) != bits)
            continue;
        buf_addf(out, "%s%s", between, types_by_name[i].name);
        between = " or ";
        types &= ~bits;
    }
}

unsigned schema_type_of(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_null:
        return SCHEMA_NULL;
    case json_type_boolean:
        return SCHEMA_BOOLEAN;
    case json_type_int:
        return SCHEMA_INTEGER;
    case json_type_string:
        return SCHEMA_STRING;
    case json_type_array:
        return SCHEMA_ARRAY;
    case json_type_object:
        return SCHEMA_OBJECT;
    case json_type_double:
        break;
    }
    struct decimal number;
    decimal_of(value, &number);
    return decimal_is_integer(&number) ? SCHEMA_INTEGER : SCHEMA_NUMBER;
}

static unsigned types_of_values(const struct schema_rule *rule)
{
    if (rule->keyword->shape != SCHEMA_SHAPE_ARRAY)
        return schema_type_of(rule->value);
    unsigned types = 0;
    for (size_t i = 0; i < rule->digest_count; i++)
        types |= schema_type_of(json_object_array_get_idx(rule->value, i));
    return types;
}

/* What the alternatives allow together; what the parts of an allOf leave in common. */
static unsigned combined_types(const struct schema_rule *rule, bool is_all_of)
{
    unsigned types = is_all_of ? SCHEMA_ANY : 0;
    size_t len = json_object_array_length(rule->value);
    for (size_t i = 0; i < len; i++) {
        unsigned part = schema_node_of(json_object_array_get_idx(rule->value, i))->types;
        types = is_all_of ? types & part : types | part;
    }
    return types;
}

static unsigned types_of_rule(const struct schema_rule *rule)
{
    const char *name = rule->keyword->name;
    if (strcmp(name, "type") == 0)
        return rule->types;
    if (rule->digests != NULL)
        return types_of_values(rule);
    if (strcmp(name, "$ref") == 0)
        return rule->target->types;
    bool is_all_of = strcmp(name, "allOf") == 0;
    if (is_all_of || strcmp(name, "anyOf") == 0 || strcmp(name, "oneOf") == 0)
        return combined_types(rule, is_all_of);
    return SCHEMA_ANY;
}

/* Narrows the node's types by what its rules say now; whether that changed them. */
static bool narrow(struct schema_node *node)
{
    unsigned types = node->types;
    for (size_t i = 0; i < node->rule_count; i++)
        types &= types_of_rule(&node->rules[i]);
    bool changed = types != node->types;
    node->types = types;
    return changed;
}

/* All nodes begin with every type, and what one learns narrows those that refer to it, until
 * nothing changes. Later nodes stand within earlier ones: backwards, one round is the rule. */
void schema_derive_types(struct schema *schema)
{
    for (size_t i = 0; i < schema->node_count; i++)
        schema->nodes[i]->types = schema->nodes[i]->kind == SCHEMA_NODE_FALSE ? 0 : SCHEMA_ANY;
    enum { ROUNDS_MAX = 32 };
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS_MAX; round++) {
        changed = false;
        for (size_t i = schema->node_count; i > 0; i--)
            changed |= narrow(schema->nodes[i - 1]);
    }
}

unsigned schema_types(const struct schema_node *node)
{
    return node != NULL ? node->types : SCHEMA_ANY;
}

/* ---- looking around ------------------------------------------------------------------------ */

struct search {
    /* The answer of one node, or NULL. */
    const void *(*look)(const struct schema_node *node, const void *wanted);
    const void *wanted;
    bool alternatives; /* look into anyOf and oneOf too */
    int nodes_left;    /* references may lead in circles */
};

static const void *look_around(struct search *search, const struct schema_node *node);

/* The first answer of an allOf; of alternatives the only one. */
static const void *look_in_list(struct search *search, const struct schema_rule *rule)
{
    bool first_counts = strcmp(rule->keyword->name, "allOf") == 0;
    size_t len = json_object_array_length(rule->value);
    const void *found = NULL;
    for (size_t i = 0; i < len; i++) {
        const void *answer =
            look_around(search, schema_node_of(json_object_array_get_idx(rule->value, i)));
        if (answer != NULL && found != NULL)
            return NULL;
        if (answer != NULL && first_counts)
            return answer;
        found = found != NULL ? found : answer;
    }
    return found;
}

/* Looks in the node, then in what it refers to, then in what it is combined from. */
static const void *look_around(struct search *search, const struct schema_node *node)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    if (node == NULL || search->nodes_left-- <= 0)
        return NULL;
    const void *found = search->look(node, search->wanted);
    const struct schema_rule *ref = schema_rule_of(node, "$ref");
    if (found == NULL && ref != NULL)
        found = look_around(search, ref->target);
    size_t list_count = search->alternatives ? COUNT_OF(lists) : 1;
    for (size_t i = 0; i < list_count && found == NULL; i++) {
        const struct schema_rule *rule = schema_rule_of(node, lists[i]);
        if (rule != NULL)
            found = look_in_list(search, rule);
    }
    return found;
}

enum { NODES_LOOKED_AT = 64 };

/* ---- members ------------------------------------------------------------------------------- */

const struct schema_node *schema_root(const struct schema *schema)
{
    return schema->root;
}

/* The first of patternProperties whose pattern is found in the name. */
static const struct schema_node *pattern_property(const struct schema_node *node, const char *name,
                                                  int64_t *steps)
{
    const struct schema_rule *rule = schema_rule_of(node, "patternProperties");
    if (rule == NULL)
        return NULL;
    size_t i = 0;
    json_object_object_foreach(rule->value, pattern, source)
    {
        (void)pattern;
        if (schema_regex_search_key(rule->patterns[i++], name, steps) > 0)
            return schema_node_of(source);
    }
    return NULL;
}

const struct schema_node *schema_own_property(const struct schema_node *node, const char *name,
                                              int64_t *steps)
{
    const struct schema_node *found =
        schema_node_of(json_get(json_get(node->source, "properties"), name));
    if (found == NULL)
        found = pattern_property(node, name, steps);
    return found != NULL ? found : schema_child(node, "additionalProperties");
}

const struct schema_node *schema_own_item(const struct schema_node *node, size_t index)
{
    const struct schema_rule *prefix = schema_rule_of(node, "prefixItems");
    if (prefix != NULL && index < json_object_array_length(prefix->value))
        return schema_node_of(json_object_array_get_idx(prefix->value, index));
    return schema_child(node, "items");
}

static const void *look_for_property(const struct schema_node *node, const void *wanted)
{
    enum { STEPS = 1 << 20 };
    int64_t steps = STEPS;
    return schema_own_property(node, wanted, &steps);
}

const struct schema_node *schema_property(const struct schema_node *node, const char *name)
{
    struct search search = {look_for_property, name, true, NODES_LOOKED_AT};
    return look_around(&search, node);
}

static const void *look_for_item(const struct schema_node *node, const void *wanted)
{
    return schema_own_item(node, *(const size_t *)wanted);
}

const struct schema_node *schema_item(const struct schema_node *node, size_t index)
{
    struct search search = {look_for_item, &index, true, NODES_LOOKED_AT};
    return look_around(&search, node);
}

/* ---- annotations --------------------------------------------------------------------------- */

static const void *look_for_keyword(const struct schema_node *node, const void *wanted)
{
    return json_object_object_get_ex(node->source, wanted, NULL) ? node : NULL;
}

bool schema_says(const struct schema_node *node, const char *keyword, struct json_object **ret)
{
    struct search search = {look_for_keyword, keyword, false, NODES_LOOKED_AT};
    const struct schema_node *found = look_around(&search, node);
    if (found != NULL)
        *ret = json_get(found->source, keyword);
    return found != NULL;
}

const char *schema_annotation(const struct schema_node *node, const char *keyword)
{
    struct json_object *value;
    return schema_says(node, keyword, &value) ? json_str(value).ptr : NULL;
}

bool schema_flag(const struct schema_node *node, const char *keyword)
{
    struct json_object *value;
    return schema_says(node, keyword, &value) && json_object_is_type(value, json_type_boolean) &&
           json_object_get_boolean(value);
}
