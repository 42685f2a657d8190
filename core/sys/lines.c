/* SPDX-License-Identifier: MIT */
#include "sys/lines.h"

#include <string.h>

#include "base/err.h"

void lines_init(struct lines *lines, size_t max_line_bytes)
{
    *lines = (struct lines){.given = false};
    buf_init(&lines->line, max_line_bytes);
}

void lines_fini(struct lines *lines)
{
    buf_fini(&lines->line);
}

void lines_push(struct lines *lines, const char *bytes, size_t len)
{
    lines->input = (gudgeon_str){bytes, len};
}

static void forget_given(struct lines *lines)
{
    if (lines->given)
        buf_reset(&lines->line);
    lines->given = false;
}

/* Moves input up to and with the next LF into `line`; whether there was one. */
static int take_line(struct lines *lines, bool *ended)
{
    gudgeon_str *input = &lines->input;
    const char *end = memchr(input->ptr, '\n', input->len);
    size_t len = end != NULL ? (size_t)(end - input->ptr) : input->len;
    *ended = end != NULL;
    if (buf_add(&lines->line, input->ptr, len) < 0)
        return ERR_LIMIT;
    input->ptr += len + *ended;
    input->len -= len + *ended;
    return 0;
}

/* Whether the line in the buffer is one to give. */
static bool give(struct lines *lines, gudgeon_str *ret)
{
    struct buf *line = &lines->line;
    if (line->len > 0 && line->data[line->len - 1] == '\r')
        buf_truncate(line, line->len - 1);
    lines->given = line->len > 0;
    if (lines->given)
        *ret = (gudgeon_str){line->data, line->len};
    return lines->given;
}

int lines_next(struct lines *lines, gudgeon_str *ret)
{
    if (lines->failed)
        return ERR_LIMIT;
    forget_given(lines);
    while (lines->input.len > 0) {
        bool ended;
        if (take_line(lines, &ended) < 0) {
            lines->failed = true;
            return ERR_LIMIT;
        }
        if (ended && give(lines, ret))
            return 1;
    }
    return 0;
}

int lines_last(struct lines *lines, gudgeon_str *ret)
{
    forget_given(lines);
    return give(lines, ret);
}
