/* SPDX-License-Identifier: MIT */
/* Keywords that speak of arrays. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "data/json.h"
#include "data/json_digest.h"
#include "data/schema_run.h"

static int64_t length_of(const struct schema_frame *frame)
{
    return (int64_t)json_object_array_length(frame->instance);
}

int schema_check_min_items(struct schema_run *run, const struct schema_frame *frame,
                           const struct schema_rule *rule)
{
    if (length_of(frame) >= rule->count)
        return 0;
    return schema_fault(run, frame, "minItems", NULL, "must have at least %lld items, has %lld",
                        (long long)rule->count, (long long)length_of(frame));
}

int schema_check_max_items(struct schema_run *run, const struct schema_frame *frame,
                           const struct schema_rule *rule)
{
    if (length_of(frame) <= rule->count)
        return 0;
    return schema_fault(run, frame, "maxItems", NULL, "must have at most %lld items, has %lld",
                        (long long)rule->count, (long long)length_of(frame));
}

/* ---- uniqueItems --------------------------------------------------------------------------- */

struct hashed {
    struct json_digest digest;
    size_t index;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->digest.hash != y->digest.hash)
        return x->digest.hash < y->digest.hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Looks for equal items among those of equal hash: 1 and *ret_a, *ret_b; 0; or ERR_LIMIT. */
static int find_equal(struct schema_run *run, struct json_object *array,
                      const struct hashed *sorted, size_t *ret_a, size_t *ret_b)
{
    size_t len = json_object_array_length(array);
    for (size_t i = 0; i < len; i++) {
        struct json_object *item = json_object_array_get_idx(array, sorted[i].index);
        for (size_t j = i + 1; j < len && sorted[j].digest.hash == sorted[i].digest.hash; j++) {
            int status = schema_pay(run, sorted[i].digest.size);
            if (status < 0)
                return status;
            if (json_equal(item, json_object_array_get_idx(array, sorted[j].index))) {
                *ret_a = sorted[i].index;
                *ret_b = sorted[j].index;
                return 1;
            }
        }
    }
    return 0;
}

int schema_check_unique_items(struct schema_run *run, const struct schema_frame *frame,
                              const struct schema_rule *rule)
{
    if (!json_object_get_boolean(rule->value))
        return 0;
    size_t len = json_object_array_length(frame->instance), a = 0, b = 0;
    CLEANUP(free_ptr) struct hashed *items = xcalloc(len, sizeof *items);
    int found = 0;
    for (size_t i = 0; i < len && found == 0; i++) {
        items[i].index = i;
        items[i].digest = json_digest(json_object_array_get_idx(frame->instance, i));
        found = schema_pay(run, items[i].digest.size);
    }
    if (found == 0) {
        qsort(items, len, sizeof *items, by_hash);
        found = find_equal(run, frame->instance, items, &a, &b);
    }
    if (found <= 0)
        return found;
    return schema_fault(run, frame, "uniqueItems", NULL, "items %zu and %zu are equal", a, b);
}

/* ---- sub-schemas for items ----------------------------------------------------------------- */

int schema_check_prefix_items(struct schema_run *run, const struct schema_frame *frame,
                              const struct schema_rule *rule)
{
    size_t len = json_object_array_length(frame->instance);
    size_t prefix = json_object_array_length(rule->value);
    int total = 0;
    for (size_t i = 0; i < len && i < prefix; i++) {
        const struct schema_node *node = schema_node_of(json_object_array_get_idx(rule->value, i));
        schema_mark(frame->marks, i);
        if (schema_stop(run, &total, schema_run_item(run, frame, node, i)))
            break;
    }
    return total;
}

int schema_check_items(struct schema_run *run, const struct schema_frame *frame,
                       const struct schema_rule *rule)
{
    const struct schema_node *node = schema_node_of(rule->value);
    size_t len = json_object_array_length(frame->instance);
    int total = 0;
    for (size_t i = (size_t)rule->count; i < len; i++) {
        schema_mark(frame->marks, i);
        if (schema_stop(run, &total, schema_run_item(run, frame, node, i)))
            break;
    }
    return total;
}

int schema_check_contains(struct schema_run *run, const struct schema_frame *frame,
                          const struct schema_rule *rule)
{
    const struct schema_node *node = schema_node_of(rule->value);
    size_t len = json_object_array_length(frame->instance);
    int64_t matching = 0;
    run->quiet++;
    int status = 0;
    for (size_t i = 0; i < len && status != ERR_LIMIT; i++) {
        status = schema_run_item(run, frame, node, i);
        if (status != 0)
            continue;
        matching++;
        schema_mark(frame->marks, i);
    }
    run->quiet--;
    if (status == ERR_LIMIT)
        return status;
    if (matching < rule->count)
        return schema_fault(run, frame, rule->count == 1 ? "contains" : "minContains", NULL,
                            "must contain at least %lld items of the wanted kind, has %lld",
                            (long long)rule->count, (long long)matching);
    if (matching > rule->most)
        return schema_fault(run, frame, "maxContains", NULL,
                            "must contain at most %lld items of the wanted kind, has %lld",
                            (long long)rule->most, (long long)matching);
    return 0;
}

int schema_check_unevaluated_items(struct schema_run *run, const struct schema_frame *frame,
                                   const struct schema_rule *rule)
{
    const struct schema_node *node = schema_node_of(rule->value);
    size_t len = json_object_array_length(frame->instance);
    int total = 0;
    for (size_t i = 0; i < len; i++)
        if (!schema_marks_has(frame->marks, i) &&
            schema_stop(run, &total, schema_run_item(run, frame, node, i)))
            return total;
    schema_mark_all(frame->marks);
    return total;
}
