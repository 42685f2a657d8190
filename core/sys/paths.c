/* SPDX-License-Identifier: MIT */
#include "sys/paths.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"

/* The directory of the running binary, or NULL. */
static char *binary_directory(void)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (len <= 0)
        return NULL;
    path[len] = '\0';
    char *slash = strrchr(path, '/');
    return slash != NULL ? xstrndup(path, (size_t)(slash - path)) : NULL;
}

/* A marker of somebody else would have us run a worker of somebody else's: a binary may stand below
 * a directory where others write, /tmp for one. */
static bool is_marked(const char *directory)
{
    CLEANUP(free_ptr) char *marker = xasprintf("%s/.build-tree", directory);
    struct stat info;
    return stat(marker, &info) == 0 && (info.st_uid == 0 || info.st_uid == geteuid());
}

/* The root of the build tree that the binary stands in (tests stand deeper), or NULL. */
static char *build_tree(void)
{
    CLEANUP(free_ptr) char *dir = binary_directory();
    while (dir != NULL && dir[0] != '\0') {
        if (is_marked(dir))
            return TAKE(dir);
        *strrchr(dir, '/') = '\0';
    }
    return NULL;
}

static char *in_tree_or(const char *in_tree, const char *installed, const char *file_name)
{
    CLEANUP(free_ptr) char *root = build_tree();
    const char *separator = file_name[0] != '\0' ? "/" : "";
    if (root != NULL)
        return xasprintf("%s%s%s%s", root, in_tree, separator, file_name);
    return xasprintf("%s%s%s", installed, separator, file_name);
}

char *paths_module(const char *file_name)
{
    return in_tree_or("/lib", GUDGEON_LIBDIR, file_name);
}

char *paths_worker(void)
{
    return in_tree_or("", GUDGEON_LIBEXECDIR, "gudgeon-worker");
}

char *paths_plugins(void)
{
    return in_tree_or("/plugins", GUDGEON_PLUGINDIR, "");
}

static char *home_directory(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/')
        return xstrdup(home);
    struct passwd entry, *found = NULL;
    char buffer[4096];
    if (getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found != NULL &&
        found->pw_dir[0] == '/')
        return xstrdup(found->pw_dir);
    return NULL;
}

/* The rule that state and cache share: own variable, systemd's (a list: its first), XDG's, home. */
static char *user_directory(const char *own, const char *systemd, const char *xdg,
                            const char *below_home)
{
    const char *value = getenv(own);
    if (value != NULL && value[0] != '\0')
        return xstrdup(value);
    value = getenv(systemd);
    if (value != NULL && value[0] == '/')
        return xstrndup(value, strcspn(value, ":"));
    value = getenv(xdg);
    if (value != NULL && value[0] == '/')
        return xasprintf("%s/gudgeon", value);
    CLEANUP(free_ptr) char *home = home_directory();
    return home != NULL ? xasprintf("%s/%s/gudgeon", home, below_home) : NULL;
}

int paths_state(char **ret, struct err *err)
{
    char *path =
        user_directory("GUDGEON_STATE_DIR", "STATE_DIRECTORY", "XDG_STATE_HOME", ".local/state");
    if (path == NULL)
        return err_set(err, ERR_NOT_FOUND,
                       "no place for runs: HOME is not set; set GUDGEON_STATE_DIR");
    *ret = path;
    return 0;
}

char *paths_cache(void)
{
    return user_directory("GUDGEON_CACHE_DIR", "CACHE_DIRECTORY", "XDG_CACHE_HOME", ".cache");
}

int paths_make_directory(const char *path, struct err *err)
{
    CLEANUP(free_ptr) char *part = xstrdup(path);
    if (path[0] == '\0')
        return err_set(err, ERR_INVALID, "a directory without a name");
    for (char *slash = strchr(part + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0700) < 0 && errno != EEXIST)
            return err_set_errno(err, errno, "cannot make directory %s", part);
        *slash = '/';
    }
    if (mkdir(part, 0700) < 0 && errno != EEXIST)
        return err_set_errno(err, errno, "cannot make directory %s", part);
    return 0;
}

char *paths_absolute(const char *base, const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0')) {
        CLEANUP(free_ptr) char *home = home_directory();
        if (home != NULL)
            return xasprintf("%s%s", home, path + 1);
    }
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return strcmp(path, ".") == 0 ? xstrdup(base) : xasprintf("%s/%s", base, path);
}
