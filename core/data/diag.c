/* SPDX-License-Identifier: MIT */
#include "data/diag.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "base/utf8.h"

void diags_fini(struct diags *diags)
{
    for (size_t i = 0; i < diags->kept; i++)
        free(diags->lines[i]);
    *diags = (struct diags)DIAGS_INIT;
}

/* Makes the text one line that is not too long. */
static void tidy(char *text)
{
    static const char dots[] = "…";
    size_t len = strlen(text);
    if (len > DIAG_LINE_MAX)
        memcpy(text + utf8_cut(text, DIAG_LINE_MAX - sizeof dots), dots, sizeof dots);
    utf8_make_line(text);
}

static char *make_line(const char *file, struct diag_place place, const char *what)
{
    if (place.line == 0)
        return xasprintf("%s: %s", file, what);
    return xasprintf("%s:%zu:%zu: %s", file, place.line, place.column, what);
}

static bool is_known(const struct diags *diags, const char *line)
{
    for (size_t i = 0; i < diags->kept; i++)
        if (strcmp(diags->lines[i], line) == 0)
            return true;
    return false;
}

/* Whether lines[i] is of the same file and stands behind `place`. */
static bool is_behind(const struct diags *diags, size_t i, const char *file,
                      struct diag_place place)
{
    const struct diag_place *other = &diags->places[i];
    if (!starts_with(diags->lines[i], file) || diags->lines[i][strlen(file)] != ':')
        return false;
    return other->line > place.line || (other->line == place.line && other->column > place.column);
}

void diags_vadd(struct diags *diags, const char *file, struct diag_place place, const char *format,
                va_list args)
{
    CLEANUP(free_ptr) char *what = xvasprintf(format, args);
    CLEANUP(free_ptr) char *line = make_line(file, place, what);
    tidy(line);
    if (is_known(diags, line))
        return;
    diags->count++;
    if (diags->kept == DIAGS_MAX)
        return;
    size_t at = diags->kept++;
    for (; at > 0 && is_behind(diags, at - 1, file, place); at--) {
        diags->lines[at] = diags->lines[at - 1];
        diags->places[at] = diags->places[at - 1];
    }
    diags->lines[at] = TAKE(line);
    diags->places[at] = place;
}

void diags_add(struct diags *diags, const char *file, size_t line, size_t column,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    diags_vadd(diags, file, (struct diag_place){line, column}, format, args);
    va_end(args);
}
