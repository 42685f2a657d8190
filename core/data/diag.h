/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_DIAG_H
#define GUDGEON_DATA_DIAG_H

/*
 * A list of faults in a file, so that a person sees all of them in one go.
 *
 * Each is one line, `FILE:LINE:COLUMN: what, and what to do`. The list is bounded: past its cap
 * faults are counted, not kept. The struct owns its texts. Not thread-safe.
 */

#include <stddef.h>

enum { DIAGS_MAX = 50 };

struct diags {
    char *lines[DIAGS_MAX];
    size_t kept;
    size_t count; /* all faults, also those past the cap */
};

#define DIAGS_INIT                                                                                 \
    {                                                                                              \
        .count = 0                                                                                 \
    }

void diags_fini(struct diags *diags);
/* line 0 = the file as a whole; column counts characters from 1. */
void diags_add(struct diags *diags, const char *file, size_t line, size_t column,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
