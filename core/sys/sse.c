/* SPDX-License-Identifier: MIT */
#include "sys/sse.h"

#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

enum { BOM_BYTES = 3 };

void sse_init(struct sse *sse, size_t max_bytes)
{
    *sse = (struct sse){.max_bytes = max_bytes};
    buf_init(&sse->line, max_bytes);
    buf_init(&sse->data, max_bytes);
    buf_init(&sse->fault, max_bytes);
    buf_init(&sse->type, max_bytes);
    buf_init(&sse->id, max_bytes);
}

void sse_fini(struct sse *sse)
{
    buf_fini(&sse->line);
    buf_fini(&sse->data);
    buf_fini(&sse->fault);
    buf_fini(&sse->type);
    buf_fini(&sse->id);
}

void sse_push(struct sse *sse, const char *bytes, size_t len)
{
    sse->input = (gudgeon_str){bytes, len};
}

static void drop(gudgeon_str *text, size_t count)
{
    text->ptr += count;
    text->len -= count;
}

/* ---- fields -------------------------------------------------------------------------------- */

static int set(struct buf *field, gudgeon_str value)
{
    buf_reset(field);
    return buf_add(field, value.ptr, value.len);
}

static int on_data(struct sse *sse, gudgeon_str value)
{
    if (sse->has_data && buf_add_char(&sse->data, '\n') < 0)
        return ERR_LIMIT;
    sse->has_data = true;
    return buf_add(&sse->data, value.ptr, value.len);
}

static int on_event(struct sse *sse, gudgeon_str value)
{
    return set(&sse->type, value);
}

static int on_id(struct sse *sse, gudgeon_str value)
{
    if (value.len > 0 && memchr(value.ptr, '\0', value.len) != NULL)
        return 0;
    return set(&sse->id, value);
}

static int on_error(struct sse *sse, gudgeon_str value)
{
    sse->has_fault = true;
    return set(&sse->fault, value);
}

/* `retry` is absent: nobody here reconnects. */
static const struct {
    const char *name;
    int (*set)(struct sse *sse, gudgeon_str value);
} fields[] = {
    {"data", on_data},
    {"event", on_event},
    {"id", on_id},
    {"error", on_error},
};

static int take_field(struct sse *sse, gudgeon_str line)
{
    gudgeon_str name = line, value = {"", 0};
    const char *colon = memchr(line.ptr, ':', line.len);
    if (colon != NULL) {
        name.len = (size_t)(colon - line.ptr);
        value = line;
        drop(&value, name.len + 1);
        if (value.len > 0 && value.ptr[0] == ' ')
            drop(&value, 1);
    }
    for (size_t i = 0; i < COUNT_OF(fields); i++)
        if (str_is(name, fields[i].name))
            return fields[i].set(sse, value);
    return 0; /* comments (an empty name) and unknown fields */
}

/* ---- lines --------------------------------------------------------------------------------- */

static void start_block(struct sse *sse)
{
    buf_reset(&sse->data);
    buf_reset(&sse->fault);
    buf_reset(&sse->type);
    sse->has_data = false;
    sse->has_fault = false;
    sse->given = false;
}

static gudgeon_str text_or_absent(const struct buf *buf)
{
    return buf->len > 0 ? (gudgeon_str){buf->data, buf->len} : (gudgeon_str){NULL, 0};
}

/* The blank line after a block: 1 and an event, or 0 when the block holds none. */
static int end_block(struct sse *sse, struct sse_event *ret)
{
    if (!sse->has_data && !sse->has_fault) {
        start_block(sse);
        return 0;
    }
    const struct buf *data = sse->has_data ? &sse->data : &sse->fault;
    ret->type = sse->has_data ? text_or_absent(&sse->type) : str_of("error");
    ret->id = text_or_absent(&sse->id);
    ret->data = (gudgeon_str){data->data, data->len};
    sse->given = true;
    return 1;
}

static int take_line(struct sse *sse, gudgeon_str line, struct sse_event *ret)
{
    return line.len == 0 ? end_block(sse, ret) : take_field(sse, line);
}

static size_t find_line_end(gudgeon_str text)
{
    size_t at = 0;
    while (at < text.len && text.ptr[at] != '\n' && text.ptr[at] != '\r')
        at++;
    return at;
}

/* Passes over a byte order mark at the very start. One that is only begun is a line's start. */
static void skip_bom(struct sse *sse)
{
    static const char bom[BOM_BYTES] = "\xef\xbb\xbf";
    while (sse->bom_seen < BOM_BYTES && sse->input.len > 0) {
        if (sse->input.ptr[0] != bom[sse->bom_seen]) {
            buf_add(&sse->line, bom, sse->bom_seen);
            sse->bom_seen = BOM_BYTES;
            return;
        }
        drop(&sse->input, 1);
        sse->bom_seen++;
    }
}

/* Takes input up to and with the next line end, or keeps all of it when there is none. 1: the
 * line ended an event; 0; ERR_LIMIT. */
static int next_line(struct sse *sse, struct sse_event *ret)
{
    if (sse->after_cr && sse->input.len > 0) {
        if (sse->input.ptr[0] == '\n')
            drop(&sse->input, 1);
        sse->after_cr = false;
    }
    size_t len = find_line_end(sse->input);
    gudgeon_str line = {sse->input.ptr, len};
    bool ended = len < sse->input.len;
    if (len > sse->max_bytes)
        return ERR_LIMIT;
    if (!ended || sse->line.len > 0) {
        if (buf_add(&sse->line, line.ptr, line.len) < 0)
            return ERR_LIMIT;
        line = (gudgeon_str){sse->line.data, sse->line.len};
    }
    sse->after_cr = ended && sse->input.ptr[len] == '\r';
    drop(&sse->input, ended ? len + 1 : len);
    if (!ended)
        return 0;
    int status = take_line(sse, line, ret);
    buf_reset(&sse->line);
    return status;
}

int sse_next(struct sse *sse, struct sse_event *ret)
{
    if (sse->failed)
        return ERR_LIMIT;
    if (sse->given)
        start_block(sse);
    skip_bom(sse);
    int status = 0;
    while (status == 0 && sse->input.len > 0)
        status = next_line(sse, ret);
    sse->failed = status < 0;
    return status;
}
