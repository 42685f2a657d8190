/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/util.h>

#include "content.h"
#include "files.h"
#include "path.h"
#include "replace.h"

enum { SHOWN_LINES = 5 }; /* places that a message names */

struct edit {
    gudgeon_buf old, new; /* what is replaced by what */
    gudgeon_buf content;  /* of the file, before */
    gudgeon_buf changed;  /* and after */
    bool all;
    size_t count; /* occurrences of `old` */
    int64_t lines[SHOWN_LINES];
};

static void edit_fini(struct edit *edit)
{
    gudgeon_buf_free(&edit->old);
    gudgeon_buf_free(&edit->new);
    gudgeon_buf_free(&edit->content);
    gudgeon_buf_free(&edit->changed);
}

static int64_t count_newlines(const char *from, const char *to)
{
    int64_t count = 0;
    while ((from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        count++;
        from++;
    }
    return count;
}

/* Counts the occurrences, notes the lines of the first few, and builds what the file becomes. */
static void replace_all(struct edit *edit)
{
    const gudgeon_buf *old = &edit->old;
    const char *at = edit->content.ptr, *end = at + edit->content.len, *hit;
    int64_t line = 1;
    edit->count = 0;
    gudgeon_buf_reset(&edit->changed);
    while ((hit = memmem(at, (size_t)(end - at), old->ptr, old->len)) != NULL) {
        line += count_newlines(at, hit);
        if (edit->count < SHOWN_LINES)
            edit->lines[edit->count] = line;
        edit->count++;
        gudgeon_buf_add(&edit->changed, at, (size_t)(hit - at));
        gudgeon_buf_put(&edit->changed, gudgeon_buf_str(&edit->new));
        line += count_newlines(hit, hit + old->len);
        at = hit + old->len;
    }
    gudgeon_buf_add(&edit->changed, at, (size_t)(end - at));
}

/* Models write \n; a file whose lines end in \r\n is met with the same. */
static void use_crlf(gudgeon_buf *text)
{
    gudgeon_buf with = {.max = 2 * text->len + 1};
    for (size_t i = 0; i < text->len; i++) {
        if (text->ptr[i] == '\n' && (i == 0 || text->ptr[i - 1] != '\r'))
            gudgeon_buf_add(&with, "\r", 1);
        gudgeon_buf_add(&with, text->ptr + i, 1);
    }
    gudgeon_buf_free(text);
    *text = with;
}

static void find(struct edit *edit)
{
    replace_all(edit);
    bool has_crlf = memmem(edit->content.ptr, edit->content.len, "\r\n", 2) != NULL;
    if (edit->count > 0 || !has_crlf)
        return;
    use_crlf(&edit->old);
    use_crlf(&edit->new);
    if (!edit->old.failed && !edit->new.failed)
        replace_all(edit);
}

/* Where the first line of the text that was not found stands nonetheless; 0 = nowhere. */
static int64_t near_miss(const struct edit *edit)
{
    static const char blank[] = " \t\r\n";
    const char *line = edit->old.ptr + strspn(edit->old.ptr, blank);
    size_t len = strcspn(line, "\r\n");
    while (len > 0 && strchr(blank, line[len - 1]) != NULL)
        len--;
    const char *start = edit->content.ptr;
    const char *hit = len > 0 ? memmem(start, edit->content.len, line, len) : NULL;
    return hit != NULL ? 1 + count_newlines(start, hit) : 0;
}

static int not_found(const struct edit *edit, const char *path, struct reason *why)
{
    int64_t line = near_miss(edit);
    if (line == 0)
        return because(why,
                       "the old text does not occur in '%.300s': read the file and give the "
                       "text exactly as it stands there; nothing was changed",
                       path);
    return because(why,
                   "the old text does not occur in '%.300s' as given, but its first line "
                   "stands in line %lld: compare white space and the lines after it; nothing "
                   "was changed",
                   path, (long long)line);
}

static int too_many(const struct edit *edit, const char *path, struct reason *why)
{
    char lines[SHOWN_LINES * 22 + 8] = "";
    size_t used = 0, shown = edit->count < SHOWN_LINES ? edit->count : SHOWN_LINES;
    for (size_t i = 0; i < shown; i++)
        used += (size_t)snprintf(lines + used, sizeof lines - used, "%s%lld", i > 0 ? ", " : "",
                                 (long long)edit->lines[i]);
    return because(why,
                   "the old text occurs %zu times in '%.300s' (lines %s%s): add more of what "
                   "stands around it, or set all; nothing was changed",
                   edit->count, path, lines, edit->count > shown ? ", …" : "");
}

/* Reads the very file that target_look found. */
static int read_target(const struct files *files, const struct target *target, struct edit *edit,
                       struct reason *why)
{
    if ((uint64_t)target->old.st_size > files->max_bytes)
        return because(why, "'%.300s' has %lld bytes: files over %" PRIu64 " bytes are not edited",
                       target->path, (long long)target->old.st_size, files->max_bytes);
    int fd =
        openat(target->parent_fd, target->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return path_fail(target->path, errno, why);
    int status = content_read(fd, &edit->content, (size_t)target->old.st_size + 1);
    int error = errno;
    close(fd);
    if (status < 0)
        return path_fail(target->path, error, why);
    const char *kind = content_kind(edit->content.ptr, edit->content.len);
    return kind != NULL ? because(why, "'%.300s' is %s: it is not edited", target->path, kind) : 0;
}

static int apply(const struct files *files, struct target *target, struct edit *edit,
                 struct reason *why)
{
    if (target_look(target, why) < 0)
        return -1;
    if (!target->exists)
        return path_fail(target->path, ENOENT, why);
    if (read_target(files, target, edit, why) < 0)
        return -1;
    find(edit);
    if (edit->count == 0)
        return not_found(edit, target->path, why);
    if (edit->count > 1 && !edit->all)
        return too_many(edit, target->path, why);
    if (edit->changed.failed)
        return because(why, "'%.300s' would grow beyond %" PRIu64 " bytes; nothing was changed",
                       target->path, files->max_bytes);
    return target_replace(target, gudgeon_buf_str(&edit->changed), why);
}

static int32_t edit_file(struct files *files, const gudgeon_call *call, const struct path *path,
                         struct edit *edit)
{
    struct reason why;
    struct target target = {.path = path->text};
    target.parent_fd = path_open_parent(files, path, false, &target.name, &why);
    if (target.parent_fd < 0)
        return reply_reason(call, &why);
    pthread_mutex_lock(&files->writing);
    int status = apply(files, &target, edit, &why);
    pthread_mutex_unlock(&files->writing);
    close(target.parent_fd);
    if (status < 0)
        return reply_reason(call, &why);
    if (edit->count > 1)
        return gudgeon_replyf(call, 0,
                              "replaced %zu occurrences in '%.300s', the first in line "
                              "%lld",
                              edit->count, path->text, (long long)edit->lines[0]);
    return gudgeon_replyf(call, 0, "replaced 1 occurrence in '%.300s', in line %lld", path->text,
                          (long long)edit->lines[0]);
}

/* NULL, or what is wrong with the arguments. */
static const char *take_arguments(gudgeon_str arguments, struct edit *edit)
{
    int all = 0;
    if (gudgeon_arg_bytes(arguments, "old", &edit->old) != GUDGEON_OK || edit->old.len == 0)
        return "old is missing, empty or too long: give the exact text to replace";
    if (gudgeon_arg_bytes(arguments, "new", &edit->new) != GUDGEON_OK)
        return "new is missing or too long";
    if (gudgeon_is(gudgeon_buf_str(&edit->old), gudgeon_buf_str(&edit->new).ptr))
        return "old and new are the same: nothing was changed";
    gudgeon_arg_bool(arguments, "all", &all);
    edit->all = all;
    return NULL;
}

int32_t files_edit(struct files *files, const gudgeon_call *call, gudgeon_str arguments)
{
    struct path path;
    struct reason why;
    struct edit edit = {.old.max = files->max_bytes,
                        .new.max = files->max_bytes,
                        .content.max = files->max_bytes + 1,
                        .changed.max = files->max_bytes};
    int32_t status = call_state(call);
    const char *fault = take_arguments(arguments, &edit);
    if (status != GUDGEON_OK)
        status = fail_state(call, status);
    else if (fault != NULL)
        status = gudgeon_reply_text(call, GUDGEON_IS_ERROR, fault);
    else if (path_argument(files, arguments, &path, &why) < 0)
        status = reply_reason(call, &why);
    else
        status = edit_file(files, call, &path, &edit);
    edit_fini(&edit);
    return status;
}
