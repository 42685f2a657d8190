/* SPDX-License-Identifier: MIT */
#include "data/json.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json_text.h"

/* Text is read in one pass. Containers are put into their parent when they open, so what is under
 * construction is always one tree under `root`, and nesting is a loop over `open`, no recursion. */
struct reader {
    const char *text; /* the beginning, for lines and columns */
    const char *at;
    const char *end;
    struct json_object *root;
    struct json_object **open; /* JSON_MAX_DEPTH places */
    int depth;                 /* containers open around `at` */
    int containers;            /* made so far */
    bool duplicates;           /* of equal names the last counts */
    bool just_opened;          /* nothing stands in the innermost container: no comma is due */
    struct buf key;            /* where the next value goes, when the innermost is an object */
    struct buf unescaped;
    struct err *err;
};

/* ---- faults -------------------------------------------------------------------------------- */

/* "line L, column C: WHAT" for the place `at`. */
static int fail_at(const struct reader *r, const char *at, int code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int fail_at(const struct reader *r, const char *at, int code, const char *format, ...)
{
    if (r->err == NULL)
        return code;
    size_t line = 1;
    const char *line_start = r->text;
    for (const char *p = r->text; p < at; p++)
        if (*p == '\n') {
            line++;
            line_start = p + 1;
        }
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *what = xvasprintf(format, args);
    va_end(args);
    return err_set(r->err, code, "line %zu, column %zu: %s", line,
                   utf8_count(line_start, (size_t)(at - line_start)) + 1, what);
}

/* Why a character that people do write is no JSON. */
static const char *hint(char c)
{
    static const struct {
        const char *characters, *hint;
    } hints[] = {
        {"'", " (JSON text stands in double quotes)"},
        {"/#", " (JSON has no comments)"},
        {"NI", " (JSON has no NaN, Infinity or None)"},
        {"TF", " (true and false are lower case)"},
        {"+.", " (a number begins with a digit or a minus)"},
    };
    for (size_t i = 0; i < COUNT_OF(hints); i++)
        if (c != '\0' && strchr(hints[i].characters, c) != NULL)
            return hints[i].hint;
    return "";
}

/* `wanted` is due where something else stands. */
static int fail_expected(const struct reader *r, const char *wanted)
{
    if (r->at == r->end)
        return fail_at(r, r->at, ERR_INVALID, "the text ends where %s is due", wanted);
    unsigned char c = (unsigned char)*r->at;
    if (c > 0x20 && c < 0x7f)
        return fail_at(r, r->at, ERR_INVALID, "%s is due, not %c%s", wanted, c, hint((char)c));
    uint32_t code_point;
    size_t len = utf8_decode(r->at, (size_t)(r->end - r->at), &code_point);
    if (len > 1)
        return fail_at(r, r->at, ERR_INVALID, "%s is due, not %.*s", wanted, (int)len, r->at);
    return fail_at(r, r->at, ERR_INVALID, "%s is due, not the byte 0x%02x", wanted, c);
}

/* ---- placing values ------------------------------------------------------------------------ */

static struct json_object *innermost(const struct reader *r)
{
    return r->open[r->depth - 1];
}

static bool in_object(const struct reader *r)
{
    return json_object_get_type(innermost(r)) == json_type_object;
}

static void place(struct reader *r, struct json_object *value)
{
    r->just_opened = false;
    int status = 0;
    if (r->depth == 0)
        r->root = value;
    else if (in_object(r))
        status = json_object_object_add_ex(innermost(r), r->key.data, value,
                                           r->duplicates ? 0 : JSON_C_OBJECT_ADD_KEY_IS_NEW);
    else
        status = json_object_array_add(innermost(r), value);
    json_added(status);
}

static int open_container(struct reader *r)
{
    if (r->depth == JSON_MAX_DEPTH)
        return fail_at(r, r->at, ERR_LIMIT, "nested deeper than %d levels", JSON_MAX_DEPTH);
    if (r->containers == JSON_MAX_CONTAINERS)
        return fail_at(r, r->at, ERR_LIMIT, "more than %d objects and arrays", JSON_MAX_CONTAINERS);
    enum { FIRST_ITEMS = 4 };
    bool is_object = *r->at++ == '{';
    struct json_object *container =
        json_made(is_object ? json_object_new_object() : json_object_new_array_ext(FIRST_ITEMS));
    place(r, container);
    r->open[r->depth++] = container;
    r->containers++;
    r->just_opened = true;
    return 0;
}

/* ---- strings ------------------------------------------------------------------------------- */

/* Four hexadecimal digits at r->at. */
static int read_hex4(struct reader *r, uint32_t *ret)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->end ? *r->at : '\0';
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            digit = (uint32_t)((c | 0x20) - 'a' + 10);
        else
            return fail_expected(r, "a hexadecimal digit (\\u takes four)");
        value = value << 4 | digit;
    }
    *ret = value;
    return 0;
}

static bool is_high_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_surrogate(uint32_t code)
{
    return code >= 0xdc00 && code <= 0xdfff;
}

/* The digits after \u, and the low half that must follow a high surrogate. */
static int read_unicode_escape(struct reader *r)
{
    const char *start = r->at;
    uint32_t code, low = 0;
    int status = read_hex4(r, &code);
    if (status < 0)
        return status;
    if (is_high_surrogate(code) && r->end - r->at >= 2 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        status = read_hex4(r, &low);
        if (status < 0)
            return status;
    }
    if (is_high_surrogate(code) && is_low_surrogate(low))
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    else if (is_high_surrogate(code) || is_low_surrogate(code))
        return fail_at(r, start, ERR_INVALID, "\\u%.4s is half of a surrogate pair", start);
    char bytes[4];
    return buf_add(&r->unescaped, bytes, utf8_encode(code, bytes));
}

/* What follows a backslash. */
static int read_escape(struct reader *r)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at : '\0';
    if (c == 'u') {
        r->at++;
        return read_unicode_escape(r);
    }
    const char *letter = c != '\0' ? strchr(letters, c) : NULL;
    if (letter == NULL)
        return fail_expected(r, "one of \" \\ / b f n r t u after a backslash");
    r->at++;
    return buf_add_char(&r->unescaped, meanings[letter - letters]);
}

/* Passes over text that is what it is, up to a quote, a backslash or a control character. */
static int read_run(struct reader *r)
{
    size_t left = (size_t)(r->end - r->at);
    bool is_ascii;
    size_t run = json_plain_run(r->at, left, &is_ascii);
    size_t valid = is_ascii ? run : utf8_valid_prefix(r->at, run);
    if (valid < run)
        return fail_at(r, r->at + valid, ERR_INVALID, "the byte 0x%02x is not UTF-8 here",
                       (unsigned char)r->at[valid]);
    r->at += run;
    return 0;
}

/* Reads the string whose opening quote is at r->at. *ret is borrowed: from the text itself, or
 * from r->unescaped when there were escapes; it is good until the next string. */
static int read_string(struct reader *r, gudgeon_str *ret)
{
    const char *quote = r->at++;
    buf_reset(&r->unescaped);
    for (;;) {
        const char *run = r->at;
        int status = read_run(r);
        if (status < 0)
            return status;
        gudgeon_str part = {run, (uint64_t)(r->at - run)};
        if (r->at == r->end)
            return fail_at(r, quote, ERR_INVALID,
                           "the text ends inside the string that begins here");
        char stop = *r->at;
        if (stop == '"' && r->unescaped.len == 0) {
            r->at++;
            *ret = part;
            return 0;
        }
        buf_add(&r->unescaped, part.ptr, part.len);
        if (stop != '"' && stop != '\\')
            return fail_at(
                r, r->at, ERR_INVALID,
                "the control character 0x%02x stands in a string (write it as an escape)",
                (unsigned char)stop);
        r->at++;
        if (stop == '"') {
            *ret = (gudgeon_str){r->unescaped.data, r->unescaped.len};
            return 0;
        }
        status = read_escape(r);
        if (status < 0)
            return status;
    }
}

static int read_string_value(struct reader *r)
{
    gudgeon_str text;
    int status = read_string(r, &text);
    if (status == 0)
        place(r, json_made(json_object_new_string_len(text.ptr, (int)text.len)));
    return status;
}

static void set_key(struct reader *r, gudgeon_str text)
{
    buf_reset(&r->key);
    const char *nul;
    while ((nul = memchr(text.ptr, '\0', text.len)) != NULL) {
        size_t before = (size_t)(nul - text.ptr);
        buf_add(&r->key, text.ptr, before);
        buf_add_str(&r->key, JSON_KEY_NUL);
        text = (gudgeon_str){nul + 1, text.len - before - 1};
    }
    buf_add(&r->key, text.ptr, text.len);
}

/* A member's name and its colon. */
static int read_key(struct reader *r)
{
    const char *start = r->at;
    if (start == r->end || *start != '"')
        return fail_expected(r, "a name in double quotes");
    gudgeon_str text;
    int status = read_string(r, &text);
    if (status < 0)
        return status;
    set_key(r, text);
    if (r->duplicates || !json_object_object_get_ex(innermost(r), r->key.data, NULL))
        return 0;
    char name[JSON_PREVIEW_SIZE];
    json_preview_key(r->key.data, name);
    return fail_at(r, start, ERR_INVALID, "the name %s stands twice in one object", name);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static bool at_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take_one_of(struct reader *r, char a, char b)
{
    bool there = r->at < r->end && (*r->at == a || *r->at == b);
    r->at += there;
    return there;
}

static int pass_digits(struct reader *r)
{
    if (!at_digit(r))
        return fail_expected(r, "a digit");
    while (at_digit(r))
        r->at++;
    return 0;
}

/* Passes over a number by the grammar of RFC 8259 §6. */
static int pass_number(struct reader *r, bool *ret_is_integer)
{
    *ret_is_integer = true;
    take_one_of(r, '-', '-');
    const char *first = r->at;
    int status = pass_digits(r);
    if (status == 0 && *first == '0' && r->at - first > 1)
        return fail_at(r, first, ERR_INVALID, "a number does not begin with a superfluous 0");
    if (status == 0 && take_one_of(r, '.', '.')) {
        *ret_is_integer = false;
        status = pass_digits(r);
    }
    if (status == 0 && take_one_of(r, 'e', 'E')) {
        *ret_is_integer = false;
        take_one_of(r, '+', '-');
        status = pass_digits(r);
    }
    return status;
}

/* Whether int64_t gives the same digits back. */
static bool fits_int64(const char *digits, int64_t *ret)
{
    if (strcmp(digits, "-0") == 0)
        return false;
    errno = 0;
    *ret = strtoll(digits, NULL, 10);
    return errno == 0;
}

static int read_number(struct reader *r)
{
    const char *start = r->at;
    bool is_integer;
    int status = pass_number(r, &is_integer);
    if (status < 0)
        return status;
    size_t len = (size_t)(r->at - start);
    if (len > JSON_MAX_NUMBER)
        return fail_at(r, start, ERR_LIMIT, "a number of more than %d characters", JSON_MAX_NUMBER);
    char digits[JSON_MAX_NUMBER + 1];
    memcpy(digits, start, len);
    digits[len] = '\0';
    int64_t integer;
    if (is_integer && fits_int64(digits, &integer))
        place(r, json_made(json_object_new_int64(integer)));
    else
        place(r, json_made(json_object_new_double_s(strtod(digits, NULL), digits)));
    return 0;
}

/* ---- the tree ------------------------------------------------------------------------------ */

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

/* Takes `word` when it stands at r->at. */
static bool take_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

static int read_word(struct reader *r)
{
    if (take_word(r, "null"))
        place(r, NULL);
    else if (take_word(r, "true"))
        place(r, json_made(json_object_new_boolean(true)));
    else if (take_word(r, "false"))
        place(r, json_made(json_object_new_boolean(false)));
    else
        return fail_expected(r, "a value");
    return 0;
}

/* Reads a scalar whole; opens a container. */
static int read_value(struct reader *r)
{
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
    case '[':
        return open_container(r);
    case '"':
        return read_string_value(r);
    case '-':
    case '0' ... '9':
        return read_number(r);
    default:
        return read_word(r);
    }
}

/* Goes on in the innermost container: closes it, or reads its next item. */
static int read_next(struct reader *r)
{
    bool is_object = in_object(r);
    skip_space(r);
    if (r->at < r->end && *r->at == (is_object ? '}' : ']')) {
        r->at++;
        r->depth--;
        r->just_opened = false;
        return 0;
    }
    if (!r->just_opened) {
        if (!take_one_of(r, ',', ','))
            return fail_expected(r, is_object ? "a comma or }" : "a comma or ]");
        skip_space(r);
    }
    if (is_object) {
        int status = read_key(r);
        if (status < 0)
            return status;
        skip_space(r);
        if (!take_one_of(r, ':', ':'))
            return fail_expected(r, "a colon");
        skip_space(r);
    }
    return read_value(r);
}

static int read_tree(struct reader *r)
{
    if (r->end - r->text > INT_MAX)
        return err_set(r->err, ERR_LIMIT, "JSON text of more than %d bytes", INT_MAX);
    if (take_word(r, "\xef\xbb\xbf"))
        return fail_at(r, r->text, ERR_INVALID, "a byte order mark stands before the value");
    skip_space(r);
    int status = read_value(r);
    while (status == 0 && r->depth > 0)
        status = read_next(r);
    return status;
}

static void init(struct reader *r, gudgeon_str text, struct err *err)
{
    *r = (struct reader){.text = text.ptr != NULL ? text.ptr : "", .err = err};
    r->at = r->text;
    r->end = r->text + text.len;
    buf_init(&r->key, BUF_MAX_ANY);
    buf_init(&r->unescaped, BUF_MAX_ANY);
}

/* Reads one value, and then the end of the text when `whole` is set. */
static int read_text(struct reader *r, bool whole, struct json_object **ret)
{
    struct json_object *open[JSON_MAX_DEPTH];
    r->open = open;
    int status = read_tree(r);
    if (status == 0 && whole) {
        skip_space(r);
        if (r->at < r->end)
            status = fail_expected(r, "the end of the text");
    }
    buf_fini(&r->key);
    buf_fini(&r->unescaped);
    if (status < 0)
        json_object_put(r->root);
    else
        *ret = r->root;
    return status;
}

int json_read(gudgeon_str text, struct json_object **ret, struct err *err)
{
    struct reader r;
    init(&r, text, err);
    return read_text(&r, true, ret);
}

int json_read_tolerant(gudgeon_str text, struct json_object **ret, struct err *err)
{
    struct reader r;
    init(&r, text, err);
    r.duplicates = true;
    return read_text(&r, true, ret);
}

int json_read_object(gudgeon_str text, struct json_object **ret, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    int status = json_read(text, &value, err);
    if (status < 0)
        return status;
    if (!json_object_is_type(value, json_type_object))
        return err_set(err, ERR_INVALID, "must be an object, is %s", json_type_name(value));
    *ret = TAKE(value);
    return 0;
}

int json_read_first(gudgeon_str text, struct json_object **ret, size_t *ret_used, struct err *err)
{
    struct reader r;
    init(&r, text, err);
    int status = read_text(&r, false, ret);
    if (status == 0)
        *ret_used = (size_t)(r.at - r.text);
    return status;
}
