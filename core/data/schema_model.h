/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_MODEL_H
#define GUDGEON_DATA_SCHEMA_MODEL_H

/*
 * A compiled schema: nodes (one for each sub-schema), each with its rules (one for each keyword
 * that says something about instances), and the table of keywords that both are made from.
 *
 * A keyword is one row of schema_keywords[]: what its value must look like, what is prepared from
 * it when the schema is compiled, and one function that checks an instance. Rows stand in the
 * order of evaluation: what collects stands before unevaluated*, which looks at what was
 * collected.
 *
 * A node is found from its JSON by schema_node_of: the compiler copies every document and hangs
 * the node on the copy. All is owned by struct schema, and immutable once compiled. Private to
 * core/data.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>
#include <json-c/json_object.h>

#include "data/schema.h"

struct buf;
struct json_digest;
struct schema_compiler;
struct schema_format;
struct schema_frame;
struct schema_node;
struct schema_regex;
struct schema_rule;
struct schema_run;

/* ---- keywords ------------------------------------------------------------------------------ */

/* What a keyword's value must be. */
enum schema_shape {
    SCHEMA_SHAPE_ANY,
    SCHEMA_SHAPE_SCHEMA,
    SCHEMA_SHAPE_SCHEMAS,     /* an array of them, not empty */
    SCHEMA_SHAPE_SCHEMA_MAP,  /* an object of them */
    SCHEMA_SHAPE_PATTERN_MAP, /* the same, by regular expressions */
    SCHEMA_SHAPE_COUNT,       /* an integer >= 0 */
    SCHEMA_SHAPE_NUMBER,
    SCHEMA_SHAPE_BOOLEAN,
    SCHEMA_SHAPE_STRING,
    SCHEMA_SHAPE_REGEX,
    SCHEMA_SHAPE_ARRAY,
    SCHEMA_SHAPE_NAMES,     /* an array of strings */
    SCHEMA_SHAPE_NAMES_MAP, /* an object of such arrays */
};

/* The vocabularies of 2020-12, which a meta-schema may leave out. */
enum {
    SCHEMA_CORE = 1,
    SCHEMA_APPLICATOR = 2,
    SCHEMA_UNEVALUATED = 4,
    SCHEMA_VALIDATION = 8,
    SCHEMA_FORMAT = 16,
    SCHEMA_FORMAT_ASSERTION = 32,
    SCHEMA_ALL_VOCABULARIES = 31, /* format stays an annotation */
};

/* Prepares a rule beyond what its shape already does. 0 or an error (schema_refuse). */
typedef int schema_prepare_fn(struct schema_compiler *compiler, const struct schema_node *node,
                              struct schema_rule *rule);
/* 0 = the instance of the frame is as the rule wants it; ERR_INVALID (faults are reported);
 * ERR_LIMIT. */
typedef int schema_check_fn(struct schema_run *run, const struct schema_frame *frame,
                            const struct schema_rule *rule);

struct schema_keyword {
    const char *name;
    enum schema_shape shape;
    unsigned vocabulary;
    unsigned applies; /* SCHEMA_* types of the instances it speaks of */
    schema_prepare_fn *prepare;
    schema_check_fn *check; /* NULL: an annotation, or read by the rule of a neighbour */
};

enum { SCHEMA_KEYWORD_MAX = 64 }; /* a set of them is one uint64_t */
extern const struct schema_keyword schema_keywords[];
extern const size_t schema_keyword_count;
/* The known keywords among the members of a schema object, one bit for each row. */
uint64_t schema_keywords_in(struct json_object *source);

/* ---- nodes --------------------------------------------------------------------------------- */

struct schema_rule {
    const struct schema_keyword *keyword;
    struct json_object *value; /* the keyword's, in the document */
    /* Prepared from the value; which of these, the keyword's shape and `prepare` decide. */
    int64_t count;               /* COUNT; items: the first one; contains: the least number */
    int64_t most;                /* contains: the greatest number */
    unsigned types;              /* type */
    struct json_digest *digests; /* const, enum: of each value */
    size_t digest_count;
    struct schema_regex **patterns; /* REGEX: one; PATTERN_MAP: in the order of its members */
    size_t pattern_count;
    const struct schema_format *format;  /* format, when it is asserted */
    const struct schema_node *target;    /* $ref, $dynamicRef; if: then */
    const struct schema_node *otherwise; /* if: else */
    gudgeon_str dynamic_name;            /* $dynamicRef to a $dynamicAnchor: its name */
};

/* What an $id opens: a base for references and a scope for dynamic anchors. */
struct schema_resource {
    char *uri;
    unsigned vocabularies;
    struct schema_anchor {
        gudgeon_str name; /* borrowed from the document */
        const struct schema_node *node;
    } * dynamic_anchors;
    size_t dynamic_anchor_count;
};

enum schema_node_kind { SCHEMA_NODE_TRUE, SCHEMA_NODE_FALSE, SCHEMA_NODE_RULES };

struct schema_node {
    enum schema_node_kind kind;
    bool has_unevaluated; /* has a rule that must know what the others looked at */
    unsigned types;       /* that instances may have, as far as it says; see schema_types */
    struct json_object *source;
    struct schema_resource *resource;
    struct schema_rule *rules;
    size_t rule_count;
    /* Where it stands: in `parent`, under `keyword`, there by name or by index (-1 = neither). */
    const struct schema_node *parent; /* NULL for the root of a document */
    const char *keyword;
    const char *name;
    int64_t index;
};

struct schema {
    const struct schema_node *root;
    struct json_object **documents; /* copies */
    size_t document_count;
    struct schema_resource **resources;
    size_t resource_count;
    struct schema_node **nodes;
    size_t node_count;
};

/* The node of a sub-schema; NULL when `source` is none. */
struct schema_node *schema_node_of(struct json_object *source);
/* The node's rule for a keyword, or NULL. */
const struct schema_rule *schema_rule_of(const struct schema_node *node, const char *keyword);
/* The sub-schema under a keyword whose value is a schema, or NULL. */
const struct schema_node *schema_child(const struct schema_node *node, const char *keyword);

/* The sub-schema that the node itself has for a member (the first that properties,
 * patternProperties and additionalProperties give) or for an item, or NULL. */
const struct schema_node *schema_own_property(const struct schema_node *node, const char *name,
                                              int64_t *steps);
const struct schema_node *schema_own_item(const struct schema_node *node, size_t index);
/* Whether the node, what it refers to or its allOf has the keyword; *ret is the value then. */
bool schema_says(const struct schema_node *node, const char *keyword, struct json_object **ret);

/* The SCHEMA_* bit of a name ("integer"), "number" giving SCHEMA_NUMBER | SCHEMA_INTEGER; else 0.
 */
unsigned schema_type_named(gudgeon_str name);
/* Adds the names of a set of them: "string or null". */
void schema_add_type_names(struct buf *out, unsigned types);
/* The bit of a value: SCHEMA_INTEGER also for 1.0, SCHEMA_NUMBER only for what has a fraction. */
unsigned schema_type_of(struct json_object *value);

#endif
