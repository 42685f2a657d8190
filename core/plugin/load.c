/* SPDX-License-Identifier: MIT */
#include "plugin/load.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/abi.h"
#include "plugin/elf.h"
#include "plugin/trust.h"

static const char symbol[] = "gudgeon_plugin";

/* ---- path ----------------------------------------------------------------------------------- */

/* All path rules; *ret is the file with links resolved. */
static int resolve(const char *path, char **ret, struct err *err)
{
    const char *slash = strrchr(path, '/');
    CLEANUP(free_ptr)
    char *given =
        slash == NULL ? xstrdup(".") : xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
    CLEANUP(free_ptr) char *name = NULL, *directory = NULL;
    int status = trust_name(path, &name, err);
    if (status == 0)
        status = trust_directory(given, &directory, err);
    if (status < 0)
        return status;
    CLEANUP(free_ptr)
    char *file = xasprintf("%s/%s.so", strcmp(directory, "/") == 0 ? "" : directory, name);
    struct stat st;
    if (lstat(file, &st) < 0)
        return err_set_errno(err, errno, "%s", file);
    return trust_file(file, &st, ret, err);
}

int plugin_check_path(const char *path, struct err *err)
{
    CLEANUP(free_ptr) char *resolved = NULL;
    return resolve(path, &resolved, err);
}

/* ---- the loader's words --------------------------------------------------------------------- */

/* The text between two others, or the absent string. */
static gudgeon_str between(const char *text, const char *before, const char *after)
{
    const char *start = strstr(text, before);
    if (start == NULL)
        return (gudgeon_str){NULL, 0};
    start += strlen(before);
    const char *end = strstr(start, after);
    return (gudgeon_str){start, end != NULL ? (size_t)(end - start) : strlen(start)};
}

/* glibc's messages (its own words are English as long as nobody sets a locale): "LIB: cannot open
 * shared object file: No such file or directory", "FILE: undefined symbol: NAME[, version V]",
 * "LIB: version `V' not found (required by FILE)". */
static int explain(const char *path, const char *message, struct err *err)
{
    static const char cannot_open[] = ": cannot open shared object file: ";
    const char *library_end = strstr(message, cannot_open);
    const char *reason = library_end != NULL ? library_end + strlen(cannot_open) : "";
    if (strcmp(reason, "No such file or directory") == 0)
        return err_set(err, ERR_NOT_FOUND, "needs %.*s, which is not installed",
                       (int)(library_end - message), message);
    if (strcmp(reason, "Permission denied") == 0)
        return err_set(err, ERR_REFUSED,
                       "needs %.*s, which its sandbox does not let it read; name its directory in "
                       "LD_LIBRARY_PATH",
                       (int)(library_end - message), message);
    gudgeon_str name = between(message, "undefined symbol: ", ",");
    if (name.len > 0)
        return err_set(err, ERR_NOT_FOUND,
                       "needs the symbol %.*s, which nothing provides; link what has it",
                       STR_ARG(name));
    gudgeon_str version = between(message, "version `", "' not found");
    if (version.len > 0)
        return err_set(err, ERR_NOT_FOUND, "needs %.*s of %.*s; it was built for a newer system",
                       STR_ARG(version), (int)strcspn(message, ":"), message);
    if (starts_with(message, path) && starts_with(message + strlen(path), ": "))
        message += strlen(path) + 2;
    return err_set(err, ERR_IO, "cannot be loaded: %s", message);
}

/* ---- loading -------------------------------------------------------------------------------- */

static int missing_symbol(void *handle, struct err *err)
{
    const char *near = elf_near_symbol(handle, symbol);
    if (near == NULL)
        return err_set(err, ERR_INVALID, "exports no %s: it is not a plugin", symbol);
    return err_set(err, ERR_INVALID, "exports no %s; is \"%s\" meant to be it?", symbol, near);
}

int plugin_open(const char *path, const struct gudgeon_plugin **ret, struct err *err)
{
    CLEANUP(free_ptr) char *file = NULL;
    int status = resolve(path, &file, err);
    if (status == 0)
        status = elf_check(file, err);
    if (status < 0)
        return status;
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL)
        return explain(file, dlerror(), err);
    const void *descriptor = dlsym(handle, symbol);
    if (descriptor == NULL)
        return missing_symbol(handle, err);
    *ret = descriptor;
    return 0;
}

int plugin_load(const char *path, const struct gudgeon_plugin **ret, struct err *err)
{
    const struct gudgeon_plugin *plugin = NULL;
    CLEANUP(free_ptr) char *name = NULL;
    CLEANUP(buf_fini) struct buf warnings = BUF_INIT(BUF_MAX_ANY);
    int status = trust_name(path, &name, err);
    if (status == 0)
        status = plugin_open(path, &plugin, err);
    if (status == 0)
        status = abi_negotiate(plugin, abi_host, err);
    if (status == 0)
        status = abi_check(plugin, name, &warnings, err);
    if (status == 0)
        *ret = plugin;
    return status;
}

const gudgeon_component *plugin_component(const struct gudgeon_plugin *plugin, const char *kind,
                                          const char *name)
{
    for (const gudgeon_component *const *entry = plugin->components; *entry != NULL; entry++)
        if (strcmp((*entry)->kind, kind) == 0 && strcmp((*entry)->name, name) == 0)
            return *entry;
    return NULL;
}
