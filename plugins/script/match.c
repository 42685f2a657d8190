/* SPDX-License-Identifier: MIT */
#include "script.h"

enum { STEPS_MAX = 1000000 }; /* of one pattern on one text, in PCRE2's count */

static int number_fits(gudgeon_str wanted, uint64_t number)
{
    uint64_t value = 0;
    return !gudgeon_json_u64(wanted, &value) || value == number;
}

static int text_contains(const gudgeon_buf *text, gudgeon_str wanted)
{
    gudgeon_buf words = {0};
    gudgeon_json_decode(wanted, &words);
    int found = words.len == 0 ||
                memmem(text->ptr != NULL ? text->ptr : "", text->len, words.ptr, words.len) != NULL;
    gudgeon_buf_free(&words);
    return found;
}

/* The groups of the pattern in the text; NULL when it does not match, or takes too long. */
static pcre2_match_data *try_pattern(const pcre2_code *pattern, const gudgeon_buf *text)
{
    pcre2_match_context *context = pcre2_match_context_create(NULL);
    pcre2_match_data *groups = pcre2_match_data_create_from_pattern(pattern, NULL);
    int count = PCRE2_ERROR_NOMEMORY;
    if (context != NULL && groups != NULL) {
        pcre2_set_match_limit(context, STEPS_MAX);
        count = pcre2_match(pattern, (PCRE2_SPTR)gudgeon_buf_str(text).ptr, text->len, 0, 0, groups,
                            context);
    }
    pcre2_match_context_free(context);
    if (count > 0)
        return groups;
    pcre2_match_data_free(groups);
    return NULL;
}

/* The conditions that one message or result must meet. */
static int subject_fits(const struct rule *rule, const struct subject *subject,
                        pcre2_match_data **groups)
{
    gudgeon_str role = gudgeon_json_inner(gudgeon_json_get(rule->when, "last"));
    gudgeon_str tool = gudgeon_json_inner(gudgeon_json_get(rule->when, "tool"));
    gudgeon_str is_error = gudgeon_json_get(rule->when, "is_error");
    gudgeon_str contains = gudgeon_json_inner(gudgeon_json_get(rule->when, "contains"));
    if (role.ptr != NULL &&
        (role.len != subject->role.len || memcmp(role.ptr, subject->role.ptr, role.len) != 0))
        return 0;
    if (tool.ptr != NULL &&
        (tool.len != subject->tool.len || memcmp(tool.ptr, subject->tool.ptr, tool.len) != 0))
        return 0;
    if (is_error.ptr != NULL &&
        (subject->tool.ptr == NULL || gudgeon_json_is_true(is_error) != subject->is_error))
        return 0;
    if (contains.ptr != NULL && !text_contains(&subject->text, contains))
        return 0;
    if (rule->matches == NULL)
        return 1;
    *groups = try_pattern(rule->matches, &subject->text);
    return *groups != NULL;
}

static int looks_at_text(const struct rule *rule)
{
    static const char *const keys[] = {"tool", "is_error", "contains", "matches"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        if (gudgeon_json_get(rule->when, keys[i]).ptr != NULL)
            return 1;
    return 0;
}

static int conditions_hold(const struct rule *rule, struct match *match)
{
    const struct view *view = match->view;
    if (!number_fits(gudgeon_json_get(rule->when, "turn"), view->turn) ||
        !number_fits(gudgeon_json_get(rule->when, "step"), view->step))
        return 0;
    int about_text = looks_at_text(rule);
    if (!about_text && gudgeon_json_get(rule->when, "last").ptr == NULL)
        return 1;
    for (size_t i = 0; i < view->count; i++)
        if (subject_fits(rule, &view->subjects[i], &match->groups)) {
            match->subject = about_text ? &view->subjects[i] : NULL;
            return 1;
        }
    return 0;
}

/* A rule that calls tools is passed over where none may be called. */
static int may_answer(struct script *script, struct rule *rule, const struct view *view)
{
    int no_calls =
        view->request->tool_choice == GUDGEON_CHOICE_NONE || view->request->tool_count == 0;
    if (no_calls && gudgeon_json_item(gudgeon_json_get(rule->answer, "calls"), 0).ptr != NULL)
        return 0;
    if (rule->times == 0)
        return 1;
    uint64_t used = gudgeon_json_get(rule->answer, "error").ptr != NULL
                        ? atomic_load(&rule->failed)
                        : view_count_marks(view, (size_t)(rule - script->rules));
    return used < rule->times;
}

void match_find(struct match *match, struct script *script, const struct view *view)
{
    *match = (struct match){.view = view};
    for (size_t i = 0; i < script->rule_count && match->rule == NULL; i++)
        if (may_answer(script, &script->rules[i], view) &&
            conditions_hold(&script->rules[i], match))
            match->rule = &script->rules[i];
}

void match_fini(struct match *match)
{
    pcre2_match_data_free(match->groups);
}
