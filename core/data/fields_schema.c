/* SPDX-License-Identifier: MIT */
#include "data/fields.h"

#include "base/alloc.h"
#include "base/str.h"
#include "data/json.h"

static void add_type(struct json_writer *writer, const char *type)
{
    json_field_text(writer, "type", type);
}

static void add_doc(struct json_writer *writer, const char *doc)
{
    json_field_text(writer, "description", doc);
}

/* ---- by type --------------------------------------------------------------------------------- */

static void add_words(const struct field *field, struct json_writer *writer)
{
    json_key(writer, "enum");
    json_begin_array(writer);
    for (const struct field_word *word = field->words; word->word != NULL; word++)
        json_add_str(writer, str_of(word->word));
    json_end_array(writer);
}

static void add_bool(const struct field *field, struct json_writer *writer)
{
    (void)field;
    add_type(writer, "boolean");
}

static void add_int(const struct field *field, struct json_writer *writer)
{
    add_type(writer, "integer");
    json_field_int(writer, "minimum", field->min);
    if (field->max != 0)
        json_field_int(writer, "maximum", field->max);
}

static void add_decimal(const struct field *field, struct json_writer *writer)
{
    (void)field;
    add_type(writer, "number");
    json_field_int(writer, "minimum", 0);
}

static void add_two_types(const char *one, const char *other, struct json_writer *writer)
{
    json_key(writer, "type");
    json_begin_array(writer);
    json_add_str(writer, str_of(one));
    json_add_str(writer, str_of(other));
    json_end_array(writer);
}

/* A whole number, or one with a unit. A bare number is `factor` of what is kept; the bounds of
 * numbers with a unit are more than a schema can say. */
static void add_with_unit(const struct field *field, int64_t factor, const char *regex,
                          struct json_writer *writer)
{
    add_two_types("integer", "string", writer);
    json_field_int(writer, "minimum", (field->min + factor - 1) / factor);
    if (field->max != 0)
        json_field_int(writer, "maximum", field->max / factor);
    json_field_text(writer, "pattern", regex);
}

static void add_size(const struct field *field, struct json_writer *writer)
{
    add_with_unit(field, 1, "^[0-9]+(B|KiB|MiB|GiB)?$", writer);
}

static void add_duration(const struct field *field, struct json_writer *writer)
{
    add_with_unit(field, 1000, "^[0-9]+(ms|s|m|h|d)?$", writer);
}

static void add_text(const struct field *field, struct json_writer *writer)
{
    add_type(writer, "string");
    if (field->pattern == NULL)
        return;
    CLEANUP(free_ptr) char *regex = xasprintf("^%s$|\\$\\{(env|file):", field->pattern->regex);
    json_field_text(writer, "pattern", regex);
}

static void add_texts(const struct field *field, struct json_writer *writer)
{
    add_type(writer, "array");
    json_key(writer, "items");
    json_begin_object(writer);
    add_text(field, writer);
    json_end_object(writer);
}

static void add_table(const char *key, const struct field_table *table, struct json_writer *writer)
{
    json_key(writer, key);
    json_begin_object(writer);
    fields_write_schema(table, writer);
    json_end_object(writer);
}

static void add_list(const struct field *field, struct json_writer *writer)
{
    add_type(writer, "array");
    if (field->min > 0)
        json_field_int(writer, "minItems", field->min);
    add_table("items", field->table, writer);
}

static void add_one_or_list(const struct field *field, struct json_writer *writer)
{
    json_key(writer, "if");
    json_begin_object(writer);
    add_type(writer, "array");
    json_end_object(writer);
    json_key(writer, "then");
    json_begin_object(writer);
    add_list(field, writer);
    json_end_object(writer);
    add_table("else", field->table, writer);
}

static void add_map(const struct field *field, struct json_writer *writer)
{
    add_type(writer, "object");
    if (field->pattern != NULL) {
        json_key(writer, "propertyNames");
        json_begin_object(writer);
        CLEANUP(free_ptr) char *regex = xasprintf("^%s$", field->pattern->regex);
        json_field_text(writer, "pattern", regex);
        json_end_object(writer);
    }
    add_table("additionalProperties", field->table, writer);
}

static void add_flag_or_texts(const struct field *field, struct json_writer *writer)
{
    add_two_types("boolean", "array", writer);
    json_key(writer, "items");
    json_begin_object(writer);
    add_text(field, writer);
    json_end_object(writer);
}

static void add_object(const struct field *field, struct json_writer *writer)
{
    fields_write_schema(field->table, writer);
}

static void add_any_object(const struct field *field, struct json_writer *writer)
{
    (void)field;
    add_type(writer, "object");
}

static void add_anything(const struct field *field, struct json_writer *writer)
{
    (void)field;
    (void)writer;
}

static const struct {
    void (*add)(const struct field *field, struct json_writer *writer);
    bool or_variable; /* a variable, which is a text, may stand for it */
} types[] = {
    [FIELD_TEXT] = {add_text, false},
    [FIELD_WORD] = {add_words, true},
    [FIELD_ENUM] = {add_words, true},
    [FIELD_BOOL] = {add_bool, true},
    [FIELD_INT] = {add_int, true},
    [FIELD_SIZE] = {add_size, true},
    [FIELD_DURATION] = {add_duration, true},
    [FIELD_DECIMAL] = {add_decimal, true},
    [FIELD_TEXTS] = {add_texts, false},
    [FIELD_FLAG_OR_TEXTS] = {add_flag_or_texts, true},
    [FIELD_JSON_OBJECT] = {add_any_object, false},
    [FIELD_JSON_LATER] = {add_anything, false},
    [FIELD_OBJECT] = {add_object, false},
    [FIELD_OBJECT_JSON] = {add_object, false},
    [FIELD_LIST] = {add_list, false},
    [FIELD_ONE_OR_LIST] = {add_one_or_list, false},
    [FIELD_MAP] = {add_map, false},
};

static void add_by_type(const struct field *field, struct json_writer *writer)
{
    if (!types[field->type].or_variable) {
        types[field->type].add(field, writer);
        return;
    }
    json_key(writer, "anyOf");
    json_begin_array(writer);
    json_begin_object(writer);
    types[field->type].add(field, writer);
    json_end_object(writer);
    json_begin_object(writer);
    json_field_text(writer, "$ref", "#/$defs/variable");
    json_end_object(writer);
    json_end_array(writer);
}

void fields_write_variable(struct json_writer *writer)
{
    add_doc(writer, "A variable: ${env:NAME}, ${env:NAME:-default} or ${file:PATH}.");
    add_type(writer, "string");
    json_field_text(writer, "pattern", "\\$\\{(env|file):");
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The default as JSON has it: a number or a truth value bare, anything else as a text. */
static void add_default(const struct field *field, struct json_writer *writer)
{
    if (field->fallback == NULL)
        return;
    bool is_raw = field->type == FIELD_BOOL || field->type == FIELD_INT ||
                  field->type == FIELD_DECIMAL || field->type == FIELD_JSON_OBJECT ||
                  field->type == FIELD_OBJECT_JSON;
    if (is_raw)
        json_field_raw(writer, "default", str_of(field->fallback));
    else
        json_field_text(writer, "default", field->fallback);
}

static void add_required(const struct field_table *table, struct json_writer *writer)
{
    bool is_open = false;
    for (size_t i = 0; i < table->count; i++) {
        if (!table->fields[i].required)
            continue;
        if (!is_open) {
            json_key(writer, "required");
            json_begin_array(writer);
        }
        is_open = true;
        json_add_str(writer, str_of(table->fields[i].key));
    }
    if (is_open)
        json_end_array(writer);
}

void fields_write_schema(const struct field_table *table, struct json_writer *writer)
{
    add_type(writer, "object");
    add_required(table, writer);
    json_key(writer, "properties");
    json_begin_object(writer);
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        json_key(writer, field->key);
        json_begin_object(writer);
        add_doc(writer, field->doc);
        add_default(field, writer);
        add_by_type(field, writer);
        json_end_object(writer);
    }
    json_end_object(writer);
    if (!table->has_rest)
        json_field_bool(writer, "additionalProperties", false);
}
