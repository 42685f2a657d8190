/* SPDX-License-Identifier: MIT */
#include "plugin/search.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "plugin/registry.h"
#include "plugin/trust.h"
#include "sys/paths.h"

/* The work in progress. */
struct walk {
    struct search search;
    struct buf warnings;
    struct stat *visited; /* directories that were read, so that none is read twice */
    size_t visited_count;
};

static void free_hit(struct search_hit *hit)
{
    free(hit->path);
    free(hit->name);
    free(hit->refused);
}

void search_fini(struct search *search)
{
    for (size_t i = 0; i < search->count; i++)
        free_hit(&search->hits[i]);
    free(search->hits);
    free(search->warning);
    *search = (struct search){.hits = NULL};
}

/* ---- files ---------------------------------------------------------------------------------- */

static int is_candidate(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && ends_with(entry->d_name, ".so");
}

/* Fills the hit in by the file rules; an error becomes its reason. */
static void look_at(struct search_hit *hit)
{
    struct err err = {0};
    CLEANUP(free_ptr) char *resolved = NULL;
    int status = trust_name(hit->path, &hit->name, &err);
    if (status == 0 && lstat(hit->path, &hit->st) < 0)
        status = err_set_errno(&err, errno, "%s", hit->path);
    if (status == 0)
        status = trust_file(hit->path, &hit->st, &resolved, &err);
    if (status < 0)
        hit->refused = xstrdup(err.text);
}

/* `directory` is resolved; `untrusted` is why nothing in it may be used, or NULL. */
static void add_hit(struct walk *walk, const char *directory, const char *file,
                    const char *untrusted)
{
    struct search *search = &walk->search;
    search->hits = xreallocarray(search->hits, search->count + 1, sizeof *search->hits);
    struct search_hit *hit = &search->hits[search->count++];
    *hit = (struct search_hit){
        .path = xasprintf("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, file)};
    if (untrusted != NULL)
        hit->refused = xstrdup(untrusted);
    else
        look_at(hit);
    if (hit->name == NULL) {
        hit->name = xstrndup(file, strlen(file) - strlen(".so"));
        utf8_make_line(hit->name);
    }
}

/* ---- directories ---------------------------------------------------------------------------- */

static bool is_visited(const struct walk *walk, const struct stat *st)
{
    for (size_t i = 0; i < walk->visited_count; i++)
        if (walk->visited[i].st_dev == st->st_dev && walk->visited[i].st_ino == st->st_ino)
            return true;
    return false;
}

static void add_visited(struct walk *walk, const struct stat *st)
{
    walk->visited = xreallocarray(walk->visited, walk->visited_count + 1, sizeof *st);
    walk->visited[walk->visited_count++] = *st;
}

/* ERR_IO when it cannot be read. */
static int walk_directory(struct walk *walk, const char *directory, struct err *err)
{
    struct stat st;
    if (stat(directory, &st) == 0 && is_visited(walk, &st))
        return 0;
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, is_candidate, alphasort);
    if (count < 0)
        return err_set_errno(err, errno, "%s", directory);
    add_visited(walk, &st);
    struct err rule = {0};
    CLEANUP(free_ptr) char *resolved = NULL;
    bool is_trusted = trust_directory(directory, &resolved, &rule) == 0;
    for (int i = 0; i < count; i++) {
        add_hit(walk, is_trusted ? resolved : directory, entries[i]->d_name,
                is_trusted ? NULL : rule.text);
        free(entries[i]);
    }
    free(entries);
    return 0;
}

/* One that somebody asked for: when it cannot be read they are told. */
static void walk_asked(struct walk *walk, const char *directory)
{
    struct err err = {0};
    CLEANUP(free_ptr) char *cwd = getcwd(NULL, 0);
    CLEANUP(free_ptr) char *absolute = paths_absolute(cwd != NULL ? cwd : "/", directory);
    if (walk_directory(walk, absolute, &err) < 0)
        buf_addf(&walk->warnings, "%s%s", walk->warnings.len > 0 ? "; " : "", err.text);
}

static void walk_list(struct walk *walk, const char *list)
{
    while (list != NULL && list[0] != '\0') {
        size_t len = strcspn(list, ":");
        CLEANUP(free_ptr) char *directory = xstrndup(list, len);
        if (len > 0)
            walk_asked(walk, directory);
        list += len + (list[len] == ':');
    }
}

int search_run(const struct registry_options *options, struct search *ret, struct err *err)
{
    struct walk walk = {.warnings = BUF_INIT(BUF_MAX_ANY)};
    for (size_t i = 0; options != NULL && i < options->path_count; i++)
        walk_asked(&walk, options->paths[i]);
    walk_list(&walk, getenv("GUDGEON_PLUGIN_PATH"));
    CLEANUP(free_ptr) char *standard = paths_plugins();
    struct err own = {0};
    int status = walk_directory(&walk, standard, &own);
    free(walk.visited);
    CLEANUP(buf_fini) struct buf warnings = walk.warnings;
    if (status < 0 && walk.visited_count == 0)
        return err_set(err, ERR_NOT_FOUND, "no plugin directory can be read: %s%s%s", own.text,
                       warnings.len > 0 ? "; " : "", warnings.data);
    *ret = walk.search;
    ret->warning = warnings.len > 0 ? buf_take(&warnings) : NULL;
    return 0;
}
