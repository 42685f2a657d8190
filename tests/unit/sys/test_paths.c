/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"
#include "sys/paths.h"
#include "unit.h"

static void test_absolute(void)
{
    static const struct {
        const char *base, *path, *want;
    } rows[] = {
        {"/b", "/x/y", "/x/y"},  {"/b", "x", "/b/x"},         {"/b", "./x", "/b/x"},
        {"/b", "././x", "/b/x"}, {"/b", ".", "/b"},           {"/b", "../x", "/b/../x"},
        {"/b", "~", "/home/me"}, {"/b", "~/x", "/home/me/x"}, {"/b", "~you/x", "/b/~you/x"},
    };
    setenv("HOME", "/home/me", 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *have = paths_absolute(rows[i].base, rows[i].path);
        CHECK_STR(have, rows[i].want);
    }
}

static void set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void test_user_directories(void)
{
    static const struct {
        const char *own, *systemd, *xdg, *home;
        const char *state, *cache;
    } rows[] = {
        {"/own", "/sys", "/xdg", "/h", "/own", "/own"},
        {"relative", NULL, NULL, "/h", "relative", "relative"},
        {NULL, "/sys:/other", "/xdg", "/h", "/sys", "/sys"},
        {"", "", "/xdg", "/h", "/xdg/gudgeon", "/xdg/gudgeon"},
        {NULL, "relative", "relative", "/h", "/h/.local/state/gudgeon", "/h/.cache/gudgeon"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        set("GUDGEON_STATE_DIR", rows[i].own);
        set("GUDGEON_CACHE_DIR", rows[i].own);
        set("STATE_DIRECTORY", rows[i].systemd);
        set("CACHE_DIRECTORY", rows[i].systemd);
        set("XDG_STATE_HOME", rows[i].xdg);
        set("XDG_CACHE_HOME", rows[i].xdg);
        set("HOME", rows[i].home);
        CLEANUP(free_ptr) char *state = NULL;
        CLEANUP(free_ptr) char *cache = paths_cache();
        CU_ASSERT_EQUAL(paths_state(&state, NULL), 0);
        CHECK_STR(state, rows[i].state);
        CHECK_STR(cache, rows[i].cache);
    }
}

static void test_make_directory(void)
{
    char base[] = "/tmp/gudgeon-paths-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(base));
    CLEANUP(free_ptr) char *deep = xasprintf("%s/a//b/c/", base);
    CLEANUP(free_ptr) char *middle = xasprintf("%s/a/b", base);
    CLEANUP(free_ptr) char *leaf = xasprintf("%s/a/b/c", base);
    CLEANUP(free_ptr) char *first = xasprintf("%s/a", base);
    CLEANUP(free_ptr) char *below_file = xasprintf("%s/file/x/y", base);
    CLEANUP(free_ptr) char *file = xasprintf("%s/file", base);
    umask(022);
    for (int i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(paths_make_directory(deep, NULL), 0);
    struct stat info = {0};
    CU_ASSERT(stat(middle, &info) == 0 && (info.st_mode & 07777) == 0700);
    fclose(fopen(file, "w"));
    struct err err = {0};
    CU_ASSERT_EQUAL(paths_make_directory(below_file, &err), ERR_IO);
    CU_ASSERT(ends_with(err.text, "/file/x: Not a directory"));
    CU_ASSERT_EQUAL(paths_make_directory("", &err), ERR_INVALID);
    unlink(file);
    rmdir(leaf);
    rmdir(middle);
    rmdir(first);
    rmdir(base);
}

/* This program stands in a build tree. */
static void test_build_tree(void)
{
    CLEANUP(free_ptr) char *module = paths_module("gudgeon-http.so");
    CLEANUP(free_ptr) char *worker = paths_worker();
    CLEANUP(free_ptr) char *plugins = paths_plugins();
    CU_ASSERT(access(module, R_OK) == 0);
    CU_ASSERT(access(worker, X_OK) == 0);
    CU_ASSERT(ends_with(plugins, "/plugins"));
}

int main(void)
{
    UNIT_MAIN("paths", {"absolute", test_absolute}, {"state and cache", test_user_directories},
              {"making directories", test_make_directory}, {"the build tree", test_build_tree});
}
