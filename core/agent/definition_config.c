/* SPDX-License-Identifier: MIT */
#include "agent/definition.h"
#include "agent/definition_bind.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/fields.h"
#include "data/json.h"
#include "data/schema.h"
#include "data/yaml.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"

/* One entry while its configuration is made. */
struct configuring {
    const struct use_entry *entry;
    struct yaml_node *node;
    const struct field_table *table;
    const struct fields_context *context;
    struct json_object *schema_json; /* for the names of properties; borrowed; NULL = none */
};

/* ---- YAML → JSON ----------------------------------------------------------------------------- */

static bool is_config_key(const struct configuring *with, const struct yaml_node *key)
{
    return !key->is_faulty && fields_find(with->table, key->value) == NULL;
}

/* The keys that are not the host's, as one JSON object. */
static struct json_object *read_config(const struct configuring *with,
                                       const struct schema_node *schema)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&text);
    json_begin_object(&writer);
    for (size_t i = 0; i < with->node->count; i++) {
        struct yaml_node *key = with->node->keys[i];
        if (strlen(key->value) < key->len)
            yaml_fault(with->context->diags, key, "a key cannot hold the character U+0000");
        if (!is_config_key(with, key))
            continue;
        json_key(&writer, key->value);
        yaml_to_json(with->node->items[i],
                     schema != NULL ? schema_property(schema, key->value) : NULL, &writer,
                     with->context->diags);
    }
    json_end_object(&writer);
    struct json_object *config = NULL;
    struct err err = {0};
    if (json_read_object((gudgeon_str){text.data, text.len}, &config, &err) < 0) {
        yaml_fault(with->context->diags, with->node, "%s", err.text);
        return json_object_new_object();
    }
    return config;
}

/* ---- faults of the schema, at their place in the file ---------------------------------------- */

/* Takes the next name off a JSON pointer; false at its end. Freed by the caller. */
static bool next_name(const char **pointer, char **ret)
{
    if (**pointer != '/')
        return false;
    struct buf name = BUF_INIT(BUF_MAX_ANY);
    const char *at = *pointer + 1;
    for (; *at != '\0' && *at != '/'; at++) {
        if (at[0] == '~' && (at[1] == '0' || at[1] == '1')) {
            at++;
            buf_add_char(&name, *at == '0' ? '~' : '/');
        } else {
            buf_add_char(&name, *at);
        }
    }
    *pointer = at;
    *ret = buf_take(&name);
    return true;
}

static struct yaml_node *below(struct yaml_node *node, const char *name)
{
    if (node->kind == YAML_MAPPING)
        return yaml_get(node, name);
    if (node->kind != YAML_SEQUENCE)
        return NULL;
    char *end;
    unsigned long index = strtoul(name, &end, 10);
    return *end == '\0' && index < node->count ? node->items[index] : NULL;
}

/* The node that a JSON pointer leads to, or the last one on the way. Adds the path as a person
 * writes it, `servers[0].url`. */
static struct yaml_node *find_node(struct yaml_node *node, const char *pointer, struct buf *path)
{
    bool is_there = true;
    for (char *name; next_name(&pointer, &name); free(name)) {
        struct yaml_node *next = is_there ? below(node, name) : NULL;
        bool is_index = is_there && node->kind == YAML_SEQUENCE;
        if (is_index)
            buf_addf(path, "[%s]", name);
        else
            buf_addf(path, "%s%s", path->len > 0 ? "." : "", name);
        is_there = next != NULL;
        if (is_there)
            node = next;
    }
    return node;
}

static struct yaml_node *find_key(struct yaml_node *mapping, const char *name)
{
    for (size_t i = 0; mapping->kind == YAML_MAPPING && i < mapping->count; i++)
        if (strcmp(mapping->keys[i]->value, name) == 0)
            return mapping->keys[i];
    return NULL;
}

/* The schema for the value at a pointer as far as plain `properties` and `items` lead; for names
 * and descriptions only, so nothing is lost when they do not. */
static struct json_object *schema_at(struct json_object *schema, const char *pointer)
{
    for (char *name; schema != NULL && next_name(&pointer, &name); free(name)) {
        struct json_object *property = json_get(json_get(schema, "properties"), name);
        schema = property != NULL ? property : json_get(schema, "items");
    }
    return schema;
}

static void tell_unknown_key(const struct configuring *with, const struct schema_fault *fault,
                             struct yaml_node *mapping)
{
    static const struct field_table no_keys;
    struct yaml_node *key = find_key(mapping, fault->property);
    if (key == NULL || key->is_faulty)
        return;
    struct json_object *properties =
        json_get(schema_at(with->schema_json, fault->instance_path), "properties");
    size_t count = 0;
    CLEANUP(free_ptr)
    const char **names = xcalloc(
        properties != NULL ? (size_t)json_object_object_length(properties) : 0, sizeof *names);
    if (properties != NULL) {
        json_object_object_foreach(properties, name, property)
        {
            (void)property;
            names[count++] = name;
        }
    }
    bool is_top = mapping == with->node;
    fields_unknown_key(is_top ? with->table : &no_keys, names, count, key, with->context->diags);
}

static void tell_missing_key(const struct configuring *with, const struct schema_fault *fault,
                             const struct yaml_node *mapping, const char *path)
{
    struct json_object *at = schema_at(with->schema_json, fault->instance_path);
    gudgeon_str doc =
        json_get_str(json_get(json_get(at, "properties"), fault->property), "description");
    diags_add(with->context->diags, mapping->file, mapping->line, mapping->column,
              "%s: \"%s%s%s\" is missing%s%.*s", with->entry->use, path, path[0] != '\0' ? "." : "",
              fault->property, doc.len > 0 ? ": " : "", STR_ARG(doc));
}

static bool holds_variable(const struct yaml_node *node)
{
    for (size_t i = 0; i < node->count; i++)
        if (holds_variable(node->items[i]))
            return true;
    return node->is_expanded;
}

/* A variable's value may be a secret, so it is not shown: the schema's words end with ", is VALUE",
 * and are cut before that. */
static int shown_len(const char *message, const struct yaml_node *node)
{
    const char *is = holds_variable(node) ? strstr(message, ", is ") : NULL;
    return is != NULL ? (int)(is - message) : (int)strlen(message);
}

static void tell_value(const struct configuring *with, const struct schema_fault *fault,
                       struct yaml_node *node, const char *path)
{
    struct diags *diags = with->context->diags;
    const char *use = with->entry->use;
    int len = shown_len(fault->message, node);
    if (path[0] == '\0')
        yaml_fault(diags, node, "%s: the configuration %.*s", use, len, fault->message);
    else if (yaml_is_empty(node))
        yaml_fault(diags, node, "%s: \"%s\" has no value", use, path);
    else
        yaml_fault(diags, node, "%s: \"%s\" %.*s", use, path, len, fault->message);
}

static bool is_about_unknown_key(const struct schema_fault *fault)
{
    return fault->property != NULL && (strcmp(fault->keyword, "additionalProperties") == 0 ||
                                       strcmp(fault->keyword, "unevaluatedProperties") == 0);
}

static void on_fault(void *payload, const struct schema_fault *fault)
{
    const struct configuring *with = payload;
    CLEANUP(buf_fini) struct buf path = BUF_INIT(BUF_MAX_ANY);
    struct yaml_node *node = find_node(with->node, fault->instance_path, &path);
    if (node->is_faulty)
        return;
    if (is_about_unknown_key(fault))
        tell_unknown_key(with, fault, node);
    else if (fault->property != NULL && strcmp(fault->keyword, "required") == 0)
        tell_missing_key(with, fault, node, path.data);
    else
        tell_value(with, fault, node, path.data);
}

/* ---- secrets --------------------------------------------------------------------------------- */

static bool names_secret(const struct yaml_node *node)
{
    size_t at = 0, len;
    gudgeon_str name;
    return secrets_next((gudgeon_str){node->value, node->len}, &at, &len, &name);
}

/* A value that the schema marks as secret must not stand in the file, nor come in by a variable:
 * the definition goes into the journal. */
static void check_secrets(const struct configuring *with, struct yaml_node *node,
                          const struct schema_node *schema)
{
    if (schema == NULL || node->is_faulty)
        return;
    if (node->kind == YAML_SCALAR) {
        if (schema_flag(schema, "writeOnly") && node->len > 0 && !names_secret(node))
            yaml_fault(with->context->diags, node,
                       "%s: a secret cannot stand in a definition; write ${secret:NAME}, with the "
                       "value in ~/.config/gudgeon/secrets/NAME (mode 600) or in the environment "
                       "as NAME_API_KEY",
                       with->entry->use);
        return;
    }
    for (size_t i = 0; i < node->count; i++)
        check_secrets(with, node->items[i],
                      node->kind == YAML_MAPPING ? schema_property(schema, node->keys[i]->value)
                                                 : schema_item(schema, i));
}

/* ---- paths ----------------------------------------------------------------------------------- */

static bool is_path(const struct schema_node *schema)
{
    const char *format = schema != NULL ? schema_annotation(schema, "format") : NULL;
    return format != NULL && strcmp(format, "path") == 0;
}

/* An empty text names no directory, least of all the definition's own. */
static bool is_path_text(struct json_object *value, const struct schema_node *schema)
{
    return is_path(schema) && json_str(value).len > 0;
}

static struct json_object *absolute(struct json_object *text, const struct fields_context *context)
{
    CLEANUP(free_ptr)
    char *path = context->absolute(context->directory, json_object_get_string(text));
    return json_object_new_string(path);
}

/* Makes what the schema calls paths absolute, at any depth. */
static void make_paths_absolute(struct json_object *value, const struct schema_node *schema,
                                const struct fields_context *context)
{
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(value); i++) {
            struct json_object *item = json_object_array_get_idx(value, i);
            const struct schema_node *below_it = schema_item(schema, i);
            if (is_path_text(item, below_it))
                json_object_array_put_idx(value, i, absolute(item, context));
            else if (below_it != NULL)
                make_paths_absolute(item, below_it, context);
        }
    } else if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, key, member)
        {
            const struct schema_node *below_it = schema_property(schema, key);
            if (is_path_text(member, below_it))
                json_object_object_add(value, key, absolute(member, context));
            else if (below_it != NULL)
                make_paths_absolute(member, below_it, context);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Moves the keys that belong to each request out of the configuration. */
static struct json_object *take_parameters(struct json_object *config,
                                           const struct schema_node *schema)
{
    struct json_object *parameters = json_object_new_object();
    json_object_object_foreach(config, key, value)
    {
        const struct schema_node *property = schema_property(schema, key);
        if (property != NULL && schema_flag(property, "x-request"))
            json_object_object_add(parameters, key, json_object_get(value));
    }
    json_object_object_foreach(parameters, name, moved)
    {
        (void)moved;
        json_object_object_del(config, name);
    }
    return parameters;
}

static char *as_text(struct json_object *value)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_write(&text, value);
    return buf_take(&text);
}

/* A component without a schema takes no configuration. */
static void refuse_config(const struct configuring *with)
{
    for (size_t i = 0; i < with->node->count; i++)
        if (is_config_key(with, with->node->keys[i]))
            fields_unknown_key(with->table, NULL, 0, with->node->keys[i], with->context->diags);
}

static void complete_and_check(struct configuring *with, struct json_object **config,
                               const struct schema *schema)
{
    struct err err = {0};
    int status = schema_complete(schema, config, false, &err);
    if (status == 0)
        status = schema_check(schema, *config, on_fault, with);
    if (status < 0 && status != ERR_INVALID)
        yaml_fault(with->context->diags, with->node, "%s: the configuration cannot be checked: %s",
                   with->entry->use, err.code != 0 ? err.text : err_name(status));
}

/* What the component says of its configuration, or NULL. Compiled where it is used: of all the
 * plugins that there are, a definition needs few. */
static struct schema *compile_schema(struct configuring *with)
{
    const struct component_info *component = with->entry->component;
    struct schema *schema = NULL;
    struct err err = {0};
    if (component == NULL || component->config_schema == NULL)
        return NULL;
    if (schema_compile_text(component->config_schema, &schema, &err) < 0)
        yaml_fault(with->context->diags, with->node, "%s: the plugin's config_schema: %s",
                   with->entry->use, err.text);
    else
        with->schema_json = schema_source(schema);
    return schema;
}

void definition_bind_config(struct use_entry *entry, char **parameters, struct yaml_node *node,
                            const struct field_table *table, const struct fields_context *context)
{
    struct configuring with = {entry, node, table, context, NULL};
    const struct component_info *component = entry->component;
    struct schema *schema = compile_schema(&with);
    const struct schema_node *root = schema != NULL ? schema_root(schema) : NULL;
    CLEANUP(json_cleanup) struct json_object *config = read_config(&with, root), *moved = NULL;
    if (component != NULL && component->config_schema == NULL)
        refuse_config(&with);
    if (schema != NULL) {
        complete_and_check(&with, &config, schema);
        check_secrets(&with, node, root);
        make_paths_absolute(config, root, context);
    }
    if (parameters != NULL) {
        moved = root != NULL ? take_parameters(config, root) : json_object_new_object();
        *parameters = as_text(moved);
    }
    entry->config = as_text(config);
    schema_free(schema);
}
