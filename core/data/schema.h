/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_H
#define GUDGEON_DATA_SCHEMA_H

/*
 * JSON Schema, draft 2020-12: one validator for plugin configuration, tool arguments and
 * structured answers.
 *
 * A schema is compiled once (references resolved, patterns compiled, faults reported) and is
 * immutable and thread-safe afterwards. References are local: to the document itself by pointer,
 * $id, $anchor or $dynamicAnchor, or to documents handed in at compile time; nothing is ever
 * fetched. Depth and work are bounded: a hostile schema or instance ends in ERR_LIMIT, not in a
 * stack overflow. `format` is an annotation unless asked.
 *
 * (What of the required cases of the public suite does not pass is listed here with its reason.)
 */

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

struct buf;
struct err;
struct schema;

struct schema_options {
    bool assert_format;
    /* Documents that $ref may reach: an array of {uri, document}; borrowed during compile. */
    const struct schema_document *documents;
    size_t document_count;
};

struct schema_document {
    const char *uri;
    struct json_object *schema;
};

/* Compiles; `root` (object or boolean) is copied or referenced and may be released afterwards.
 * options may be NULL. ERR_INVALID names the place: "/properties/a/type: …". */
int schema_compile(struct json_object *root, const struct schema_options *options,
                   struct schema **ret, struct err *err);
/* From text. */
int schema_compile_text(const char *json, struct schema **ret, struct err *err);
void schema_free(struct schema *schema);

/* One fault found in an instance. */
struct schema_fault {
    const char
        *instance_path;   /* JSON pointer of the value, "" = the whole; valid in the callback */
    const char *keyword;  /* "type", "required", … */
    const char *property; /* required, additionalProperties: the property's name, else NULL */
    const char *message;  /* one line: `must be integer, is string "x"` */
};
typedef void schema_fault_fn(void *payload, const struct schema_fault *fault);

/* 0 = valid, ERR_INVALID = not (each fault is given to `report`, which may be NULL), ERR_LIMIT. */
int schema_check(const struct schema *schema, struct json_object *instance, schema_fault_fn *report,
                 void *payload);
/* The same with all faults as one line of text, at most a few, `PATH: message; …`. */
int schema_check_err(const struct schema *schema, struct json_object *instance, struct err *err);

/*
 * Brings an instance nearer to the schema, in place, before it is checked: adds absent properties
 * that have a `default` (through properties, items, allOf and $ref), and when `coerce` is set
 * turns "500" into 500, "true" into true, 5 into "5", and text that parses to the wanted array or
 * object into it, only where the schema names a type that the value does not have and the turned
 * value has. `type: string` values are never touched. *instance may be replaced.
 */
int schema_complete(const struct schema *schema, struct json_object **instance, bool coerce,
                    struct err *err);

/* The types that the schema allows at a JSON pointer's property path, for reading YAML scalars:
 * a set of SCHEMA_* bits; SCHEMA_ANY when it does not say. Sub-schemas of the compiled document
 * are addressed by `struct schema_node`, the root by schema_root(). */
enum {
    SCHEMA_NULL = 1,
    SCHEMA_BOOLEAN = 2,
    SCHEMA_INTEGER = 4,
    SCHEMA_NUMBER = 8,
    SCHEMA_STRING = 16,
    SCHEMA_ARRAY = 32,
    SCHEMA_OBJECT = 64,
    SCHEMA_ANY = 127,
};
struct schema_node;
const struct schema_node *schema_root(const struct schema *schema);
/* The node for a property (through $ref and allOf), or NULL when the schema says nothing. */
const struct schema_node *schema_property(const struct schema_node *node, const char *name);
/* The node for an array's item. */
const struct schema_node *schema_item(const struct schema_node *node, size_t index);
/* SCHEMA_ANY for NULL. */
unsigned schema_types(const struct schema_node *node);
/* The text of an annotation ("format", "description"), or NULL. Borrowed from the schema. */
const char *schema_annotation(const struct schema_node *node, const char *keyword);
/* Whether the node has `keyword` set to true ("x-request"). */
bool schema_flag(const struct schema_node *node, const char *keyword);

#endif
