/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/json.h>
#include <gudgeon/util.h>

#include "files.h"
#include "glob.h"
#include "path.h"
#include "walk.h"

enum { GLOB_SIZE = 1024 };

struct listing {
    gudgeon_buf text; /* a line an entry */
    gudgeon_buf data; /* the same as JSON */
    size_t max_bytes; /* of text */
    size_t count;
};

static void add_details(gudgeon_buf *out, const struct entry *entry)
{
    char to[PATH_MAX];
    if (S_ISREG(entry->stat.st_mode)) {
        gudgeon_buf_addf(out, "  %lld bytes", (long long)entry->stat.st_size);
    } else if (S_ISLNK(entry->stat.st_mode)) {
        ssize_t len = readlinkat(entry->directory_fd, entry->name, to, sizeof to - 1);
        to[len > 0 ? len : 0] = '\0';
        gudgeon_buf_puts(out, " -> ");
        path_add_shown(out, to);
    } else if (S_ISDIR(entry->stat.st_mode)) {
        gudgeon_buf_puts(out, "/");
    } else {
        gudgeon_buf_addf(out, "  (%s)", path_kind(entry->stat.st_mode));
    }
}

static void add_data(gudgeon_buf *out, const struct entry *entry, bool is_first)
{
    const char *type = S_ISREG(entry->stat.st_mode)   ? "file"
                       : S_ISDIR(entry->stat.st_mode) ? "directory"
                       : S_ISLNK(entry->stat.st_mode) ? "link"
                                                      : "other";
    gudgeon_buf_puts(out, is_first ? "{\"path\":" : ",{\"path\":");
    gudgeon_buf_quote(out, gudgeon_text(entry->path));
    gudgeon_buf_addf(out, ",\"type\":\"%s\",\"bytes\":%lld}", type,
                     S_ISREG(entry->stat.st_mode) ? (long long)entry->stat.st_size : 0);
}

static bool list_entry(void *payload, const struct entry *entry)
{
    struct listing *listing = payload;
    size_t before = listing->text.len;
    path_add_shown(&listing->text, entry->path);
    add_details(&listing->text, entry);
    gudgeon_buf_puts(&listing->text, "\n");
    if (listing->text.len > listing->max_bytes) {
        listing->text.len = before;
        return false;
    }
    add_data(&listing->data, entry, listing->count++ == 0);
    return true;
}

static int32_t reply_listing(const gudgeon_call *call, struct listing *listing,
                             const struct walk *walk)
{
    gudgeon_buf *text = &listing->text;
    if (walk->end == WALK_CANCELLED)
        return fail_state(call, GUDGEON_CANCELLED);
    if (listing->count == 0 && walk->end == WALK_DONE)
        gudgeon_buf_puts(text, walk->glob != NULL ? "(nothing matches the glob)\n"
                                                  : "(the directory is empty)\n");
    if (walk->end != WALK_DONE)
        gudgeon_buf_addf(text, "[only the first %zu: %s; list a directory below, or use a glob]\n",
                         listing->count, walk_end_text(walk->end));
    if (walk->has_skipped)
        gudgeon_buf_puts(text, "[some directories could not be read]\n");
    gudgeon_buf_puts(&listing->data, "]");
    return reply_bufs(call, text, &listing->data);
}

/* A file in place of a directory is listed by itself. */
static void list_path(const struct path *path, int fd, const struct stat *found, struct walk *walk,
                      struct listing *listing)
{
    if (S_ISDIR(found->st_mode)) {
        walk_directory(walk, fd, path->text);
        return;
    }
    struct entry entry = {.path = path->text, .directory_fd = -1, .stat = *found};
    list_entry(listing, &entry);
    close(fd);
}

int32_t files_list(struct files *files, const gudgeon_call *call, gudgeon_str arguments)
{
    struct path path;
    struct reason why;
    struct stat found;
    char glob[GLOB_SIZE] = "";
    int recursive = 0;
    struct listing listing = {.max_bytes = files->result_bytes};
    gudgeon_arg_bool(arguments, "recursive", &recursive);
    if (gudgeon_arg_text(arguments, "glob", glob, sizeof glob) == GUDGEON_LIMIT)
        return gudgeon_reply_text(call, GUDGEON_IS_ERROR, "the glob is too long");
    if (path_argument(files, arguments, &path, &why) < 0)
        return reply_reason(call, &why);
    int fd = path_open_either(files, &path, &found, &why);
    if (fd < 0)
        return reply_reason(call, &why);
    struct walk walk = {.call = call,
                        .glob = *glob != '\0' ? glob : NULL,
                        .is_recursive = recursive || glob_goes_deep(glob),
                        .visit = list_entry,
                        .payload = &listing};
    gudgeon_buf_puts(&listing.data, "[");
    list_path(&path, fd, &found, &walk, &listing);
    int32_t status = reply_listing(call, &listing, &walk);
    gudgeon_buf_free(&listing.text);
    gudgeon_buf_free(&listing.data);
    return status;
}
