/* SPDX-License-Identifier: MIT */
#ifndef FILES_GLOB_H
#define FILES_GLOB_H

/*
 * Patterns for file names: `*` and `?` match within one part of a path, `**` across parts (`**` and
 * the slash after it also match nothing), `[a-z]` and `[!a-z]` one character. Bytes count, not
 * characters, but for `?`, which takes a whole UTF-8 character. Time is at most in proportion to
 * pattern × path × path; there is no recursion.
 */

#include <stdbool.h>

/* `path` is relative. A pattern without a slash is held against its last part alone. */
bool glob_matches(const char *pattern, const char *path);
/* Whether the pattern can match below the directory itself. */
bool glob_goes_deep(const char *pattern);

#endif
