/* SPDX-License-Identifier: MIT */
#include "data/schema_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json_text.h"

struct schema_regex {
    pcre2_code *code;
    uint32_t min_length; /* of what it matches, in characters */
};

/* ---- memory, for PCRE2 --------------------------------------------------------------------- */

static void *allocate(size_t size, void *unused)
{
    (void)unused;
    return xmalloc(size);
}

static void release(void *ptr, void *unused)
{
    (void)unused;
    free(ptr);
}

static pcre2_general_context *memory_new(void)
{
    return pcre2_general_context_create(allocate, release, NULL);
}

/* ---- from ECMA-262 to PCRE2 ---------------------------------------------------------------- */

/* The members of \s and of \S, as they stand between brackets. */
#define SPACE "\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
#define NO_SPACE                                                                                   \
    "\\u0000-\\u0008\\u000e-\\u001f!-\\u009f\\u00a1-\\u167f\\u1681-\\u1fff\\u200b-\\u2027"         \
    "\\u202a-\\u202e\\u2030-\\u205e\\u2060-\\u2fff\\u3001-\\ufefe\\uff00-\\u{10ffff}"

/* Names of general categories that PCRE2 has by their letters only. */
static const struct {
    const char *name, *letters;
} categories[] = {
    {"Letter", "L"},
    {"Cased_Letter", "L&"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Other", "C"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Surrogate", "Cs"},
    {"Private_Use", "Co"},
    {"Unassigned", "Cn"},
};

/* What follows \p or \P at `at`: `{NAME}`, with a short name where there is one. Returns the bytes
 * it took. */
static size_t add_property(struct buf *out, const char *at, const char *end)
{
    const char *close = at < end && *at == '{' ? memchr(at, '}', (size_t)(end - at)) : NULL;
    if (close == NULL)
        return 0;
    static const char prefix[] = "General_Category=";
    gudgeon_str name = {at + 1, (uint64_t)(close - at - 1)};
    if (name.len >= sizeof prefix && memcmp(name.ptr, prefix, sizeof prefix - 1) == 0)
        name = (gudgeon_str){name.ptr + sizeof prefix - 1, name.len - (sizeof prefix - 1)};
    for (size_t i = 0; i < COUNT_OF(categories); i++)
        if (str_is(name, categories[i].name))
            name = str_of(categories[i].letters);
    buf_addf(out, "{%.*s}", STR_ARG(name));
    return (size_t)(close + 1 - at);
}

/* The value of `\uXXXX` at `at`, or 0. */
static uint32_t unicode_escape(const char *at, const char *end)
{
    enum { ESCAPE_LEN = 6 };
    if (end - at < ESCAPE_LEN || at[0] != '\\' || at[1] != 'u')
        return 0;
    char digits[5] = {at[2], at[3], at[4], at[5], '\0'};
    char *rest;
    unsigned long value = strtoul(digits, &rest, 16);
    return rest == digits + 4 ? (uint32_t)value : 0;
}

/* A pair of escaped surrogates, which PCRE2 refuses, as the one character that they are. Returns
 * the bytes it took. */
static size_t add_surrogates(struct buf *out, const char *at, const char *end)
{
    uint32_t high = unicode_escape(at, end);
    if (high < 0xd800 || high > 0xdbff)
        return 0;
    uint32_t low = unicode_escape(at + 6, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    buf_addf(out, "\\u{%x}", 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    return 12;
}

/* The escape at `at` (a backslash and at least one byte). Returns the bytes it took. */
static size_t add_escape(struct buf *out, const char *at, const char *end, bool in_class)
{
    size_t pair = add_surrogates(out, at, end);
    if (pair > 0)
        return pair;
    switch (at[1]) {
    case 's':
        buf_add_str(out, in_class ? SPACE : "[" SPACE "]");
        return 2;
    case 'S':
        buf_add_str(out, in_class ? NO_SPACE : "[^" SPACE "]");
        return 2;
    case 'p':
    case 'P':
        buf_add(out, at, 2);
        return 2 + add_property(out, at + 2, end);
    default:
        buf_add(out, at, 2);
        return 2;
    }
}

static void translate(struct buf *out, gudgeon_str pattern)
{
    const char *at = pattern.ptr, *end = at + pattern.len;
    bool in_class = false;
    while (at < end) {
        if (*at == '\\' && end - at > 1) {
            at += add_escape(out, at, end, in_class);
            continue;
        }
        if (*at == '[')
            in_class = true;
        else if (*at == ']')
            in_class = false;
        buf_add_char(out, *at++);
    }
}

/* ---- compiling and searching --------------------------------------------------------------- */

static pcre2_compile_context *rules_new(pcre2_general_context *memory)
{
    enum { PATTERN_MAX = 32768 };
    pcre2_compile_context *rules = pcre2_compile_context_create(memory);
    pcre2_set_compile_extra_options(rules, PCRE2_EXTRA_ALT_BSUX);
    pcre2_set_max_pattern_length(rules, PATTERN_MAX);
    return rules;
}

int schema_regex_new(gudgeon_str pattern, struct schema_regex **ret, struct err *err)
{
    static const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX |
                                    PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS |
                                    PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    translate(&text, pattern);
    pcre2_general_context *memory = memory_new();
    pcre2_compile_context *rules = rules_new(memory);
    int code;
    PCRE2_SIZE at;
    pcre2_code *compiled =
        pcre2_compile((PCRE2_SPTR)text.data, text.len, options, &code, &at, rules);
    pcre2_compile_context_free(rules);
    pcre2_general_context_free(memory);
    buf_fini(&text);
    if (compiled == NULL) {
        PCRE2_UCHAR reason[128] = "";
        pcre2_get_error_message(code, reason, sizeof reason);
        return err_set(err, ERR_INVALID, "is no regular expression that can be used: %s",
                       (const char *)reason);
    }
    struct schema_regex *regex = xmalloc(sizeof *regex);
    *regex = (struct schema_regex){.code = compiled};
    pcre2_pattern_info(compiled, PCRE2_INFO_MINLENGTH, &regex->min_length);
    *ret = regex;
    return 0;
}

void schema_regex_free(struct schema_regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    free(regex);
}

size_t schema_regex_bytes(const struct schema_regex *regex)
{
    size_t bytes = 0;
    pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &bytes);
    return bytes;
}

/* Counts the cost of one search. */
struct meter {
    int64_t steps; /* left */
    uint32_t min_length;
    size_t last_position;
};

/* PCRE2 calls this before each item of the pattern that it tries (PCRE2_AUTO_CALLOUT). How far it
 * went since the last time is what the item before took: a repeated character runs over the text
 * without a call, and over no more than the least length when it comes to nothing. */
static int pay(pcre2_callout_block *at, void *data)
{
    enum { BYTES_PER_STEP = 16 };
    struct meter *meter = data;
    size_t here = at->current_position, last = meter->last_position;
    size_t passed = (here > last ? here - last : last - here) + meter->min_length;
    meter->last_position = here;
    meter->steps -= 1 + (int64_t)(passed / BYTES_PER_STEP);
    return meter->steps < 0 ? PCRE2_ERROR_CALLOUT : 0;
}

int schema_regex_search(const struct schema_regex *regex, gudgeon_str text, int64_t *steps)
{
    enum { HEAP_MAX_KIB = 65536, BYTES_PER_STEP_READ = 64 };
    struct meter meter = {
        .steps = *steps - (int64_t)text.len / BYTES_PER_STEP_READ,
        .min_length = regex->min_length,
    };
    pcre2_general_context *memory = memory_new();
    pcre2_match_context *rules = pcre2_match_context_create(memory);
    pcre2_match_data *data = pcre2_match_data_create(1, memory);
    pcre2_set_heap_limit(rules, HEAP_MAX_KIB);
    pcre2_set_match_limit(rules, UINT32_MAX);
    pcre2_set_callout(rules, pay, &meter);
    int found = pcre2_match(regex->code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, data, rules);
    pcre2_match_data_free(data);
    pcre2_match_context_free(rules);
    pcre2_general_context_free(memory);
    *steps = meter.steps > 0 ? meter.steps : 0;
    if (found >= 0)
        return 1;
    bool gave_up = found == PCRE2_ERROR_CALLOUT || found == PCRE2_ERROR_MATCHLIMIT ||
                   found == PCRE2_ERROR_HEAPLIMIT || found == PCRE2_ERROR_DEPTHLIMIT;
    return gave_up ? ERR_LIMIT : 0;
}

int schema_regex_search_key(const struct schema_regex *regex, const char *key, int64_t *steps)
{
    if (strstr(key, JSON_KEY_NUL) == NULL)
        return schema_regex_search(regex, str_of(key), steps);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_add_key_text(&text, key);
    int found = schema_regex_search(regex, (gudgeon_str){text.data, text.len}, steps);
    buf_fini(&text);
    return found;
}
