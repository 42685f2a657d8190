/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/diag.h"
#include "data/yaml_syntax.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

/* One text while it is read. Nodes of the document are numbered as libyaml does it: from 1, in the
 * order in which they begin. */
struct reading {
    gudgeon_str text; /* without its byte order mark */
    const char *file;
    struct diags *diags;
    struct buf as_text; /* a byte for each node: 1 = its tag says that it is text */
    yaml_document_t *document;
    char *is_open;     /* for each node: it is being copied, so an alias of it is a loop */
    size_t node_count; /* copied so far */
};

/* ---- first pass: bounds, on events ----------------------------------------------------------- */

struct bounds {
    size_t depth;
    size_t documents;
    size_t anchors;
    struct yaml_cursor cursor;
};

static int refuse_at(struct reading *reading, yaml_mark_t mark, int code, const char *what)
{
    diags_add(reading->diags, reading->file, mark.line + 1, mark.column + 1, "%s", what);
    return code;
}

static bool is_node_event(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT || event->type == YAML_SEQUENCE_START_EVENT ||
           event->type == YAML_MAPPING_START_EVENT;
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return event->data.scalar.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return event->data.sequence_start.anchor;
    return event->data.mapping_start.anchor;
}

/* The document API gives an untagged scalar and one tagged `!` or `!!str` the same tag. */
static bool is_tagged_as_text(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT || event->data.scalar.tag == NULL)
        return false;
    const char *tag = (const char *)event->data.scalar.tag;
    return strcmp(tag, "!") == 0 || strcmp(tag, YAML_STR_TAG) == 0;
}

static int count_node(struct reading *reading, struct bounds *bounds, const yaml_event_t *event)
{
    buf_add_char(&reading->as_text, is_tagged_as_text(event));
    if (reading->as_text.len > YAML_MAX_NODES)
        return refuse_at(reading, event->start_mark, ERR_LIMIT,
                         "too many values (100,000 at most)");
    if (anchor_of(event) != NULL && ++bounds->anchors > YAML_MAX_ANCHORS)
        return refuse_at(reading, event->start_mark, ERR_LIMIT, "too many anchors (250 at most)");
    if (event->type != YAML_SCALAR_EVENT && ++bounds->depth > YAML_MAX_DEPTH)
        return refuse_at(reading, event->start_mark, ERR_LIMIT,
                         "nested too deep (50 levels at most)");
    return 0;
}

static int count_event(struct reading *reading, struct bounds *bounds, const yaml_event_t *event)
{
    int status =
        yaml_check_event(&bounds->cursor, event, reading->text, reading->file, reading->diags);
    if (status < 0)
        return status;
    if (is_node_event(event))
        return count_node(reading, bounds, event);
    if (event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT)
        bounds->depth--;
    if (event->type == YAML_DOCUMENT_START_EVENT && ++bounds->documents > 1)
        return refuse_at(reading, event->start_mark, ERR_INVALID,
                         "a second document starts here; a file holds one");
    return 0;
}

static void parser_begin(yaml_parser_t *parser, gudgeon_str text)
{
    if (!yaml_parser_initialize(parser))
        abort();
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(parser, (const unsigned char *)text.ptr, (size_t)text.len);
}

static int check_bounds(struct reading *reading)
{
    yaml_parser_t parser;
    parser_begin(&parser, reading->text);
    struct bounds bounds = {0};
    int status = 0;
    for (bool is_end = false; status == 0 && !is_end;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = yaml_syntax_fault(&parser, reading->text, reading->file, reading->diags);
            break;
        }
        is_end = event.type == YAML_STREAM_END_EVENT;
        status = count_event(reading, &bounds, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    return status;
}

/* ---- second pass: the document as nodes ------------------------------------------------------ */

static struct yaml_node *node_new(const struct reading *reading, enum yaml_kind kind,
                                  const yaml_node_t *from)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    node->kind = kind;
    node->file = reading->file;
    node->line = from->start_mark.line + 1;
    node->column = from->start_mark.column + 1;
    return node;
}

static bool is_core_tag(const char *tag, const char *const *names)
{
    if (!starts_with(tag, TAG_PREFIX))
        return false;
    for (; *names != NULL; names++)
        if (strcmp(tag + strlen(TAG_PREFIX), *names) == 0)
            return true;
    return false;
}

/* The tag as one writes it. */
static char *tag_written(const char *tag)
{
    if (starts_with(tag, TAG_PREFIX))
        return xasprintf("!!%s", tag + strlen(TAG_PREFIX));
    return tag[0] == '!' ? xstrdup(tag) : xasprintf("!<%s>", tag);
}

/* Whether a scalar's text is what its tag says, so that the tag adds nothing to the text. */
static bool fits_tag(const struct yaml_node *scalar, const char *tag)
{
    enum yaml_form form = yaml_form((gudgeon_str){scalar->value, scalar->len});
    const char *name = tag + strlen(TAG_PREFIX);
    if (strcmp(name, "null") == 0)
        return form == YAML_FORM_NULL;
    if (strcmp(name, "bool") == 0)
        return form == YAML_FORM_TRUE || form == YAML_FORM_FALSE;
    if (strcmp(name, "int") == 0)
        return form == YAML_FORM_INT || form == YAML_FORM_LEADING_ZERO;
    if (strcmp(name, "float") == 0)
        return form == YAML_FORM_INT || form == YAML_FORM_FLOAT || form == YAML_FORM_LEADING_ZERO ||
               form == YAML_FORM_NOT_FINITE;
    return true;
}

static void check_tag(struct reading *reading, struct yaml_node *node, const char *tag)
{
    static const char *const scalar_tags[] = {"str", "int", "float", "bool", "null", NULL};
    static const char *const sequence_tags[] = {"seq", NULL}, *const mapping_tags[] = {"map", NULL};
    static const char *const *const names[] = {[YAML_SCALAR] = scalar_tags,
                                               [YAML_SEQUENCE] = sequence_tags,
                                               [YAML_MAPPING] = mapping_tags};
    CLEANUP(free_ptr) char *written = tag_written(tag);
    if (!is_core_tag(tag, names[node->kind]))
        yaml_fault(reading->diags, node,
                   "the tag %s is not known here; remove it, or quote the text", written);
    else if (node->kind == YAML_SCALAR && !fits_tag(node, tag))
        yaml_fault(reading->diags, node, "the text does not fit its tag %s", written);
}

static struct yaml_node *copy_scalar(struct reading *reading, int number, const yaml_node_t *from)
{
    struct yaml_node *node = node_new(reading, YAML_SCALAR, from);
    node->len = from->data.scalar.length;
    node->value = xstrndup((const char *)from->data.scalar.value, node->len);
    bool is_untagged = strcmp((const char *)from->tag, YAML_STR_TAG) == 0;
    node->is_plain = !reading->as_text.data[number - 1] &&
                     (from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE || !is_untagged);
    return node;
}

static struct yaml_node *copy_node(struct reading *reading, int number, size_t depth);

static struct yaml_node *copy_sequence(struct reading *reading, const yaml_node_t *from,
                                       size_t depth)
{
    struct yaml_node *node = node_new(reading, YAML_SEQUENCE, from);
    const yaml_node_item_t *item = from->data.sequence.items.start;
    size_t count = (size_t)(from->data.sequence.items.top - item);
    node->items = xcalloc(count, sizeof *node->items);
    for (; node->count < count; node->count++) {
        struct yaml_node *copy = copy_node(reading, item[node->count], depth + 1);
        if (copy == NULL) {
            yaml_free(node);
            return NULL;
        }
        node->items[node->count] = copy;
    }
    return node;
}

static void check_key(struct reading *reading, struct yaml_node *key)
{
    if (key->kind != YAML_SCALAR)
        yaml_fault(reading->diags, key, "a key must be a text, is %s",
                   key->kind == YAML_MAPPING ? "a mapping" : "a list");
    else if (key->is_plain && strcmp(key->value, "<<") == 0)
        yaml_fault(reading->diags, key, "merge keys (<<) are not read; write the keys out");
}

static int compare_keys(const void *a, const void *b)
{
    const struct yaml_node *x = *(struct yaml_node *const *)a, *y = *(struct yaml_node *const *)b;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    int order = memcmp(x->value, y->value, x->len);
    if (order != 0)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

/* The keys are sorted, so that a large mapping costs no quadratic time. */
static void check_duplicates(struct reading *reading, const struct yaml_node *mapping)
{
    struct yaml_node **sorted = xcalloc(mapping->count, sizeof(struct yaml_node *));
    for (size_t i = 0; i < mapping->count; i++)
        sorted[i] = mapping->keys[i];
    if (mapping->count > 0)
        qsort(sorted, mapping->count, sizeof(struct yaml_node *), compare_keys);
    const struct yaml_node *first = mapping->count > 0 ? sorted[0] : NULL;
    for (size_t i = 1; i < mapping->count; i++) {
        if (!str_same((gudgeon_str){first->value, first->len},
                      (gudgeon_str){sorted[i]->value, sorted[i]->len})) {
            first = sorted[i];
            continue;
        }
        char shown[YAML_SHOWN_SIZE];
        yaml_fault(reading->diags, sorted[i], "the key %s is given twice: first in line %zu",
                   yaml_shown(first, shown), first->line);
    }
    free(sorted);
}

/* Adds a pair; a key that cannot be one is told and left out. */
static int copy_pair(struct reading *reading, struct yaml_node *mapping,
                     const yaml_node_pair_t *pair, size_t depth)
{
    struct yaml_node *key = copy_node(reading, pair->key, depth + 1);
    struct yaml_node *item = key != NULL ? copy_node(reading, pair->value, depth + 1) : NULL;
    if (item == NULL) {
        yaml_free(key);
        return ERR_LIMIT;
    }
    check_key(reading, key);
    if (key->is_faulty) {
        yaml_free(key);
        yaml_free(item);
        return 0;
    }
    mapping->keys[mapping->count] = key;
    mapping->items[mapping->count++] = item;
    return 0;
}

static struct yaml_node *copy_mapping(struct reading *reading, const yaml_node_t *from,
                                      size_t depth)
{
    struct yaml_node *node = node_new(reading, YAML_MAPPING, from);
    const yaml_node_pair_t *pair = from->data.mapping.pairs.start;
    size_t count = (size_t)(from->data.mapping.pairs.top - pair);
    node->keys = xcalloc(count, sizeof *node->keys);
    node->items = xcalloc(count, sizeof *node->items);
    for (size_t i = 0; i < count; i++)
        if (copy_pair(reading, node, &pair[i], depth) < 0) {
            yaml_free(node);
            return NULL;
        }
    check_duplicates(reading, node);
    return node;
}

static struct yaml_node *copy_by_kind(struct reading *reading, int number, size_t depth)
{
    const yaml_node_t *from = yaml_document_get_node(reading->document, number);
    struct yaml_node *node;
    if (from->type == YAML_SCALAR_NODE)
        node = copy_scalar(reading, number, from);
    else if (from->type == YAML_SEQUENCE_NODE)
        node = copy_sequence(reading, from, depth);
    else
        node = copy_mapping(reading, from, depth);
    if (node != NULL)
        check_tag(reading, node, (const char *)from->tag);
    return node;
}

/* The node and all below it, aliases as copies; NULL when the tree would have no end or too many
 * nodes, which is told then. */
static struct yaml_node *copy_node(struct reading *reading, int number, size_t depth)
{
    const yaml_node_t *from = yaml_document_get_node(reading->document, number);
    const char *what = NULL;
    if (reading->is_open[number - 1])
        what = "an alias below this anchor refers to the anchor itself";
    else if (++reading->node_count > YAML_MAX_NODES)
        what = "aliases grow this file to too many values (100,000 at most)";
    else if (depth > YAML_MAX_DEPTH)
        what = "aliases nest this too deep (50 levels at most)";
    if (what != NULL) {
        refuse_at(reading, from->start_mark, ERR_LIMIT, what);
        return NULL;
    }
    reading->is_open[number - 1] = true;
    struct yaml_node *node = copy_by_kind(reading, number, depth);
    reading->is_open[number - 1] = false;
    return node;
}

static struct yaml_node *empty_node(const char *file)
{
    struct yaml_node *node = xcalloc(1, sizeof *node);
    *node = (struct yaml_node){.kind = YAML_SCALAR,
                               .is_plain = true,
                               .value = xstrdup(""),
                               .file = file,
                               .line = 1,
                               .column = 1};
    return node;
}

static int load_document(struct reading *reading, struct yaml_node **ret)
{
    yaml_parser_t parser;
    parser_begin(&parser, reading->text);
    yaml_document_t document;
    int status = 0;
    if (!yaml_parser_load(&parser, &document)) {
        status = yaml_syntax_fault(&parser, reading->text, reading->file, reading->diags);
        yaml_parser_delete(&parser);
        return status;
    }
    reading->document = &document;
    reading->is_open = xcalloc(reading->as_text.len, 1);
    struct yaml_node *root = yaml_document_get_root_node(&document) == NULL
                                 ? empty_node(reading->file)
                                 : copy_node(reading, 1, 1);
    free(reading->is_open);
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    if (root == NULL)
        return ERR_LIMIT;
    *ret = root;
    return 0;
}

/* The text as libyaml is to see it: without its mark, with a line end where it needs one, which
 * takes a copy that `copy` keeps. */
static gudgeon_str prepare(gudgeon_str text, struct buf *copy)
{
    static const char mark[] = "\xef\xbb\xbf";
    if (text.len >= strlen(mark) && memcmp(text.ptr, mark, strlen(mark)) == 0)
        text = (gudgeon_str){text.ptr + strlen(mark), text.len - strlen(mark)};
    if (!yaml_lacks_line_end(text))
        return text;
    buf_add(copy, text.ptr, (size_t)text.len);
    buf_add_char(copy, '\n');
    return (gudgeon_str){copy->data, copy->len};
}

int yaml_parse(gudgeon_str text, const char *file, struct yaml_node **ret, struct diags *diags)
{
    struct buf copy = BUF_INIT(BUF_MAX_ANY);
    struct reading reading = {.text = prepare(text, &copy),
                              .file = file,
                              .diags = diags,
                              .as_text = BUF_INIT(BUF_MAX_ANY)};
    int status = yaml_check_characters(reading.text, file, diags);
    if (status == 0)
        status = check_bounds(&reading);
    if (status == 0)
        status = load_document(&reading, ret);
    buf_fini(&reading.as_text);
    buf_fini(&copy);
    return status;
}
