/* SPDX-License-Identifier: MIT */
/* Keywords that speak of strings: lengths, pattern, format. */
#include "base/utf8.h"
#include "data/json.h"
#include "data/schema_compiler.h"
#include "data/schema_format.h"
#include "data/schema_regex.h"
#include "data/schema_run.h"

/* Characters, not bytes. */
static int64_t length_of(const struct schema_frame *frame)
{
    gudgeon_str text = json_str(frame->instance);
    return (int64_t)utf8_count(text.ptr, text.len);
}

int schema_check_min_length(struct schema_run *run, const struct schema_frame *frame,
                            const struct schema_rule *rule)
{
    int64_t len = length_of(frame);
    if (len >= rule->count)
        return 0;
    return schema_fault(run, frame, "minLength", NULL,
                        "must have at least %lld characters, has %lld", (long long)rule->count,
                        (long long)len);
}

int schema_check_max_length(struct schema_run *run, const struct schema_frame *frame,
                            const struct schema_rule *rule)
{
    int64_t len = length_of(frame);
    if (len <= rule->count)
        return 0;
    return schema_fault(run, frame, "maxLength", NULL,
                        "must have at most %lld characters, has %lld", (long long)rule->count,
                        (long long)len);
}

int schema_check_pattern(struct schema_run *run, const struct schema_frame *frame,
                         const struct schema_rule *rule)
{
    int found = schema_regex_search(rule->patterns[0], json_str(frame->instance), &run->steps);
    if (found != 0)
        return found > 0 ? 0 : found;
    return schema_fault_operand(run, frame, rule, "must match the pattern");
}

int schema_prepare_format(struct schema_compiler *c, const struct schema_node *node,
                          struct schema_rule *rule)
{
    bool asked = c->options != NULL && c->options->assert_format;
    if (asked || (node->resource->vocabularies & SCHEMA_FORMAT_ASSERTION))
        rule->format = schema_format_named(json_str(rule->value));
    return 0;
}

int schema_check_format(struct schema_run *run, const struct schema_frame *frame,
                        const struct schema_rule *rule)
{
    if (rule->format == NULL || schema_format_has(rule->format, json_str(frame->instance)))
        return 0;
    return schema_fault_operand(run, frame, rule, "must have the format");
}
