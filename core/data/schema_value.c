/* SPDX-License-Identifier: MIT */
/* Keywords that speak of any value or of numbers: type, enum, const, multipleOf, bounds. */

#include "base/buf.h"
#include "base/err.h"
#include "data/decimal.h"
#include "data/json.h"
#include "data/json_digest.h"
#include "data/schema_run.h"

/* ---- type ---------------------------------------------------------------------------------- */

static bool has_type(struct json_object *value, unsigned types)
{
    /* "number" takes what has a fraction and what has none: no need to look at the digits. */
    if (json_object_is_type(value, json_type_double) && (types & SCHEMA_NUMBER))
        return true;
    return (schema_type_of(value) & types) != 0;
}

int schema_check_type(struct schema_run *run, const struct schema_frame *frame,
                      const struct schema_rule *rule)
{
    if (has_type(frame->instance, rule->types))
        return 0;
    if (run->quiet > 0)
        return ERR_INVALID;
    struct buf wanted = BUF_INIT(BUF_MAX_ANY);
    schema_add_type_names(&wanted, rule->types);
    char value[JSON_PREVIEW_SIZE];
    json_preview(frame->instance, value);
    if (frame->instance == NULL)
        schema_fault(run, frame, "type", NULL, "must be %s, is null", wanted.data);
    else
        schema_fault(run, frame, "type", NULL, "must be %s, is %s %s", wanted.data,
                     json_type_name(frame->instance), value);
    buf_fini(&wanted);
    return ERR_INVALID;
}

/* ---- const and enum ------------------------------------------------------------------------ */

/* 1 when the instance is among the rule's values, 0, or ERR_LIMIT. */
static int is_among(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_rule *rule)
{
    struct json_digest digest = json_digest(frame->instance);
    int status = schema_pay(run, digest.size);
    for (size_t i = 0; i < rule->digest_count && status == 0; i++) {
        if (rule->digests[i].hash != digest.hash)
            continue;
        status = schema_pay(run, digest.size);
        bool is_enum = rule->keyword->shape == SCHEMA_SHAPE_ARRAY;
        struct json_object *value =
            is_enum ? json_object_array_get_idx(rule->value, i) : rule->value;
        if (status == 0 && json_equal(frame->instance, value))
            return 1;
    }
    return status;
}

int schema_check_const(struct schema_run *run, const struct schema_frame *frame,
                       const struct schema_rule *rule)
{
    int found = is_among(run, frame, rule);
    if (found != 0)
        return found > 0 ? 0 : found;
    return schema_fault_operand(run, frame, rule, "must be");
}

int schema_check_enum(struct schema_run *run, const struct schema_frame *frame,
                      const struct schema_rule *rule)
{
    int found = is_among(run, frame, rule);
    if (found != 0)
        return found > 0 ? 0 : found;
    if (run->quiet > 0)
        return ERR_INVALID;
    enum { VALUES_SHOWN = 12 };
    struct buf values = BUF_INIT(BUF_MAX_ANY);
    char value[JSON_PREVIEW_SIZE];
    for (size_t i = 0; i < rule->digest_count && i < VALUES_SHOWN; i++) {
        json_preview(json_object_array_get_idx(rule->value, i), value);
        buf_addf(&values, "%s%s", i > 0 ? ", " : "", value);
    }
    if (rule->digest_count > VALUES_SHOWN)
        buf_add_str(&values, ", …");
    json_preview(frame->instance, value);
    schema_fault(run, frame, "enum", NULL, "must be one of %s, is %s", values.data, value);
    buf_fini(&values);
    return ERR_INVALID;
}

/* ---- numbers ------------------------------------------------------------------------------- */

int schema_check_minimum(struct schema_run *run, const struct schema_frame *frame,
                         const struct schema_rule *rule)
{
    return decimal_order(frame->instance, rule->value) >= 0
               ? 0
               : schema_fault_operand(run, frame, rule, "must be at least");
}

int schema_check_maximum(struct schema_run *run, const struct schema_frame *frame,
                         const struct schema_rule *rule)
{
    return decimal_order(frame->instance, rule->value) <= 0
               ? 0
               : schema_fault_operand(run, frame, rule, "must be at most");
}

int schema_check_exclusive_minimum(struct schema_run *run, const struct schema_frame *frame,
                                   const struct schema_rule *rule)
{
    return decimal_order(frame->instance, rule->value) > 0
               ? 0
               : schema_fault_operand(run, frame, rule, "must be more than");
}

int schema_check_exclusive_maximum(struct schema_run *run, const struct schema_frame *frame,
                                   const struct schema_rule *rule)
{
    return decimal_order(frame->instance, rule->value) < 0
               ? 0
               : schema_fault_operand(run, frame, rule, "must be less than");
}

int schema_check_multiple_of(struct schema_run *run, const struct schema_frame *frame,
                             const struct schema_rule *rule)
{
    struct decimal number, step;
    decimal_of(frame->instance, &number);
    decimal_of(rule->value, &step);
    if (decimal_is_multiple(&number, &step))
        return 0;
    return schema_fault_operand(run, frame, rule, "must be a multiple of");
}
