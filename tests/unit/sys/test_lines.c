/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/str.h"
#include "sys/lines.h"
#include "unit.h"

#include <stdlib.h>

static const struct {
    const char *name, *text, *want;
} rows[] = {
    {"lines", "{\"a\":1}\n{\"b\":2}\n", "[{\"a\":1}][{\"b\":2}]"},
    {"CRLF", "a\r\nb\r\n", "[a][b]"},
    {"a lone CR is text", "a\rb\n", "[a\rb]"},
    {"empty lines", "\n\r\n\na\n\n\nb\n", "[a][b]"},
    {"no last end", "a\nb", "[a][b]"},
    {"a CR at the end", "a\nb\r", "[a][b]"},
    {"only a CR at the end", "a\n\r", "[a]"},
    {"nothing", "", ""},
    {"at the cap", "0123456789\n0123456789", "[0123456789][0123456789]"},
    {"over the cap", "a\n0123456789X\nb\n", "[a]limit"},
};

static void pull(struct lines *lines, struct buf *out, int (*next)(struct lines *, gudgeon_str *))
{
    gudgeon_str line;
    int status;
    while ((status = next(lines, &line)) == 1) {
        CU_ASSERT_EQUAL(line.ptr[line.len], '\0');
        buf_addf(out, "[%.*s]", STR_ARG(line));
    }
    if (status < 0)
        buf_add_str(out, err_name(status));
}

static void test_rows(void)
{
    for (size_t row = 0; row < COUNT_OF(rows); row++)
        for (size_t slice = 1; slice < 30; slice++) {
            struct lines lines;
            struct buf have = BUF_INIT(BUF_MAX_ANY);
            size_t len = strlen(rows[row].text);
            lines_init(&lines, 10);
            for (size_t at = 0; at < len && !lines.failed; at += slice) {
                size_t part = len - at < slice ? len - at : slice;
                char *copy = malloc(part);
                memcpy(copy, rows[row].text + at, part);
                lines_push(&lines, copy, part);
                pull(&lines, &have, lines_next);
                free(copy);
            }
            if (!lines.failed)
                pull(&lines, &have, lines_last);
            CHECK_STR(have.data, rows[row].want);
            buf_fini(&have);
            lines_fini(&lines);
        }
}

int main(void)
{
    UNIT_MAIN("lines", {"rows, in slices of every size", test_rows});
}
