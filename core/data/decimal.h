/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_DECIMAL_H
#define GUDGEON_DATA_DECIMAL_H

/*
 * JSON numbers by their digits, so that 0.0075 is a multiple of 0.0001 and 2^64 is not 2^64 + 1.
 *
 * A struct decimal is a plain value of fixed size that owns nothing: sign, significant digits and
 * exponent, in the one form that has no zero at either end. There is no arithmetic but what JSON
 * Schema asks for. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "data/json.h"

struct decimal {
    bool negative;    /* false for zero */
    int count;        /* significant digits; 0 = the number is zero */
    int64_t exponent; /* the value is 0.DIGITS × 10^exponent; saturates at ±10^15 */
    char digits[JSON_MAX_NUMBER];
};

/* The most digits of a `step` below. */
enum { DECIMAL_MAX_STEP_DIGITS = 37 };

/* The quick case: whether json-c holds the value as an int64. INT64_MAX is left to the others,
 * since json-c uses it for what only uint64 holds, too. */
bool decimal_is_int64(struct json_object *value, int64_t *ret);
/* The value of a number as json_write would print it. */
void decimal_of(struct json_object *number, struct decimal *ret);
/* < 0, 0, > 0 as `a` is less than, equal to or more than `b`. */
int decimal_compare(const struct decimal *a, const struct decimal *b);
/* The same for two numbers of JSON. */
int decimal_order(struct json_object *a, struct json_object *b);
bool decimal_is_integer(const struct decimal *value);
/* Sets *ret when the value is an integer that int64_t holds. */
bool decimal_to_int64(const struct decimal *value, int64_t *ret);
/* Whether value / step is an integer. step > 0, of at most DECIMAL_MAX_STEP_DIGITS digits. */
bool decimal_is_multiple(const struct decimal *value, const struct decimal *step);

#endif
