/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_YAML_H
#define GUDGEON_DATA_YAML_H

/*
 * YAML text as a tree of nodes, each of which knows where it stands.
 *
 * Scalars stay text: what type one has is for its reader to say (fields.h), or a JSON Schema
 * (yaml_to_json), so `country: no` and `version: 1.10` are what was written. One document a file;
 * a byte order mark is passed over. An alias becomes a copy of its anchor's node. Refused, each
 * with its place: duplicate keys, keys that are no scalars, merge keys (`<<`: they hide where a
 * value comes from), aliases of a node that holds them, tags other than `!` and the core ones
 * (!!str !!int !!float !!bool !!null !!seq !!map), and whatever passes the bounds below.
 * A node owns what hangs below it, except `file`, which must outlive it. Not thread-safe.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

struct buf;
struct diags;
struct err;
struct json_object;
struct json_writer;
struct schema_node;

/* libyaml has no bounds of its own, and takes quadratic time for depth, anchors and %TAG lines. */
enum {
    YAML_MAX_BYTES = 1 << 20,
    YAML_MAX_DEPTH = 50,     /* less than JSON_WRITER_DEPTH: what loads can be written */
    YAML_MAX_NODES = 100000, /* also of what aliases grow to */
    YAML_MAX_ANCHORS = 250,
    YAML_MAX_DIRECTIVES = 16, /* %TAG lines */
};

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
    enum yaml_kind kind;
    bool is_plain;    /* scalar: not quoted, no block, not tagged as text */
    bool is_expanded; /* scalar: a variable was put in (vars.h): not to be shown in messages */
    bool has_secret;  /* scalar: with a reference to a secret */
    bool is_faulty;   /* a fault of it is told already; readers pass it over */
    char *value;      /* scalar: its text, valid UTF-8, may hold NUL; a NUL ends it */
    size_t len;
    struct yaml_node **keys; /* mapping: scalars */
    struct yaml_node **items;
    size_t count; /* of items, and of keys in a mapping */
    const char *file;
    size_t line, column; /* from 1, column in characters; line 0 = it stands in no file */
};

/* Reads one document; a text without any is an empty plain scalar. All faults go to `diags`.
 * Returns 0 and sets *ret when there is a tree to go on with (duplicate keys and the like leave
 * one, so look at diags->count too), ERR_INVALID or ERR_LIMIT when there is none. */
int yaml_parse(gudgeon_str text, const char *file, struct yaml_node **ret, struct diags *diags);
void yaml_free(struct yaml_node *node);
void yaml_cleanup(struct yaml_node **node);

/* The value of a key, NULL when `mapping` is NULL, is no mapping or has none. */
struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);
/* Whether nothing was written: `key:` with nothing behind it. */
bool yaml_is_empty(const struct yaml_node *node);
/* "a list", "a mapping", `"text"` (cut when long), "a variable's value": what a message says that
 * it found. Borrowed from `text`. */
enum { YAML_SHOWN_SIZE = 200 };
const char *yaml_shown(const struct yaml_node *node, char text[YAML_SHOWN_SIZE]);
/* Adds a fault at the node's place and marks the node. */
void yaml_fault(struct diags *diags, struct yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Sets a value by `PATH=VALUE`, the form of --set: keys and list indexes joined by dots. Keys that
 * are absent are made (whoever reads the tree knows which may be); an index may be the first free
 * one. VALUE is a YAML flow value when it starts with { [ " or ', else it is the text of a plain
 * scalar, whatever characters it has. `file` names the setting in messages about it.
 */
int yaml_set(struct yaml_node **root, const char *setting, const char *file, struct diags *diags);

/* ---- types (yaml_scalar.c, yaml_json.c) ------------------------------------------------------ */

/* What the core rules of YAML 1.2 (§10.3.2) make of a plain scalar's text, which a NUL ends. */
enum yaml_form {
    YAML_FORM_TEXT,
    YAML_FORM_NULL, /* nothing, ~, null */
    YAML_FORM_TRUE, /* true, True, TRUE */
    YAML_FORM_FALSE,
    YAML_FORM_INT,          /* 5, -12, 0o14, 0xC: as many digits as you like */
    YAML_FORM_FLOAT,        /* 1.5, .5, 1e3 */
    YAML_FORM_LEADING_ZERO, /* 0755: decimal to YAML 1.2, octal to YAML 1.1 and most people */
    YAML_FORM_NOT_FINITE,   /* .inf, .nan: JSON has none */
};
enum yaml_form yaml_form(gudgeon_str text);
/* Adds the number as JSON writes it: digits kept, no leading "+" or ".", 0x and 0o as decimal.
 * ERR_INVALID says what is wrong with a text that is none, or none that JSON has. */
int yaml_number(gudgeon_str text, struct buf *out, struct err *err);

/*
 * Adds a node as JSON, typed by a schema: a plain scalar becomes what its form says when the
 * schema allows that type there, else text when the schema allows text. Where it says nothing
 * (`schema` NULL) the form alone decides. Quoted scalars are text, except that one which a
 * variable was put into is typed like a plain one where the schema does not allow text. An empty
 * scalar is null. Faults (.inf, 0755 where a number is wanted) go to `diags`; then null is added.
 */
void yaml_to_json(struct yaml_node *node, const struct schema_node *schema,
                  struct json_writer *writer, struct diags *diags);
/* The other way: a tree that yaml_to_json makes the same value of, by any schema that the value
 * fits. Its nodes stand in no line. ERR_LIMIT when it is nested deeper than yaml_to_json can write.
 */
int yaml_from_json(struct json_object *value, const char *file, struct yaml_node **ret,
                   struct err *err);

#endif
