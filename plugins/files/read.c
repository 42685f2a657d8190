/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/util.h>

#include "content.h"
#include "files.h"
#include "path.h"

enum { CHUNK = 64 << 10 };

/* The lines from `first` to `last` of a file that goes by in chunks. */
struct reading {
    gudgeon_buf out;
    int64_t first, last; /* from 1 */
    int64_t line;        /* the line that the next byte belongs to */
    size_t line_start;   /* where that line begins in `out` */
    bool in_line;        /* some of it has gone by */
    bool has_more;       /* something after what is in `out` is left out */
    bool is_cut;         /* the last line in `out` is not whole */
};

/* Drops the line that did not fit; when it is the only one, keeps what fits of it. */
static void cut_at_limit(struct reading *reading, const char *bytes, size_t len)
{
    gudgeon_buf *out = &reading->out;
    reading->has_more = true;
    out->failed = 0;
    if (reading->line_start > 0) {
        out->len = reading->line_start;
        return;
    }
    size_t room = out->max - out->len;
    gudgeon_buf_add(out, bytes, len < room ? len : room);
    out->len = content_whole(out->ptr, out->len);
    reading->is_cut = true;
}

/* Takes the next bytes of the file; false once nothing more is wanted. */
static bool take_bytes(struct reading *reading, const char *bytes, size_t len)
{
    while (len > 0) {
        const char *newline = memchr(bytes, '\n', len);
        size_t piece = newline != NULL ? (size_t)(newline + 1 - bytes) : len;
        if (reading->line > reading->last) {
            reading->has_more = true;
            return false;
        }
        if (reading->line >= reading->first)
            gudgeon_buf_add(&reading->out, bytes, piece);
        if (reading->out.failed) {
            cut_at_limit(reading, bytes, piece);
            return false;
        }
        reading->in_line = newline == NULL;
        if (newline != NULL) {
            reading->line++;
            reading->line_start = reading->out.len;
        }
        bytes += piece;
        len -= piece;
    }
    return true;
}

/* What is no text is named in *ret_kind. 0, -1 with errno, or a class. */
static int32_t read_lines(const gudgeon_call *call, int fd, struct reading *reading,
                          const char **ret_kind)
{
    gudgeon_buf chunk = {0};
    int32_t status = 0;
    bool is_first = true;
    do {
        chunk.len = 0;
        status = content_read(fd, &chunk, CHUNK);
        if (status == 0 && is_first)
            *ret_kind = content_kind(chunk.ptr, chunk.len);
        if (status == 0)
            status = call_state(call);
        is_first = false;
    } while (status == 0 && *ret_kind == NULL && take_bytes(reading, chunk.ptr, chunk.len) &&
             chunk.len == CHUNK);
    gudgeon_buf_free(&chunk);
    return status;
}

/* Says which part of the file was given, when it is not all of it. */
static void add_note(struct reading *reading)
{
    gudgeon_buf *out = &reading->out;
    out->max += 256;
    if (!reading->has_more && reading->first == 1)
        return;
    int64_t next = reading->line + reading->is_cut;
    gudgeon_buf_addf(out, "%s[lines %lld to %lld", out->ptr[out->len - 1] == '\n' ? "" : "\n",
                     (long long)reading->first,
                     (long long)(next - 1 + (reading->in_line && !reading->has_more)));
    if (reading->is_cut)
        gudgeon_buf_addf(out, ", the last of which is too long to be shown whole");
    if (reading->has_more)
        gudgeon_buf_addf(out, "; go on with offset %lld]", (long long)next);
    else
        gudgeon_buf_puts(out, ", the end]");
}

static int32_t reply_lines(const gudgeon_call *call, const struct path *path,
                           struct reading *reading)
{
    int64_t lines = reading->line - !reading->in_line;
    if (reading->out.len == 0 && lines == 0)
        return gudgeon_replyf(call, 0, "(the file is empty)");
    if (reading->out.len == 0 && !reading->has_more)
        return gudgeon_replyf(call, GUDGEON_IS_ERROR, "'%.300s' has only %lld line%s", path->text,
                              (long long)lines, lines == 1 ? "" : "s");
    add_note(reading);
    return reply_bufs(call, &reading->out, NULL);
}

int32_t files_read(struct files *files, const gudgeon_call *call, gudgeon_str arguments)
{
    struct path path;
    struct reason why;
    struct stat found;
    int64_t limit = INT64_MAX;
    struct reading reading = {.out = {.max = files->result_bytes}, .first = 1, .line = 1};
    const char *kind = NULL;
    gudgeon_arg_int(arguments, "offset", &reading.first);
    gudgeon_arg_int(arguments, "limit", &limit);
    if (reading.first < 1 || limit < 1)
        return gudgeon_replyf(call, GUDGEON_IS_ERROR, "offset and limit count lines from 1");
    reading.last = limit > INT64_MAX - reading.first ? INT64_MAX : reading.first + limit - 1;
    if (path_argument(files, arguments, &path, &why) < 0)
        return reply_reason(call, &why);
    int fd = path_open_file(files, &path, &found, &why);
    if (fd < 0)
        return reply_reason(call, &why);
    int32_t status = read_lines(call, fd, &reading, &kind);
    int error = errno;
    close(fd);
    if (status > 0)
        status = fail_state(call, status);
    else if (status < 0) {
        path_fail(path.text, error, &why);
        status = reply_reason(call, &why);
    } else if (kind != NULL)
        status = gudgeon_replyf(call, GUDGEON_IS_ERROR,
                                "'%.300s' is %s (%lld bytes): it cannot be shown as text",
                                path.text, kind, (long long)found.st_size);
    else
        status = reply_lines(call, &path, &reading);
    gudgeon_buf_free(&reading.out);
    return status;
}
