/* SPDX-License-Identifier: MIT */
#ifndef FILES_MATCH_H
#define FILES_MATCH_H

/*
 * What search_files looks for in a line: a literal text, or a POSIX extended regular expression.
 *
 * A pattern comes from a model and is not trusted: what makes the C library's matcher take
 * unbounded time or memory (back references, repetitions within repetitions) is refused. Bytes are
 * compared, so case is ignored for ASCII only. Not for several threads at once.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "files.h"

enum {
    MATCH_PATTERN_SIZE = 1024, /* bytes, with the NUL */
    MATCH_LINE_MAX = 16 << 10, /* bytes of a line that are looked at */
};

struct match {
    const char *literal; /* NULL = the expression decides; borrowed */
    regex_t regex;
};

int match_init(struct match *match, const char *pattern, bool is_regex, bool ignores_case,
               struct reason *why);
void match_fini(struct match *match);
/* Where in the line (NUL-terminated) it is found first; -1 = not. */
long match_line(const struct match *match, const char *line);

#endif
