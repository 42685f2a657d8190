/* SPDX-License-Identifier: MIT */
#include "glob.h"

#include <stddef.h>
#include <string.h>

/* The bytes of the character at `text`: what `?` takes. */
static size_t character(const char *text)
{
    size_t len = 1;
    while (len < 4 && ((unsigned char)text[0] & 0xC0) == 0xC0 &&
           ((unsigned char)text[len] & 0xC0) == 0x80)
        len++;
    return len;
}

/* The end of the class that begins at `pattern` ("[…]"), NULL when it is not closed. */
static const char *class_end(const char *pattern)
{
    const char *at = pattern + 1;
    at += *at == '!' || *at == '^';
    at += *at == ']';
    const char *end = strchr(at, ']');
    return end != NULL ? end + 1 : NULL;
}

static bool class_matches(const char *pattern, const char *end, unsigned char c)
{
    const char *at = pattern + 1;
    bool is_negated = *at == '!' || *at == '^', is_in = false;
    for (at += is_negated; at < end - 1; at++) {
        unsigned char low = (unsigned char)*at, high = low;
        if (at[1] == '-' && at + 2 < end - 1) {
            high = (unsigned char)at[2];
            at += 2;
        }
        is_in |= low <= c && c <= high;
    }
    return is_in != is_negated;
}

/* Takes one element of the pattern that is no star. False = no match. */
static bool take_one(const char **pattern, const char **text)
{
    const char *end = **pattern == '[' ? class_end(*pattern) : NULL;
    if (**text == '\0')
        return false;
    if (end != NULL) {
        bool matches = **text != '/' && class_matches(*pattern, end, (unsigned char)**text);
        *pattern = end;
        (*text)++;
        return matches;
    }
    bool is_any = **pattern == '?';
    if (is_any ? **text == '/' : **pattern != **text)
        return false;
    *text += is_any ? character(*text) : 1;
    (*pattern)++;
    return true;
}

/* Where matching goes on when what follows a star has failed: the star takes more. */
struct star {
    const char *pattern; /* after the star; NULL = none yet */
    const char *text;
    bool by_parts; /* "**" and a slash: takes whole parts */
};

static struct star double_star(const char *start, const char *pattern, const char *text)
{
    bool by_parts = pattern[2] == '/' && (pattern == start || pattern[-1] == '/');
    return (struct star){pattern + 2 + by_parts, text, by_parts};
}

/* Lets the star take more; false when there is no more that it could take. */
static bool extend(struct star *star, bool stops_at_slash)
{
    if (star->pattern == NULL || *star->text == '\0' || (stops_at_slash && *star->text == '/'))
        return false;
    const char *slash = star->by_parts ? strchr(star->text, '/') : star->text;
    star->text = slash != NULL ? slash + 1 : star->text;
    return slash != NULL;
}

/* Only the last star of each kind is ever tried again: what an earlier one took is the least that
 * it could, so giving it more cannot help. */
static bool match(const char *pattern, const char *text)
{
    const char *start = pattern;
    struct star one = {0}, deep = {0};
    while (*text != '\0' || *pattern != '\0') {
        if (pattern[0] == '*' && pattern[1] == '*') {
            deep = double_star(start, pattern, text);
            pattern = deep.pattern;
            one.pattern = NULL;
        } else if (*pattern == '*') {
            one = (struct star){++pattern, text, false};
        } else if (!take_one(&pattern, &text)) {
            struct star *star = extend(&one, true) ? &one : extend(&deep, false) ? &deep : NULL;
            if (star == NULL)
                return false;
            pattern = star->pattern;
            text = star->text;
            if (star == &deep)
                one.pattern = NULL;
        }
    }
    return true;
}

bool glob_goes_deep(const char *pattern)
{
    return strchr(pattern, '/') != NULL || strstr(pattern, "**") != NULL;
}

bool glob_matches(const char *pattern, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!glob_goes_deep(pattern) && slash != NULL)
        path = slash + 1;
    return match(pattern, path);
}
