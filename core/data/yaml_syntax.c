/* SPDX-License-Identifier: MIT */
#include "data/yaml_syntax.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/diag.h"
#include "data/yaml.h"

/* ---- before parsing -------------------------------------------------------------------------- */

/* Where the byte at `offset` stands; lines end as libyaml ends them, but for U+2028 and its like,
 * which no editor takes for a line's end. Text before `offset` is valid UTF-8. */
static struct diag_place place_of(gudgeon_str text, size_t offset)
{
    struct diag_place place = {1, 1};
    size_t line_start = 0;
    for (size_t i = 0; i < offset; i++) {
        bool is_end = text.ptr[i] == '\n' ||
                      (text.ptr[i] == '\r' && (i + 1 == text.len || text.ptr[i + 1] != '\n'));
        if (is_end) {
            place.line++;
            line_start = i + 1;
        }
    }
    place.column = utf8_count(text.ptr + line_start, offset - line_start) + 1;
    return place;
}

/* YAML 1.2, c-printable (§5.1). */
static bool is_printable(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    return c < 0x7f || c == 0x85 || (c >= 0xa0 && c != 0xfffe && c != 0xffff);
}

static size_t first_unprintable(gudgeon_str text, uint32_t *ret)
{
    size_t i = 0;
    while (i < text.len) {
        uint32_t c = (unsigned char)text.ptr[i];
        size_t len = c < 0x80 ? 1 : utf8_decode(text.ptr + i, (size_t)text.len - i, &c);
        if (!is_printable(c)) {
            *ret = c;
            break;
        }
        i += len;
    }
    return i;
}

static size_t count_directives(gudgeon_str text)
{
    size_t count = 0;
    for (size_t i = 0; i + 4 <= text.len; i++)
        if (memcmp(text.ptr + i, "%TAG", 4) == 0 && (i == 0 || strchr("\r\n", text.ptr[i - 1])))
            count++;
    return count;
}

static void tell_bad_byte(gudgeon_str text, size_t offset, const char *file, struct diags *diags)
{
    struct diag_place place = place_of(text, offset);
    unsigned byte = (unsigned char)text.ptr[offset];
    bool is_utf16 = offset == 0 && text.len >= 2 && (byte == 0xff || byte == 0xfe);
    diags_add(diags, file, place.line, place.column, "the byte 0x%02x is no UTF-8 text%s", byte,
              is_utf16 ? " (UTF-16?); save the file as UTF-8" : "; save the file as UTF-8");
}

int yaml_check_characters(gudgeon_str text, const char *file, struct diags *diags)
{
    if (text.len > YAML_MAX_BYTES) {
        diags_add(diags, file, 0, 0, "the file is too large (1 MiB at most)");
        return ERR_LIMIT;
    }
    size_t valid = utf8_valid_prefix(text.ptr, (size_t)text.len);
    if (valid < text.len) {
        tell_bad_byte(text, valid, file, diags);
        return ERR_INVALID;
    }
    uint32_t c = 0;
    size_t printable = first_unprintable(text, &c);
    if (printable < text.len) {
        struct diag_place place = place_of(text, printable);
        diags_add(diags, file, place.line, place.column,
                  "the control character U+%04X is not allowed; in a quoted text write \\x%02x", c,
                  c);
        return ERR_INVALID;
    }
    if (count_directives(text) > YAML_MAX_DIRECTIVES) {
        diags_add(diags, file, 0, 0, "too many %%TAG lines (16 at most)");
        return ERR_LIMIT;
    }
    return 0;
}

/* ---- what libyaml misreads ------------------------------------------------------------------- */

/* The offset of a mark, which counts characters; marks come in order but for those of empty
 * nodes, which are no matter here. */
static size_t advance(struct yaml_cursor *cursor, yaml_mark_t mark, gudgeon_str text)
{
    while (cursor->characters < mark.index && cursor->offset < text.len) {
        uint32_t c;
        size_t len = utf8_decode(text.ptr + cursor->offset, (size_t)text.len - cursor->offset, &c);
        cursor->offset += len > 0 ? len : 1;
        cursor->characters++;
    }
    return cursor->offset;
}

static bool is_in(char c, const char *characters)
{
    return c != '\0' && strchr(characters, c) != NULL;
}

/* Whether the name of the anchor or alias that stands at `offset` goes on where libyaml's ends,
 * as that of `&a:b` does. */
static bool name_goes_on(gudgeon_str text, size_t offset, char mark, const char *name)
{
    const char *from = text.ptr + offset, *end = text.ptr + text.len;
    size_t len = strlen(name);
    while ((from = memchr(from, mark, (size_t)(end - from))) != NULL) {
        from++;
        if ((size_t)(end - from) > len && memcmp(from, name, len) == 0)
            return !is_in(from[len], " \t\r\n,[]{}");
    }
    return false;
}

/* The name that a node is given or refers to; false for events that stand for no node. */
static bool find_name(const yaml_event_t *event, const yaml_char_t **ret)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        *ret = event->data.alias.anchor;
        return true;
    case YAML_SCALAR_EVENT:
        *ret = event->data.scalar.anchor;
        return true;
    case YAML_SEQUENCE_START_EVENT:
        *ret = event->data.sequence_start.anchor;
        return true;
    case YAML_MAPPING_START_EVENT:
        *ret = event->data.mapping_start.anchor;
        return true;
    default:
        return false;
    }
}

int yaml_check_event(struct yaml_cursor *cursor, const yaml_event_t *event, gudgeon_str text,
                     const char *file, struct diags *diags)
{
    const yaml_char_t *name;
    if (!find_name(event, &name) || event->end_mark.index == event->start_mark.index)
        return 0;
    size_t offset = advance(cursor, event->start_mark, text);
    char mark = event->type == YAML_ALIAS_EVENT ? '*' : '&';
    const char *what = NULL;
    if (name != NULL && name_goes_on(text, offset, mark, (const char *)name))
        what = "the name of an anchor or alias must end before a space; quote a text that starts "
               "with & or *";
    else if (offset > 0 && text.ptr[offset - 1] == '?')
        what = "a space is missing behind \"?\"; quote a text that starts with ?";
    if (what == NULL)
        return 0;
    diags_add(diags, file, event->start_mark.line + 1, event->start_mark.column + 1, "%s", what);
    return ERR_INVALID;
}

bool yaml_lacks_line_end(gudgeon_str text)
{
    size_t len = (size_t)text.len;
    while (len > 0 && is_in(text.ptr[len - 1], " \t"))
        len--;
    return len < text.len && (len == 0 || is_in(text.ptr[len - 1], "\r\n"));
}

/* ---- what libyaml says ----------------------------------------------------------------------- */

/* Its words, and ours. `begun` adds the line in which what libyaml was reading began. */
static const struct {
    const char *problem;
    const char *context; /* NULL = any */
    const char *words;
    bool begun;
} sayings[] = {
    {"mapping values are not allowed in this context", NULL,
     "no \"key:\" can stand here; check the indentation and the space behind each \":\", or quote "
     "a text that holds \": \"",
     false},
    {"did not find expected key", NULL, "a key is expected here; check the indentation", false},
    {"did not find expected '-' indicator", NULL, "a \"-\" is expected here; check the indentation",
     false},
    {"block sequence entries are not allowed in this context", NULL,
     "no \"- \" can stand here; check the indentation", false},
    {"did not find expected node content", NULL, "a value is expected here", false},
    {"did not find expected <document start>", NULL,
     "this does not belong to what stands above it; check the indentation", false},
    {"could not find expected ':'", NULL, "a \":\" and a space are missing behind a key", true},
    {"did not find expected alphabetic or numeric character", NULL,
     "a text that starts with * or & must be quoted", false},
    {"did not find expected comment or line break", NULL,
     "the text of | or > begins in the next line; quote a text that starts with one", false},
    {"found unexpected end of stream", "while scanning a quoted scalar", "a quote is not closed",
     true},
    {"found unexpected document indicator", "while scanning a quoted scalar",
     "a quote is not closed", true},
    {"did not find expected ',' or ']'", NULL,
     "a \",\" or \"]\" is expected here: the list is not "
     "closed",
     true},
    {"did not find expected ',' or '}'", NULL,
     "a \",\" or \"}\" is expected here: the mapping is "
     "not closed",
     true},
    {"found unknown escape character", NULL,
     "no such escape in a text in double quotes; write \\\\ for a backslash, or use single quotes",
     false},
    {"found undefined alias", NULL,
     "the alias has no anchor above it; quote a text that starts "
     "with *",
     false},
    {"second occurrence", NULL, "the anchor's name is taken", true},
    {"found undefined tag handle", NULL,
     "the tag is not known here; quote a text that starts "
     "with !",
     false},
};

/* The offset of a tab in the white space before `offset` in its line, or at it; text.len when
 * there is none. libyaml has four ways to complain of one. */
static size_t tab_before(gudgeon_str text, size_t offset)
{
    size_t start = offset;
    while (start > 0 && text.ptr[start - 1] != '\n' && text.ptr[start - 1] != '\r')
        start--;
    for (size_t i = start; i <= offset && i < text.len; i++) {
        if (text.ptr[i] == '\t')
            return i;
        if (text.ptr[i] != ' ')
            break;
    }
    return (size_t)text.len;
}

/* Whether what stands at `offset` follows something in its line: the value that libyaml took for
 * whole ended there. */
static bool is_behind_value(const yaml_parser_t *parser, gudgeon_str text, size_t offset)
{
    static const char *const problems[] = {"did not find expected key",
                                           "did not find expected '-' indicator"};
    bool is_such = false;
    for (size_t i = 0; i < COUNT_OF(problems); i++)
        is_such |= parser->problem != NULL && strcmp(parser->problem, problems[i]) == 0;
    while (is_such && offset > 0 && is_in(text.ptr[offset - 1], " \t"))
        offset--;
    return is_such && offset > 0 && !is_in(text.ptr[offset - 1], "\r\n");
}

/* In a flow collection tabs may indent. */
static bool is_in_flow(const yaml_parser_t *parser)
{
    return parser->context != NULL && strstr(parser->context, "flow") != NULL;
}

/* Our words for the problem, or libyaml's own. */
static char *words_for(const yaml_parser_t *parser, bool *ret_begun)
{
    const char *problem = parser->problem != NULL ? parser->problem : "it cannot be read";
    for (size_t i = 0; i < COUNT_OF(sayings); i++) {
        if (strcmp(sayings[i].problem, problem) != 0)
            continue;
        const char *context = sayings[i].context;
        if (context != NULL && (parser->context == NULL || strcmp(context, parser->context) != 0))
            continue;
        *ret_begun = sayings[i].begun;
        return xstrdup(sayings[i].words);
    }
    *ret_begun = parser->context != NULL && parser->context_mark.line < parser->problem_mark.line;
    return xstrdup(problem);
}

static int tell(yaml_mark_t mark, const char *file, struct diags *diags, const char *words)
{
    diags_add(diags, file, mark.line + 1, mark.column + 1, "%s", words);
    return ERR_INVALID;
}

int yaml_syntax_fault(const yaml_parser_t *parser, gudgeon_str text, const char *file,
                      struct diags *diags)
{
    yaml_mark_t mark = parser->problem_mark;
    size_t offset = advance(&(struct yaml_cursor){0}, mark, text);
    size_t tab = is_in_flow(parser) ? (size_t)text.len : tab_before(text, offset);
    if (tab < text.len) {
        diags_add(diags, file, mark.line + 1, place_of(text, tab).column,
                  "a tab is used for indentation; use spaces");
        return ERR_INVALID;
    }
    const char *at = offset < text.len ? text.ptr + offset : "";
    if (offset > 0 && at[0] == '{' && at[-1] == '$')
        return tell(mark, file, diags, "inside { } and [ ] a variable must be quoted: \"${…}\"");
    if (parser->problem != NULL && at[0] != '\0' &&
        strcmp(parser->problem, "found character that cannot start any token") == 0) {
        if (at[0] == '\t')
            return tell(mark, file, diags, "a tab cannot stand here; use spaces");
        diags_add(diags, file, mark.line + 1, mark.column + 1,
                  "no value can start with \"%c\"; quote it", at[0]);
        return ERR_INVALID;
    }
    if (is_behind_value(parser, text, offset))
        return tell(mark, file, diags,
                    "the value ended before this: put all of it in quotes, and double a ' that "
                    "stands inside '…'");
    bool begun;
    CLEANUP(free_ptr) char *words = words_for(parser, &begun);
    if (!begun)
        return tell(mark, file, diags, words);
    diags_add(diags, file, mark.line + 1, mark.column + 1, "%s (begun in line %zu)", words,
              parser->context_mark.line + 1);
    return ERR_INVALID;
}
