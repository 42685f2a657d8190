/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_FIELDS_H
#define GUDGEON_DATA_FIELDS_H

/*
 * Configuration by table: a row for each key.
 *
 * One static table says what keys a mapping may have, their types, defaults and bounds, and where
 * in a struct each value goes. From it come the struct's values with all faults of the file, its
 * JSON Schema for editors, and the struct as JSON again, which loads to the same struct. A struct
 * that a table fills starts as zeros and is emptied by fields_fini, which frees what the rows own
 * and nothing else. Tables are immutable; the functions are thread-safe on different structs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/vars.h"

struct diags;
struct json_writer;
struct yaml_node;

struct text_list {
    char **items;
    size_t count;
};
void text_list_fini(struct text_list *list);

/* What a row's value is, and what it is kept as. */
enum field_type {
    FIELD_TEXT,          /* char *: any scalar, as it was written */
    FIELD_WORD,          /* char *: one of `words` */
    FIELD_ENUM,          /* int: the value of one of `words` */
    FIELD_BOOL,          /* bool: true or false */
    FIELD_INT,           /* int64_t */
    FIELD_SIZE,          /* int64_t, bytes: 64KiB */
    FIELD_DURATION,      /* int64_t, ms: 30s */
    FIELD_DECIMAL,       /* char *: a number's JSON text, digits kept */
    FIELD_TEXTS,         /* struct text_list */
    FIELD_FLAG_OR_TEXTS, /* char *: JSON text: true, false or a list of texts */
    FIELD_JSON_OBJECT,   /* char *: JSON text of a mapping, typed by YAML's core rules */
    FIELD_JSON_LATER,    /* char *: JSON text of any value; not read here but by the caller */
    FIELD_OBJECT,        /* the struct of `table`, embedded */
    FIELD_OBJECT_JSON,   /* char *: JSON text of what `table` reads */
    FIELD_LIST,          /* pointer to the structs of `table`, and their number */
    FIELD_ONE_OR_LIST,   /* the same; a mapping alone is a list of one */
    FIELD_MAP,           /* the same; the names go to the table's name_offset */
};

/* Relative paths are made absolute against the file's directory. */
enum field_path {
    FIELD_NO_PATH,
    FIELD_PATH,
    FIELD_PROGRAM, /* a path when it has a slash, else a name to be searched for */
};

/* One word of an enum; a list of them ends with a NULL word. */
struct field_word {
    const char *word;
    int value;
};

/* What a name may look like. */
struct field_pattern {
    const char *characters; /* all that it may hold */
    const char *first;      /* what it may begin with; NULL = the same */
    size_t max_len;
    const char *regex; /* the same for a JSON Schema */
    const char *words; /* the same for a person: "a-z, 0-9 and \"-\", 64 at most" */
};

struct field {
    const char *key;
    enum field_type type;
    size_t offset;       /* of the value in the table's struct */
    size_t count_offset; /* lists and maps: of its size_t */
    const char *doc;     /* a sentence for people; the schema's description */
    bool required;
    const char *fallback; /* the default as one would write it; NULL = unsaid: 0, NULL, empty */
    int64_t min, max; /* numbers, in the unit that they are kept in; lists: items. max 0 = any */
    enum field_path path;
    const struct field_word *words;
    const struct field_pattern *pattern; /* texts, items of texts, names of a map */
    const struct field_table *table;
};

struct field_table {
    const struct field *fields;
    size_t count;
    size_t size;        /* of the struct */
    size_t name_offset; /* for FIELD_MAP: of the char * for the name */
    /* Other keys are the caller's: not a fault here, and any in the schema. The offsets are those
     * of char * members, JSON texts of objects, that hold them for fields_write_json. */
    bool has_rest;
    const size_t *rest_offsets;
    size_t rest_count;
};

struct fields_context {
    const char *directory; /* what relative paths are relative to */
    vars_path_fn *absolute;
    struct diags *diags;
};

/* Fills *out (zeros) from a mapping; NULL = all defaults, required ones too are left unsaid. Every
 * fault goes to the context's diags, and its field is left as it would be by default. */
void fields_load(const struct field_table *table, struct yaml_node *node, void *out,
                 const struct fields_context *context);
void fields_fini(const struct field_table *table, void *out);
/* The row of a key, or NULL. */
const struct field *fields_find(const struct field_table *table, const char *key);
/* Tells that a key is not known: with the nearest of the table's and of `others`, or else all. */
void fields_unknown_key(const struct field_table *table, const char *const *others,
                        size_t other_count, struct yaml_node *key, struct diags *diags);

/* Adds the members of the struct as JSON to the open object: what is unsaid is left out. */
void fields_write_json(const struct field_table *table, const void *in, struct json_writer *writer);
/* Adds the members of a JSON Schema for the mapping to the open object. Values other than texts
 * refer to "#/$defs/variable", which the caller adds with fields_write_variable. */
void fields_write_schema(const struct field_table *table, struct json_writer *writer);
void fields_write_variable(struct json_writer *writer);

#endif
