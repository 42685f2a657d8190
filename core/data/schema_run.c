/* SPDX-License-Identifier: MIT */
#include "data/schema_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/schema_uri.h"

/* The bounds of one check. */
enum {
    DEPTH_MAX = 400,              /* frames: fits, with the keywords' own, a stack of 256 KiB */
    WORK_MAX = 10 * 1000 * 1000,  /* about a second */
    STEPS_MAX = 20 * 1000 * 1000, /* of regular expressions: half a second */
    FAULTS_MAX = 100,             /* reported */
    PATH_MAX_BYTES = 1024,
    MESSAGE_MAX_BYTES = 800,
};

/* ---- marks --------------------------------------------------------------------------------- */

enum { WORD_BITS = 64 };

static size_t length_of(struct json_object *value)
{
    switch (json_object_get_type(value)) {
    case json_type_array:
        return json_object_array_length(value);
    case json_type_object:
        return (size_t)json_object_object_length(value);
    case json_type_string:
        return (size_t)json_object_get_string_len(value);
    default:
        return 0;
    }
}

static size_t rest_words(const struct schema_marks *marks)
{
    return marks->count > WORD_BITS ? (marks->count - 1) / WORD_BITS : 0;
}

void schema_marks_init(struct schema_marks *marks, struct json_object *value)
{
    *marks = (struct schema_marks){0};
    if (json_object_is_type(value, json_type_string))
        return;
    marks->count = length_of(value);
    if (rest_words(marks) > 0)
        marks->rest = xcalloc(rest_words(marks), sizeof *marks->rest);
}

void schema_marks_fini(struct schema_marks *marks)
{
    free(marks->rest);
    *marks = (struct schema_marks){0};
}

bool schema_marks_has(const struct schema_marks *marks, size_t index)
{
    uint64_t word = index < WORD_BITS ? marks->first : marks->rest[index / WORD_BITS - 1];
    return word >> index % WORD_BITS & 1;
}

void schema_mark(struct schema_marks *marks, size_t index)
{
    if (marks == NULL)
        return;
    uint64_t *word = index < WORD_BITS ? &marks->first : &marks->rest[index / WORD_BITS - 1];
    *word |= UINT64_C(1) << index % WORD_BITS;
}

void schema_mark_all(struct schema_marks *marks)
{
    if (marks == NULL)
        return;
    marks->first = UINT64_MAX;
    if (marks->rest != NULL)
        memset(marks->rest, 0xff, rest_words(marks) * sizeof *marks->rest);
}

void schema_mark_those_of(struct schema_marks *marks, const struct schema_marks *from)
{
    if (marks == NULL || from == NULL)
        return;
    marks->first |= from->first;
    for (size_t i = 0; i < rest_words(marks); i++)
        marks->rest[i] |= from->rest[i];
}

/* ---- faults -------------------------------------------------------------------------------- */

static void add_pointer(struct buf *out, const struct schema_place *place)
{
    if (place == NULL)
        return;
    add_pointer(out, place->parent);
    if (place->is_name)
        return;
    if (place->name == NULL) {
        buf_addf(out, "/%zu", place->index);
        return;
    }
    schema_pointer_add(out, place->name);
}

/* Both texts may hold pieces of names that are cut or hold no valid UTF-8 (JSON_KEY_NUL). */
static void report(struct schema_run *run, const struct schema_place *place,
                   struct schema_fault *fault, const struct buf *message)
{
    struct buf path = BUF_INIT(PATH_MAX_BYTES), clean_path = BUF_INIT(BUF_MAX_ANY),
               clean_message = BUF_INIT(BUF_MAX_ANY);
    add_pointer(&path, place);
    utf8_sanitise(&clean_path, path.data, path.len);
    utf8_sanitise(&clean_message, message->data, message->len);
    fault->instance_path = clean_path.data;
    fault->message = clean_message.data;
    run->faults++;
    if (run->report != NULL)
        run->report(run->payload, fault);
    buf_fini(&path);
    buf_fini(&clean_path);
    buf_fini(&clean_message);
}

int schema_fault(struct schema_run *run, const struct schema_frame *frame, const char *keyword,
                 const char *property, const char *format, ...)
{
    if (run->quiet > 0 || run->faults >= FAULTS_MAX)
        return ERR_INVALID;
    struct schema_fault fault = {.keyword = keyword, .property = property};
    struct buf message = BUF_INIT(BUF_MAX_ANY);
    if (frame->place != NULL && frame->place->is_name) {
        fault.property = frame->place->name;
        buf_add_str(&message, "the name of a property ");
    }
    va_list args;
    va_start(args, format);
    buf_vaddf(&message, format, args);
    va_end(args);
    if (message.len > MESSAGE_MAX_BYTES) {
        buf_truncate(&message, utf8_cut(message.data, MESSAGE_MAX_BYTES));
        buf_add_str(&message, "…");
    }
    report(run, frame->place, &fault, &message);
    buf_fini(&message);
    return ERR_INVALID;
}

int schema_fault_operand(struct schema_run *run, const struct schema_frame *frame,
                         const struct schema_rule *rule, const char *text)
{
    if (run->quiet > 0)
        return ERR_INVALID;
    char operand[JSON_PREVIEW_SIZE], value[JSON_PREVIEW_SIZE];
    json_preview(rule->value, operand);
    json_preview(frame->instance, value);
    return schema_fault(run, frame, rule->keyword->name, NULL, "%s %s, is %s", text, operand,
                        value);
}

/* ---- frames -------------------------------------------------------------------------------- */

int schema_pay(struct schema_run *run, size_t work)
{
    if ((uint64_t)run->work < work) {
        run->work = 0;
        return ERR_LIMIT;
    }
    run->work -= (int64_t)work;
    return 0;
}

bool schema_stop(const struct schema_run *run, int *total, int status)
{
    if (status == 0)
        return false;
    *total = status;
    return status != ERR_INVALID || run->quiet > 0;
}

/* The type of an instance as far as it is known without looking at a number's digits: enough to
 * find the keywords that speak of it. */
static unsigned rough_type(struct json_object *value)
{
    return json_object_is_type(value, json_type_double) ? SCHEMA_NUMBER : schema_type_of(value);
}

/* What a rule is charged: about what going over its value and the instance takes. */
static size_t price(const struct schema_rule *rule, size_t instance_len)
{
    enum { ITEMS_PER_UNIT = 8 };
    size_t rule_len =
        json_object_is_type(rule->value, json_type_string) ? 0 : length_of(rule->value);
    return 1 + (instance_len + rule_len) / ITEMS_PER_UNIT;
}

static int run_rules(struct schema_run *run, const struct schema_frame *frame)
{
    enum { BYTES_PER_ITEM = 32 };
    unsigned type = rough_type(frame->instance);
    size_t len = length_of(frame->instance);
    if (type == SCHEMA_STRING)
        len /= BYTES_PER_ITEM;
    int total = 0;
    for (size_t i = 0; i < frame->node->rule_count; i++) {
        const struct schema_rule *rule = &frame->node->rules[i];
        if (!(rule->keyword->applies & type))
            continue;
        int status = schema_pay(run, price(rule, len));
        if (status == 0)
            status = rule->keyword->check(run, frame, rule);
        if (schema_stop(run, &total, status))
            return total;
    }
    return total;
}

/* A node with unevaluated* counts only what was looked at within itself. */
static __attribute__((noinline)) int run_marked(struct schema_run *run,
                                                const struct schema_frame *frame)
{
    struct schema_marks marks;
    schema_marks_init(&marks, frame->instance);
    struct schema_frame own = *frame;
    own.marks = &marks;
    int status = run_rules(run, &own);
    if (status == 0)
        schema_mark_those_of(frame->marks, &marks);
    schema_marks_fini(&marks);
    return status;
}

int schema_run_frame(struct schema_run *run, const struct schema_frame *frame)
{
    const struct schema_node *node = frame->node;
    if (node->kind == SCHEMA_NODE_TRUE)
        return 0;
    if (node->kind == SCHEMA_NODE_FALSE)
        return schema_fault(run, frame, node->keyword != NULL ? node->keyword : "false", NULL,
                            "is not allowed here");
    if (run->depth == DEPTH_MAX)
        return ERR_LIMIT;
    run->depth++;
    int status = node->has_unevaluated ? run_marked(run, frame) : run_rules(run, frame);
    run->depth--;
    return status;
}

int schema_run_here(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_node *node, struct schema_marks *marks)
{
    struct schema_frame here = {frame, node, frame->instance, frame->place, marks};
    return schema_run_frame(run, &here);
}

int schema_run_member(struct schema_run *run, const struct schema_frame *frame,
                      const struct schema_node *node, const char *name, struct json_object *value)
{
    struct schema_place place = {.parent = frame->place, .name = name};
    struct schema_frame member = {frame, node, value, &place, NULL};
    return schema_run_frame(run, &member);
}

int schema_run_item(struct schema_run *run, const struct schema_frame *frame,
                    const struct schema_node *node, size_t index)
{
    struct schema_place place = {.parent = frame->place, .index = index};
    struct json_object *value = json_object_array_get_idx(frame->instance, index);
    struct schema_frame item = {frame, node, value, &place, NULL};
    return schema_run_frame(run, &item);
}

/* ---- the check ----------------------------------------------------------------------------- */

int schema_check(const struct schema *schema, struct json_object *instance, schema_fault_fn *fault,
                 void *payload)
{
    struct schema_run run = {
        .report = fault,
        .payload = payload,
        .quiet = fault == NULL,
        .work = WORK_MAX,
        .steps = STEPS_MAX,
    };
    struct schema_frame whole = {.node = schema->root, .instance = instance};
    return schema_run_frame(&run, &whole);
}

/* The faults of one check as one line. */
struct summary {
    struct buf text;
    int faults;
};

static void add_to_summary(void *payload, const struct schema_fault *fault)
{
    enum { FAULTS_SHOWN = 5 };
    struct summary *summary = payload;
    if (summary->faults++ >= FAULTS_SHOWN)
        return;
    if (summary->text.len > 0)
        buf_add_str(&summary->text, "; ");
    if (fault->instance_path[0] != '\0')
        buf_addf(&summary->text, "%s: ", fault->instance_path);
    buf_add_str(&summary->text, fault->message);
    if (summary->faults == FAULTS_SHOWN)
        buf_add_str(&summary->text, "; …");
}

int schema_check_err(const struct schema *schema, struct json_object *instance, struct err *err)
{
    struct summary summary = {.text = BUF_INIT(BUF_MAX_ANY)};
    int status = schema_check(schema, instance, add_to_summary, &summary);
    if (status == ERR_INVALID)
        err_set(err, status, "%s", summary.text.data);
    else if (status < 0)
        err_set(err, status, "is too deep or too large to be checked against its schema");
    buf_fini(&summary.text);
    return status;
}
