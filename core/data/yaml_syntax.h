/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_YAML_SYNTAX_H
#define GUDGEON_DATA_YAML_SYNTAX_H

/*
 * What is wrong with a text that is no YAML, in words for the person who wrote it.
 *
 * Private to core/data. Texts come without a byte order mark.
 */

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include <gudgeon/plugin.h>

struct diags;

/* Size, UTF-8, control characters, number of directives: what is looked at before libyaml sees
 * the text. 0, or ERR_INVALID or ERR_LIMIT with the fault told. */
int yaml_check_characters(gudgeon_str text, const char *file, struct diags *diags);

/* Where libyaml 0.2.5 reads a text otherwise than YAML 1.2 says, the text is refused rather than
 * misread. Events are looked at in their order; the cursor remembers how far that is. */
struct yaml_cursor {
    size_t characters; /* what libyaml counts in */
    size_t offset;     /* the same place in bytes */
};
/* 0, or ERR_INVALID with the fault told. */
int yaml_check_event(struct yaml_cursor *cursor, const yaml_event_t *event, gudgeon_str text,
                     const char *file, struct diags *diags);
/* Whether a line break must be added for the text's last line to count as one. */
bool yaml_lacks_line_end(gudgeon_str text);

/* Tells the fault at which a parser has stopped; returns ERR_INVALID. */
int yaml_syntax_fault(const yaml_parser_t *parser, gudgeon_str text, const char *file,
                      struct diags *diags);

#endif
