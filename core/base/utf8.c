/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Length of the character that the lead byte announces and the range its second byte must be in
 * (RFC 3629 §4); 0 for bytes that start none. */
static size_t lead(unsigned char c, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xbf;
    if (c < 0x80)
        return 1;
    if (c < 0xc2)
        return 0;
    if (c < 0xe0)
        return 2;
    if (c < 0xf0) {
        if (c == 0xe0)
            *low = 0xa0;
        if (c == 0xed)
            *high = 0x9f;
        return 3;
    }
    if (c > 0xf4)
        return 0;
    if (c == 0xf0)
        *low = 0x90;
    if (c == 0xf4)
        *high = 0x8f;
    return 4;
}

/* How many of the bytes form the longest prefix of a valid character; sets *whole when it is a
 * character. At least 1. */
static size_t scan(const char *text, size_t len, bool *whole)
{
    unsigned char low, high;
    size_t need = lead((unsigned char)text[0], &low, &high);
    *whole = need == 1;
    if (need <= 1)
        return 1;
    size_t have = 1;
    while (have < need && have < len) {
        unsigned char c = (unsigned char)text[have];
        if (have == 1 ? (c < low || c > high) : !is_continuation(text[have]))
            break;
        have++;
    }
    *whole = have == need;
    return have;
}

size_t utf8_decode(const char *text, size_t len, uint32_t *ret)
{
    bool whole;
    size_t n = scan(text, len, &whole);
    if (!whole)
        return 0;
    static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = (unsigned char)text[0] & lead_mask[n];
    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    *ret = code;
    return n;
}

size_t utf8_encode(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead_bits[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(lead_bits[n] | code);
    return n;
}

size_t utf8_valid_prefix(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len) {
        if ((unsigned char)text[i] < 0x80) {
            i++;
            continue;
        }
        bool whole;
        size_t n = scan(text + i, len - i, &whole);
        if (!whole)
            return i;
        i += n;
    }
    return len;
}

bool utf8_is_valid(const char *text, size_t len)
{
    return utf8_valid_prefix(text, len) == len;
}

size_t utf8_cut(const char *text, size_t len)
{
    size_t n = len;
    while (n > 0 && len - n < 4 && is_continuation(text[n - 1]))
        n--;
    if (n == 0)
        return len;
    unsigned char low, high;
    size_t need = lead((unsigned char)text[n - 1], &low, &high);
    return n - 1 + need <= len ? len : n - 1;
}

size_t utf8_count(const char *text, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += !is_continuation(text[i]);
    return count;
}

int utf8_sanitise(struct buf *out, const char *text, size_t len)
{
    size_t start = 0, i = 0;
    while (i < len) {
        bool whole;
        size_t n = scan(text + i, len - i, &whole);
        if (whole && text[i] != '\0') {
            i += n;
            continue;
        }
        if (buf_add(out, text + start, i - start) < 0 || buf_add_str(out, replacement) < 0)
            return ERR_LIMIT;
        i += n;
        start = i;
    }
    return buf_add(out, text + start, len - start);
}

/* What a terminal acts on, and what hides or reorders the text around it: C0, DEL and C1; marks,
 * embeddings, overrides and isolates of direction; separators of lines; invisible characters and
 * tags. Not among them: the joiners U+200C and U+200D, which scripts and emoji need. */
static const struct {
    uint32_t first, last;
} not_shown[] = {
    {0x0000, 0x001f}, {0x007f, 0x009f}, {0x061c, 0x061c},   {0x180e, 0x180e},
    {0x200b, 0x200b}, {0x200e, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
};

bool utf8_is_shown(uint32_t code_point)
{
    for (size_t i = 0; i < COUNT_OF(not_shown); i++)
        if (code_point >= not_shown[i].first && code_point <= not_shown[i].last)
            return false;
    return true;
}

void utf8_make_line(char *text)
{
    size_t len = strlen(text), at = 0;
    char *to = text;
    while (at < len) {
        uint32_t code_point;
        size_t n = utf8_decode(text + at, len - at, &code_point);
        if (n == 0) {
            *to++ = '?';
            at++;
        } else if (!utf8_is_shown(code_point)) {
            *to++ = ' ';
            at += n;
        } else {
            memmove(to, text + at, n);
            to += n;
            at += n;
        }
    }
    *to = '\0';
}

char *utf8_one_line(gudgeon_str text, size_t max_bytes)
{
    struct buf line = BUF_INIT(BUF_MAX_ANY);
    if (text.ptr != NULL)
        utf8_sanitise(&line, text.ptr, text.len < max_bytes ? text.len : max_bytes);
    char *copy = buf_take(&line);
    utf8_make_line(copy);
    return copy;
}
