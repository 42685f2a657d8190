/* SPDX-License-Identifier: MIT */
#include "match.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_REPEATS = 1000 }; /* the product of all bounds: the matcher unrolls them */

/* Puts a backslash before each character that is not plain in an extended expression. */
static void escape(const char *pattern, char escaped[2 * MATCH_PATTERN_SIZE])
{
    for (; *pattern != '\0'; pattern++) {
        if (strchr("\\^.[$()|*+?{", *pattern) != NULL)
            *escaped++ = '\\';
        *escaped++ = *pattern;
    }
    *escaped = '\0';
}

/* The larger number of the bound at `brace` ("{3,20}"), at least 1. */
static unsigned long bound_of(const char *brace)
{
    char *end;
    unsigned long low = strtoul(brace + 1, &end, 10), high = 0;
    if (*end == ',')
        high = strtoul(end + 1, NULL, 10);
    low = low > high ? low : high;
    return low > 0 ? low : 1;
}

static int check_cost(const char *pattern, struct reason *why)
{
    unsigned long repeats = 1;
    for (const char *at = pattern; *at != '\0'; at++) {
        if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
            return because(why, "back references such as \\%c are not supported", at[1]);
        if (*at == '\\' && at[1] != '\0')
            at++;
        else if (*at == '{' && bound_of(at) <= MAX_REPEATS)
            repeats *= bound_of(at);
        else if (*at == '{')
            repeats = MAX_REPEATS + 1;
        if (repeats > MAX_REPEATS)
            return because(why,
                           "the bounds {…} of the pattern are too large: at most %d, all "
                           "multiplied",
                           MAX_REPEATS);
    }
    return 0;
}

int match_init(struct match *match, const char *pattern, bool is_regex, bool ignores_case,
               struct reason *why)
{
    char escaped[2 * MATCH_PATTERN_SIZE];
    char message[256];
    *match = (struct match){.literal = is_regex || ignores_case ? NULL : pattern};
    if (match->literal != NULL)
        return 0;
    if (is_regex && check_cost(pattern, why) < 0)
        return -1;
    if (!is_regex)
        escape(pattern, escaped);
    int error = regcomp(&match->regex, is_regex ? pattern : escaped,
                        REG_EXTENDED | (ignores_case ? REG_ICASE : 0));
    if (error == 0)
        return 0;
    regerror(error, &match->regex, message, sizeof message);
    return because(why,
                   "the pattern is no POSIX extended regular expression (%s); leave `regex` "
                   "out to search for it literally",
                   message);
}

void match_fini(struct match *match)
{
    if (match->literal == NULL)
        regfree(&match->regex);
}

long match_line(const struct match *match, const char *line)
{
    if (match->literal != NULL) {
        const char *hit = strstr(line, match->literal);
        return hit != NULL ? hit - line : -1;
    }
    regmatch_t where;
    return regexec(&match->regex, line, 1, &where, 0) == 0 ? (long)where.rm_so : -1;
}
