/* SPDX-License-Identifier: MIT */
#include "script.h"

enum { MAX_GROUP = 9 };

/* ---- placeholders -------------------------------------------------------------------------- */

static void add_last(const struct match *match, gudgeon_buf *out)
{
    const struct view *view = match->view;
    if (match->subject != NULL) {
        gudgeon_buf_put(out, gudgeon_buf_str(&match->subject->text));
        return;
    }
    for (size_t i = 0; i < view->count; i++) {
        if (i > 0)
            gudgeon_buf_puts(out, "\n");
        gudgeon_buf_put(out, gudgeon_buf_str(&view->subjects[i].text));
    }
}

static void add_user(const struct match *match, gudgeon_buf *out)
{
    view_add_user(match->view, 1, out);
}

static void add_task(const struct match *match, gudgeon_buf *out)
{
    view_add_user(match->view, 0, out);
}

static const struct {
    const char *name;
    void (*add)(const struct match *match, gudgeon_buf *out);
} texts[] = {
    {"last", add_last},
    {"user", add_user},
    {"task", add_task},
};

/* The group that a placeholder names, by number or name; -1 = the pattern has none such. */
static int group_of(gudgeon_str name, const pcre2_code *pattern)
{
    char text[64];
    uint32_t count = 0;
    if (pattern == NULL || name.len == 0 || name.len >= sizeof text)
        return -1;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    pcre2_pattern_info(pattern, PCRE2_INFO_CAPTURECOUNT, &count);
    if (name.len == 1 && *text >= '0' && *text <= '0' + MAX_GROUP)
        return (uint32_t)(*text - '0') <= count ? *text - '0' : -1;
    int group = pcre2_substring_number_from_name(pattern, (PCRE2_SPTR)text);
    return group > 0 ? group : -1;
}

static int is_known(gudgeon_str name, const pcre2_code *pattern)
{
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (gudgeon_is(name, texts[i].name))
            return 1;
    return group_of(name, pattern) >= 0;
}

static void add_group(int group, const struct match *match, gudgeon_buf *out)
{
    const PCRE2_SIZE *bounds = pcre2_get_ovector_pointer(match->groups);
    PCRE2_SIZE from = bounds[2 * group], to = bounds[2 * group + 1];
    /* A group that took no part in the match is empty; \K can put the start behind the end. */
    if (from != PCRE2_UNSET && from <= to)
        gudgeon_buf_add(out, match->subject->text.ptr + from, to - from);
}

static void add_value(gudgeon_str name, const struct match *match, gudgeon_buf *out)
{
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (gudgeon_is(name, texts[i].name)) {
            texts[i].add(match, out);
            return;
        }
    int group = group_of(name, match->rule->matches);
    if (group >= 0 && match->groups != NULL)
        add_group(group, match, out);
}

/* ---- texts --------------------------------------------------------------------------------- */

/* Takes the text up to the next placeholder off *rest into *plain, and the placeholder's name into
 * *name. 0 when no placeholder is left: then *plain is all of it. */
static int next_placeholder(gudgeon_str *rest, gudgeon_str *plain, gudgeon_str *name)
{
    const char *at = rest->ptr, *end = at + rest->len;
    const char *open = rest->len > 0 ? memmem(at, rest->len, "{{", 2) : NULL;
    const char *close = open != NULL ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
    plain->ptr = at;
    if (close == NULL) {
        plain->len = rest->len;
        return 0;
    }
    int escaped = open > at && open[-1] == '\\';
    plain->len = (uint64_t)(open - at) - (uint64_t)escaped;
    *name =
        escaped ? (gudgeon_str){NULL, 0} : (gudgeon_str){open + 2, (uint64_t)(close - open - 2)};
    rest->ptr = escaped ? open + 2 : close + 2;
    rest->len = (uint64_t)(end - rest->ptr);
    return 1;
}

static void fill_text(gudgeon_str text, const struct match *match, gudgeon_buf *out)
{
    gudgeon_str plain, name;
    while (next_placeholder(&text, &plain, &name)) {
        gudgeon_buf_put(out, plain);
        if (name.ptr != NULL)
            add_value(name, match, out);
        else
            gudgeon_buf_puts(out, "{{");
    }
    gudgeon_buf_put(out, plain);
}

void template_fill(gudgeon_str template, const struct match *match, gudgeon_buf *out)
{
    gudgeon_buf text = {0};
    gudgeon_json_decode(gudgeon_json_inner(template), &text);
    fill_text(gudgeon_buf_str(&text), match, out);
    out->failed |= text.failed;
    gudgeon_buf_free(&text);
}

/* ---- values -------------------------------------------------------------------------------- */

static void fill_string(gudgeon_str value, const struct match *match, gudgeon_buf *out)
{
    gudgeon_buf filled = {0};
    template_fill(value, match, &filled);
    gudgeon_buf_quote(out, gudgeon_buf_str(&filled));
    out->failed |= filled.failed;
    gudgeon_buf_free(&filled);
}

void template_fill_json(gudgeon_str value, const struct match *match, gudgeon_buf *out)
{
    char kind = gudgeon_json_kind(value);
    gudgeon_json_iter iter = gudgeon_json_each(value);
    gudgeon_str key, member;
    if (kind == '"') {
        fill_string(value, match, out);
        return;
    }
    if (kind != '{' && kind != '[') {
        gudgeon_buf_put(out, value);
        return;
    }
    gudgeon_buf_add(out, value.ptr, 1);
    for (int first = 1; gudgeon_json_next(&iter, &key, &member); first = 0) {
        if (!first)
            gudgeon_buf_puts(out, ",");
        if (kind == '{') {
            gudgeon_buf_puts(out, "\"");
            gudgeon_buf_put(out, key);
            gudgeon_buf_puts(out, "\":");
        }
        template_fill_json(member, match, out);
    }
    gudgeon_buf_puts(out, kind == '{' ? "}" : "]");
}

static int find_unknown_in_text(gudgeon_str value, const pcre2_code *pattern, gudgeon_buf *unknown)
{
    gudgeon_buf text = {0};
    gudgeon_str rest, plain, name;
    int found = 0;
    gudgeon_json_decode(gudgeon_json_inner(value), &text);
    rest = gudgeon_buf_str(&text);
    while (!found && next_placeholder(&rest, &plain, &name)) {
        found = name.ptr != NULL && !is_known(name, pattern);
        if (found)
            gudgeon_buf_put(unknown, name);
    }
    gudgeon_buf_free(&text);
    return found;
}

int template_find_unknown(gudgeon_str value, const pcre2_code *pattern, gudgeon_buf *name)
{
    gudgeon_json_iter iter = gudgeon_json_each(value);
    gudgeon_str member;
    if (gudgeon_json_kind(value) == '"')
        return find_unknown_in_text(value, pattern, name);
    while (gudgeon_json_next(&iter, NULL, &member))
        if (template_find_unknown(member, pattern, name))
            return 1;
    return 0;
}
