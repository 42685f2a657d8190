/* SPDX-License-Identifier: MIT */
#include "sound.h"

enum { ESCAPE_BYTES = 6 }; /* of \uXXXX */

/* Whether \uDXXX stands at `at`, with the first X among `kinds`. */
static int is_half(const char *at, const char *end, const char *kinds)
{
    return end - at >= ESCAPE_BYTES && at[0] == '\\' && at[1] == 'u' &&
           (at[2] == 'd' || at[2] == 'D') && at[3] != '\0' && strchr(kinds, at[3]) != NULL;
}

int sound_is_high_half(const char *at, const char *end)
{
    return is_half(at, end, "89abAB");
}

static int is_low_half(const char *at, const char *end)
{
    return is_half(at, end, "cdefCDEF");
}

/* Adds what stands at `at` and gives how many bytes that was. */
static size_t add_sound(gudgeon_buf *out, const char *at, const char *end)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char c = (unsigned char)*at;
    if (c < 0x20) {
        char escape[ESCAPE_BYTES] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 0xf]};
        gudgeon_buf_add(out, escape, sizeof escape);
        return 1;
    }
    if (c != '\\') {
        size_t len = gudgeon_utf8_len(at, end);
        gudgeon_buf_add(out, len > 0 ? at : "\xef\xbf\xbd", len > 0 ? len : 3);
        return len > 0 ? len : 1;
    }
    if (sound_is_high_half(at, end) && is_low_half(at + ESCAPE_BYTES, end)) {
        gudgeon_buf_add(out, at, 2 * ESCAPE_BYTES);
        return 2 * ESCAPE_BYTES;
    }
    if (sound_is_high_half(at, end) || is_low_half(at, end)) {
        gudgeon_buf_puts(out, "\\ufffd");
        return ESCAPE_BYTES;
    }
    size_t len = end - at >= 2 ? 2 : 1;
    gudgeon_buf_add(out, at, len);
    return len;
}

/* Length of what needs no look: printable ASCII but the backslash. */
static size_t plain_length(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at >= 0x20 && *at < 0x7f && *at != '\\')
        at++;
    return (size_t)(at - start);
}

void sound_make(gudgeon_buf *inner)
{
    gudgeon_str text = gudgeon_buf_str(inner);
    const char *at = text.ptr, *end = at + text.len;
    if (plain_length(at, end) == text.len)
        return;
    gudgeon_buf out = {.max = inner->max};
    gudgeon_buf_reserve(&out, text.len);
    while (at < end) {
        size_t plain = plain_length(at, end);
        gudgeon_buf_add(&out, at, plain);
        at += plain;
        if (at < end)
            at += add_sound(&out, at, end);
    }
    out.failed |= inner->failed;
    gudgeon_buf_free(inner);
    *inner = out;
}
