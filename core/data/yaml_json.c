/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <json-c/linkhash.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "data/json.h"
#include "data/schema.h"

_Static_assert((int)YAML_MAX_DEPTH < (int)JSON_WRITER_DEPTH, "whatever loads can be written");

/* The type that the form stands for, as SCHEMA_* bits, of which any one will do. */
static unsigned types_of(enum yaml_form form)
{
    static const unsigned types[] = {
        [YAML_FORM_TEXT] = SCHEMA_STRING,
        [YAML_FORM_NULL] = SCHEMA_NULL,
        [YAML_FORM_TRUE] = SCHEMA_BOOLEAN,
        [YAML_FORM_FALSE] = SCHEMA_BOOLEAN,
        [YAML_FORM_INT] = SCHEMA_INTEGER | SCHEMA_NUMBER,
        [YAML_FORM_FLOAT] = SCHEMA_INTEGER | SCHEMA_NUMBER, /* 1.0 is an integer to JSON Schema */
        [YAML_FORM_LEADING_ZERO] = SCHEMA_INTEGER | SCHEMA_NUMBER,
        [YAML_FORM_NOT_FINITE] = SCHEMA_NUMBER,
    };
    return types[form];
}

static bool is_text(const struct yaml_node *scalar, enum yaml_form form, unsigned types)
{
    if (yaml_is_empty(scalar))
        return false;
    if (!scalar->is_plain && !(scalar->is_expanded && (types & SCHEMA_STRING) == 0))
        return true;
    return (types_of(form) & types) == 0 && (types & SCHEMA_STRING) != 0;
}

static void number_to_json(struct yaml_node *scalar, struct json_writer *writer,
                           struct diags *diags)
{
    struct buf number = BUF_INIT(BUF_MAX_ANY);
    struct err err = {0};
    if (yaml_number((gudgeon_str){scalar->value, scalar->len}, &number, &err) == 0) {
        json_add_raw(writer, (gudgeon_str){number.data, number.len});
    } else {
        if (scalar->is_expanded)
            yaml_fault(diags, scalar, "a variable's value is no number that JSON has");
        else
            yaml_fault(diags, scalar, "%s", err.text);
        json_add_null(writer);
    }
    buf_fini(&number);
}

static void scalar_to_json(struct yaml_node *scalar, unsigned types, struct json_writer *writer,
                           struct diags *diags)
{
    gudgeon_str text = {scalar->value, scalar->len};
    enum yaml_form form = yaml_form(text);
    if (is_text(scalar, form, types) || form == YAML_FORM_TEXT)
        json_add_str(writer, text);
    else if (form == YAML_FORM_NULL)
        json_add_null(writer);
    else if (form == YAML_FORM_TRUE || form == YAML_FORM_FALSE)
        json_add_bool(writer, form == YAML_FORM_TRUE);
    else
        number_to_json(scalar, writer, diags);
}

static void mapping_to_json(struct yaml_node *mapping, const struct schema_node *schema,
                            struct json_writer *writer, struct diags *diags)
{
    json_begin_object(writer);
    for (size_t i = 0; i < mapping->count; i++) {
        struct yaml_node *key = mapping->keys[i];
        if (strlen(key->value) < key->len)
            yaml_fault(diags, key, "a key cannot hold the character U+0000");
        if (key->is_faulty)
            continue;
        json_key(writer, key->value);
        const struct schema_node *below =
            schema != NULL ? schema_property(schema, key->value) : NULL;
        yaml_to_json(mapping->items[i], below, writer, diags);
    }
    json_end_object(writer);
}

void yaml_to_json(struct yaml_node *node, const struct schema_node *schema,
                  struct json_writer *writer, struct diags *diags)
{
    if (node->kind == YAML_SCALAR) {
        scalar_to_json(node, schema_types(schema), writer, diags);
        return;
    }
    if (node->kind == YAML_MAPPING) {
        mapping_to_json(node, schema, writer, diags);
        return;
    }
    json_begin_array(writer);
    for (size_t i = 0; i < node->count; i++)
        yaml_to_json(node->items[i], schema != NULL ? schema_item(schema, i) : NULL, writer, diags);
    json_end_array(writer);
}

/* ---- the other way --------------------------------------------------------------------------- */

static struct yaml_node *scalar_from_json(struct json_object *value, const char *file)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    bool is_text = json_object_is_type(value, json_type_string);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    if (is_text)
        buf_add(&text, json_str(value).ptr, (size_t)json_str(value).len);
    else
        json_write(&text, value);
    *node = (struct yaml_node){
        .kind = YAML_SCALAR, .is_plain = !is_text, .len = text.len, .file = file};
    node->value = buf_take(&text);
    return node;
}

static struct yaml_node *node_from_json(struct json_object *value, const char *file, size_t depth);

/* Room for all members; `count` says how many there are so far, so that the node can be freed at
 * any time. */
static struct yaml_node *collection_from_json(struct json_object *value, const char *file)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    bool is_mapping = json_object_is_type(value, json_type_object);
    size_t count =
        is_mapping ? (size_t)json_object_object_length(value) : json_object_array_length(value);
    node->kind = is_mapping ? YAML_MAPPING : YAML_SEQUENCE;
    node->file = file;
    node->items = xcalloc(count, sizeof *node->items);
    if (is_mapping)
        node->keys = xcalloc(count, sizeof *node->keys);
    return node;
}

static bool add_member(struct yaml_node *node, const char *key, struct json_object *member,
                       size_t depth)
{
    struct yaml_node *item = node_from_json(member, node->file, depth + 1);
    if (item == NULL)
        return false;
    if (key != NULL) {
        CLEANUP(json_cleanup) struct json_object *name = json_object_new_string(key);
        node->keys[node->count] = scalar_from_json(name, node->file);
    }
    node->items[node->count++] = item;
    return true;
}

static bool add_members(struct yaml_node *node, struct json_object *value, size_t depth)
{
    if (node->kind == YAML_SEQUENCE) {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            if (!add_member(node, NULL, json_object_array_get_idx(value, i), depth))
                return false;
        return true;
    }
    json_object_object_foreach(value, key, member)
    {
        if (!add_member(node, key, member, depth))
            return false;
    }
    return true;
}

/* NULL when it is too deep. */
static struct yaml_node *node_from_json(struct json_object *value, const char *file, size_t depth)
{
    if (!json_object_is_type(value, json_type_object) &&
        !json_object_is_type(value, json_type_array))
        return scalar_from_json(value, file);
    if (depth > JSON_WRITER_DEPTH)
        return NULL;
    CLEANUP(yaml_cleanup) struct yaml_node *node = collection_from_json(value, file);
    return add_members(node, value, depth) ? TAKE(node) : NULL;
}

int yaml_from_json(struct json_object *value, const char *file, struct yaml_node **ret,
                   struct err *err)
{
    struct yaml_node *node = node_from_json(value, file, 1);
    if (node == NULL)
        return err_set(err, ERR_LIMIT, "nested too deep (%d levels at most)", JSON_WRITER_DEPTH);
    *ret = node;
    return 0;
}
