/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_STR_H
#define GUDGEON_BASE_STR_H

/*
 * Text helpers that own nothing: comparison, near names, units.
 *
 * `struct gudgeon_str` (pointer + length, borrowed) is the slice type everywhere, so that nothing
 * has to be converted at the plugin boundary. `{NULL, 0}` means absent.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct err;

/* For printf("%.*s", STR_ARG(s)). */
#define STR_ARG(s) (int)(s).len, (s).ptr != NULL ? (s).ptr : ""

gudgeon_str str_of(const char *text); /* NULL gives the absent string */
bool str_is(gudgeon_str text, const char *other);
bool str_same(gudgeon_str a, gudgeon_str b);
bool starts_with(const char *text, const char *prefix);
bool ends_with(const char *text, const char *suffix);
char *str_dup(gudgeon_str text); /* a NUL-terminated copy, freed by the caller */

/* The name among names[0..count) nearest to `text` (edit distance, case ignored) if near enough
 * to be worth a "did you mean", else NULL. Names are borrowed. */
const char *nearest_name(const char *text, const char *const *names, size_t count);

/* "64KiB", "2GiB", "512" (bytes): B KiB MiB GiB, no space, no fraction. 0 or ERR_INVALID. */
int parse_size(const char *text, int64_t *ret_bytes, struct err *err);
/* "250ms", "30s", "10m", "2h", "1d"; a bare number is seconds. 0 or ERR_INVALID. */
int parse_duration(const char *text, int64_t *ret_ms, struct err *err);
/* The shortest text that these read as the number (which is not negative), freed by the caller. */
char *format_size(int64_t bytes);
char *format_duration(int64_t ms);

#endif
