/* SPDX-License-Identifier: MIT */
#include "data/decimal.h"

#include <string.h>

#include "base/buf.h"

#define EXPONENT_MAX INT64_C(1000000000000000)

/* The exponent after "e", saturated. */
static int64_t parse_exponent(const char *text)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    int64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (value < EXPONENT_MAX)
            value = value * 10 + (*text - '0');
    if (value > EXPONENT_MAX)
        value = EXPONENT_MAX;
    return negative ? -value : value;
}

/* Takes the next digit of the number; leading zeros only move the exponent. */
static void take_digit(struct decimal *d, char digit, bool after_point)
{
    if (d->count == 0 && digit == '0') {
        d->exponent -= after_point;
        return;
    }
    if (d->count < (int)sizeof d->digits)
        d->digits[d->count++] = digit;
    d->exponent += !after_point;
}

static void parse(const char *text, struct decimal *d)
{
    d->negative = *text == '-';
    d->count = 0;
    d->exponent = 0;
    bool after_point = false;
    for (text += d->negative; *text == '.' || (*text >= '0' && *text <= '9'); text++) {
        if (*text == '.')
            after_point = true;
        else
            take_digit(d, *text, after_point);
    }
    if (*text == 'e' || *text == 'E')
        d->exponent += parse_exponent(text + 1);
    while (d->count > 0 && d->digits[d->count - 1] == '0')
        d->count--;
    if (d->count == 0) {
        d->negative = false;
        d->exponent = 0;
    }
}

void decimal_of(struct json_object *number, struct decimal *ret)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_write(&text, number);
    parse(text.data, ret);
    buf_fini(&text);
}

static int compare_magnitude(const struct decimal *a, const struct decimal *b)
{
    if (a->count == 0 || b->count == 0)
        return (a->count != 0) - (b->count != 0);
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -1 : 1;
    int shorter = a->count < b->count ? a->count : b->count;
    int order = memcmp(a->digits, b->digits, (size_t)shorter);
    return order != 0 ? order : a->count - b->count;
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
    if (a->negative != b->negative)
        return a->negative ? -1 : 1;
    int order = compare_magnitude(a, b);
    return a->negative ? -order : order;
}

bool decimal_is_int64(struct json_object *number, int64_t *ret)
{
    if (!json_object_is_type(number, json_type_int))
        return false;
    *ret = json_object_get_int64(number);
    return *ret != INT64_MAX; /* which stands for what only uint64 holds, too */
}

int decimal_order(struct json_object *a, struct json_object *b)
{
    int64_t m, n;
    if (decimal_is_int64(a, &m) && decimal_is_int64(b, &n))
        return m < n ? -1 : m > n;
    struct decimal x, y;
    decimal_of(a, &x);
    decimal_of(b, &y);
    return decimal_compare(&x, &y);
}

bool decimal_is_integer(const struct decimal *value)
{
    return value->exponent >= value->count;
}

bool decimal_to_int64(const struct decimal *value, int64_t *ret)
{
    enum { INT64_DIGITS = 19 };
    if (!decimal_is_integer(value) || value->exponent > INT64_DIGITS)
        return false;
    int64_t number = 0; /* built on the negative side, which is the larger one */
    for (int i = 0; i < value->exponent; i++) {
        int digit = i < value->count ? value->digits[i] - '0' : 0;
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_sub_overflow(number, digit, &number))
            return false;
    }
    if (!value->negative && number == INT64_MIN)
        return false;
    *ret = value->negative ? number : -number;
    return true;
}

/* With value = V × 10^v and step = S × 10^s, V and S whole and not divisible by ten, the quotient
 * is whole when S divides V × 10^(v - s). */
bool decimal_is_multiple(const struct decimal *value, const struct decimal *step)
{
    if (value->count == 0)
        return true;
    int64_t zeros = (value->exponent - value->count) - (step->exponent - step->count);
    if (zeros < 0)
        return false;
    /* S < 2^123: it has at most 123 factors 2 and as many 5, and further zeros add nothing else. */
    enum { ZEROS_THAT_MATTER = 123 };
    if (zeros > ZEROS_THAT_MATTER)
        zeros = ZEROS_THAT_MATTER;
    unsigned __int128 divisor = 0, rest = 0;
    for (int i = 0; i < step->count; i++)
        divisor = divisor * 10 + (unsigned)(step->digits[i] - '0');
    for (int i = 0; i < value->count; i++)
        rest = (rest * 10 + (unsigned)(value->digits[i] - '0')) % divisor;
    for (; zeros > 0; zeros--)
        rest = rest * 10 % divisor;
    return rest == 0;
}
