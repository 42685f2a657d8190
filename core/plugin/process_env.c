/* SPDX-License-Identifier: MIT */
#include "plugin/process_env.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/secrets.h"
#include "plugin/service.h"

enum { ITEM_MAX = 128 << 10 }; /* what Linux takes as one string (MAX_ARG_STRLEN) */

static const char *const inherited[] = {"PATH", "HOME", "LANG", "TZ"};

static void wipe_item(char *item)
{
    explicit_bzero(item, strlen(item));
    free(item);
}

static void add(struct process_env *env, char *take_item)
{
    size_t name_len = strcspn(take_item, "=") + 1;
    for (size_t i = 0; i < env->count; i++)
        if (strncmp(env->items[i], take_item, name_len) == 0) {
            wipe_item(env->items[i]);
            env->items[i] = take_item;
            return;
        }
    env->items = xreallocarray(env->items, env->count + 2, sizeof *env->items);
    env->items[env->count++] = take_item;
    env->items[env->count] = NULL;
}

static void inherit(struct process_env *env, const char *name)
{
    const char *value = getenv(name);
    if (value != NULL && strchr(name, '=') == NULL)
        add(env, xasprintf("%s=%s", name, value));
}

void process_env_init(struct process_env *env, const struct service_scope *scope,
                      const char *temporary)
{
    *env = (struct process_env){0};
    add(env, xasprintf("TMPDIR=%s", temporary));
    add(env, xstrdup("PATH=/usr/local/bin:/usr/bin:/bin")); /* when the host has none */
    for (size_t i = 0; i < COUNT_OF(inherited); i++)
        inherit(env, inherited[i]);
    for (char **item = environ; *item != NULL; item++)
        if (starts_with(*item, "LC_"))
            add(env, xstrdup(*item));
    for (size_t i = 0; i < scope->grant.env.count; i++)
        inherit(env, scope->grant.env.names[i]);
}

void process_env_fini(struct process_env *env)
{
    for (size_t i = 0; i < env->count; i++)
        wipe_item(env->items[i]);
    free(env->items);
    *env = (struct process_env){0};
}

int process_env_add(struct process_env *env, struct service_scope *scope, gudgeon_str item,
                    struct err *err)
{
    CLEANUP(secrets_wipe) struct buf filled = BUF_INIT(ITEM_MAX);
    if (item.ptr == NULL || item.len == 0 || item.ptr[0] == '=' ||
        memchr(item.ptr, '=', item.len) == NULL || memchr(item.ptr, '\0', item.len) != NULL)
        return err_set(err, ERR_INVALID, "an environment entry is to be NAME=value");
    int status = service_expand(scope, item, &filled, err);
    if (status == 0)
        add(env, xstrdup(filled.data));
    return status;
}
