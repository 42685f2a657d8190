/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_H
#define GUDGEON_DATA_SCHEMA_H

/*
 * JSON Schema, draft 2020-12: one validator for plugin configuration, tool arguments and
 * structured answers.
 *
 * A schema is compiled once (references resolved, patterns compiled, faults reported), keeps
 * copies of what it was made from, and is immutable and thread-safe afterwards. References are
 * local: to the document itself by pointer, $id, $anchor or $dynamicAnchor, to documents handed in
 * at compile time, or to the meta-schema of 2020-12, which is built in; nothing is ever fetched.
 * Depth and work are bounded: a hostile schema or instance ends in ERR_LIMIT within about a
 * second, not in a stack overflow. Numbers are compared by their digits.
 *
 * All 1,299 required cases of the public suite pass. `format` is an annotation unless asked; then
 * iri, iri-reference, idn-email, idn-hostname and uri-template still are (they want tables of
 * Unicode or a grammar that nobody here needs), and hostname does not decode "xn--" labels.
 * Patterns are PCRE2's: a look-behind must have a fixed length. A $schema that is not known is
 * taken for 2020-12; of older drafts `definitions` is understood, `dependencies`, the list form of
 * `items` and an $id that is only a fragment are not.
 */

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json_object.h>

struct buf;
struct err;
struct schema;

struct schema_options {
    bool assert_format;
    /* Documents that $ref and $schema may name; borrowed during compile. */
    const struct schema_document *documents;
    size_t document_count;
};

/* Known by `uri`, and by the $id of its root when that is absolute. */
struct schema_document {
    const char *uri;
    struct json_object *schema;
};

/* Compiles; `root` (object or boolean) may be released afterwards. options may be NULL.
 * ERR_INVALID names the place: "/properties/a/type: …"; ERR_LIMIT: patterns or names that are too
 * large. */
int schema_compile(struct json_object *root, const struct schema_options *options,
                   struct schema **ret, struct err *err);
/* From text. */
int schema_compile_text(const char *json, struct schema **ret, struct err *err);
void schema_free(struct schema *schema);
/* The JSON that it was compiled from; borrowed, to be read on one thread at a time. */
struct json_object *schema_source(const struct schema *schema);

/* One fault found in an instance. The texts are good until the callback returns. */
struct schema_fault {
    /* JSON pointer of the value, "" = the whole; cut after 1 KiB. */
    const char *instance_path;
    const char *keyword; /* "type", "required", … */
    /* The name of a property that is missing, unknown or itself the fault; else NULL. */
    const char *property;
    const char *message; /* one line: `must be integer, is string "x"` */
};
typedef void schema_fault_fn(void *payload, const struct schema_fault *fault);

/* 0 = valid; ERR_INVALID = not (each fault, up to a hundred, is given to `report`; NULL = only the
 * answer is wanted, which is faster); ERR_LIMIT = not to be found out within the bounds. */
int schema_check(const struct schema *schema, struct json_object *instance, schema_fault_fn *report,
                 void *payload);
/* The same with the first faults as one line of text, `PATH: message; …`. */
int schema_check_err(const struct schema *schema, struct json_object *instance, struct err *err);

/*
 * Brings an instance nearer to the schema, in place, before it is checked: adds absent properties
 * that have a `default`, and when `coerce` is set turns "500" into 500, "true" into true, 5 into
 * "5", and text that parses to the wanted array or object into it, only where the schema names a
 * type that the value does not have and the turned value has. What may be a string and is one is
 * never touched. Goes through properties, patternProperties, additionalProperties, items,
 * prefixItems, allOf and $ref, and into that part of an anyOf or oneOf which alone has the value's
 * type. *instance may be replaced. After ERR_LIMIT it is completed in part.
 */
int schema_complete(const struct schema *schema, struct json_object **instance, bool coerce,
                    struct err *err);

/*
 * What the schema says of places in an instance, for reading YAML scalars and finding out about
 * properties. A sub-schema is a `struct schema_node`, borrowed from the schema; questions are also
 * answered from what it refers to and from its allOf.
 */

/* A set of types. A schema's "number" is SCHEMA_NUMBER | SCHEMA_INTEGER. */
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
/* The node for a property or an item, or NULL when the schema says nothing. Alternatives (anyOf,
 * oneOf) are asked too, and count when only one of them has an answer. `node` may be NULL. */
const struct schema_node *schema_property(const struct schema_node *node, const char *name);
const struct schema_node *schema_item(const struct schema_node *node, size_t index);
/* The types that values there may have, by type, enum, const, and the types of all alternatives;
 * SCHEMA_ANY for NULL. */
unsigned schema_types(const struct schema_node *node);
/* The text of an annotation ("format", "description"), or NULL. Borrowed from the schema. */
const char *schema_annotation(const struct schema_node *node, const char *keyword);
/* Whether the node has `keyword` set to true ("x-request"). */
bool schema_flag(const struct schema_node *node, const char *keyword);

#endif
