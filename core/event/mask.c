/* SPDX-License-Identifier: MIT */
#include "event/mask.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"

/* ---- the forms of a value -------------------------------------------------------------------- */

/* What JSON writers do beyond what they must. */
enum {
    ESCAPES_SLASH = 1,
    ESCAPES_NON_ASCII = 2,
    ESCAPES_UPPER_CASE = 4, /* hexadecimal digits */
    ESCAPES_ALL = 7,
};

static void add_utf16(struct buf *out, uint32_t unit, unsigned how)
{
    buf_addf(out, how & ESCAPES_UPPER_CASE ? "\\u%04X" : "\\u%04x", unit);
}

static void add_escaped(struct buf *out, uint32_t code, unsigned how)
{
    static const char shorts[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = code > 0 && code < 0x80 ? strchr(shorts, (int)code) : NULL;
    char utf8[4];
    if (found != NULL)
        buf_addf(out, "\\%c", letters[found - shorts]);
    else if (code == '/' && (how & ESCAPES_SLASH))
        buf_add_str(out, "\\/");
    else if (code < 0x20 || (code >= 0x80 && code < 0x10000 && (how & ESCAPES_NON_ASCII)))
        add_utf16(out, code, how);
    else if (code >= 0x10000 && (how & ESCAPES_NON_ASCII)) {
        add_utf16(out, 0xd800 + ((code - 0x10000) >> 10), how);
        add_utf16(out, 0xdc00 + ((code - 0x10000) & 0x3ff), how);
    } else
        buf_add(out, utf8, utf8_encode(code, utf8));
}

/* `value` is valid UTF-8. */
static void escape(struct buf *out, gudgeon_str value, unsigned how)
{
    uint32_t code = 0;
    for (size_t i = 0; i < value.len; i += utf8_decode(value.ptr + i, value.len - i, &code)) {
        utf8_decode(value.ptr + i, value.len - i, &code);
        add_escaped(out, code, how);
    }
}

static void add_form(struct mask *mask, const char *form)
{
    for (size_t i = 0; i < mask->count; i++)
        if (strcmp(mask->values[i], form) == 0)
            return;
    mask->values = xreallocarray(mask->values, mask->count + 1, sizeof *mask->values);
    mask->values[mask->count++] = xstrdup(form);
}

static void wipe(struct buf *buf)
{
    explicit_bzero(buf->data, buf->cap);
    buf_fini(buf);
}

void mask_add(struct mask *mask, const char *value)
{
    if (strlen(value) < MASK_MIN_BYTES)
        return;
    CLEANUP(wipe) struct buf clean = BUF_INIT(BUF_MAX_ANY); /* as the texts are when masked */
    utf8_sanitise(&clean, value, strlen(value));
    add_form(mask, clean.data);
    for (unsigned how = 0; how <= ESCAPES_ALL; how++) {
        CLEANUP(wipe) struct buf form = BUF_INIT(BUF_MAX_ANY);
        escape(&form, (gudgeon_str){clean.data, clean.len}, how);
        add_form(mask, form.data);
    }
}

void mask_fini(struct mask *mask)
{
    for (size_t i = 0; i < mask->count; i++) {
        explicit_bzero(mask->values[i], strlen(mask->values[i]));
        free(mask->values[i]);
    }
    free(mask->values);
    *mask = (struct mask){0};
}

/* ---- texts without them ---------------------------------------------------------------------- */

/* Where each value is found next; SIZE_MAX = nowhere. */
struct search {
    const struct mask *mask;
    gudgeon_str text;
    size_t *next;
};

static void find_next(struct search *search, size_t value, size_t from)
{
    const char *needle = search->mask->values[value];
    const char *at =
        memmem(search->text.ptr + from, search->text.len - from, needle, strlen(needle));
    search->next[value] = at != NULL ? (size_t)(at - search->text.ptr) : SIZE_MAX;
}

static size_t first(const struct search *search)
{
    size_t start = SIZE_MAX;
    for (size_t i = 0; i < search->mask->count; i++)
        if (search->next[i] < start)
            start = search->next[i];
    return start;
}

/* The end of the values that begin at `start` and of all that overlap them; passes over them. */
static size_t pass(struct search *search, size_t start)
{
    size_t end = start + 1;
    bool has_grown = true;
    while (has_grown) {
        has_grown = false;
        for (size_t i = 0; i < search->mask->count; i++)
            while (search->next[i] < end) {
                size_t its_end = search->next[i] + strlen(search->mask->values[i]);
                has_grown |= its_end > end;
                end = its_end > end ? its_end : end;
                find_next(search, i, search->next[i] + 1);
            }
    }
    return end;
}

int mask_apply(const struct mask *mask, gudgeon_str text, struct buf *out)
{
    if (mask->count == 0 || text.len < MASK_MIN_BYTES)
        return buf_add(out, text.ptr, text.len);
    CLEANUP(free_ptr) size_t *next = xcalloc(mask->count, sizeof *next);
    struct search search = {.mask = mask, .text = text, .next = next};
    for (size_t i = 0; i < mask->count; i++)
        find_next(&search, i, 0);
    size_t done = 0, start;
    int status = 0;
    while (status == 0 && (start = first(&search)) != SIZE_MAX) {
        status = buf_add(out, text.ptr + done, start - done);
        if (status == 0)
            status = buf_add_str(out, MASK_TEXT);
        done = pass(&search, start);
    }
    return status < 0 ? status : buf_add(out, text.ptr + done, text.len - done);
}

bool mask_finds(const struct mask *mask, gudgeon_str text)
{
    for (size_t i = 0; i < mask->count && text.len > 0; i++)
        if (memmem(text.ptr, text.len, mask->values[i], strlen(mask->values[i])) != NULL)
            return true;
    return false;
}

/* ---- beginnings of values -------------------------------------------------------------------- */

/* The length of the longest end of text[0..end) that is the beginning of a value but not all of it,
 * and at least so much of it. */
static size_t open_end(const struct mask *mask, const char *text, size_t end, size_t percent)
{
    size_t longest = 0;
    for (size_t i = 0; i < mask->count; i++) {
        const char *value = mask->values[i];
        size_t len = strlen(value), most = len - 1 < end ? len - 1 : end;
        for (size_t n = most; n > longest && n * 100 >= len * percent; n--)
            if (text[end - n] == value[0] && memcmp(text + end - n, value, n) == 0)
                longest = n;
    }
    return longest;
}

enum { CUT_PERCENT = 50 };

/* Adds a text that is masked already, without the beginning of a value at its end. */
static int add_cut(const struct mask *mask, gudgeon_str text, struct buf *out)
{
    size_t open = open_end(mask, text.ptr, text.len, CUT_PERCENT);
    if (open < MASK_MIN_BYTES)
        return buf_add(out, text.ptr, text.len);
    int status = buf_add(out, text.ptr, text.len - open);
    return status < 0 ? status : buf_add_str(out, MASK_TEXT);
}

int mask_apply_cut(const struct mask *mask, gudgeon_str text, struct buf *out)
{
    static const char dots[] = "…";
    CLEANUP(buf_fini) struct buf masked = BUF_INIT(BUF_MAX_ANY);
    if (mask->count == 0 || text.len == 0)
        return buf_add(out, text.ptr, text.len);
    mask_apply(mask, text, &masked);
    const char *at = masked.data, *end = at + masked.len, *cut;
    int status = 0;
    while (status == 0 && (cut = memmem(at, (size_t)(end - at), dots, strlen(dots))) != NULL) {
        status = add_cut(mask, (gudgeon_str){at, (size_t)(cut - at)}, out);
        if (status == 0)
            status = buf_add_str(out, dots);
        at = cut + strlen(dots);
    }
    return status < 0 ? status : add_cut(mask, (gudgeon_str){at, (size_t)(end - at)}, out);
}

/* ---- texts in parts -------------------------------------------------------------------------- */

/* Values that overlap themselves could be held without end. */
enum { HELD_MAX = 64 << 10 };

void mask_stream_fini(struct mask_stream *stream)
{
    if (stream->held.cap > 0)
        explicit_bzero(stream->held.data, stream->held.cap);
    buf_fini(&stream->held);
}

/* How much of what is held can be given: not the beginning of a value, nor a value that overlaps
 * it, because the two may become one. */
static size_t settled(const struct mask *mask, const struct buf *held)
{
    size_t keep = held->len - open_end(mask, held->data, held->len, 0);
    CLEANUP(free_ptr) size_t *next = xcalloc(mask->count, sizeof *next);
    struct search search = {mask, {held->data, held->len}, next};
    for (size_t i = 0; i < mask->count; i++)
        find_next(&search, i, 0);
    for (size_t start; (start = first(&search)) < keep;)
        if (pass(&search, start) > keep)
            keep = start;
    return keep;
}

void mask_stream_add(const struct mask *mask, struct mask_stream *stream, gudgeon_str part,
                     struct buf *out)
{
    struct buf *held = &stream->held;
    if (mask->count == 0 && held->len == 0) {
        buf_add(out, part.ptr, part.len);
        return;
    }
    if (held->max == 0)
        buf_init(held, BUF_MAX_ANY);
    buf_add(held, part.ptr, part.len);
    size_t give = held->len < HELD_MAX ? settled(mask, held) : held->len;
    mask_apply(mask, (gudgeon_str){held->data, give}, out);
    buf_consume(held, give);
}

void mask_stream_end(const struct mask *mask, struct mask_stream *stream, struct buf *out)
{
    if (stream->held.len > 0)
        mask_apply_cut(mask, (gudgeon_str){stream->held.data, stream->held.len}, out);
    mask_stream_fini(stream);
}
