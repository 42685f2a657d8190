/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_RUN_H
#define GUDGEON_DATA_SCHEMA_RUN_H

/*
 * One check of an instance: frames (a node applied to a value), places (where the value stands),
 * marks (what has been looked at, for unevaluated*) and faults.
 *
 * Everything lives on the stack of the check; a frame links to the one that it came from, and that
 * chain is the dynamic scope of the specification. Depth, work and steps of regular expressions
 * are counted in the run and end it with ERR_LIMIT. Private to core/data.
 */

#include <stdarg.h>

#include "data/schema_model.h"

/* One step down from `parent` into the instance; NULL is the whole of it. */
struct schema_place {
    const struct schema_place *parent;
    const char *name; /* of the member; NULL: an item */
    size_t index;     /* of the item */
    bool is_name;     /* the member's name itself is being checked */
};

/* The members or items of one value that some keyword has looked at. */
struct schema_marks {
    size_t count;
    uint64_t first; /* bits 0 to 63 */
    uint64_t *rest; /* the others, when there are more */
};

struct schema_frame {
    const struct schema_frame *parent;
    const struct schema_node *node;
    struct json_object *instance;
    const struct schema_place *place;
    struct schema_marks *marks; /* NULL: nobody asks */
};

struct schema_run {
    schema_fault_fn *report;
    void *payload;
    int quiet;     /* > 0: the first fault decides and is not reported */
    int faults;    /* reported so far */
    int depth;     /* of frames */
    int64_t work;  /* left */
    int64_t steps; /* left, of regular expressions */
};

/* ---- applying nodes ------------------------------------------------------------------------ */

int schema_run_frame(struct schema_run *run, const struct schema_frame *frame);
/* Another node on the same value. */
int schema_run_here(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_node *node, struct schema_marks *marks);
int schema_run_member(struct schema_run *run, const struct schema_frame *frame,
                      const struct schema_node *node, const char *name, struct json_object *value);
int schema_run_item(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_node *node, size_t index);
/* Pays for work; ERR_LIMIT when there is none left. A unit is some ten to a hundred nanoseconds. */
int schema_pay(struct schema_run *run, size_t work);
/* After one of several checks: takes its status into *total; whether to stop. */
bool schema_stop(const struct schema_run *run, int *total, int status);

/* ---- marks --------------------------------------------------------------------------------- */

/* For the members or items of a value. */
void schema_marks_init(struct schema_marks *marks, struct json_object *value);
void schema_marks_fini(struct schema_marks *marks);
bool schema_marks_has(const struct schema_marks *marks, size_t index);
/* `marks` and `from` may be NULL. */
void schema_mark(struct schema_marks *marks, size_t index);
void schema_mark_all(struct schema_marks *marks);
void schema_mark_those_of(struct schema_marks *marks, const struct schema_marks *from);

/* ---- faults -------------------------------------------------------------------------------- */

/* Reports, unless the run is quiet; returns ERR_INVALID. `property` may be NULL. */
int schema_fault(struct schema_run *run, const struct schema_frame *frame, const char *keyword,
                 const char *property, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "TEXT OPERAND, is VALUE" with the rule's value and the instance. */
int schema_fault_operand(struct schema_run *run, const struct schema_frame *frame,
                         const struct schema_rule *rule, const char *text);

/* ---- the keywords' functions --------------------------------------------------------------- */

schema_check_fn schema_check_type, schema_check_enum, schema_check_const;
schema_check_fn schema_check_multiple_of, schema_check_minimum, schema_check_maximum,
    schema_check_exclusive_minimum, schema_check_exclusive_maximum;
schema_check_fn schema_check_min_length, schema_check_max_length, schema_check_pattern,
    schema_check_format;
schema_check_fn schema_check_min_items, schema_check_max_items, schema_check_unique_items,
    schema_check_prefix_items, schema_check_items, schema_check_contains,
    schema_check_unevaluated_items;
schema_check_fn schema_check_min_properties, schema_check_max_properties, schema_check_required,
    schema_check_dependent_required, schema_check_properties, schema_check_pattern_properties,
    schema_check_additional_properties, schema_check_property_names, schema_check_dependent_schemas,
    schema_check_unevaluated_properties;
schema_check_fn schema_check_ref, schema_check_dynamic_ref, schema_check_all_of,
    schema_check_any_of, schema_check_one_of, schema_check_not, schema_check_if;

#endif
