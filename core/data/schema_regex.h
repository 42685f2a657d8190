/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_REGEX_H
#define GUDGEON_DATA_SCHEMA_REGEX_H

/*
 * Regular expressions of JSON Schema (ECMA-262, always Unicode) on PCRE2.
 *
 * What the dialects share is left to PCRE2; `$`, `\s`, `\uXXXX`, `[^]`, `\p{Letter}` and unset
 * back-references are given the meaning of ECMA-262. Compiled patterns are immutable and may be
 * used by several threads. Matching takes its steps from a budget of the caller's, so that a
 * pattern that backtracks for ever ends in ERR_LIMIT. Private to core/data.
 */

#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct err;
struct schema_regex;

/* ERR_INVALID with PCRE2's reason and the place in the pattern. */
int schema_regex_new(gudgeon_str pattern, struct schema_regex **ret, struct err *err);
void schema_regex_free(struct schema_regex *regex);
/* The memory that the compiled pattern takes. */
size_t schema_regex_bytes(const struct schema_regex *regex);
/* Whether the pattern is found in `text` (valid UTF-8): 1, 0, or ERR_LIMIT when *steps, which is
 * lowered by what the search costs, does not suffice. A step is some twenty nanoseconds. */
int schema_regex_search(const struct schema_regex *regex, gudgeon_str text, int64_t *steps);
/* The same in the key of an object (json.h says how it holds U+0000). */
int schema_regex_search_key(const struct schema_regex *regex, const char *key, int64_t *steps);

#endif
