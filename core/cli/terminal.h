/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_CLI_TERMINAL_H
#define GUDGEON_CLI_TERMINAL_H

/*
 * How the commands print for people: colours on a terminal only (and never with NO_COLOR), foreign
 * text without what a terminal would act on, durations and counts as people read them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <gudgeon/plugin.h>

enum style { STYLE_PLAIN, STYLE_DIM, STYLE_BOLD, STYLE_GOOD, STYLE_BAD };

struct terminal {
    FILE *file;
    bool colour;
    size_t columns; /* 80 when unknown; SIZE_MAX when it is no terminal */
};

struct terminal terminal_on(FILE *file);
void terminal_style(const struct terminal *terminal, enum style style);
/* Foreign text: what is not to be shown (utf8_is_shown), but for newline and tab, becomes "·". */
void terminal_text(const struct terminal *terminal, gudgeon_str text);
/* The same on one line, white space folded, cut to `width` characters with "…". */
void terminal_line(const struct terminal *terminal, gudgeon_str text, size_t width);

enum { HUMAN_SIZE = 32 };
/* "340 ms", "1.2 s", "3 min 05 s" */
const char *human_duration(int64_t ms, char out[HUMAN_SIZE]);
/* "12,345" */
const char *human_count(int64_t count, char out[HUMAN_SIZE]);

#endif
