/* SPDX-License-Identifier: MIT */
#include "data/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/yaml.h"

/* Where a row's value goes, and what it says. */
struct target {
    const struct field *field;
    void *slot;
    size_t *count; /* lists and maps */
    const struct fields_context *context;
};

static void fault(const struct target *target, struct yaml_node *node, const char *wanted)
{
    char shown[YAML_SHOWN_SIZE];
    yaml_fault(target->context->diags, node, "\"%s\" %s, is %s", target->field->key, wanted,
               yaml_shown(node, shown));
}

/* ---- scalars: text → value, for the file's and for the table's defaults ---------------------- */

/* Reads text into the slot. Messages are about the value alone: `must be …`. */
typedef int read_fn(const struct target *target, const char *text, struct err *err);

static int read_text(const struct target *target, const char *text, struct err *err)
{
    (void)err;
    *(char **)target->slot = xstrdup(text);
    return 0;
}

/* "never, always or destructive" */
static char *join_words(const struct field_word *words)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    for (size_t i = 0; words[i].word != NULL; i++) {
        const char *between = i == 0 ? "" : words[i + 1].word == NULL ? " or " : ", ";
        buf_addf(&out, "%s%s", between, words[i].word);
    }
    return buf_take(&out);
}

static const struct field_word *find_word(const struct field *field, const char *text,
                                          struct err *err)
{
    for (const struct field_word *word = field->words; word->word != NULL; word++)
        if (strcmp(word->word, text) == 0)
            return word;
    CLEANUP(free_ptr) char *all = join_words(field->words);
    err_set(err, ERR_INVALID, "must be %s", all);
    return NULL;
}

static const char *nearest_word(const struct field *field, const char *text)
{
    const char *names[16];
    size_t count = 0;
    for (const struct field_word *word = field->words; word->word != NULL; word++)
        if (count < COUNT_OF(names))
            names[count++] = word->word;
    return nearest_name(text, names, count);
}

static int read_word(const struct target *target, const char *text, struct err *err)
{
    if (find_word(target->field, text, err) == NULL)
        return ERR_INVALID;
    return read_text(target, text, err);
}

static int read_enum(const struct target *target, const char *text, struct err *err)
{
    const struct field_word *word = find_word(target->field, text, err);
    if (word == NULL)
        return ERR_INVALID;
    *(int *)target->slot = word->value;
    return 0;
}

static int read_bool(const struct target *target, const char *text, struct err *err)
{
    enum yaml_form form = yaml_form(str_of(text));
    if (form != YAML_FORM_TRUE && form != YAML_FORM_FALSE)
        return err_set(err, ERR_INVALID, "must be true or false");
    *(bool *)target->slot = form == YAML_FORM_TRUE;
    return 0;
}

/* What a bound is called in the unit that people write. */
static char *bound_text(const struct field *field, int64_t bound)
{
    if (field->type == FIELD_SIZE)
        return format_size(bound);
    if (field->type == FIELD_DURATION)
        return format_duration(bound);
    return xasprintf("%" PRId64, bound);
}

static int keep_int(const struct target *target, int64_t value, struct err *err)
{
    const struct field *field = target->field;
    if (value < field->min || (field->max != 0 && value > field->max)) {
        CLEANUP(free_ptr) char *min = bound_text(field, field->min);
        CLEANUP(free_ptr) char *max = bound_text(field, field->max);
        if (field->max == 0)
            return err_set(err, ERR_INVALID, "must be %s or more", min);
        return err_set(err, ERR_INVALID, "must be from %s to %s", min, max);
    }
    *(int64_t *)target->slot = value;
    return 0;
}

static int read_int(const struct target *target, const char *text, struct err *err)
{
    if (yaml_form(str_of(text)) != YAML_FORM_INT)
        return err_set(err, ERR_INVALID, "must be a whole number");
    CLEANUP(buf_fini) struct buf number = BUF_INIT(BUF_MAX_ANY);
    int status = yaml_number(str_of(text), &number, err);
    if (status < 0)
        return status;
    errno = 0;
    int64_t value = strtoll(number.data, NULL, 10); /* saturates, and is then out of bounds */
    if (errno != 0 && target->field->max == 0)
        return err_set(err, ERR_INVALID, "must be a whole number of at most 64 bits");
    return keep_int(target, value, err);
}

static int read_size(const struct target *target, const char *text, struct err *err)
{
    int64_t bytes;
    if (parse_size(text, &bytes, NULL) < 0)
        return err_set(err, ERR_INVALID, "must be a size (512, 64KiB, 10MiB, 2GiB)");
    return keep_int(target, bytes, err);
}

static int read_duration(const struct target *target, const char *text, struct err *err)
{
    int64_t ms;
    if (parse_duration(text, &ms, NULL) < 0)
        return err_set(err, ERR_INVALID, "must be a duration (250ms, 30s, 10m, 2h, 1d)");
    return keep_int(target, ms, err);
}

static int read_decimal(const struct target *target, const char *text, struct err *err)
{
    enum yaml_form form = yaml_form(str_of(text));
    if ((form != YAML_FORM_INT && form != YAML_FORM_FLOAT) || text[0] == '-')
        return err_set(err, ERR_INVALID, "must be a number, 0 or more");
    struct buf number = BUF_INIT(BUF_MAX_ANY);
    int status = yaml_number(str_of(text), &number, err);
    if (status == 0)
        *(char **)target->slot = buf_take(&number);
    buf_fini(&number);
    return status;
}

/* ---- texts of the file ----------------------------------------------------------------------- */

static bool fits_pattern(const struct field_pattern *pattern, const char *text)
{
    const char *first = pattern->first != NULL ? pattern->first : pattern->characters;
    size_t len = strlen(text);
    return len > 0 && len <= pattern->max_len && strchr(first, text[0]) != NULL &&
           strspn(text, pattern->characters) == len;
}

/* Whether the node can be the text of `key` ("use", "each of \"allow\""), else the fault is told.
 */
static bool check_text(const struct target *target, struct yaml_node *node, const char *subject)
{
    struct diags *diags = target->context->diags;
    const struct field_pattern *pattern = target->field->pattern;
    char shown[YAML_SHOWN_SIZE];
    if (node->is_faulty)
        return false;
    if (node->kind != YAML_SCALAR)
        yaml_fault(diags, node, "%s must be a text, is %s", subject, yaml_shown(node, shown));
    else if (yaml_is_empty(node))
        yaml_fault(diags, node, "%s has no value", subject);
    else if (strlen(node->value) < node->len)
        yaml_fault(diags, node, "%s cannot hold the character U+0000", subject);
    else if (node->has_secret)
        yaml_fault(diags, node, "%s cannot hold a secret: only a component's own configuration can",
                   subject);
    else if (target->field->path != FIELD_NO_PATH && node->len == 0)
        yaml_fault(diags, node, "%s must be a path, is empty", subject);
    else if (pattern != NULL && !fits_pattern(pattern, node->value))
        yaml_fault(diags, node, "%s must be a name (%s), is %s", subject, pattern->words,
                   yaml_shown(node, shown));
    return !node->is_faulty;
}

static char *take_text(const struct target *target, const struct yaml_node *node)
{
    const struct fields_context *context = target->context;
    enum field_path path = target->field->path;
    if (path == FIELD_PATH || (path == FIELD_PROGRAM && strchr(node->value, '/') != NULL))
        return context->absolute(context->directory, node->value);
    return xstrdup(node->value);
}

/* ---- nodes of the file, by type -------------------------------------------------------------- */

/* Fills the slot, or marks the node as faulty and leaves the slot alone. */
typedef void load_fn(const struct target *target, struct yaml_node *node);

static void load_text(const struct target *target, struct yaml_node *node)
{
    CLEANUP(free_ptr) char *subject = xasprintf("\"%s\"", target->field->key);
    if (check_text(target, node, subject))
        *(char **)target->slot = take_text(target, node);
}

static read_fn *reader_of(enum field_type type);

/* A quoted value is a text: to an editor's schema, and to whoever reads the file. */
static bool is_quoted_value(const struct target *target, const struct yaml_node *node)
{
    switch (target->field->type) {
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_DECIMAL:
        return !node->is_plain && !node->is_expanded;
    default:
        return false;
    }
}

static void tell_scalar(const struct target *target, struct yaml_node *node, const char *wanted)
{
    const struct field *field = target->field;
    const char *near = field->words != NULL ? nearest_word(field, node->value) : NULL;
    char shown[YAML_SHOWN_SIZE];
    if (near != NULL && !node->is_expanded)
        yaml_fault(target->context->diags, node, "\"%s\" %s, is %s; did you mean %s?", field->key,
                   wanted, yaml_shown(node, shown), near);
    else
        fault(target, node, wanted);
}

static void load_scalar(const struct target *target, struct yaml_node *node)
{
    CLEANUP(free_ptr) char *subject = xasprintf("\"%s\"", target->field->key);
    if (!check_text(target, node, subject))
        return;
    struct err err = {0};
    if (is_quoted_value(target, node))
        yaml_fault(target->context->diags, node, "%s must not be a text: write %s without quotes",
                   subject, node->value);
    else if (reader_of(target->field->type)(target, node->value, &err) < 0)
        tell_scalar(target, node, err.text);
}

static void load_texts(const struct target *target, struct yaml_node *node)
{
    struct text_list *list = target->slot;
    if (node->kind != YAML_SEQUENCE) {
        fault(target, node, "must be a list of texts");
        return;
    }
    CLEANUP(free_ptr) char *subject = xasprintf("each of \"%s\"", target->field->key);
    list->items = xcalloc(node->count, sizeof *list->items);
    for (size_t i = 0; i < node->count; i++)
        if (check_text(target, node->items[i], subject))
            list->items[list->count++] = take_text(target, node->items[i]);
}

static void load_flag_or_texts(const struct target *target, struct yaml_node *node)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    bool flag = false;
    if (node->kind == YAML_SEQUENCE) {
        struct text_list list = {0};
        load_texts(&(struct target){target->field, &list, NULL, target->context}, node);
        json_begin_array(&writer);
        for (size_t i = 0; i < list.count; i++)
            json_add_str(&writer, str_of(list.items[i]));
        json_end_array(&writer);
        text_list_fini(&list);
    } else if (node->kind == YAML_SCALAR && (node->is_plain || node->is_expanded) &&
               read_bool(&(struct target){.slot = &flag}, node->value, NULL) == 0) {
        json_add_bool(&writer, flag);
    } else {
        fault(target, node, "must be true, false or a list of texts");
    }
    if (out.len > 0)
        *(char **)target->slot = buf_take(&out);
    buf_fini(&out);
}

static void load_json_object(const struct target *target, struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING) {
        fault(target, node, "must be a mapping");
        return;
    }
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    yaml_to_json(node, NULL, &writer, target->context->diags);
    *(char **)target->slot = buf_take(&out);
}

static void load_later(const struct target *target, struct yaml_node *node)
{
    (void)target;
    (void)node;
}

static void load_object(const struct target *target, struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING)
        fault(target, node, "must be a mapping");
    else
        fields_load(target->field->table, node, target->slot, target->context);
}

static void load_object_json(const struct target *target, struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING) {
        fault(target, node, "must be a mapping");
        return;
    }
    const struct field_table *table = target->field->table;
    CLEANUP(free_ptr) void *value = xcalloc(1, table->size);
    fields_load(table, node, value, target->context);
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_object(&writer);
    fields_write_json(table, value, &writer);
    json_end_object(&writer);
    fields_fini(table, value);
    *(char **)target->slot = buf_take(&out);
}

/* Adds an item of a list or a map; nothing but a mapping can be one. */
static void *load_item(const struct target *target, struct yaml_node *node)
{
    const struct field_table *table = target->field->table;
    char *items = *(char **)target->slot;
    items = xreallocarray(items, *target->count + 1, table->size);
    *(char **)target->slot = items;
    char *item = items + *target->count * table->size;
    memset(item, 0, table->size);
    ++*target->count;
    char shown[YAML_SHOWN_SIZE];
    const struct field *first = &table->fields[0];
    if (node->kind != YAML_MAPPING && !node->is_faulty)
        yaml_fault(target->context->diags, node, "each of \"%s\" must be a mapping%s%s%s, is %s",
                   target->field->key, first->required ? " (" : "",
                   first->required ? first->key : "", first->required ? ": …)" : "",
                   yaml_shown(node, shown));
    fields_load(table, node->kind == YAML_MAPPING ? node : NULL, item, target->context);
    return item;
}

static void load_list(const struct target *target, struct yaml_node *node)
{
    if (target->field->type == FIELD_ONE_OR_LIST && node->kind == YAML_MAPPING) {
        load_item(target, node);
        return;
    }
    if (node->kind != YAML_SEQUENCE) {
        fault(target, node,
              target->field->type == FIELD_LIST ? "must be a list"
                                                : "must be a mapping or a list of them");
        return;
    }
    if ((int64_t)node->count < target->field->min)
        yaml_fault(target->context->diags, node, "\"%s\" needs at least %" PRId64 " of them",
                   target->field->key, target->field->min);
    for (size_t i = 0; i < node->count; i++)
        load_item(target, node->items[i]);
}

static void load_map(const struct target *target, struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING) {
        fault(target, node, "must be a mapping");
        return;
    }
    CLEANUP(free_ptr) char *subject = xasprintf("each key of \"%s\"", target->field->key);
    for (size_t i = 0; i < node->count; i++) {
        if (!check_text(target, node->keys[i], subject))
            continue;
        char *item = load_item(target, node->items[i]);
        *(char **)(item + target->field->table->name_offset) = xstrdup(node->keys[i]->value);
    }
}

static const struct {
    read_fn *read; /* scalars */
    load_fn *load;
} types[] = {
    [FIELD_TEXT] = {read_text, load_text},
    [FIELD_WORD] = {read_word, load_scalar},
    [FIELD_ENUM] = {read_enum, load_scalar},
    [FIELD_BOOL] = {read_bool, load_scalar},
    [FIELD_INT] = {read_int, load_scalar},
    [FIELD_SIZE] = {read_size, load_scalar},
    [FIELD_DURATION] = {read_duration, load_scalar},
    [FIELD_DECIMAL] = {read_decimal, load_scalar},
    [FIELD_TEXTS] = {NULL, load_texts},
    [FIELD_FLAG_OR_TEXTS] = {NULL, load_flag_or_texts},
    [FIELD_JSON_OBJECT] = {read_text, load_json_object},
    [FIELD_JSON_LATER] = {NULL, load_later},
    [FIELD_OBJECT] = {NULL, load_object},
    [FIELD_OBJECT_JSON] = {read_text, load_object_json},
    [FIELD_LIST] = {NULL, load_list},
    [FIELD_ONE_OR_LIST] = {NULL, load_list},
    [FIELD_MAP] = {NULL, load_map},
};

static read_fn *reader_of(enum field_type type)
{
    return types[type].read;
}

/* ---- mappings -------------------------------------------------------------------------------- */

const struct field *fields_find(const struct field_table *table, const char *key)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->fields[i].key, key) == 0)
            return &table->fields[i];
    return NULL;
}

void fields_unknown_key(const struct field_table *table, const char *const *others,
                        size_t other_count, struct yaml_node *key, struct diags *diags)
{
    size_t count = 0;
    CLEANUP(free_ptr)
    const char **names = xcalloc(table->count + other_count, sizeof(const char *));
    for (size_t i = 0; i < table->count; i++)
        names[count++] = table->fields[i].key;
    for (size_t i = 0; i < other_count; i++)
        names[count++] = others[i];
    const char *near = nearest_name(key->value, names, count);
    char shown[YAML_SHOWN_SIZE];
    if (near != NULL) {
        yaml_fault(diags, key, "unknown key %s; did you mean \"%s\"?", yaml_shown(key, shown),
                   near);
        return;
    }
    CLEANUP(buf_fini) struct buf all = BUF_INIT(BUF_MAX_ANY);
    for (size_t i = 0; i < count; i++)
        buf_addf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    yaml_fault(diags, key, "unknown key %s; the keys here are: %s", yaml_shown(key, shown),
               all.data);
}

static void check_keys(const struct field_table *table, struct yaml_node *node, struct diags *diags)
{
    for (size_t i = 0; i < node->count && !table->has_rest; i++)
        if (!node->keys[i]->is_faulty && fields_find(table, node->keys[i]->value) == NULL)
            fields_unknown_key(table, NULL, 0, node->keys[i], diags);
}

/* The value that the row has when the file gives none, or a faulty one. */
static void load_default(const struct target *target)
{
    const struct field *field = target->field;
    if (field->type == FIELD_OBJECT)
        fields_load(field->table, NULL, target->slot, target->context);
    else if (field->fallback != NULL)
        types[field->type].read(target, field->fallback, NULL);
}

static void load_field(const struct target *target, struct yaml_node *mapping)
{
    struct diags *diags = target->context->diags;
    const struct field *field = target->field;
    struct yaml_node *node = yaml_get(mapping, field->key);
    if (mapping != NULL && node == NULL && field->required)
        diags_add(diags, mapping->file, mapping->line, mapping->column, "\"%s\" is missing: %s",
                  field->key, field->doc);
    if (node != NULL && yaml_is_empty(node) && !node->is_faulty)
        yaml_fault(diags, node, "\"%s\" has no value", field->key);
    if (node != NULL && !node->is_faulty)
        types[field->type].load(target, node);
    if (node == NULL || node->is_faulty)
        load_default(target);
}

void fields_load(const struct field_table *table, struct yaml_node *node, void *out,
                 const struct fields_context *context)
{
    if (node != NULL)
        check_keys(table, node, context->diags);
    for (size_t i = 0; i < table->count; i++) {
        const struct field *field = &table->fields[i];
        const struct target target = {.field = field,
                                      .slot = (char *)out + field->offset,
                                      .count = (size_t *)((char *)out + field->count_offset),
                                      .context = context};
        load_field(&target, node);
    }
}
