/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_NUM_H
#define GUDGEON_BASE_NUM_H

/*
 * Arithmetic on counts that come from elsewhere (a provider's usage, a journal), where a sum may
 * be too large for its type and must not wrap around. Pure functions.
 */

#include <stdint.h>

/* a + b, or the end of the range that the sum would pass. */
static inline int64_t sum_capped(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return a < 0 ? INT64_MIN : INT64_MAX;
}

#endif
