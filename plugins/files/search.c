/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/json.h>
#include <gudgeon/util.h>

#include "content.h"
#include "files.h"
#include "match.h"
#include "path.h"
#include "walk.h"

enum {
    GLOB_SIZE = 1024,
    SHOWN_BEFORE = 80,     /* bytes of a long line before the match */
    SHOWN_MAX = 300,       /* bytes of a line */
    STATE_INTERVAL = 1024, /* lines between two looks at the call */
};

struct search {
    const struct files *files;
    const gudgeon_call *call;
    struct match match;
    gudgeon_buf content; /* of one file, kept for the next */
    gudgeon_buf text;    /* "path:line: text" */
    gudgeon_buf data;    /* the same as JSON */
    size_t lines, matches, files_searched, files_matched;
    size_t skipped_binary, skipped_large, skipped_unreadable;
    bool has_long_lines;
    int32_t state; /* of the call, when it ended the search of a file */
};

/* Adds a line, or what stands around the match where it is long. */
static void add_part(gudgeon_buf *out, const char *line, size_t len, size_t at)
{
    size_t start = at > SHOWN_BEFORE && len > SHOWN_MAX ? at - SHOWN_BEFORE : 0;
    while (start > 0 && start < len && (line[start] & 0xC0) == 0x80)
        start++;
    size_t shown = len - start <= SHOWN_MAX ? len - start : content_whole(line + start, SHOWN_MAX);
    gudgeon_buf_puts(out, start > 0 ? "…" : "");
    gudgeon_buf_add(out, line + start, shown);
    gudgeon_buf_puts(out, start + shown < len ? "…" : "");
}

/* Takes back what passes the limit of the result; false then. */
static bool add_match(struct search *search, const char *path, int64_t number, gudgeon_str line,
                      size_t at)
{
    size_t before = search->text.len;
    path_add_shown(&search->text, path);
    gudgeon_buf_addf(&search->text, ":%lld: ", (long long)number);
    size_t start = search->text.len;
    add_part(&search->text, line.ptr, (size_t)line.len, at);
    if (search->text.failed || search->text.len > search->files->result_bytes) {
        search->text.len = before;
        return false;
    }
    gudgeon_buf_puts(&search->data, search->matches++ > 0 ? ",{\"path\":" : "{\"path\":");
    gudgeon_buf_quote(&search->data, gudgeon_text(path));
    gudgeon_buf_addf(&search->data, ",\"line\":%lld,\"text\":", (long long)number);
    gudgeon_buf_quote(&search->data,
                      (gudgeon_str){search->text.ptr + start, search->text.len - start});
    gudgeon_buf_puts(&search->data, "}");
    gudgeon_buf_puts(&search->text, "\n");
    return true;
}

/* One line, made NUL-terminated in place. False = the result is full. */
static bool search_line(struct search *search, const char *path, int64_t number, char *line,
                        size_t len)
{
    len -= len > 0 && line[len - 1] == '\r';
    char *end = line + (len < MATCH_LINE_MAX ? len : MATCH_LINE_MAX);
    char kept = *end;
    search->has_long_lines |= len > MATCH_LINE_MAX;
    *end = '\0';
    long at = match_line(&search->match, line);
    *end = kept;
    if (at < 0)
        return true;
    return add_match(search, path, number, (gudgeon_str){line, len}, (size_t)at);
}

/* False = enough. */
static bool search_content(struct search *search, const char *path)
{
    char *at = search->content.ptr, *end = at + search->content.len;
    size_t before = search->matches;
    bool goes_on = true;
    for (int64_t number = 1; at < end && goes_on; number++) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((newline != NULL ? newline : end) - at);
        goes_on = search_line(search, path, number, at, len);
        if (++search->lines % STATE_INTERVAL == 0)
            search->state = call_state(search->call);
        goes_on = goes_on && search->state == GUDGEON_OK;
        at += len + 1;
    }
    search->files_matched += search->matches > before;
    return goes_on;
}

static bool search_file(struct search *search, int fd, const char *path)
{
    size_t max = (size_t)search->files->max_bytes + 1;
    gudgeon_buf *content = &search->content;
    content->max = max;
    gudgeon_buf_reset(content);
    if (content_read(fd, content, max) < 0)
        search->skipped_unreadable++;
    else if (content->len == max)
        search->skipped_large++;
    else if (content_kind(content->ptr, content->len) != NULL)
        search->skipped_binary++;
    else {
        search->files_searched++;
        return search_content(search, path);
    }
    return true;
}

static bool search_entry(void *payload, const struct entry *entry)
{
    struct search *search = payload;
    struct stat found;
    if (!S_ISREG(entry->stat.st_mode))
        return true;
    int fd = openat(entry->directory_fd, entry->name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        search->skipped_unreadable++;
        if (fd >= 0)
            close(fd);
        return true;
    }
    bool goes_on = search_file(search, fd, entry->path);
    close(fd);
    return goes_on;
}

static void add_count(gudgeon_buf *out, size_t count, const char *what)
{
    if (count > 0)
        gudgeon_buf_addf(out, "; %zu %s", count, what);
}

static int32_t reply_search(struct search *search, enum walk_end end)
{
    gudgeon_buf *text = &search->text;
    if (search->state != GUDGEON_OK)
        end = search->state == GUDGEON_TIMEOUT ? WALK_LATE : WALK_CANCELLED;
    if (end == WALK_CANCELLED)
        return fail_state(search->call, GUDGEON_CANCELLED);
    if (search->matches == 0)
        gudgeon_buf_addf(text, "[no match in %zu file%s", search->files_searched,
                         search->files_searched == 1 ? "" : "s");
    else
        gudgeon_buf_addf(text, "[%zu matching line%s in %zu of %zu file%s", search->matches,
                         search->matches == 1 ? "" : "s", search->files_matched,
                         search->files_searched, search->files_searched == 1 ? "" : "s");
    add_count(text, search->skipped_binary, "binary skipped");
    add_count(text, search->skipped_large, "too large skipped");
    add_count(text, search->skipped_unreadable, "unreadable skipped");
    if (search->has_long_lines)
        gudgeon_buf_addf(text, "; of long lines only the first %d bytes were searched",
                         MATCH_LINE_MAX);
    if (end != WALK_DONE)
        gudgeon_buf_addf(text, "; stopped there: %s", walk_end_text(end));
    gudgeon_buf_puts(text, "]");
    gudgeon_buf_puts(&search->data, "]");
    return reply_bufs(search->call, text, &search->data);
}

static int32_t search_path(struct search *search, const struct path *path, const char *glob)
{
    struct reason why;
    struct stat found;
    int fd = path_open_either(search->files, path, &found, &why);
    if (fd < 0)
        return reply_reason(search->call, &why);
    gudgeon_buf_puts(&search->data, "[");
    if (S_ISREG(found.st_mode)) {
        bool goes_on = search_file(search, fd, path->text);
        close(fd);
        return reply_search(search, goes_on ? WALK_DONE : WALK_ENOUGH);
    }
    struct walk walk = {.call = search->call,
                        .glob = *glob != '\0' ? glob : NULL,
                        .is_recursive = true,
                        .visit = search_entry,
                        .payload = search};
    walk_directory(&walk, fd, path->text);
    search->skipped_unreadable += walk.has_skipped;
    return reply_search(search, walk.end);
}

int32_t files_search(struct files *files, const gudgeon_call *call, gudgeon_str arguments)
{
    struct path path;
    struct reason why;
    char pattern[MATCH_PATTERN_SIZE] = "", glob[GLOB_SIZE] = "";
    int is_regex = 0, ignores_case = 0;
    struct search search = {.files = files, .call = call};
    gudgeon_arg_bool(arguments, "regex", &is_regex);
    gudgeon_arg_bool(arguments, "ignore_case", &ignores_case);
    if (gudgeon_arg_text(arguments, "pattern", pattern, sizeof pattern) != GUDGEON_OK ||
        *pattern == '\0' || strchr(pattern, '\n') != NULL)
        return gudgeon_replyf(call, GUDGEON_IS_ERROR,
                              "pattern: give a text of one line and at most %d bytes",
                              MATCH_PATTERN_SIZE - 1);
    if (gudgeon_arg_text(arguments, "glob", glob, sizeof glob) == GUDGEON_LIMIT)
        return gudgeon_reply_text(call, GUDGEON_IS_ERROR, "the glob is too long");
    if (path_argument(files, arguments, &path, &why) < 0 ||
        match_init(&search.match, pattern, is_regex, ignores_case, &why) < 0)
        return reply_reason(call, &why);
    int32_t status = search_path(&search, &path, glob);
    match_fini(&search.match);
    gudgeon_buf_free(&search.content);
    gudgeon_buf_free(&search.text);
    gudgeon_buf_free(&search.data);
    return status;
}
