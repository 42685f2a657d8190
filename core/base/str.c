/* SPDX-License-Identifier: MIT */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"

enum { NAME_MAX_COMPARED = 63 }; /* longer names are never "near" */

gudgeon_str str_of(const char *text)
{
    return (gudgeon_str){text, text != NULL ? strlen(text) : 0};
}

bool str_is(gudgeon_str text, const char *other)
{
    return str_same(text, str_of(other));
}

bool str_same(gudgeon_str a, gudgeon_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), suffix_len = strlen(suffix);
    return len >= suffix_len && strcmp(text + len - suffix_len, suffix) == 0;
}

char *str_dup(gudgeon_str text)
{
    return xstrndup(text.ptr, text.len);
}

static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to insert, delete, change or swap with their neighbour (optimal string alignment). */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_COMPARED + 1];
    size_t b_len = strlen(b);
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    size_t i = 1;
    for (; a[i - 1] != '\0'; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = least(above[j], row[j - 1]) + 1;
            row[j] = least(row[j], above[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[(i - 1) % 3][b_len];
}

const char *nearest_name(const char *text, const char *const *names, size_t count)
{
    size_t len = strlen(text);
    if (len > NAME_MAX_COMPARED)
        return NULL;
    const char *nearest = NULL;
    size_t best = len <= 3 ? 1 : len <= 8 ? 2 : 3;
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) > NAME_MAX_COMPARED)
            continue;
        size_t distance = edit_distance(text, names[i]);
        if (distance < best || (distance == best && nearest == NULL)) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

struct unit {
    const char *name;
    int64_t factor;
};

/* A whole number and one of the units, which end at a NULL name. */
static int parse_with_unit(const char *text, const struct unit *units, int64_t *ret)
{
    if (!isdigit((unsigned char)text[0]))
        return ERR_INVALID;
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0)
        return ERR_INVALID;
    while (units->name != NULL && strcmp(units->name, end) != 0)
        units++;
    int64_t product;
    if (units->name == NULL || __builtin_mul_overflow(number, units->factor, &product))
        return ERR_INVALID;
    *ret = product;
    return 0;
}

int parse_size(const char *text, int64_t *ret_bytes, struct err *err)
{
    static const struct unit units[] = {
        {"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0},
    };
    if (parse_with_unit(text, units, ret_bytes) < 0)
        return err_set(err, ERR_INVALID, "\"%s\" is no size (write 512, 64KiB, 10MiB or 2GiB)",
                       text);
    return 0;
}

int parse_duration(const char *text, int64_t *ret_ms, struct err *err)
{
    static const struct unit units[] = {
        {"", 1000},         {"ms", 1},           {"s", 1000}, {"m", 60 * 1000},
        {"h", 3600 * 1000}, {"d", 86400 * 1000}, {NULL, 0},
    };
    if (parse_with_unit(text, units, ret_ms) < 0)
        return err_set(err, ERR_INVALID, "\"%s\" is no duration (write 250ms, 30s, 10m, 2h or 1d)",
                       text);
    return 0;
}

/* With the largest unit that divides the number; units end at a NULL name, the smallest is first.
 */
static char *format_with_unit(int64_t number, const struct unit *units)
{
    const struct unit *best = units;
    for (; units->name != NULL; units++)
        if (number % units->factor == 0 && number != 0)
            best = units;
    return xasprintf("%" PRId64 "%s", number / best->factor, best->name);
}

char *format_size(int64_t bytes)
{
    static const struct unit units[] = {
        {"", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {NULL, 0}};
    return format_with_unit(bytes, units);
}

char *format_duration(int64_t ms)
{
    static const struct unit units[] = {{"ms", 1},          {"s", 1000},         {"m", 60 * 1000},
                                        {"h", 3600 * 1000}, {"d", 86400 * 1000}, {NULL, 0}};
    return format_with_unit(ms, units);
}
