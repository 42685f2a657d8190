/* SPDX-License-Identifier: MIT */
/* Keywords that apply other schemas to the same value: references, combinations, conditions. */

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "data/schema_run.h"

/* ---- references ---------------------------------------------------------------------------- */

int schema_check_ref(struct schema_run *run, const struct schema_frame *frame,
                     const struct schema_rule *rule)
{
    return schema_run_here(run, frame, rule->target, frame->marks);
}

static const struct schema_node *dynamic_anchor(const struct schema_resource *resource,
                                                gudgeon_str name)
{
    for (size_t i = 0; i < resource->dynamic_anchor_count; i++)
        if (str_same(resource->dynamic_anchors[i].name, name))
            return resource->dynamic_anchors[i].node;
    return NULL;
}

/* The outermost resource of the dynamic scope that has the anchor decides. */
int schema_check_dynamic_ref(struct schema_run *run, const struct schema_frame *frame,
                             const struct schema_rule *rule)
{
    const struct schema_node *target = rule->target;
    const struct schema_resource *last = NULL;
    size_t work = 0;
    if (rule->dynamic_name.ptr != NULL)
        for (const struct schema_frame *f = frame; f != NULL; f = f->parent) {
            if (f->node->resource == last)
                continue;
            last = f->node->resource;
            const struct schema_node *found = dynamic_anchor(last, rule->dynamic_name);
            target = found != NULL ? found : target;
            work += 1 + last->dynamic_anchor_count;
        }
    int status = schema_pay(run, work);
    return status < 0 ? status : schema_run_here(run, frame, target, frame->marks);
}

/* ---- trying -------------------------------------------------------------------------------- */

/* Whether the instance is as the node wants it, without a word to anybody: 0, ERR_INVALID or
 * ERR_LIMIT. What it looked at counts only when it fits. */
static int try(struct schema_run *run, const struct schema_frame *frame,
               const struct schema_node *node, struct schema_marks *marks)
{
    run->quiet++;
    int status;
    if (marks == NULL) {
        status = schema_run_here(run, frame, node, NULL);
    } else {
        struct schema_marks own;
        schema_marks_init(&own, frame->instance);
        status = schema_run_here(run, frame, node, &own);
        if (status == 0)
            schema_mark_those_of(marks, &own);
        schema_marks_fini(&own);
    }
    run->quiet--;
    return status;
}

static const struct schema_node *part(const struct schema_rule *rule, size_t index)
{
    return schema_node_of(json_object_array_get_idx(rule->value, index));
}

static size_t part_count(const struct schema_rule *rule)
{
    return json_object_array_length(rule->value);
}

/* ---- combinations -------------------------------------------------------------------------- */

int schema_check_all_of(struct schema_run *run, const struct schema_frame *frame,
                        const struct schema_rule *rule)
{
    int total = 0;
    for (size_t i = 0; i < part_count(rule); i++)
        if (schema_stop(run, &total, schema_run_here(run, frame, part(rule, i), frame->marks)))
            break;
    return total;
}

/* Why no alternative fits. When the value has the type of only one of them, that one is meant, and
 * its own faults say more than any list. */
static int fault_of_alternatives(struct schema_run *run, const struct schema_frame *frame,
                                 const struct schema_rule *rule)
{
    if (run->quiet > 0)
        return ERR_INVALID;
    unsigned type = schema_type_of(frame->instance), all = 0;
    const struct schema_node *meant = NULL;
    size_t candidates = 0;
    for (size_t i = 0; i < part_count(rule); i++) {
        all |= part(rule, i)->types;
        if (!(part(rule, i)->types & type))
            continue;
        meant = part(rule, i);
        candidates++;
    }
    if (candidates == 1)
        return schema_run_here(run, frame, meant, NULL);
    char value[JSON_PREVIEW_SIZE];
    json_preview(frame->instance, value);
    if (candidates > 1)
        return schema_fault(run, frame, rule->keyword->name, NULL,
                            "fits none of the %zu forms that are allowed here, is %s",
                            part_count(rule), value);
    if (all == 0)
        return schema_fault(run, frame, rule->keyword->name, NULL, "is not allowed here");
    struct buf names = BUF_INIT(BUF_MAX_ANY);
    schema_add_type_names(&names, all);
    schema_fault(run, frame, rule->keyword->name, NULL, "must be %s, is %s", names.data, value);
    buf_fini(&names);
    return ERR_INVALID;
}

int schema_check_any_of(struct schema_run *run, const struct schema_frame *frame,
                        const struct schema_rule *rule)
{
    bool fits = false;
    for (size_t i = 0; i < part_count(rule) && (!fits || frame->marks != NULL); i++) {
        int status = try(run, frame, part(rule, i), frame->marks);
        if (status == ERR_LIMIT)
            return status;
        fits = fits || status == 0;
    }
    return fits ? 0 : fault_of_alternatives(run, frame, rule);
}

int schema_check_one_of(struct schema_run *run, const struct schema_frame *frame,
                        const struct schema_rule *rule)
{
    size_t fitting = 0, first = 0, second = 0;
    for (size_t i = 0; i < part_count(rule) && fitting < 2; i++) {
        int status = try(run, frame, part(rule, i), frame->marks);
        if (status == ERR_LIMIT)
            return status;
        if (status < 0)
            continue;
        *(fitting == 0 ? &first : &second) = i;
        fitting++;
    }
    if (fitting == 0)
        return fault_of_alternatives(run, frame, rule);
    if (fitting == 1)
        return 0;
    return schema_fault(run, frame, "oneOf", NULL,
                        "fits the forms %zu and %zu, but only one of them may be meant", first + 1,
                        second + 1);
}

int schema_check_not(struct schema_run *run, const struct schema_frame *frame,
                     const struct schema_rule *rule)
{
    int status = try(run, frame, schema_node_of(rule->value), NULL);
    if (status != 0)
        return status == ERR_INVALID ? 0 : status;
    return schema_fault_operand(run, frame, rule, "must not fit");
}

int schema_check_if(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_rule *rule)
{
    int status = try(run, frame, schema_node_of(rule->value), frame->marks);
    if (status == ERR_LIMIT)
        return status;
    const struct schema_node *then = status == 0 ? rule->target : rule->otherwise;
    return then != NULL ? schema_run_here(run, frame, then, frame->marks) : 0;
}
