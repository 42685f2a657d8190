/* SPDX-License-Identifier: MIT */
/* From nodes to rules. */
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "data/decimal.h"
#include "data/json.h"
#include "data/json_digest.h"
#include "data/schema_compiler.h"
#include "data/schema_regex.h"

/* What the compiled patterns of one schema may take. */
enum { PATTERN_BYTES_MAX = 16 << 20 };

/* ---- lookups ------------------------------------------------------------------------------- */

struct schema_node *schema_node_of(struct json_object *source)
{
    if (!json_object_is_type(source, json_type_object) &&
        !json_object_is_type(source, json_type_boolean))
        return NULL;
    return json_object_get_userdata(source);
}

const struct schema_rule *schema_rule_of(const struct schema_node *node, const char *keyword)
{
    for (size_t i = 0; i < node->rule_count; i++)
        if (strcmp(node->rules[i].keyword->name, keyword) == 0)
            return &node->rules[i];
    return NULL;
}

const struct schema_node *schema_child(const struct schema_node *node, const char *keyword)
{
    return schema_node_of(json_get(node->source, keyword));
}

/* ---- what is prepared from a value, by its shape ------------------------------------------- */

static int refuse_shape(struct schema_compiler *c, const struct schema_node *node,
                        const struct schema_rule *rule, const char *wanted)
{
    return schema_refuse(c, node, rule->keyword->name, ERR_INVALID, "must be %s, is %s", wanted,
                         json_type_name(rule->value));
}

/* An integer >= 0; more than int64_t holds is as good as its greatest value. */
static int prepare_count(struct schema_compiler *c, const struct schema_node *node,
                         struct schema_rule *rule)
{
    if (!json_is_number(rule->value))
        return refuse_shape(c, node, rule, "an integer from 0");
    struct decimal number;
    decimal_of(rule->value, &number);
    if (number.negative || !decimal_is_integer(&number))
        return schema_refuse(c, node, rule->keyword->name, ERR_INVALID,
                             "must be an integer from 0, is %s",
                             json_object_get_string(rule->value));
    if (!decimal_to_int64(&number, &rule->count))
        rule->count = INT64_MAX;
    return 0;
}

static int add_pattern(struct schema_compiler *c, const struct schema_node *node,
                       struct schema_rule *rule, gudgeon_str text)
{
    struct err reason;
    struct schema_regex *regex;
    int status = schema_regex_new(text, &regex, &reason);
    if (status < 0)
        return schema_refuse(c, node, rule->keyword->name, status, "\"%s\" %s", text.ptr,
                             reason.text);
    rule->patterns =
        xreallocarray(rule->patterns, rule->pattern_count + 1, sizeof(struct schema_regex *));
    rule->patterns[rule->pattern_count++] = regex;
    c->pattern_bytes += schema_regex_bytes(regex);
    if (c->pattern_bytes > PATTERN_BYTES_MAX)
        return schema_refuse(c, node, rule->keyword->name, ERR_LIMIT,
                             "the schema's patterns are too large");
    return 0;
}

static int prepare_pattern_map(struct schema_compiler *c, const struct schema_node *node,
                               struct schema_rule *rule)
{
    int status = 0;
    json_object_object_foreach(rule->value, pattern, value)
    {
        (void)value;
        if (status == 0)
            status = add_pattern(c, node, rule, str_of(pattern));
    }
    return status;
}

static bool is_list_of_strings(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_array))
        return false;
    size_t len = json_object_array_length(value);
    for (size_t i = 0; i < len; i++)
        if (!json_object_is_type(json_object_array_get_idx(value, i), json_type_string))
            return false;
    return true;
}

static bool is_map_of_lists(struct json_object *value)
{
    if (!json_object_is_type(value, json_type_object))
        return false;
    bool all = true;
    json_object_object_foreach(value, name, list)
    {
        (void)name;
        all = all && is_list_of_strings(list);
    }
    return all;
}

static int prepare_shape(struct schema_compiler *c, const struct schema_node *node,
                         struct schema_rule *rule)
{
    struct json_object *value = rule->value;
    switch (rule->keyword->shape) {
    case SCHEMA_SHAPE_COUNT:
        return prepare_count(c, node, rule);
    case SCHEMA_SHAPE_NUMBER:
        return json_is_number(value) ? 0 : refuse_shape(c, node, rule, "a number");
    case SCHEMA_SHAPE_BOOLEAN:
        return json_object_is_type(value, json_type_boolean)
                   ? 0
                   : refuse_shape(c, node, rule, "a boolean");
    case SCHEMA_SHAPE_STRING:
        return json_object_is_type(value, json_type_string)
                   ? 0
                   : refuse_shape(c, node, rule, "a string");
    case SCHEMA_SHAPE_REGEX:
        return json_object_is_type(value, json_type_string)
                   ? add_pattern(c, node, rule, json_str(value))
                   : refuse_shape(c, node, rule, "a string");
    case SCHEMA_SHAPE_PATTERN_MAP:
        return prepare_pattern_map(c, node, rule);
    case SCHEMA_SHAPE_ARRAY:
        return json_object_is_type(value, json_type_array)
                   ? 0
                   : refuse_shape(c, node, rule, "an array");
    case SCHEMA_SHAPE_NAMES:
        return is_list_of_strings(value) ? 0 : refuse_shape(c, node, rule, "a list of strings");
    case SCHEMA_SHAPE_NAMES_MAP:
        return is_map_of_lists(value)
                   ? 0
                   : refuse_shape(c, node, rule, "an object of lists of strings");
    default:
        return 0; /* anything; or sub-schemas, which the walk has looked at */
    }
}

/* ---- what single keywords prepare ---------------------------------------------------------- */

static int add_type(struct schema_compiler *c, const struct schema_node *node,
                    struct schema_rule *rule, gudgeon_str name)
{
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    unsigned bits = schema_type_named(name);
    rule->types |= bits;
    if (bits != 0)
        return 0;
    if (name.ptr == NULL)
        return schema_refuse(c, node, "type", ERR_INVALID,
                             "must be the name of a type or a list of such names");
    const char *near = nearest_name(name.ptr, names, COUNT_OF(names));
    return schema_refuse(c, node, "type", ERR_INVALID, "there is no type \"%s\"%s%s%s", name.ptr,
                         near != NULL ? " (did you mean \"" : "", near != NULL ? near : "",
                         near != NULL ? "\"?)" : "");
}

int schema_prepare_type(struct schema_compiler *c, const struct schema_node *node,
                        struct schema_rule *rule)
{
    if (!json_object_is_type(rule->value, json_type_array))
        return add_type(c, node, rule, json_str(rule->value));
    size_t len = json_object_array_length(rule->value);
    int status = len > 0 ? 0 : add_type(c, node, rule, (gudgeon_str){NULL, 0});
    for (size_t i = 0; i < len && status == 0; i++)
        status = add_type(c, node, rule, json_str(json_object_array_get_idx(rule->value, i)));
    return status;
}

/* The digests of const's value or enum's values. */
int schema_prepare_values(struct schema_compiler *c, const struct schema_node *node,
                          struct schema_rule *rule)
{
    (void)c;
    (void)node;
    bool is_enum = rule->keyword->shape == SCHEMA_SHAPE_ARRAY;
    rule->digest_count = is_enum ? json_object_array_length(rule->value) : 1;
    rule->digests = xcalloc(rule->digest_count, sizeof *rule->digests);
    for (size_t i = 0; i < rule->digest_count; i++)
        rule->digests[i] =
            json_digest(is_enum ? json_object_array_get_idx(rule->value, i) : rule->value);
    return 0;
}

int schema_prepare_step(struct schema_compiler *c, const struct schema_node *node,
                        struct schema_rule *rule)
{
    struct decimal step;
    decimal_of(rule->value, &step);
    if (step.negative || step.count == 0)
        return schema_refuse(c, node, "multipleOf", ERR_INVALID, "must be more than 0, is %s",
                             json_object_get_string(rule->value));
    if (step.count > DECIMAL_MAX_STEP_DIGITS)
        return schema_refuse(c, node, "multipleOf", ERR_LIMIT, "has more than %d digits",
                             DECIMAL_MAX_STEP_DIGITS);
    return 0;
}

/* A reference to a $dynamicAnchor by its name is dynamic; all others are what $ref is. */
int schema_prepare_ref(struct schema_compiler *c, const struct schema_node *node,
                       struct schema_rule *rule)
{
    struct schema_node *target = NULL;
    int status = schema_resolve(c, node, rule->keyword->name, &target);
    if (status < 0)
        return status;
    rule->target = target;
    const char *hash = strchr(json_object_get_string(rule->value), '#');
    gudgeon_str anchor = json_get_str(target->source, "$dynamicAnchor");
    if (hash != NULL && str_is(anchor, hash + 1))
        rule->dynamic_name = anchor;
    return 0;
}

/* items begins where prefixItems ends. */
int schema_prepare_items(struct schema_compiler *c, const struct schema_node *node,
                         struct schema_rule *rule)
{
    (void)c;
    struct json_object *prefix = json_get(node->source, "prefixItems");
    if (json_object_is_type(prefix, json_type_array))
        rule->count = (int64_t)json_object_array_length(prefix);
    return 0;
}

/* A count beside the rule, saturated like all counts; its own row refuses what is none. */
static int64_t count_beside(const struct schema_node *node, const char *keyword, int64_t fallback)
{
    struct json_object *value = json_get(node->source, keyword);
    if (!json_is_number(value))
        return fallback;
    struct decimal number;
    decimal_of(value, &number);
    int64_t count;
    return decimal_to_int64(&number, &count) ? count : INT64_MAX;
}

int schema_prepare_contains(struct schema_compiler *c, const struct schema_node *node,
                            struct schema_rule *rule)
{
    (void)c;
    rule->count = 1;
    rule->most = INT64_MAX;
    if (!(node->resource->vocabularies & SCHEMA_VALIDATION))
        return 0;
    rule->count = count_beside(node, "minContains", rule->count);
    rule->most = count_beside(node, "maxContains", rule->most);
    return 0;
}

int schema_prepare_if(struct schema_compiler *c, const struct schema_node *node,
                      struct schema_rule *rule)
{
    (void)c;
    rule->target = schema_child(node, "then");
    rule->otherwise = schema_child(node, "else");
    return 0;
}

/* ---- rules --------------------------------------------------------------------------------- */

static void rule_fini(struct schema_rule *rule)
{
    free(rule->digests);
    for (size_t i = 0; i < rule->pattern_count; i++)
        schema_regex_free(rule->patterns[i]);
    free(rule->patterns);
}

static int prepare(struct schema_compiler *c, const struct schema_node *node,
                   struct schema_rule *rule)
{
    int status = prepare_shape(c, node, rule);
    if (status == 0 && rule->keyword->prepare != NULL)
        status = rule->keyword->prepare(c, node, rule);
    return status;
}

/* Gives the node its rules. */
static int compile_node(struct schema_compiler *c, struct schema_node *node)
{
    if (node->kind != SCHEMA_NODE_RULES)
        return 0;
    uint64_t present = schema_keywords_in(node->source);
    node->rules = xcalloc((size_t)__builtin_popcountll(present), sizeof *node->rules);
    for (size_t i = 0; i < schema_keyword_count; i++) {
        const struct schema_keyword *keyword = &schema_keywords[i];
        if (!(present >> i & 1) || !(keyword->vocabulary & node->resource->vocabularies))
            continue;
        struct schema_rule rule = {.keyword = keyword,
                                   .value = json_get(node->source, keyword->name)};
        int status = prepare(c, node, &rule);
        if (status < 0 || keyword->check == NULL)
            rule_fini(&rule);
        else
            node->rules[node->rule_count++] = rule;
        if (status < 0)
            return status;
        if (keyword->vocabulary == SCHEMA_UNEVALUATED)
            node->has_unevaluated = true;
    }
    return 0;
}

/* References may add nodes while this runs. */
static int compile_nodes(struct schema_compiler *c)
{
    int status = 0;
    for (size_t i = 0; i < c->schema->node_count && status == 0; i++)
        status = compile_node(c, c->schema->nodes[i]);
    return status;
}

/* ---- the schema ---------------------------------------------------------------------------- */

static void free_place(struct lh_entry *entry)
{
    free(lh_entry_k(entry));
}

static int compile(struct json_object *take_root, const struct schema_options *options,
                   struct schema **ret, struct err *err)
{
    enum { FIRST_PLACES = 16 };
    struct schema *schema = xcalloc(1, sizeof *schema);
    struct schema_compiler compiler = {
        .schema = schema,
        .options = options,
        .places = lh_kchar_table_new(FIRST_PLACES, free_place),
        .err = err,
    };
    if (compiler.places == NULL)
        abort();
    struct schema_node *ignored;
    int status = schema_add_document(&compiler, "", take_root, &ignored);
    if (status == 0)
        status = compile_nodes(&compiler);
    lh_table_free(compiler.places);
    if (status < 0) {
        schema_free(schema);
        return status;
    }
    schema_derive_types(schema);
    *ret = schema;
    return 0;
}

int schema_compile(struct json_object *root, const struct schema_options *options,
                   struct schema **ret, struct err *err)
{
    return compile(json_copy(root), options, ret, err);
}

int schema_compile_text(const char *json, struct schema **ret, struct err *err)
{
    struct json_object *root = NULL;
    int status = json_read(str_of(json), &root, err);
    return status < 0 ? status : compile(root, NULL, ret, err);
}

struct json_object *schema_source(const struct schema *schema)
{
    return schema->documents[0];
}

static void node_free(struct schema_node *node)
{
    for (size_t i = 0; i < node->rule_count; i++)
        rule_fini(&node->rules[i]);
    free(node->rules);
    free(node);
}

static void resource_free(struct schema_resource *resource)
{
    free(resource->uri);
    free(resource->dynamic_anchors);
    free(resource);
}

void schema_free(struct schema *schema)
{
    if (schema == NULL)
        return;
    for (size_t i = 0; i < schema->node_count; i++)
        node_free(schema->nodes[i]);
    for (size_t i = 0; i < schema->resource_count; i++)
        resource_free(schema->resources[i]);
    for (size_t i = 0; i < schema->document_count; i++)
        json_object_put(schema->documents[i]);
    free(schema->nodes);
    free(schema->resources);
    free(schema->documents);
    free(schema);
}
