/* SPDX-License-Identifier: MIT */
/* From documents to nodes, and from references to nodes. */
#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/json_text.h"
#include "data/schema_compiler.h"
#include "data/schema_uri.h"

/* What the names of all resources and anchors of one schema may take: a base URI is repeated in
 * each of them. */
enum { PLACE_BYTES_MAX = 16 << 20 };

/* Where a sub-schema stands. */
struct site {
    const struct schema_node *parent;
    struct schema_resource *resource;
    const char *keyword, *name;
    int64_t index;
};

static int walk(struct schema_compiler *c, const struct site *site, struct json_object *source,
                struct schema_node **ret);

/* ---- faults -------------------------------------------------------------------------------- */

/* The JSON pointer of a node, after the document's URI unless it is the schema itself. */
static void add_location(struct buf *out, const struct schema_compiler *c,
                         const struct schema_node *node)
{
    if (node->parent == NULL) {
        if (c->schema->root != NULL && node != c->schema->root)
            buf_addf(out, "%s#", node->resource->uri);
        return;
    }
    add_location(out, c, node->parent);
    buf_addf(out, "/%s", node->keyword);
    if (node->name != NULL)
        schema_pointer_add(out, node->name);
    else if (node->index >= 0)
        buf_addf(out, "/%lld", (long long)node->index);
}

int schema_refuse(struct schema_compiler *c, const struct schema_node *node, const char *keyword,
                  int code, const char *format, ...)
{
    enum { LOCATION_SHOWN = 300 };
    struct buf text = BUF_INIT(BUF_MAX_ANY), clean = BUF_INIT(BUF_MAX_ANY);
    add_location(&text, c, node);
    if (keyword != NULL)
        buf_addf(&text, "/%s", keyword);
    if (text.len > LOCATION_SHOWN) {
        buf_truncate(&text, LOCATION_SHOWN);
        buf_add_str(&text, "…");
    }
    if (text.len > 0)
        buf_add_str(&text, ": ");
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    utf8_sanitise(&clean, text.data, text.len); /* names may be cut, or hold JSON_KEY_NUL */
    err_set(c->err, code, "%s", clean.data);
    buf_fini(&text);
    buf_fini(&clean);
    return code;
}

/* ---- names of places ----------------------------------------------------------------------- */

static struct schema_node *find_place(const struct schema_compiler *c, const char *uri)
{
    void *node = NULL;
    lh_table_lookup_ex(c->places, uri, &node);
    return node;
}

/* Names a node by a URI and, unless it is NULL, an anchor. The first node of a name keeps it. */
static int add_place(struct schema_compiler *c, const char *uri, const char *anchor,
                     struct schema_node *node)
{
    char *name = anchor != NULL ? xasprintf("%s#%s", uri, anchor) : xstrdup(uri);
    c->place_bytes += strlen(name);
    if (c->place_bytes > PLACE_BYTES_MAX) {
        free(name);
        return schema_refuse(c, node, NULL, ERR_LIMIT, "the schema's names are too long");
    }
    if (find_place(c, name) != NULL)
        free(name);
    else
        json_added(lh_table_insert(c->places, name, node));
    return 0;
}

static void add_dynamic_anchor(struct schema_resource *resource, gudgeon_str name,
                               const struct schema_node *node)
{
    size_t count = resource->dynamic_anchor_count;
    resource->dynamic_anchors =
        xreallocarray(resource->dynamic_anchors, count + 1, sizeof *resource->dynamic_anchors);
    resource->dynamic_anchors[count] = (struct schema_anchor){name, node};
    resource->dynamic_anchor_count++;
}

static int add_anchors(struct schema_compiler *c, struct schema_node *node)
{
    static const char *const keywords[] = {"$anchor", "$dynamicAnchor"};
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        gudgeon_str name = json_get_str(node->source, keywords[i]);
        if (name.ptr == NULL)
            continue;
        if (name.len == 0 || strchr(name.ptr, '/') != NULL || strchr(name.ptr, '#') != NULL)
            return schema_refuse(c, node, keywords[i], ERR_INVALID, "must be a plain name");
        int status = add_place(c, node->resource->uri, name.ptr, node);
        if (status < 0)
            return status;
        if (i == 1)
            add_dynamic_anchor(node->resource, name, node);
    }
    return 0;
}

/* ---- resources ----------------------------------------------------------------------------- */

static const struct {
    const char *name;
    unsigned bits;
} vocabularies[] = {
    {"core", SCHEMA_CORE},
    {"applicator", SCHEMA_APPLICATOR},
    {"unevaluated", SCHEMA_UNEVALUATED},
    {"validation", SCHEMA_VALIDATION},
    {"format-annotation", SCHEMA_FORMAT},
    {"format-assertion", SCHEMA_FORMAT_ASSERTION},
    {"content", 0},
    {"meta-data", 0},
};
static const char vocabulary_prefix[] = "https://json-schema.org/draft/2020-12/vocab/";

/* The bits of a vocabulary's URI, or -1. */
static int vocabulary_bits(const char *uri)
{
    if (!starts_with(uri, vocabulary_prefix))
        return -1;
    for (size_t i = 0; i < COUNT_OF(vocabularies); i++)
        if (strcmp(uri + strlen(vocabulary_prefix), vocabularies[i].name) == 0)
            return (int)vocabularies[i].bits;
    return -1;
}

/* What the meta-schema that $schema names wants; an unknown one is taken for 2020-12 itself. */
static int set_vocabularies(struct schema_compiler *c, const struct schema_node *node)
{
    gudgeon_str fragment, uri = json_get_str(node->source, "$schema");
    if (uri.ptr == NULL)
        return 0;
    CLEANUP(free_ptr) char *name = str_dup(schema_uri_split(uri, &fragment));
    struct json_object *wanted = json_get(schema_handed_in(c, name), "$vocabulary");
    node->resource->vocabularies = SCHEMA_ALL_VOCABULARIES;
    if (!json_object_is_type(wanted, json_type_object))
        return 0;
    node->resource->vocabularies = SCHEMA_CORE;
    json_object_object_foreach(wanted, vocabulary, required)
    {
        int bits = vocabulary_bits(vocabulary);
        if (bits >= 0)
            node->resource->vocabularies |= (unsigned)bits;
        else if (json_object_get_boolean(required))
            return schema_refuse(c, node, "$schema", ERR_INVALID,
                                 "wants the vocabulary %s, which is not known", vocabulary);
    }
    return 0;
}

static struct schema_resource *resource_new(struct schema *schema, char *take_uri, unsigned allowed)
{
    struct schema_resource *resource = xmalloc(sizeof *resource);
    *resource = (struct schema_resource){.uri = take_uri, .vocabularies = allowed};
    schema->resources =
        xreallocarray(schema->resources, schema->resource_count + 1, sizeof resource);
    schema->resources[schema->resource_count++] = resource;
    return resource;
}

/* An $id opens a resource of its own. */
static int open_resource(struct schema_compiler *c, struct schema_node *node, gudgeon_str id)
{
    gudgeon_str fragment, name = schema_uri_split(id, &fragment);
    if (fragment.len > 0)
        return schema_refuse(c, node, "$id", ERR_INVALID,
                             "must have no fragment (write an $anchor)");
    char *uri = schema_uri_resolve(node->resource->uri, name);
    if (uri == NULL)
        return schema_refuse(c, node, "$id", ERR_LIMIT, "is longer than %d bytes", SCHEMA_URI_MAX);
    node->resource = resource_new(c->schema, uri, node->resource->vocabularies);
    return add_place(c, uri, NULL, node);
}

/* The root of a document, too, may say which vocabularies it is written in. */
static int begin_resource(struct schema_compiler *c, struct schema_node *node)
{
    gudgeon_str id = json_get_str(node->source, "$id");
    int status = id.ptr != NULL ? open_resource(c, node, id) : 0;
    bool is_root = id.ptr != NULL || node->parent == NULL;
    return status == 0 && is_root ? set_vocabularies(c, node) : status;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static struct schema_node *node_new(struct schema *schema, const struct site *site,
                                    struct json_object *source)
{
    struct schema_node *node = xmalloc(sizeof *node);
    *node = (struct schema_node){
        .kind = SCHEMA_NODE_RULES,
        .source = source,
        .resource = site->resource,
        .parent = site->parent,
        .keyword = site->keyword,
        .name = site->name,
        .index = site->index,
    };
    if (json_object_is_type(source, json_type_boolean))
        node->kind = json_object_get_boolean(source) ? SCHEMA_NODE_TRUE : SCHEMA_NODE_FALSE;
    /* The capacity doubles whenever the count is a power of two. */
    if ((schema->node_count & (schema->node_count - 1)) == 0)
        schema->nodes =
            xreallocarray(schema->nodes, 2 * schema->node_count + 1, sizeof(struct schema_node *));
    schema->nodes[schema->node_count++] = node;
    json_object_set_userdata(source, node, NULL);
    return node;
}

static int walk_list(struct schema_compiler *c, struct site *site, struct json_object *list)
{
    size_t len = json_object_array_length(list);
    struct schema_node *ignored;
    for (size_t i = 0; i < len; i++) {
        site->index = (int64_t)i;
        int status = walk(c, site, json_object_array_get_idx(list, i), &ignored);
        if (status < 0)
            return status;
    }
    return 0;
}

static int walk_map(struct schema_compiler *c, struct site *site, struct json_object *map)
{
    struct schema_node *ignored;
    json_object_object_foreach(map, name, value)
    {
        site->name = name;
        int status = walk(c, site, value, &ignored);
        if (status < 0)
            return status;
    }
    return 0;
}

/* The sub-schemas under one keyword. */
static int walk_keyword(struct schema_compiler *c, const struct schema_node *node,
                        const struct schema_keyword *keyword)
{
    struct json_object *value = json_get(node->source, keyword->name);
    struct site site = {node, node->resource, keyword->name, NULL, -1};
    struct schema_node *ignored;
    switch (keyword->shape) {
    case SCHEMA_SHAPE_SCHEMA:
        return walk(c, &site, value, &ignored);
    case SCHEMA_SHAPE_SCHEMAS:
        if (!json_object_is_type(value, json_type_array) || json_object_array_length(value) == 0)
            return schema_refuse(c, node, keyword->name, ERR_INVALID,
                                 "must be a list of schemas that is not empty");
        return walk_list(c, &site, value);
    case SCHEMA_SHAPE_SCHEMA_MAP:
    case SCHEMA_SHAPE_PATTERN_MAP:
        if (!json_object_is_type(value, json_type_object))
            return schema_refuse(c, node, keyword->name, ERR_INVALID,
                                 "must be an object of schemas, is %s", json_type_name(value));
        return walk_map(c, &site, value);
    default:
        return 0;
    }
}

static int walk_keywords(struct schema_compiler *c, struct schema_node *node)
{
    int status = begin_resource(c, node);
    if (status == 0)
        status = add_anchors(c, node);
    uint64_t present = schema_keywords_in(node->source);
    for (size_t i = 0; i < schema_keyword_count && status == 0; i++)
        if (present >> i & 1)
            status = walk_keyword(c, node, &schema_keywords[i]);
    return status;
}

static int walk(struct schema_compiler *c, const struct site *site, struct json_object *source,
                struct schema_node **ret)
{
    bool is_boolean = json_object_is_type(source, json_type_boolean);
    if (!is_boolean && !json_object_is_type(source, json_type_object)) {
        struct schema_node here = {.parent = site->parent,
                                   .resource = site->resource,
                                   .keyword = site->keyword,
                                   .name = site->name,
                                   .index = site->index};
        return schema_refuse(c, &here, NULL, ERR_INVALID,
                             "must be a schema (an object or a boolean), is %s",
                             json_type_name(source));
    }
    struct schema_node *node = node_new(c->schema, site, source);
    if (site->parent == NULL && c->schema->root == NULL)
        c->schema->root = node;
    *ret = node;
    return is_boolean ? 0 : walk_keywords(c, node);
}

/* ---- documents ----------------------------------------------------------------------------- */

int schema_add_document(struct schema_compiler *c, const char *uri,
                        struct json_object *take_document, struct schema_node **ret)
{
    struct schema *schema = c->schema;
    schema->documents =
        xreallocarray(schema->documents, schema->document_count + 1, sizeof *schema->documents);
    schema->documents[schema->document_count++] = take_document;
    struct site site = {.index = -1};
    site.resource = resource_new(schema, xstrdup(uri), SCHEMA_ALL_VOCABULARIES);
    int status = walk(c, &site, take_document, ret);
    return status < 0 ? status : add_place(c, uri, NULL, *ret);
}

struct json_object *schema_handed_in(const struct schema_compiler *c, const char *uri)
{
    size_t count = c->options != NULL ? c->options->document_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct schema_document *document = &c->options->documents[i];
        gudgeon_str fragment, id = json_get_str(document->schema, "$id");
        if (id.ptr != NULL)
            id = schema_uri_split(id, &fragment);
        gudgeon_str name = schema_uri_split(str_of(document->uri), &fragment);
        if (str_is(name, uri) || str_is(id, uri))
            return document->schema;
    }
    return NULL;
}

/* Sets *ret to the root of the document or resource, NULL when nobody knows it. */
static int find_document(struct schema_compiler *c, const char *uri, struct schema_node **ret)
{
    *ret = find_place(c, uri);
    if (*ret != NULL)
        return 0;
    struct json_object *document = schema_handed_in(c, uri);
    if (document != NULL)
        return schema_add_document(c, uri, json_copy(document), ret);
    if (strcmp(uri, schema_meta_uri) != 0)
        return 0;
    struct json_object *meta = NULL;
    int status = json_read(str_of(schema_meta_text), &meta, c->err);
    return status < 0 ? status : schema_add_document(c, uri, meta, ret);
}

/* ---- references ---------------------------------------------------------------------------- */

/* A token of a JSON pointer (RFC 6901 §4), as the key of a json_object. */
static void decode_token(struct buf *out, gudgeon_str token)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    schema_uri_decode(&text, token);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool escaped =
            c == '~' && i + 1 < text.len && (text.data[i + 1] == '0' || text.data[i + 1] == '1');
        if (escaped)
            buf_add_char(out, text.data[++i] == '0' ? '~' : '/');
        else if (c == '\0')
            buf_add_str(out, JSON_KEY_NUL);
        else
            buf_add_char(out, c);
    }
    buf_fini(&text);
}

/* The member or item that a token means, or NULL. */
static struct json_object *step(struct json_object *value, gudgeon_str token)
{
    struct buf key = BUF_INIT(BUF_MAX_ANY);
    decode_token(&key, token);
    struct json_object *next = json_get(value, key.data);
    if (json_object_is_type(value, json_type_array)) {
        char *end;
        unsigned long index = strtoul(key.data, &end, 10);
        bool is_index = key.len > 0 && key.data[0] >= '0' && key.data[0] <= '9' && *end == '\0';
        next = is_index ? json_object_array_get_idx(value, index) : NULL;
    }
    buf_fini(&key);
    return next;
}

/* `pointer` begins after the first slash; it must live as long as the schema. What it leads to may
 * stand where the walk did not go (under an unknown keyword): then its node is made now. */
static int follow(struct schema_compiler *c, struct schema_node *root, gudgeon_str pointer,
                  struct schema_node **ret)
{
    struct json_object *value = root->source;
    struct site site = {root, root->resource, pointer.ptr, NULL, -1};
    const char *at = pointer.ptr, *end = at + pointer.len;
    for (;;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        value = step(value, (gudgeon_str){at, (uint64_t)(stop - at)});
        *ret = schema_node_of(value);
        if (*ret != NULL)
            site.resource = (*ret)->resource;
        if (value == NULL || slash == NULL)
            break;
        at = slash + 1;
    }
    return value == NULL || *ret != NULL ? 0 : walk(c, &site, value, ret);
}

static struct schema_node *find_anchor(const struct schema_compiler *c,
                                       const struct schema_node *root, gudgeon_str fragment)
{
    struct buf name = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&name, "%s#", root->resource->uri);
    schema_uri_decode(&name, fragment);
    struct schema_node *node = find_place(c, name.data);
    buf_fini(&name);
    return node;
}

int schema_resolve(struct schema_compiler *c, const struct schema_node *node, const char *keyword,
                   struct schema_node **ret)
{
    gudgeon_str reference = json_get_str(node->source, keyword), fragment;
    gudgeon_str document = schema_uri_split(reference, &fragment);
    CLEANUP(free_ptr) char *uri = schema_uri_resolve(node->resource->uri, document);
    if (uri == NULL)
        return schema_refuse(c, node, keyword, ERR_LIMIT, "is longer than %d bytes",
                             SCHEMA_URI_MAX);
    struct schema_node *root;
    int status = find_document(c, uri, &root);
    if (status < 0)
        return status;
    *ret = root;
    if (root != NULL && fragment.len > 0) {
        if (fragment.ptr[0] != '/')
            *ret = find_anchor(c, root, fragment);
        else
            status = follow(c, root, (gudgeon_str){fragment.ptr + 1, fragment.len - 1}, ret);
    }
    if (status == 0 && *ret == NULL)
        return schema_refuse(c, node, keyword, ERR_INVALID, "\"%s\" leads nowhere", reference.ptr);
    return status;
}
