/* SPDX-License-Identifier: MIT */
#include "sys/http.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/err.h"
#include "sys/paths.h"

/* Never unloaded: libcurl and its TLS library leave handlers behind. Lazy is for those libraries,
 * as for every program that is linked with them: binding all of their symbols takes longer than
 * loading them. The module itself is linked to be bound at once. */
static const struct http_ops *load(const char *path, struct err *err)
{
    void *module = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (module == NULL) {
        err_set(err, ERR_NOT_FOUND, "cannot load the HTTP module: %s", dlerror());
        return NULL;
    }
    const struct http_ops *ops = dlsym(module, HTTP_MODULE_SYMBOL);
    if (ops == NULL || ops->size != sizeof *ops) {
        err_set(err, ERR_INVALID, "\"%s\" belongs to another version of gudgeon: install it anew",
                path);
        return NULL;
    }
    return ops;
}

int http_load(const struct http_ops **ret, struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const struct http_ops *loaded; /* one module for the process, kept for its whole life */
    pthread_mutex_lock(&lock);
    if (loaded == NULL) {
        CLEANUP(free_ptr) char *path = paths_module("gudgeon-http.so");
        loaded = load(path, err);
    }
    const struct http_ops *ops = loaded;
    pthread_mutex_unlock(&lock);
    if (ops == NULL)
        return err != NULL ? err->code : ERR_NOT_FOUND;
    *ret = ops;
    return 0;
}
