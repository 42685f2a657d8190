/* SPDX-License-Identifier: MIT */
#include "data/schema_format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "data/schema_regex.h"

/* Checks run over NUL-terminated text without a NUL inside; each takes what it knows from `*at`. */

static bool take(const char **at, char c)
{
    bool there = **at == c;
    *at += there;
    return there;
}

/* Either of two spellings, e.g. T and t. */
static bool take_letter(const char **at, char upper)
{
    return take(at, upper) || take(at, (char)tolower((unsigned char)upper));
}

/* Exactly `count` decimal digits, as a number; -1 when they are not there. */
static int take_digits(const char **at, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++, (*at)++) {
        if (!isdigit((unsigned char)**at))
            return -1;
        value = value * 10 + (**at - '0');
    }
    return value;
}

static bool skip_digits(const char **at)
{
    const char *start = *at;
    while (isdigit((unsigned char)**at))
        (*at)++;
    return *at > start;
}

/* ---- dates and times (RFC 3339) ------------------------------------------------------------ */

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

static bool take_date(const char **at)
{
    int year = take_digits(at, 4);
    if (year < 0 || !take(at, '-'))
        return false;
    int month = take_digits(at, 2);
    if (month < 1 || month > 12 || !take(at, '-'))
        return false;
    int day = take_digits(at, 2);
    return day >= 1 && day <= days_in_month(year, month);
}

/* Z or an offset, in minutes. */
static bool take_offset(const char **at, int *ret_minutes)
{
    *ret_minutes = 0;
    if (take_letter(at, 'Z'))
        return true;
    int sign = take(at, '-') ? -1 : 1;
    if (sign > 0 && !take(at, '+'))
        return false;
    int hours = take_digits(at, 2);
    if (hours < 0 || hours > 23 || !take(at, ':'))
        return false;
    int minutes = take_digits(at, 2);
    *ret_minutes = sign * (hours * 60 + minutes);
    return minutes >= 0 && minutes <= 59;
}

static bool take_time(const char **at)
{
    enum { MINUTES_A_DAY = 24 * 60 };
    int hour = take_digits(at, 2);
    if (hour < 0 || hour > 23 || !take(at, ':'))
        return false;
    int minute = take_digits(at, 2);
    if (minute < 0 || minute > 59 || !take(at, ':'))
        return false;
    int second = take_digits(at, 2), offset;
    if (second < 0 || second > 60 || (take(at, '.') && !skip_digits(at)))
        return false;
    if (!take_offset(at, &offset))
        return false;
    /* A leap second ends a day of UTC. */
    int utc = (hour * 60 + minute - offset + MINUTES_A_DAY) % MINUTES_A_DAY;
    return second < 60 || utc == MINUTES_A_DAY - 1;
}

static bool is_date(const char *text)
{
    return take_date(&text) && *text == '\0';
}

static bool is_time(const char *text)
{
    return take_time(&text) && *text == '\0';
}

static bool is_date_time(const char *text)
{
    return take_date(&text) && take_letter(&text, 'T') && take_time(&text) && *text == '\0';
}

/* A run of "1Y2M3D": the units in order, none left out between two. Whether there was one. */
static bool take_units(const char **at, const char *units)
{
    bool any = false;
    while (isdigit((unsigned char)**at)) {
        skip_digits(at);
        const char *unit = **at != '\0' ? strchr(units, **at) : NULL;
        if (unit == NULL || (any && unit != units))
            return false;
        (*at)++;
        units = unit + 1;
        any = true;
    }
    return any;
}

/* RFC 3339, appendix A. */
static bool is_duration(const char *text)
{
    if (!take(&text, 'P'))
        return false;
    const char *start = text;
    if (take_units(&text, "W") && *text == '\0')
        return true;
    text = start;
    bool any = *text == 'T' || take_units(&text, "YMD");
    if (take(&text, 'T'))
        any = any && take_units(&text, "HMS");
    return any && *text == '\0';
}

/* ---- hosts and addresses ------------------------------------------------------------------- */

static bool is_ipv4(const char *text)
{
    struct in_addr address;
    return inet_pton(AF_INET, text, &address) == 1;
}

static bool is_ipv6(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET6, text, &address) == 1;
}

/* RFC 1123: labels of at most 63 letters, digits and inner hyphens, at most 253 in all. */
static bool is_hostname(const char *text)
{
    enum { LABEL_MAX = 63, NAME_MAX_LEN = 253 };
    if (strlen(text) > NAME_MAX_LEN)
        return false;
    for (;;) {
        size_t len = strcspn(text, ".");
        if (len == 0 || len > LABEL_MAX || text[0] == '-' || text[len - 1] == '-')
            return false;
        for (size_t i = 0; i < len; i++)
            if (!isalnum((unsigned char)text[i]) && text[i] != '-')
                return false;
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

/* RFC 5322 §3.2.3: atoms with single dots between them. */
static bool is_dot_atom(gudgeon_str text)
{
    bool may_dot = false;
    for (uint64_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' ? !may_dot : !isalnum((unsigned char)c) && !strchr("!#$%&'*+-/=?^_`{|}~", c))
            return false;
        may_dot = c != '.';
    }
    return may_dot;
}

static bool is_email_domain(const char *text)
{
    size_t len = strlen(text);
    if (text[0] != '[' || text[len - 1] != ']')
        return is_hostname(text);
    CLEANUP(free_ptr) char *inner = xstrndup(text + 1, len - 2);
    return starts_with(inner, "IPv6:") ? is_ipv6(inner + 5) : is_ipv4(inner);
}

static bool is_email(const char *text)
{
    const char *at = strrchr(text, '@');
    if (at == NULL)
        return false;
    gudgeon_str local = {text, (uint64_t)(at - text)};
    bool quoted = local.len > 2 && text[0] == '"' && at[-1] == '"';
    return (quoted || is_dot_atom(local)) && is_email_domain(at + 1);
}

/* ---- URIs (RFC 3986) ----------------------------------------------------------------------- */

/* Characters of a URI and whole %XX; brackets belong to the host alone. */
static bool has_uri_characters(const char *text)
{
    bool in_host = false;
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '/' && at[1] == '/' && (at == text || at[-1] == ':'))
            in_host = true;
        else if (strchr("?#", *at) || (*at == '/' && at > text && at[-1] != '/'))
            in_host = false;
        bool plain = isalnum((unsigned char)*at) || strchr("-._~:/?#@!$&'()*+,;=", *at);
        bool coded = *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        bool bracket = in_host && strchr("[]", *at);
        if (!plain && !coded && !bracket)
            return false;
    }
    const char *hash = strchr(text, '#');
    return hash == NULL || strchr(hash + 1, '#') == NULL;
}

/* After "//": user, host and port; the host in brackets is an IPv6 address. */
static bool has_good_authority(const char *text)
{
    const char *start = strstr(text, "//");
    if (start == NULL)
        return true;
    CLEANUP(free_ptr) char *authority = xstrndup(start + 2, strcspn(start + 2, "/?#"));
    char *user_end = strrchr(authority, '@');
    char *host = user_end != NULL ? user_end + 1 : authority;
    char *bracket = strchr(host, ']');
    char *port = strrchr(bracket != NULL ? bracket : host, ':');
    if (user_end != NULL) {
        *user_end = '\0';
        if (strpbrk(authority, "[@") != NULL)
            return false;
    }
    if (port != NULL && port[1 + strspn(port + 1, "0123456789")] != '\0')
        return false;
    if (host[0] != '[' && strpbrk(host, "[]") == NULL)
        return true;
    if (host[0] != '[' || bracket == NULL)
        return false;
    *bracket = '\0';
    return is_ipv6(host + 1) || host[1] == 'v';
}

static bool is_uri_reference(const char *text)
{
    /* A first segment with a colon would be a scheme; one that cannot be is no reference. */
    size_t first = strcspn(text, ":/?#");
    bool bad_scheme = text[first] == ':' && (first == 0 || !isalpha((unsigned char)text[0]));
    return !bad_scheme && has_uri_characters(text) && has_good_authority(text);
}

static bool is_uri(const char *text)
{
    size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789+-.");
    return isalpha((unsigned char)text[0]) && text[scheme] == ':' && is_uri_reference(text);
}

/* ---- the others ---------------------------------------------------------------------------- */

static bool is_uuid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; form[i] != '\0'; i++)
        if (form[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != '-')
            return false;
    return true;
}

static bool is_regex(const char *text)
{
    struct schema_regex *regex;
    if (schema_regex_new(str_of(text), &regex, NULL) < 0)
        return false;
    schema_regex_free(regex);
    return true;
}

/* RFC 6901. */
static bool is_json_pointer(const char *text)
{
    if (*text != '\0' && *text != '/')
        return false;
    for (; *text != '\0'; text++)
        if (text[0] == '~' && text[1] != '0' && text[1] != '1')
            return false;
    return true;
}

static bool is_relative_json_pointer(const char *text)
{
    bool zero = text[0] == '0';
    const char *start = text;
    if (!skip_digits(&text) || (zero && text - start > 1))
        return false;
    return strcmp(text, "#") == 0 || is_json_pointer(text);
}

/* ---- the table ----------------------------------------------------------------------------- */

struct schema_format {
    const char *name;
    bool (*has)(const char *text);
};

static const struct schema_format formats[] = {
    {"date-time", is_date_time},
    {"date", is_date},
    {"time", is_time},
    {"duration", is_duration},
    {"email", is_email},
    {"hostname", is_hostname},
    {"ipv4", is_ipv4},
    {"ipv6", is_ipv6},
    {"uri", is_uri},
    {"uri-reference", is_uri_reference},
    {"uuid", is_uuid},
    {"regex", is_regex},
    {"json-pointer", is_json_pointer},
    {"relative-json-pointer", is_relative_json_pointer},
};

const struct schema_format *schema_format_named(gudgeon_str name)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++)
        if (str_is(name, formats[i].name))
            return &formats[i];
    return NULL;
}

bool schema_format_has(const struct schema_format *format, gudgeon_str text)
{
    /* A NUL is in none of these formats but the pointers', where it is not worth a thought. */
    return memchr(text.ptr, '\0', text.len) == NULL && format->has(text.ptr);
}
