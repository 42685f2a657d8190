/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_DIAG_H
#define GUDGEON_DATA_DIAG_H

/*
 * A list of faults in a file, so that a person sees all of them in one go.
 *
 * Each is one line, `FILE:LINE:COLUMN: what, and what to do`, and those of one file stand in the
 * order of their places, whatever order they were found in. A fault that is there already is not
 * added again. The list is bounded: past its cap faults are counted, not kept. The struct owns its
 * texts. Not thread-safe.
 */

#include <stdarg.h>
#include <stddef.h>

enum {
    DIAGS_MAX = 50,
    DIAG_LINE_MAX = 1024, /* bytes; longer ones end in "…" */
};

struct diag_place {
    size_t line;
    size_t column;
};

struct diags {
    char *lines[DIAGS_MAX];
    struct diag_place places[DIAGS_MAX]; /* of lines[i] */
    size_t kept;
    size_t count; /* all faults, also those past the cap */
};

#define DIAGS_INIT                                                                                 \
    {                                                                                              \
        .count = 0                                                                                 \
    }

void diags_fini(struct diags *diags);
/* line 0 = the file as a whole; column counts characters from 1. Control characters become
 * spaces. */
void diags_add(struct diags *diags, const char *file, size_t line, size_t column,
               const char *format, ...) __attribute__((format(printf, 5, 6)));
void diags_vadd(struct diags *diags, const char *file, struct diag_place place, const char *format,
                va_list args) __attribute__((format(printf, 4, 0)));

#endif
