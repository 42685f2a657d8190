/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_SERVICE_H
#define GUDGEON_PLUGIN_SERVICE_H

/*
 * What host services know of the instance that they serve, and their tables.
 *
 * A service finds its scope through the call on whose behalf it acts (call_scope), so it serves an
 * instance in this process and one in a worker alike. What outlives a call (kept processes, the
 * temporary directory, memo entries) belongs to the scope and goes with it. Everything but `lock`
 * and what it guards is immutable after service_scope_init.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/ext/http.h>
#include <gudgeon/ext/memo.h>
#include <gudgeon/ext/process.h>
#include <gudgeon/ext/secret.h>

#include "plugin/grant.h"
#include "plugin/registry.h"

struct buf;
struct err;
struct http_client;
struct http_ops;
struct memo;
struct secrets;
struct services;

struct service_scope {
    enum kind kind;
    struct services *services; /* NULL = no service that needs what is shared */
    struct secrets *secrets;   /* NULL = no secrets */
    struct grant grant;
    struct grant_list secret_names; /* those that the configuration names */
    struct memo *memo;              /* models only, else NULL */

    pthread_mutex_t lock;
    char *temporary;                     /* the private directory, made when first asked for */
    struct gudgeon_process_handle *kept; /* processes that outlive their calls */
};

struct service_scope_options {
    enum kind kind;
    struct services *services;
    struct secrets *secrets;
    gudgeon_str config; /* JSON text, looked through for {secret:NAME} */
    gudgeon_str grant;
};

/* ERR_INVALID for a malformed grant; nothing is to be freed then. */
int service_scope_init(struct service_scope *scope, const struct service_scope_options *options,
                       struct err *err);
/* Ends kept processes, removes the temporary directory. No op may be running. */
void service_scope_fini(struct service_scope *scope);

/* The table of a service, or NULL when there is none of that id or this kind may not have it. */
const void *service_find(const struct service_scope *scope, const char *id);

/* Adds `text` with its secrets filled in; the buffer is to be wiped (secrets_wipe). ERR_REFUSED
 * for a secret that the configuration does not name, else as secrets_expand. */
int service_expand(struct service_scope *scope, gudgeon_str text, struct buf *out, struct err *err);
/* A copy with a NUL of a plugin's text. ERR_INVALID: absent, or a NUL within; says `what`. */
int service_copy_text(gudgeon_str text, const char *what, char **ret, struct err *err);
/* The scope's private directory, borrowed. */
int service_temporary(struct service_scope *scope, const char **ret, struct err *err);
/* The shared HTTP client, made when first asked for; `err` is not NULL. */
int services_http(struct services *services, const struct http_ops **ret_ops,
                  struct http_client **ret, struct err *err);

extern const gudgeon_http service_http;
extern const gudgeon_memo service_memo;
extern const gudgeon_process service_process;
extern const gudgeon_secret service_secret;

/* Ends what is in scope->kept. */
void service_process_end_kept(struct service_scope *scope);

#endif
