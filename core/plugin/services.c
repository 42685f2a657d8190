/* SPDX-License-Identifier: MIT */
#include "plugin/services.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/memo.h"
#include "plugin/secrets.h"
#include "plugin/service.h"
#include "sys/http.h"
#include "sys/tmpdir.h"

enum { MEMO_MAX_BYTES = 64 << 20 };

/* Who may have what. gudgeon.tools/1 comes from whoever runs an executor's code. */
#define KIND(kind) (1u << (kind))
static const struct service {
    const char *id;
    unsigned kinds;
    const void *table;
} table[] = {
    {GUDGEON_HTTP_ID, KIND(KIND_MODEL) | KIND(KIND_TOOLS) | KIND(KIND_EXECUTOR) | KIND(KIND_SINK),
     &service_http},
    {GUDGEON_MEMO_ID, KIND(KIND_MODEL), &service_memo},
    {GUDGEON_PROCESS_ID, KIND(KIND_TOOLS) | KIND(KIND_EXECUTOR), &service_process},
    {GUDGEON_SECRET_ID, KIND(KIND_MODEL) | KIND(KIND_TOOLS) | KIND(KIND_EXECUTOR) | KIND(KIND_SINK),
     &service_secret},
};

const void *service_find(const struct service_scope *scope, const char *id)
{
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (strcmp(table[i].id, id) == 0)
            return (table[i].kinds & KIND(scope->kind)) != 0 ? table[i].table : NULL;
    return NULL;
}

/* ---- shared by all instances ----------------------------------------------------------------- */

struct services {
    pthread_mutex_t lock;
    const struct http_ops *http;
    struct http_client *client;
};

struct services *services_new(void)
{
    struct services *services = xcalloc(1, sizeof *services);
    pthread_mutex_init(&services->lock, NULL);
    return services;
}

void services_free(struct services *services)
{
    if (services == NULL)
        return;
    if (services->client != NULL)
        services->http->client_free(services->client);
    pthread_mutex_destroy(&services->lock);
    free(services);
}

static int make_client(struct services *services, struct err *err)
{
    static const struct http_client_options options = {.user_agent = "gudgeon/" GUDGEON_VERSION};
    if (services->client != NULL)
        return 0;
    if (services->http == NULL && http_load(&services->http, err) < 0)
        return err->code = ERR_UNAVAILABLE;
    return services->http->client_new(&options, &services->client, err);
}

int services_http(struct services *services, const struct http_ops **ret_ops,
                  struct http_client **ret, struct err *err)
{
    if (services == NULL)
        return err_set(err, ERR_UNAVAILABLE, "there is no HTTP client here");
    pthread_mutex_lock(&services->lock);
    int status = make_client(services, err);
    if (status == 0) {
        *ret_ops = services->http;
        *ret = services->client;
    }
    pthread_mutex_unlock(&services->lock);
    return status;
}

/* ---- one instance's -------------------------------------------------------------------------- */

static void collect_secret_names(struct grant_list *names, gudgeon_str config)
{
    size_t at = 0, len = 0;
    gudgeon_str name;
    for (; secrets_next(config, &at, &len, &name); at += len)
        if (!grant_list_has(names, name))
            grant_list_add(names, name);
}

int service_scope_init(struct service_scope *scope, const struct service_scope_options *options,
                       struct err *err)
{
    *scope = (struct service_scope){
        .kind = options->kind, .services = options->services, .secrets = options->secrets};
    int status = grant_init(&scope->grant, options->grant, err);
    if (status < 0)
        return status;
    collect_secret_names(&scope->secret_names, options->config);
    if (options->kind == KIND_MODEL)
        scope->memo = memo_new(MEMO_MAX_BYTES);
    pthread_mutex_init(&scope->lock, NULL);
    return 0;
}

void service_scope_fini(struct service_scope *scope)
{
    service_process_end_kept(scope);
    tmpdir_remove(scope->temporary);
    memo_free(scope->memo);
    grant_list_fini(&scope->secret_names);
    grant_fini(&scope->grant);
    pthread_mutex_destroy(&scope->lock);
}

int service_expand(struct service_scope *scope, gudgeon_str text, struct buf *out, struct err *err)
{
    size_t at = 0, len = 0;
    gudgeon_str name;
    for (; secrets_next(text, &at, &len, &name); at += len)
        if (scope->secrets == NULL || !grant_list_has(&scope->secret_names, name))
            return err_set(err, ERR_REFUSED, "the configuration does not name {secret:%.*s}",
                           STR_ARG(name));
    if (scope->secrets != NULL)
        return secrets_expand(scope->secrets, text, out, err);
    return buf_add(out, text.ptr, text.len) < 0 ? err_set(err, ERR_LIMIT, "a text is too long") : 0;
}

int service_copy_text(gudgeon_str text, const char *what, char **ret, struct err *err)
{
    if (text.ptr == NULL || memchr(text.ptr, '\0', text.len) != NULL)
        return err_set(err, ERR_INVALID, "%s is %s", what,
                       text.ptr == NULL ? "absent" : "cut by a NUL byte");
    *ret = str_dup(text);
    return 0;
}

int service_temporary(struct service_scope *scope, const char **ret, struct err *err)
{
    pthread_mutex_lock(&scope->lock);
    int status = scope->temporary != NULL ? 0 : tmpdir_new(&scope->temporary, err);
    if (status == 0)
        *ret = scope->temporary;
    pthread_mutex_unlock(&scope->lock);
    return status;
}
