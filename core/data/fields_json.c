/* SPDX-License-Identifier: MIT */
#include "data/fields.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "data/json.h"

/* One way to handle a value for each type: freeing it, writing it, describing it. */

static size_t count_in(const struct field *field, const void *in)
{
    return *(const size_t *)((const char *)in + field->count_offset);
}

/* ---- freeing --------------------------------------------------------------------------------- */

void text_list_fini(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}

static void free_items(const struct field *field, void *out)
{
    char **items = (char **)((char *)out + field->offset);
    size_t *count = (size_t *)((char *)out + field->count_offset);
    for (size_t i = 0; i < *count; i++) {
        char *item = *items + i * field->table->size;
        if (field->type == FIELD_MAP)
            free_ptr(item + field->table->name_offset);
        fields_fini(field->table, item);
    }
    free_ptr(items);
    *count = 0;
}

static void free_field(const struct field *field, void *out)
{
    void *slot = (char *)out + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_DECIMAL:
    case FIELD_FLAG_OR_TEXTS:
    case FIELD_JSON_OBJECT:
    case FIELD_JSON_LATER:
    case FIELD_OBJECT_JSON:
        free_ptr(slot);
        break;
    case FIELD_TEXTS:
        text_list_fini(slot);
        break;
    case FIELD_OBJECT:
        fields_fini(field->table, slot);
        break;
    case FIELD_LIST:
    case FIELD_ONE_OR_LIST:
    case FIELD_MAP:
        free_items(field, out);
        break;
    case FIELD_ENUM:
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_SIZE:
    case FIELD_DURATION:
        break;
    }
}

void fields_fini(const struct field_table *table, void *out)
{
    for (size_t i = 0; i < table->count; i++)
        free_field(&table->fields[i], out);
    for (size_t i = 0; i < table->rest_count; i++)
        free_ptr((char *)out + table->rest_offsets[i]);
}

/* ---- values as JSON -------------------------------------------------------------------------- */

static bool is_unsaid(const struct field *field, const void *in)
{
    const void *slot = (const char *)in + field->offset;
    switch (field->type) {
    case FIELD_ENUM:
    case FIELD_OBJECT:
        return false;
    case FIELD_BOOL:
        return field->fallback == NULL && !*(const bool *)slot;
    case FIELD_INT:
    case FIELD_SIZE:
    case FIELD_DURATION:
        return field->fallback == NULL && *(const int64_t *)slot == 0;
    case FIELD_TEXTS:
        return ((const struct text_list *)slot)->count == 0;
    case FIELD_LIST:
    case FIELD_ONE_OR_LIST:
    case FIELD_MAP:
        return count_in(field, in) == 0;
    default:
        return *(char *const *)slot == NULL;
    }
}

static void write_items(const struct field *field, const void *in, struct json_writer *writer)
{
    const char *items = *(char *const *)((const char *)in + field->offset);
    bool is_map = field->type == FIELD_MAP;
    is_map ? json_begin_object(writer) : json_begin_array(writer);
    for (size_t i = 0; i < count_in(field, in); i++) {
        const char *item = items + i * field->table->size;
        if (is_map)
            json_key(writer, *(char *const *)(item + field->table->name_offset));
        json_begin_object(writer);
        fields_write_json(field->table, item, writer);
        json_end_object(writer);
    }
    is_map ? json_end_object(writer) : json_end_array(writer);
}

static void write_texts(const struct text_list *list, struct json_writer *writer)
{
    json_begin_array(writer);
    for (size_t i = 0; i < list->count; i++)
        json_add_str(writer, str_of(list->items[i]));
    json_end_array(writer);
}

static const char *word_of(const struct field *field, int value)
{
    const struct field_word *word = field->words;
    while (word[1].word != NULL && word->value != value)
        word++;
    return word->word;
}

static void write_value(const struct field *field, const void *in, struct json_writer *writer)
{
    const void *slot = (const char *)in + field->offset;
    switch (field->type) {
    case FIELD_TEXT:
    case FIELD_WORD:
        json_add_str(writer, str_of(*(char *const *)slot));
        break;
    case FIELD_ENUM:
        json_add_str(writer, str_of(word_of(field, *(const int *)slot)));
        break;
    case FIELD_BOOL:
        json_add_bool(writer, *(const bool *)slot);
        break;
    case FIELD_INT:
    case FIELD_SIZE:
        json_add_int(writer, *(const int64_t *)slot);
        break;
    case FIELD_DURATION: {
        CLEANUP(free_ptr) char *text = format_duration(*(const int64_t *)slot);
        json_add_str(writer, str_of(text));
        break;
    }
    case FIELD_DECIMAL:
    case FIELD_FLAG_OR_TEXTS:
    case FIELD_JSON_OBJECT:
    case FIELD_JSON_LATER:
    case FIELD_OBJECT_JSON:
        json_add_raw(writer, str_of(*(char *const *)slot));
        break;
    case FIELD_TEXTS:
        write_texts(slot, writer);
        break;
    case FIELD_OBJECT:
        json_begin_object(writer);
        fields_write_json(field->table, slot, writer);
        json_end_object(writer);
        break;
    case FIELD_LIST:
    case FIELD_ONE_OR_LIST:
    case FIELD_MAP:
        write_items(field, in, writer);
        break;
    }
}

/* The members of an object that is there as JSON text. */
static void write_members(const char *text, struct json_writer *writer)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    if (text == NULL || json_read_object(str_of(text), &object, NULL) < 0)
        return;
    json_object_object_foreach(object, key, value)
    {
        json_key(writer, key);
        json_add_value(writer, value);
    }
}

void fields_write_json(const struct field_table *table, const void *in, struct json_writer *writer)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        if (is_unsaid(field, in))
            continue;
        json_key(writer, field->key);
        write_value(field, in, writer);
    }
    for (size_t i = 0; i < table->rest_count; i++)
        write_members(*(char *const *)((const char *)in + table->rest_offsets[i]), writer);
}
