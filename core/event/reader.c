/* SPDX-License-Identifier: MIT */
#include "event/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/utf8.h"
#include "event/journal.h"

enum {
    CHUNK = 64 << 10,
    NOTE_MAX = 200, /* bytes: with the line's number it fits into reader_report.first */
};

struct reader {
    reader_fn *each;
    void *payload;
    struct reader_report report;
    char *run; /* whose journal it is: what the first record says */
    int64_t last_seq;
    int64_t line;      /* its number, from 1 */
    bool line_damaged; /* something of it was passed over */
    bool stopped;
};

/* Keeps the first damage, as one line. */
__attribute__((format(printf, 2, 3))) static void note(struct reader *reader, const char *format,
                                                       ...)
{
    char *first = reader->report.first;
    if (first[0] != '\0')
        return;
    struct err err;
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *what = xvasprintf(format, args);
    va_end(args);
    size_t len = strnlen(what, NOTE_MAX);
    err_set(&err, ERR_INVALID, "line %" PRId64 ": %.*s", reader->line, (int)utf8_cut(what, len),
            what);
    memcpy(first, err.text, strlen(err.text) + 1);
}

/* Whether the record is the next of this run. */
static bool is_in_place(struct reader *reader, const struct event *event)
{
    int64_t seq = event->record.seq;
    if (reader->run == NULL)
        reader->run = xstrdup(event->run);
    if (strcmp(reader->run, event->run) != 0) {
        note(reader, "a record of run %s", event->run);
        return false;
    }
    if (seq <= reader->last_seq) {
        note(reader, "record %" PRId64 " again", seq);
        return false;
    }
    int64_t missing = seq - reader->last_seq - 1;
    if (missing > 0) {
        note(reader, "%" PRId64 " records before record %" PRId64 " are missing", missing, seq);
        reader->report.missing += missing;
    }
    return true;
}

static void take_event(struct reader *reader, const struct event *event)
{
    if (!is_in_place(reader, event)) {
        reader->line_damaged = true;
        return;
    }
    reader->last_seq = event->record.seq;
    reader->report.records++;
    reader->stopped = reader->each(reader->payload, event) != 0;
}

static void take_line(struct reader *reader, gudgeon_str line, bool has_end)
{
    struct event_scan scan = EVENT_SCAN_INIT(line);
    struct event event;
    bool found = false;
    reader->line++;
    reader->line_damaged = false;
    while (!reader->stopped && event_next(&scan, &event)) {
        found = true;
        take_event(reader, &event);
        event_release(&event);
    }
    if (reader->stopped || (found && scan.damage.code == 0 && !reader->line_damaged))
        return;
    if (!found && !has_end) {
        note(reader, "torn after %zu bytes", (size_t)line.len);
        return;
    }
    note(reader, "%s", line.len > 0 ? scan.damage.text : "empty");
    reader->report.skipped++;
}

/* What was read and is not a whole line yet. */
struct window {
    struct buf text;
    size_t start;    /* of the line */
    size_t searched; /* no newline in [start, searched) */
    bool too_long;   /* the line is over JOURNAL_MAX_LINE: its bytes are dropped */
};

static void skip_long_line(struct reader *reader)
{
    reader->line++;
    reader->report.skipped++;
    note(reader, "over %d MiB long", JOURNAL_MAX_LINE >> 20);
}

static void take_lines(struct reader *reader, struct window *window)
{
    struct buf *text = &window->text;
    const char *newline;
    while (!reader->stopped && (newline = memchr(text->data + window->searched, '\n',
                                                 text->len - window->searched)) != NULL) {
        size_t end = (size_t)(newline - text->data);
        if (window->too_long)
            skip_long_line(reader);
        else
            take_line(reader, (gudgeon_str){text->data + window->start, end - window->start}, true);
        window->too_long = false;
        window->start = window->searched = end + 1;
    }
    if (text->len - window->start > JOURNAL_MAX_LINE)
        window->too_long = true;
    buf_consume(text, window->too_long ? text->len : window->start);
    window->start = 0;
    window->searched = text->len;
}

static void take_end(struct reader *reader, struct window *window)
{
    if (window->too_long)
        skip_long_line(reader);
    else if (window->text.len > 0)
        take_line(reader, (gudgeon_str){window->text.data, window->text.len}, false);
    reader->report.torn = window->too_long || window->text.len > 0;
}

static int read_file(struct reader *reader, int fd, struct window *window, struct err *err)
{
    struct buf *text = &window->text;
    while (!reader->stopped) {
        buf_reserve(text, CHUNK);
        ssize_t n = read(fd, text->data + text->len, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, "cannot read the journal");
        if (n == 0)
            break;
        text->len += (size_t)n;
        take_lines(reader, window);
    }
    if (!reader->stopped)
        take_end(reader, window);
    return 0;
}

int reader_run(const char *directory, reader_fn *each, void *payload, struct reader_report *report,
               struct err *err)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/journal.jsonl", directory);
    CLEANUP(close_fd) int fd = -1;
    int status = file_open(path, O_RDONLY | O_NOFOLLOW, &fd, err);
    if (status == ERR_NOT_FOUND)
        return err_set(err, ERR_NOT_FOUND, "there is no journal in %s", directory);
    if (status < 0)
        return err_prefix(err, "%s", path);
    struct reader reader = {.each = each, .payload = payload};
    struct window window = {.text = BUF_INIT(BUF_MAX_ANY)};
    status = read_file(&reader, fd, &window, err);
    buf_fini(&window.text);
    free(reader.run);
    if (status == 0 && report != NULL)
        *report = reader.report;
    return status;
}
