/* SPDX-License-Identifier: MIT */
#ifndef SCRIPT_H
#define SCRIPT_H

/*
 * script: a model backend that answers by rules, so that agents can be tried and tested with no
 * network and no key. It says GUDGEON_IS_SCRIPTED, and the host says so wherever it shows.
 *
 * The first rule whose conditions all hold answers. Conditions look at the messages only, so a
 * resumed run gets the answers that it would have got, and instances share nothing. `times` counts
 * in the messages as well: a reply of such a rule carries an opaque block with the rule's number.
 * Only a rule that fails (`error`) leaves no message behind; those are counted in the instance.
 *
 * Texts may hold {{0}} to {{9}} and {{NAME}} (groups of `matches`), {{last}} (the text that was
 * matched: the last message, or the tool result), {{user}} (the last user message) and {{task}}
 * (the first). "\{{" is a literal "{{".
 */

#include <gudgeon/json.h>
#include <gudgeon/plugin.h>
#include <stdatomic.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Values are JSON within the instance's copy of its configuration; absent where not said. */
struct rule {
    gudgeon_str when; /* object */
    pcre2_code *matches;
    gudgeon_str answer;          /* the rule's object itself: say, think, calls, … */
    uint64_t times;              /* 0 = always */
    atomic_uint_fast64_t failed; /* how often its error was given */
};

struct script {
    char *config;
    struct rule *rules;
    size_t rule_count; /* the last one is `default`, if there is one */
};

extern const char config_schema[];

int32_t script_create(void **self, const gudgeon_call *call, const gudgeon_create *request);
int32_t script_destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request);
int32_t script_generate(void *self, const gudgeon_call *call, const gudgeon_generate *request);

/* ---- view.c: the conversation as rules see it ---------------------------------------------- */

struct subject {
    gudgeon_str role;
    gudgeon_str tool; /* raw name of the tool; absent for messages */
    int is_error;
    gudgeon_buf text;
};

/* What the conditions look at: the last message, or all results that came last. */
struct view {
    const gudgeon_generate *request;
    struct subject *subjects;
    size_t count;
    uint64_t turn; /* which reply of the conversation is due, from 1 */
    uint64_t step; /* which since the last user message, from 1 */
    int failed;
};

void view_init(struct view *view, const gudgeon_generate *request);
void view_fini(struct view *view);
/* How often the rule of that number has answered, by its marks. */
uint64_t view_count_marks(const struct view *view, size_t number);
/* Adds the text of the first (`latest` = 0) or last user message. */
void view_add_user(const struct view *view, int latest, gudgeon_buf *out);

#define MARK_KIND "script.rule"

/* ---- match.c ------------------------------------------------------------------------------- */

/* The rule that answers, and what it matched. */
struct match {
    struct rule *rule; /* NULL = none */
    const struct view *view;
    const struct subject *subject; /* NULL = all that came last */
    pcre2_match_data *groups;      /* NULL = no pattern */
};

void match_find(struct match *match, struct script *script, const struct view *view);
void match_fini(struct match *match);

/* ---- template.c ---------------------------------------------------------------------------- */

/* Adds `template`, a JSON string, filled in; absent adds nothing. */
void template_fill(gudgeon_str template, const struct match *match, gudgeon_buf *out);
/* Adds any JSON value with the strings in it filled in (keys stay). */
void template_fill_json(gudgeon_str value, const struct match *match, gudgeon_buf *out);
/* The first placeholder anywhere in `value` that means nothing, as plain text in `name`; 0 when
 * all are known. */
int template_find_unknown(gudgeon_str value, const pcre2_code *pattern, gudgeon_buf *name);

#endif
