/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_COMPILER_H
#define GUDGEON_DATA_SCHEMA_COMPILER_H

/*
 * What compiles a schema, in three steps: documents become nodes (schema_document.c), nodes get
 * their rules, whose references may bring in further documents (schema_compile.c), and then every
 * node learns which types it allows (schema_types.c). Private to core/data.
 */

#include "data/schema_model.h"

struct err;
struct lh_table;

struct schema_compiler {
    struct schema *schema;
    const struct schema_options *options;
    struct lh_table *places; /* a URI, or URI#ANCHOR → struct schema_node */
    size_t place_bytes;      /* taken by the names in `places` so far */
    size_t pattern_bytes;    /* taken by compiled patterns so far */
    struct err *err;
};

/* Sets the error "LOCATION/KEYWORD: …" and returns `code`; keyword may be NULL. */
int schema_refuse(struct schema_compiler *compiler, const struct schema_node *node,
                  const char *keyword, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Makes the nodes of a document, known by `uri`; the schema keeps it, also after a failure. */
int schema_add_document(struct schema_compiler *compiler, const char *uri,
                        struct json_object *take_document, struct schema_node **ret);
/* The node that the reference in `keyword` of `node` means; adds the documents that it leads to. */
int schema_resolve(struct schema_compiler *compiler, const struct schema_node *node,
                   const char *keyword, struct schema_node **ret);
/* The 2020-12 meta-schema, to be read as JSON, and its name. */
extern const char schema_meta_uri[];
extern const char schema_meta_text[];
/* The document among the options' that is known by `uri`, or NULL. */
struct json_object *schema_handed_in(const struct schema_compiler *compiler, const char *uri);
/* Sets the `types` of all nodes. */
void schema_derive_types(struct schema *schema);

schema_prepare_fn schema_prepare_type, schema_prepare_values, schema_prepare_step,
    schema_prepare_format, schema_prepare_ref, schema_prepare_items, schema_prepare_contains,
    schema_prepare_if;

#endif
