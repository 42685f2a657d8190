/* SPDX-License-Identifier: MIT */
/* Keywords that speak of objects. */
#include <json-c/linkhash.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "data/json_text.h"
#include "data/schema_regex.h"
#include "data/schema_run.h"

static int64_t length_of(const struct schema_frame *frame)
{
    return json_object_object_length(frame->instance);
}

int schema_check_min_properties(struct schema_run *run, const struct schema_frame *frame,
                                const struct schema_rule *rule)
{
    if (length_of(frame) >= rule->count)
        return 0;
    return schema_fault(run, frame, "minProperties", NULL,
                        "must have at least %lld properties, has %lld", (long long)rule->count,
                        (long long)length_of(frame));
}

int schema_check_max_properties(struct schema_run *run, const struct schema_frame *frame,
                                const struct schema_rule *rule)
{
    if (length_of(frame) <= rule->count)
        return 0;
    return schema_fault(run, frame, "maxProperties", NULL,
                        "must have at most %lld properties, has %lld", (long long)rule->count,
                        (long long)length_of(frame));
}

/* ---- names that must be there -------------------------------------------------------------- */

static bool has_member(const struct schema_frame *frame, const char *name)
{
    return json_object_object_get_ex(frame->instance, name, NULL);
}

/* Whether all of a list of strings are names of members; `because` is the member that wants them,
 * or NULL. */
static int check_names(struct schema_run *run, const struct schema_frame *frame,
                       const struct schema_rule *rule, struct json_object *names,
                       const char *because)
{
    size_t len = json_object_array_length(names);
    int total = 0;
    for (size_t i = 0; i < len; i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(names, i));
        if (has_member(frame, name))
            continue;
        int status = because == NULL
                         ? schema_fault(run, frame, rule->keyword->name, name, "lacks \"%s\"", name)
                         : schema_fault(run, frame, rule->keyword->name, name,
                                        "lacks \"%s\", which \"%s\" asks for", name, because);
        if (schema_stop(run, &total, status))
            break;
    }
    return total;
}

int schema_check_required(struct schema_run *run, const struct schema_frame *frame,
                          const struct schema_rule *rule)
{
    return check_names(run, frame, rule, rule->value, NULL);
}

int schema_check_dependent_required(struct schema_run *run, const struct schema_frame *frame,
                                    const struct schema_rule *rule)
{
    int total = 0;
    json_object_object_foreach(rule->value, name, names)
    {
        if (has_member(frame, name) &&
            schema_stop(run, &total, check_names(run, frame, rule, names, name)))
            break;
    }
    return total;
}

int schema_check_dependent_schemas(struct schema_run *run, const struct schema_frame *frame,
                                   const struct schema_rule *rule)
{
    int total = 0;
    json_object_object_foreach(rule->value, name, source)
    {
        if (has_member(frame, name) &&
            schema_stop(run, &total,
                        schema_run_here(run, frame, schema_node_of(source), frame->marks)))
            break;
    }
    return total;
}

/* ---- names themselves ---------------------------------------------------------------------- */

static int check_name(struct schema_run *run, const struct schema_frame *frame,
                      const struct schema_node *node, const char *name)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_add_key_text(&text, name);
    CLEANUP(json_cleanup)
    struct json_object *value = json_made(json_object_new_string_len(text.data, (int)text.len));
    buf_fini(&text);
    struct schema_place place = {.parent = frame->place, .name = name, .is_name = true};
    struct schema_frame named = {frame, node, value, &place, NULL};
    return schema_run_frame(run, &named);
}

int schema_check_property_names(struct schema_run *run, const struct schema_frame *frame,
                                const struct schema_rule *rule)
{
    int total = 0;
    json_object_object_foreach(frame->instance, name, value)
    {
        (void)value;
        if (schema_stop(run, &total, check_name(run, frame, schema_node_of(rule->value), name)))
            break;
    }
    return total;
}

/* ---- sub-schemas for members --------------------------------------------------------------- */

int schema_check_properties(struct schema_run *run, const struct schema_frame *frame,
                            const struct schema_rule *rule)
{
    int total = 0;
    size_t index = 0;
    json_object_object_foreach(frame->instance, name, value)
    {
        const struct schema_node *node = schema_node_of(json_get(rule->value, name));
        if (node != NULL) {
            schema_mark(frame->marks, index);
            if (schema_stop(run, &total, schema_run_member(run, frame, node, name, value)))
                break;
        }
        index++;
    }
    return total;
}

struct member {
    const char *name;
    struct json_object *value;
    size_t index;
};

/* One member against all patterns. */
static int check_patterns(struct schema_run *run, const struct schema_frame *frame,
                          const struct schema_rule *rule, const struct member *member)
{
    int total = 0;
    size_t i = 0;
    json_object_object_foreach(rule->value, pattern, source)
    {
        (void)pattern;
        int found = schema_regex_search_key(rule->patterns[i++], member->name, &run->steps);
        if (found == 0)
            continue;
        schema_mark(frame->marks, member->index);
        int status = found < 0 ? found
                               : schema_run_member(run, frame, schema_node_of(source), member->name,
                                                   member->value);
        if (schema_stop(run, &total, status))
            break;
    }
    return total;
}

int schema_check_pattern_properties(struct schema_run *run, const struct schema_frame *frame,
                                    const struct schema_rule *rule)
{
    int total = 0;
    struct member member = {0};
    json_object_object_foreach(frame->instance, name, value)
    {
        member.name = name;
        member.value = value;
        if (schema_stop(run, &total, check_patterns(run, frame, rule, &member)))
            break;
        member.index++;
    }
    return total;
}

/* ---- members that nothing else speaks of --------------------------------------------------- */

/* Whether properties or patternProperties of the same node speak of a name: 1, 0 or ERR_LIMIT. */
static int is_described(struct schema_run *run, const struct schema_node *node, const char *name)
{
    if (json_object_object_get_ex(json_get(node->source, "properties"), name, NULL))
        return 1;
    const struct schema_rule *rule = schema_rule_of(node, "patternProperties");
    int found = 0;
    for (size_t i = 0; rule != NULL && i < rule->pattern_count && found == 0; i++)
        found = schema_regex_search_key(rule->patterns[i], name, &run->steps);
    return found;
}

/* A name that is near one of the node's properties, or NULL. */
static const char *near_property(const struct schema_node *node, const char *name)
{
    struct json_object *properties = json_get(node->source, "properties");
    if (properties == NULL)
        return NULL;
    size_t count = 0;
    CLEANUP(free_ptr)
    const char **names = xcalloc((size_t)json_object_object_length(properties), sizeof *names);
    json_object_object_foreach(properties, known, source)
    {
        (void)source;
        names[count++] = known;
    }
    return nearest_name(name, names, count);
}

/* The member of a name that nobody knows: refused, with the reason that helps, or checked. */
static int check_other(struct schema_run *run, const struct schema_frame *frame,
                       const struct schema_rule *rule, const struct member *member)
{
    const struct schema_node *node = schema_node_of(rule->value);
    if (node->kind != SCHEMA_NODE_FALSE || run->quiet > 0)
        return schema_run_member(run, frame, node, member->name, member->value);
    const char *near = near_property(frame->node, member->name);
    char name[JSON_PREVIEW_SIZE], near_name[JSON_PREVIEW_SIZE];
    json_preview_key(member->name, name);
    json_preview_key(near != NULL ? near : "", near_name);
    if (near == NULL)
        return schema_fault(run, frame, rule->keyword->name, member->name, "unknown property %s",
                            name);
    return schema_fault(run, frame, rule->keyword->name, member->name,
                        "unknown property %s (did you mean %s?)", name, near_name);
}

int schema_check_additional_properties(struct schema_run *run, const struct schema_frame *frame,
                                       const struct schema_rule *rule)
{
    int total = 0;
    struct member member = {0};
    json_object_object_foreach(frame->instance, name, value)
    {
        member.name = name;
        member.value = value;
        int described = is_described(run, frame->node, name);
        if (described == 0)
            schema_mark(frame->marks, member.index);
        int status = described == 0 ? check_other(run, frame, rule, &member) : 0;
        if (schema_stop(run, &total, described < 0 ? described : status))
            break;
        member.index++;
    }
    return total;
}

int schema_check_unevaluated_properties(struct schema_run *run, const struct schema_frame *frame,
                                        const struct schema_rule *rule)
{
    int total = 0;
    struct member member = {0};
    json_object_object_foreach(frame->instance, name, value)
    {
        member.name = name;
        member.value = value;
        if (!schema_marks_has(frame->marks, member.index) &&
            schema_stop(run, &total, check_other(run, frame, rule, &member)))
            return total;
        member.index++;
    }
    schema_mark_all(frame->marks);
    return total;
}
