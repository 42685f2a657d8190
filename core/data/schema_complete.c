/* SPDX-License-Identifier: MIT */
/* Brings an instance nearer to its schema: defaults, and values that came as the wrong type. */
#include <json-c/linkhash.h>
#include <math.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "data/json.h"
#include "data/json_digest.h"
#include "data/schema_model.h"

struct completion {
    bool coerce;
    int depth;
    int64_t work;  /* left: members and items visited */
    int64_t added; /* left: the size of defaults added */
    int64_t steps; /* left: of regular expressions */
};

enum {
    DEPTH_MAX = 400,
    WORK_MAX = 1000 * 1000,
    ADDED_MAX = 100 * 1000,
    STEPS_MAX = 5 * 1000 * 1000,
};

static int complete(struct completion *c, const struct schema_node *node, struct json_object *value,
                    struct json_object **ret_new);

/* ---- turning values ------------------------------------------------------------------------ */

/* What the text holds, when that is of a wanted type. Non-finite numbers are left as text. */
static struct json_object *from_text(gudgeon_str text, unsigned wanted)
{
    struct json_object *value = NULL;
    enum {
        FROM_TEXT = SCHEMA_BOOLEAN | SCHEMA_INTEGER | SCHEMA_NUMBER | SCHEMA_ARRAY | SCHEMA_OBJECT
    };
    if (json_read(text, &value, NULL) < 0)
        return NULL;
    bool infinite =
        json_object_is_type(value, json_type_double) && !isfinite(json_object_get_double(value));
    if ((schema_type_of(value) & wanted & FROM_TEXT) && !infinite)
        return value;
    json_object_put(value);
    return NULL;
}

static struct json_object *to_text(struct json_object *value)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_write(&text, value);
    struct json_object *string = json_made(json_object_new_string_len(text.data, (int)text.len));
    buf_fini(&text);
    return string;
}

/* The value in a type that the node allows, or NULL to leave it as it is. */
static struct json_object *turned(const struct schema_node *node, struct json_object *value)
{
    unsigned type = schema_type_of(value);
    if (type & node->types)
        return NULL;
    if (type == SCHEMA_STRING)
        return from_text(json_str(value), node->types);
    enum { TO_TEXT = SCHEMA_BOOLEAN | SCHEMA_INTEGER | SCHEMA_NUMBER };
    return (type & TO_TEXT) && (node->types & SCHEMA_STRING) ? to_text(value) : NULL;
}

/* ---- objects and arrays -------------------------------------------------------------------- */

static int pay(int64_t *left, size_t amount)
{
    if (*left < (int64_t)amount)
        return ERR_LIMIT;
    *left -= (int64_t)amount;
    return 0;
}

/* Adds the absent members of `properties` that have a default. */
static int add_defaults(struct completion *c, const struct schema_node *node,
                        struct json_object *object)
{
    const struct schema_rule *properties = schema_rule_of(node, "properties");
    if (properties == NULL)
        return 0;
    json_object_object_foreach(properties->value, name, source)
    {
        struct json_object *value;
        if (json_object_object_get_ex(object, name, NULL) ||
            !schema_says(schema_node_of(source), "default", &value))
            continue;
        if (pay(&c->added, json_digest(value).size) < 0)
            return ERR_LIMIT;
        json_added(json_object_object_add(object, name, json_copy(value)));
    }
    return 0;
}

static int complete_object(struct completion *c, const struct schema_node *node,
                           struct json_object *object)
{
    int status = add_defaults(c, node, object);
    if (status < 0)
        return status;
    json_object_object_foreach(object, name, value)
    {
        const struct schema_node *member = schema_own_property(node, name, &c->steps);
        if (member == NULL)
            continue;
        struct json_object *new = NULL;
        status = complete(c, member, value, &new);
        if (new != NULL)
            json_added(json_object_object_add(object, name, new));
        if (status < 0)
            return status;
    }
    return 0;
}

static int complete_array(struct completion *c, const struct schema_node *node,
                          struct json_object *array)
{
    size_t len = json_object_array_length(array);
    int status = 0;
    for (size_t i = 0; i < len && status == 0; i++) {
        const struct schema_node *item = schema_own_item(node, i);
        if (item == NULL)
            break;
        struct json_object *new = NULL;
        status = complete(c, item, json_object_array_get_idx(array, i), &new);
        if (new != NULL)
            json_added(json_object_array_put_idx(array, i, new));
    }
    return status;
}

/* ---- one value, and the schemas for it ----------------------------------------------------- */

static int apply(struct completion *c, const struct schema_node *node, struct json_object *value);

static int apply_all(struct completion *c, const struct schema_rule *rule,
                     struct json_object *value)
{
    size_t len = json_object_array_length(rule->value);
    int status = 0;
    for (size_t i = 0; i < len && status == 0; i++)
        status = apply(c, schema_node_of(json_object_array_get_idx(rule->value, i)), value);
    return status;
}

/* Only an alternative that no other competes with: the one that has the value's type. */
static int apply_alternative(struct completion *c, const struct schema_rule *rule,
                             struct json_object *value)
{
    const struct schema_node *meant = NULL;
    unsigned type = schema_type_of(value);
    size_t len = json_object_array_length(rule->value);
    for (size_t i = 0; i < len; i++) {
        const struct schema_node *part = schema_node_of(json_object_array_get_idx(rule->value, i));
        if (!(part->types & type))
            continue;
        if (meant != NULL)
            return 0;
        meant = part;
    }
    return meant != NULL ? apply(c, meant, value) : 0;
}

/* Fills the value by what the node says of its members or items, itself or through others. */
static int apply_rules(struct completion *c, const struct schema_node *node,
                       struct json_object *value)
{
    static const struct {
        const char *keyword;
        int (*apply)(struct completion *, const struct schema_rule *, struct json_object *);
    } combinations[] = {
        {"allOf", apply_all}, {"anyOf", apply_alternative}, {"oneOf", apply_alternative}};
    int status = json_object_is_type(value, json_type_object) ? complete_object(c, node, value)
                                                              : complete_array(c, node, value);
    const struct schema_rule *rule = schema_rule_of(node, "$ref");
    if (status == 0 && rule != NULL)
        status = apply(c, rule->target, value);
    for (size_t i = 0; i < COUNT_OF(combinations) && status == 0; i++) {
        rule = schema_rule_of(node, combinations[i].keyword);
        if (rule != NULL)
            status = combinations[i].apply(c, rule, value);
    }
    return status;
}

static int apply(struct completion *c, const struct schema_node *node, struct json_object *value)
{
    bool is_object = json_object_is_type(value, json_type_object);
    if (!is_object && !json_object_is_type(value, json_type_array))
        return 0;
    size_t len =
        is_object ? (size_t)json_object_object_length(value) : json_object_array_length(value);
    if (c->depth == DEPTH_MAX || pay(&c->work, 1 + len) < 0)
        return ERR_LIMIT;
    c->depth++;
    int status = apply_rules(c, node, value);
    c->depth--;
    return status;
}

/* Completes a value that belongs to somebody else; *ret_new is set, and owned by the caller, when
 * another has to take its place, also after a failure. */
static int complete(struct completion *c, const struct schema_node *node, struct json_object *value,
                    struct json_object **ret_new)
{
    enum { BYTES_PER_UNIT = 32 };
    if (pay(&c->work, json_str(value).len / BYTES_PER_UNIT) < 0)
        return ERR_LIMIT;
    if (c->coerce)
        *ret_new = turned(node, value);
    return apply(c, node, *ret_new != NULL ? *ret_new : value);
}

int schema_complete(const struct schema *schema, struct json_object **instance, bool coerce,
                    struct err *err)
{
    struct completion completion = {
        .coerce = coerce,
        .work = WORK_MAX,
        .added = ADDED_MAX,
        .steps = STEPS_MAX,
    };
    struct json_object *new = NULL;
    int status = complete(&completion, schema->root, *instance, &new);
    if (new != NULL) {
        json_object_put(*instance);
        *instance = new;
    }
    if (status < 0)
        err_set(err, status, "is too deep or too large to be completed by its schema");
    return status;
}
