/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "glob.h"

enum {
    MAX_DEPTH = 64,       /* each level holds a descriptor */
    MAX_ENTRIES = 200000, /* of one walk */
    STATE_INTERVAL = 64,  /* entries between two looks at the call */
};

struct names {
    char **items;
    size_t count, cap;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(struct names *names, const char *name)
{
    if (names->count == names->cap) {
        size_t cap = names->cap > 0 ? 2 * names->cap : 64;
        char **items = reallocarray(names->items, cap, sizeof *items);
        if (items == NULL)
            return false;
        names->items = items;
        names->cap = cap;
    }
    char *copy = strdup(name);
    if (copy != NULL)
        names->items[names->count++] = copy;
    return copy != NULL;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

/* The names in a directory, sorted; at most `max`. False when some are left out. */
static bool read_names(DIR *directory, struct names *names, size_t max)
{
    bool is_whole = true;
    for (struct dirent *item; is_whole && (item = readdir(directory)) != NULL;)
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0)
            is_whole = names->count < max && add_name(names, item->d_name);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return is_whole;
}

static void end_walk(struct walk *walk, enum walk_end end)
{
    if (walk->end == WALK_DONE)
        walk->end = end;
}

static void check_call(struct walk *walk)
{
    int32_t state = walk->entries % STATE_INTERVAL == 0 ? call_state(walk->call) : GUDGEON_OK;
    if (state != GUDGEON_OK)
        end_walk(walk, state == GUDGEON_TIMEOUT ? WALK_LATE : WALK_CANCELLED);
}

static void walk_level(struct walk *walk, int fd, size_t len, int depth);

static void enter(struct walk *walk, const struct entry *entry, size_t len, int depth)
{
    if (depth == MAX_DEPTH) {
        end_walk(walk, WALK_MANY);
        return;
    }
    int fd =
        openat(entry->directory_fd, entry->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        walk->has_skipped = true;
    else
        walk_level(walk, fd, len, depth + 1);
}

/* `len` bytes of walk->path are the directory's path and a slash. */
static void walk_entry(struct walk *walk, int fd, const char *name, size_t len, int depth)
{
    size_t name_len = strlen(name);
    struct entry entry = {.path = walk->path, .name = name, .directory_fd = fd};
    if (len + name_len + 2 > sizeof walk->path) {
        walk->has_skipped = true;
        return;
    }
    memcpy(walk->path + len, name, name_len + 1);
    if (fstatat(fd, name, &entry.stat, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if ((walk->glob == NULL || glob_matches(walk->glob, walk->path + walk->start)) &&
        !walk->visit(walk->payload, &entry))
        end_walk(walk, WALK_ENOUGH);
    if (walk->end == WALK_DONE && walk->is_recursive && S_ISDIR(entry.stat.st_mode) &&
        strcmp(name, ".git") != 0) {
        memcpy(walk->path + len + name_len, "/", 2);
        enter(walk, &entry, len + name_len + 1, depth);
    }
}

static void walk_level(struct walk *walk, int fd, size_t len, int depth)
{
    struct names names = {0};
    DIR *directory = fdopendir(fd);
    if (directory == NULL) {
        close(fd);
        walk->has_skipped = true;
        return;
    }
    bool is_whole = read_names(directory, &names, MAX_ENTRIES - walk->entries);
    for (size_t i = 0; i < names.count && walk->end == WALK_DONE; i++, walk->entries++) {
        check_call(walk);
        if (walk->end == WALK_DONE && walk->entries < MAX_ENTRIES)
            walk_entry(walk, fd, names.items[i], len, depth);
    }
    if (!is_whole || walk->entries >= MAX_ENTRIES)
        end_walk(walk, WALK_MANY);
    free_names(&names);
    closedir(directory);
}

void walk_directory(struct walk *walk, int fd, const char *path)
{
    walk->end = WALK_DONE;
    walk->has_skipped = false;
    walk->entries = 0;
    walk->start = 0;
    if (strcmp(path, ".") != 0)
        walk->start = (size_t)snprintf(walk->path, sizeof walk->path, "%s/", path);
    if (walk->start >= sizeof walk->path) {
        close(fd);
        walk->end = WALK_MANY;
        return;
    }
    walk_level(walk, fd, walk->start, 0);
}

const char *walk_end_text(enum walk_end end)
{
    static const char *const texts[] = {
        [WALK_DONE] = "",
        [WALK_ENOUGH] = "the limit for one result was reached",
        [WALK_MANY] = "there are too many files or levels for one call",
        [WALK_LATE] = "the time for this call was used up",
        [WALK_CANCELLED] = "the call was cancelled",
    };
    return texts[end];
}
