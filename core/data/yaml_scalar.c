/* SPDX-License-Identifier: MIT */
#include "data/yaml.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"

/* What the host's JSON reader takes, and a digit that add_decimal may add at either end. */
enum { MAX_DIGITS = JSON_MAX_NUMBER - 2 };

/* ---- forms: YAML 1.2.2 §10.3.2 --------------------------------------------------------------- */

static const struct {
    const char *text;
    enum yaml_form form;
} words[] = {
    {"", YAML_FORM_NULL},           {"~", YAML_FORM_NULL},          {"null", YAML_FORM_NULL},
    {"Null", YAML_FORM_NULL},       {"NULL", YAML_FORM_NULL},       {"true", YAML_FORM_TRUE},
    {"True", YAML_FORM_TRUE},       {"TRUE", YAML_FORM_TRUE},       {"false", YAML_FORM_FALSE},
    {"False", YAML_FORM_FALSE},     {"FALSE", YAML_FORM_FALSE},     {".nan", YAML_FORM_NOT_FINITE},
    {".NaN", YAML_FORM_NOT_FINITE}, {".NAN", YAML_FORM_NOT_FINITE},
};

static const char *const infinities[] = {".inf", ".Inf", ".INF"};

static const char digits[] = "0123456789";

static const char *skip_sign(const char *text)
{
    return text + (text[0] == '+' || text[0] == '-');
}

static size_t run_of(const char **text, const char *characters)
{
    size_t len = strspn(*text, characters);
    *text += len;
    return len;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?, or [-+]? [0-9]+ */
static enum yaml_form decimal_form(const char *text)
{
    const char *at = skip_sign(text), *start = at;
    size_t whole = run_of(&at, digits);
    if (*at == '\0' && whole > 0)
        return whole > 1 && start[0] == '0' ? YAML_FORM_LEADING_ZERO : YAML_FORM_INT;
    if (*at == '.') {
        at++;
        if (run_of(&at, digits) == 0 && whole == 0)
            return YAML_FORM_TEXT;
    } else if (whole == 0) {
        return YAML_FORM_TEXT;
    }
    if (*at == 'e' || *at == 'E') {
        at = skip_sign(at + 1);
        if (run_of(&at, digits) == 0)
            return YAML_FORM_TEXT;
    }
    return *at == '\0' ? YAML_FORM_FLOAT : YAML_FORM_TEXT;
}

/* 0o and octal digits, or 0x and hexadecimal ones; no sign. */
static bool is_based(const char *text)
{
    bool is_octal = starts_with(text, "0o"), is_hex = starts_with(text, "0x");
    if (!is_octal && !is_hex)
        return false;
    size_t len = strlen(text + 2);
    return len > 0 && len == strspn(text + 2, is_octal ? "01234567" : "0123456789abcdefABCDEF");
}

enum yaml_form yaml_form(gudgeon_str text)
{
    if (memchr(text.ptr, '\0', (size_t)text.len) != NULL)
        return YAML_FORM_TEXT;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (str_is(text, words[i].text))
            return words[i].form;
    for (size_t i = 0; i < COUNT_OF(infinities); i++)
        if (strcmp(skip_sign(text.ptr), infinities[i]) == 0)
            return YAML_FORM_NOT_FINITE;
    return is_based(text.ptr) ? YAML_FORM_INT : decimal_form(text.ptr);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int add_based(const char *text, struct buf *out, struct err *err)
{
    unsigned base = text[1] == 'o' ? 8 : 16;
    uint64_t value = 0;
    for (const char *at = text + 2; *at != '\0'; at++) {
        unsigned digit = *at <= '9' ? (unsigned)(*at - '0') : (unsigned)((*at | 0x20) - 'a' + 10);
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return err_set(err, ERR_INVALID, "%s is too large (64 bits at most)", text);
    }
    return buf_addf(out, "%" PRIu64, value);
}

/* JSON wants a digit on either side of the point, no zeros before others, no "+" in front. */
static int add_decimal(const char *text, struct buf *out)
{
    const char *at = skip_sign(text);
    if (text[0] == '-')
        buf_add_char(out, '-');
    while (at[0] == '0' && strchr(digits, at[1]) != NULL && at[1] != '\0')
        at++;
    if (at[0] == '.')
        buf_add_char(out, '0');
    size_t whole = strspn(at, digits);
    buf_add(out, at, whole);
    at += whole;
    if (at[0] == '.' && (at[1] == '\0' || strchr(digits, at[1]) == NULL))
        return buf_addf(out, ".0%s", at + 1);
    return buf_add_str(out, at);
}

int yaml_number(gudgeon_str text, struct buf *out, struct err *err)
{
    if (text.len > MAX_DIGITS)
        return err_set(err, ERR_INVALID, "is no number (too long)");
    switch (yaml_form(text)) {
    case YAML_FORM_INT:
        if (is_based(text.ptr))
            return add_based(text.ptr, out, err);
        return add_decimal(text.ptr, out);
    case YAML_FORM_FLOAT:
        return add_decimal(text.ptr, out);
    case YAML_FORM_LEADING_ZERO:
        return err_set(err, ERR_INVALID,
                       "%s can mean two numbers; write it without the leading zero, or with 0o if "
                       "it is octal, or quoted if it is text",
                       text.ptr);
    case YAML_FORM_NOT_FINITE:
        return err_set(err, ERR_INVALID, "%s is no number that JSON has; quote it if it is text",
                       text.ptr);
    default:
        return err_set(err, ERR_INVALID, "is no number");
    }
}
