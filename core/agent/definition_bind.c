/* SPDX-License-Identifier: MIT */
#include "agent/definition_bind.h"

#include <stdlib.h>
#include <string.h>

#include "agent/definition.h"
#include "agent/definition_table.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/schema.h"
#include "data/yaml.h"
#include "plugin/registry.h"

/* The i-th node of a key whose value is a list, or one mapping alone. */
static struct yaml_node *item_node(const struct yaml_node *root, const char *key, size_t i)
{
    struct yaml_node *node = yaml_get(root, key);
    return node->kind == YAML_SEQUENCE ? node->items[i] : node;
}

/* ---- components ------------------------------------------------------------------------------ */

struct binding {
    const struct registry *registry;
    const struct fields_context *context;
    enum kind kind;
    const struct field_table *table;
    const char *key;    /* "tools", "sinks" */
    const char **names; /* of the instances so far, borrowed */
    size_t name_count;
};

/* Without a component nobody takes further keys. That "use" is missing is told already; the first
 * of such keys says what the entry was meant to be. */
static void tell_stray_key(const struct binding *binding, struct yaml_node *node)
{
    for (size_t i = 0; node->kind == YAML_MAPPING && i < node->count; i++) {
        if (fields_find(binding->table, node->keys[i]->value) != NULL)
            continue;
        fields_unknown_key(binding->table, NULL, 0, node->keys[i], binding->context->diags);
        return;
    }
}

/* Whether to go on: the entry's component is found, or there is no registry to find it in. */
static bool find_component(const struct binding *binding, struct use_entry *entry,
                           struct yaml_node *node)
{
    struct err err = {0};
    if (entry->use == NULL) {
        if (yaml_get(node, "use") == NULL)
            tell_stray_key(binding, node);
        return false;
    }
    if (binding->registry == NULL)
        return true;
    entry->component = registry_find(binding->registry, binding->kind, entry->use, &err);
    if (entry->component == NULL)
        yaml_fault(binding->context->diags, yaml_get(node, "use"), "%s", err.text);
    return entry->component != NULL;
}

static void bind_entry(const struct binding *binding, struct use_entry *entry, char **parameters,
                       struct yaml_node *node)
{
    if (!find_component(binding, entry, node))
        return;
    definition_bind_config(entry, parameters, node, binding->table, binding->context);
    if (entry->grant != NULL && entry->component != NULL)
        definition_check_needs(entry, node, binding->context);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Two instances of one name could not be told apart; nor could their tools. */
static void check_name(struct binding *binding, const struct use_entry *entry,
                       struct yaml_node *node)
{
    if (entry->name == NULL)
        return;
    struct yaml_node *name = yaml_get(node, "name");
    for (size_t i = 0; i < binding->name_count; i++)
        if (strcmp(binding->names[i], entry->name) == 0)
            yaml_fault(binding->context->diags, name != NULL ? name : node,
                       "two of \"%s\" are called \"%s\"; give this one another \"name\"",
                       binding->key, entry->name);
    binding->names[binding->name_count++] = entry->name;
}

static bool is_model_name_taken(const struct definition *definition, size_t before,
                                const char *name)
{
    for (size_t i = 0; i < before; i++)
        if (definition->models[i].entry.name != NULL &&
            strcmp(definition->models[i].entry.name, name) == 0)
            return true;
    return false;
}

/* "openai", "openai-2", … */
static char *model_instance_name(const struct definition *definition, size_t i)
{
    const char *use = definition->models[i].entry.use;
    char *name = xstrdup(use);
    for (size_t number = 2; is_model_name_taken(definition, i, name); number++) {
        free(name);
        name = xasprintf("%s-%zu", use, number);
    }
    return name;
}

/* ---- the three lists ------------------------------------------------------------------------- */

static void bind_models(struct definition *definition, const struct yaml_node *root,
                        struct binding binding)
{
    binding.kind = KIND_MODEL;
    binding.table = &definition_model_table;
    for (size_t i = 0; i < definition->model_count; i++) {
        struct model_entry *model = &definition->models[i];
        if (model->entry.use != NULL)
            model->entry.name = model_instance_name(definition, i);
        bind_entry(&binding, &model->entry, &model->parameters, item_node(root, "model", i));
    }
}

static void bind_tools(struct definition *definition, const struct yaml_node *root,
                       struct binding binding)
{
    CLEANUP(free_ptr) const char **names = xcalloc(definition->tools_count, sizeof *names);
    binding.kind = KIND_TOOLS;
    binding.table = &definition_tools_table;
    binding.key = "tools";
    binding.names = names;
    for (size_t i = 0; i < definition->tools_count; i++) {
        struct tools_entry *tools = &definition->tools[i];
        struct yaml_node *node = item_node(root, "tools", i);
        const char *name = tools->prefix != NULL ? tools->prefix : tools->entry.use;
        tools->prefixed = tools->prefix != NULL;
        tools->entry.name = name != NULL ? xstrdup(name) : NULL;
        check_name(&binding, &tools->entry, node);
        bind_entry(&binding, &tools->entry, NULL, node);
    }
}

static void bind_sinks(struct definition *definition, const struct yaml_node *root,
                       struct binding binding)
{
    CLEANUP(free_ptr) const char **names = xcalloc(definition->sink_count, sizeof *names);
    binding.kind = KIND_SINK;
    binding.table = &definition_sink_table;
    binding.key = "sinks";
    binding.names = names;
    for (size_t i = 0; i < definition->sink_count; i++) {
        struct use_entry *sink = &definition->sinks[i];
        struct yaml_node *node = item_node(root, "sinks", i);
        if (sink->name == NULL && sink->use != NULL)
            sink->name = xstrdup(sink->use);
        check_name(&binding, sink, node);
        bind_entry(&binding, sink, NULL, node);
    }
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The JSON text of `node` by an input's type; faults go to `diags`. */
static char *read_typed(struct yaml_node *node, const char *type, struct diags *diags)
{
    CLEANUP(free_ptr) char *schema_text = xasprintf("{\"type\":\"%s\"}", type);
    struct schema *schema = NULL;
    if (schema_compile_text(schema_text, &schema, NULL) < 0)
        return NULL;
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&text);
    yaml_to_json(node, schema_root(schema), &writer, diags);
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    char shown[YAML_SHOWN_SIZE];
    bool is_read = json_read((gudgeon_str){text.data, text.len}, &value, NULL) == 0;
    if (!node->is_faulty && (!is_read || schema_check(schema, value, NULL, NULL) < 0))
        yaml_fault(diags, node, "the value must be of type %s, is %s", type,
                   yaml_shown(node, shown));
    schema_free(schema);
    return buf_take(&text);
}

static void bind_inputs(struct definition *definition, const struct yaml_node *root,
                        const struct fields_context *context)
{
    for (size_t i = 0; i < definition->input_count; i++) {
        struct input_entry *input = &definition->inputs[i];
        struct yaml_node *node = yaml_get(yaml_get(root, "inputs"), input->name);
        struct yaml_node *fallback = yaml_get(node, "default");
        if (fallback != NULL && !fallback->is_faulty)
            input->fallback = read_typed(fallback, input->type, context->diags);
    }
}

int definition_read_input(const struct input_entry *input, const char *text, char **ret_json,
                          struct err *err)
{
    struct diags diags = DIAGS_INIT;
    struct yaml_node *node = NULL;
    struct yaml_node as_text = {.kind = YAML_SCALAR, .value = (char *)text, .len = strlen(text)};
    bool is_text = strcmp(input->type, "string") == 0;
    char *json = NULL;
    if (is_text)
        json = read_typed(&as_text, input->type, &diags);
    else if (yaml_parse(str_of(text), "value", &node, &diags) == 0)
        json = read_typed(node, input->type, &diags);
    yaml_free(node);
    bool is_good = diags.count == 0 && json != NULL;
    diags_fini(&diags);
    if (!is_good) {
        free(json);
        return err_set(err, ERR_INVALID, "input \"%s\" must be of type %s, is \"%.100s\"",
                       input->name, input->type, text);
    }
    *ret_json = json;
    return 0;
}

void definition_bind(struct definition *definition, const struct yaml_node *root,
                     const struct registry *registry, const struct fields_context *context)
{
    const struct binding binding = {.registry = registry, .context = context};
    bind_models(definition, root, binding);
    bind_tools(definition, root, binding);
    bind_sinks(definition, root, binding);
    bind_inputs(definition, root, context);
}
