/* SPDX-License-Identifier: MIT */
#include "retry_after.h"

#include <gudgeon/util.h>
#include <time.h>

gudgeon_str http_header(const gudgeon_http_head *head, const char *name)
{
    for (uint64_t i = 0; head != NULL && i < head->header_count; i++)
        if (gudgeon_is(head->headers[i].name, name))
            return head->headers[i].value;
    return (gudgeon_str){NULL, 0};
}

/* ---- numbers ------------------------------------------------------------------------------- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static gudgeon_str trim(gudgeon_str text)
{
    while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t')) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* Reads a decimal from the front of *text in units of `unit_us` microseconds, rounded up to the
 * next. 0, or -1 when no digit stands there. */
static int take_decimal(gudgeon_str *text, uint64_t unit_us, uint64_t *us)
{
    static const uint64_t most = (uint64_t)RETRY_AFTER_MAX_MS * 1000;
    uint64_t sum = 0, i = 0, scale = unit_us;
    for (; i < text->len && is_digit(text->ptr[i]); i++)
        if (sum < most)
            sum = sum * 10 + (uint64_t)(text->ptr[i] - '0') * unit_us;
    if (i == 0)
        return -1;
    if (i < text->len && text->ptr[i] == '.')
        for (i++; i < text->len && is_digit(text->ptr[i]); i++) {
            uint64_t digit = (uint64_t)(text->ptr[i] - '0') * scale;
            sum += (digit + 9) / 10;
            scale = (scale + 9) / 10;
        }
    text->ptr += i;
    text->len -= i;
    *us = sum;
    return 0;
}

static uint64_t to_ms(uint64_t us)
{
    uint64_t ms = us / 1000 + (us % 1000 != 0);
    return ms < RETRY_AFTER_MAX_MS ? ms : RETRY_AFTER_MAX_MS;
}

/* A whole text that is one decimal; 0 for anything else. */
static uint64_t decimal_ms(gudgeon_str text, uint64_t unit_us)
{
    uint64_t us = 0;
    text = trim(text);
    return take_decimal(&text, unit_us, &us) == 0 && text.len == 0 ? to_ms(us) : 0;
}

/* ---- dates --------------------------------------------------------------------------------- */

static int take_number(gudgeon_str *text, int *number)
{
    int digits = 0;
    for (*number = 0; text->len > 0 && is_digit(*text->ptr) && digits < 4; digits++) {
        *number = *number * 10 + (*text->ptr - '0');
        text->ptr++;
        text->len--;
    }
    return digits > 0 ? 0 : -1;
}

static int take_char(gudgeon_str *text, char c)
{
    if (text->len == 0 || *text->ptr != c)
        return -1;
    text->ptr++;
    text->len--;
    return 0;
}

static int take_month(gudgeon_str *text, int *month)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (*month = 0; *month < 12; ++*month)
        if (text->len >= 3 && memcmp(text->ptr, names + 3 * *month, 3) == 0) {
            text->ptr += 3;
            text->len -= 3;
            return 0;
        }
    return -1;
}

/* "Wed, 02 Dec 2026 10:00:00 GMT", seconds since the epoch; -1 for anything else. */
static int64_t parse_date(gudgeon_str text)
{
    struct tm tm = {0};
    text = trim(text);
    const char *comma = text.len > 0 ? memchr(text.ptr, ',', text.len) : NULL;
    if (comma == NULL)
        return -1;
    text.len -= (uint64_t)(comma + 1 - text.ptr);
    text.ptr = comma + 1;
    text = trim(text);
    if (take_number(&text, &tm.tm_mday) != 0 || take_char(&text, ' ') != 0 ||
        take_month(&text, &tm.tm_mon) != 0 || take_char(&text, ' ') != 0 ||
        take_number(&text, &tm.tm_year) != 0 || take_char(&text, ' ') != 0 ||
        take_number(&text, &tm.tm_hour) != 0 || take_char(&text, ':') != 0 ||
        take_number(&text, &tm.tm_min) != 0 || take_char(&text, ':') != 0 ||
        take_number(&text, &tm.tm_sec) != 0 || !gudgeon_is(trim(text), "GMT"))
        return -1;
    tm.tm_year -= 1900;
    return (int64_t)timegm(&tm);
}

static uint64_t date_ms(gudgeon_str value, gudgeon_str now)
{
    int64_t then = parse_date(value), from = parse_date(now);
    if (from < 0)
        from = (int64_t)time(NULL);
    return then > from ? to_ms((uint64_t)(then - from) * 1000000) : 0;
}

/* ---- durations ----------------------------------------------------------------------------- */

/* "1h2m3.5s", "6m0s", "250ms" */
static uint64_t duration_ms(gudgeon_str text)
{
    static const struct {
        const char *unit;
        uint64_t us;
    } units[] = {{"ms", 1000}, {"h", UINT64_C(3600000000)}, {"m", 60000000}, {"s", 1000000}};
    uint64_t sum = 0;
    text = trim(text);
    while (text.len > 0) {
        uint64_t us = 0, count = sizeof units / sizeof units[0], i = 0;
        gudgeon_str number = text;
        if (take_decimal(&text, 1, &us) != 0)
            return 0;
        for (; i < count; i++)
            if (text.len >= strlen(units[i].unit) &&
                memcmp(text.ptr, units[i].unit, strlen(units[i].unit)) == 0)
                break;
        if (i == count || take_decimal(&number, units[i].us, &us) != 0)
            return 0;
        sum += us;
        text.ptr += strlen(units[i].unit);
        text.len -= strlen(units[i].unit);
    }
    return to_ms(sum);
}

/* How long until there is some left of what is used up. */
static uint64_t reset_ms(const gudgeon_http_head *head)
{
    static const struct {
        const char *remaining, *reset;
    } limits[] = {{"x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"},
                  {"x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"}};
    uint64_t longest = 0;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (!gudgeon_is(http_header(head, limits[i].remaining), "0"))
            continue;
        uint64_t ms = duration_ms(http_header(head, limits[i].reset));
        longest = ms > longest ? ms : longest;
    }
    return longest;
}

uint64_t retry_after_ms(const gudgeon_http_head *head)
{
    gudgeon_str value = http_header(head, "retry-after");
    uint64_t ms = decimal_ms(http_header(head, "retry-after-ms"), 1000);
    if (ms == 0)
        ms = decimal_ms(value, 1000000);
    if (ms == 0)
        ms = date_ms(value, http_header(head, "date"));
    return ms != 0 || value.ptr != NULL ? ms : reset_ms(head);
}
