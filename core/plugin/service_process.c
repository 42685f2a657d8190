/* SPDX-License-Identifier: MIT */
#include "plugin/service.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "plugin/call_op.h"
#include "plugin/process_env.h"
#include "sys/proc.h"

enum { ARGUMENTS_MAX = 64 << 10, ENTRIES_MAX = 4096 };

/* A started program. It belongs to a call, or to the scope when it was started with KEEP. */
struct gudgeon_process_handle {
    struct call_resource resource;
    struct call *call; /* NULL when kept */
    struct service_scope *scope;
    struct gudgeon_process_handle *next; /* in scope->kept */
    pthread_mutex_t lock;                /* of proc: ops on a handle may come from any thread */
    struct proc proc;
};

/* ---- what may be started --------------------------------------------------------------------- */

/* A name in the grant means the program that the host's PATH finds under it, however the plugin
 * names it; a path means that file. So no other program of that name gets in. */
static bool is_granted(const struct grant_list *exec, const char *file)
{
    for (size_t i = 0; i < exec->count; i++) {
        CLEANUP(free_ptr) char *granted = NULL;
        if (proc_find(exec->names[i], getenv("PATH"), &granted, NULL) == 0 &&
            strcmp(granted, file) == 0)
            return true;
    }
    return exec->is_all;
}

static int32_t refuse(struct call *call, const char *program)
{
    struct err err;
    err_set(&err, ERR_REFUSED, "the program %s is not granted", program);
    if (!utf8_is_valid(program, strlen(program)))
        return call_take_err(call, &err);
    struct buf grant = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&grant);
    json_begin_object(&writer);
    json_key(&writer, "exec");
    json_begin_array(&writer);
    json_add_str(&writer, str_of(program));
    json_end_array(&writer);
    json_end_object(&writer);
    int32_t refused = call_take_refusal(call, &err, grant.data);
    buf_fini(&grant);
    return refused;
}

/* ---- a request as posix_spawn takes it ------------------------------------------------------- */

struct prepared {
    char **argv; /* ends with NULL */
    size_t argc;
    char *file;
    char *directory;
    struct process_env env;
};

static void prepared_fini(struct prepared *prepared)
{
    for (size_t i = 0; i < prepared->argc; i++)
        free(prepared->argv[i]);
    free(prepared->argv);
    free(prepared->file);
    free(prepared->directory);
    process_env_fini(&prepared->env);
}

static int prepare_argv(const gudgeon_process_request *request, struct prepared *prepared,
                        struct err *err)
{
    if (request->argv == NULL || request->argv_count == 0 || request->argv_count > ARGUMENTS_MAX)
        return err_set(err, ERR_INVALID, "a program needs 1 to %d arguments", ARGUMENTS_MAX);
    prepared->argv = xcalloc(request->argv_count + 1, sizeof *prepared->argv);
    int status = 0;
    for (size_t i = 0; i < request->argv_count && status == 0; i++) {
        status = service_copy_text(request->argv[i], "an argument", &prepared->argv[i], err);
        prepared->argc += status == 0;
    }
    return status;
}

static int prepare_directory(struct service_scope *scope, const gudgeon_process_request *request,
                             struct prepared *prepared, struct err *err)
{
    const char *temporary = NULL;
    int status = service_temporary(scope, &temporary, err);
    if (status < 0)
        return status;
    process_env_init(&prepared->env, scope, temporary);
    if (request->directory.ptr == NULL) {
        prepared->directory = xstrdup(temporary);
        return 0;
    }
    status = service_copy_text(request->directory, "the directory", &prepared->directory, err);
    if (status == 0 && prepared->directory[0] != '/')
        return err_set(err, ERR_INVALID, "the directory %s is not absolute", prepared->directory);
    return status;
}

static int prepare_env(struct service_scope *scope, const gudgeon_process_request *request,
                       struct prepared *prepared, struct err *err)
{
    if (request->env_count > ENTRIES_MAX || (request->env_count > 0 && request->env == NULL))
        return err_set(err, ERR_INVALID, "up to %d environment entries may be given", ENTRIES_MAX);
    int status = 0;
    for (size_t i = 0; i < request->env_count && status == 0; i++)
        status = process_env_add(&prepared->env, scope, request->env[i], err);
    return status;
}

static int prepare_program(const gudgeon_process_request *request, struct prepared *prepared,
                           struct err *err)
{
    int status = prepare_argv(request, prepared, err);
    return status < 0 ? status : proc_find(prepared->argv[0], getenv("PATH"), &prepared->file, err);
}

static int prepare_surroundings(struct service_scope *scope, const gudgeon_process_request *request,
                                struct prepared *prepared, struct err *err)
{
    int status = prepare_directory(scope, request, prepared, err);
    return status < 0 ? status : prepare_env(scope, request, prepared, err);
}

/* ---- starting -------------------------------------------------------------------------------- */

static int start(const gudgeon_process_request *request, const struct prepared *prepared,
                 struct proc *ret, struct err *err)
{
    const struct proc_options options = {
        .file = prepared->file,
        .argv = (const char *const *)prepared->argv,
        .envp = (const char *const *)prepared->env.items,
        .directory = prepared->directory,
        .stdio = {request->flags & GUDGEON_PROCESS_STDIN ? PROC_PIPE : PROC_NULL, PROC_PIPE,
                  request->flags & GUDGEON_PROCESS_MERGED ? PROC_MERGED : PROC_PIPE},
        .new_group = true,
    };
    int status = proc_spawn(&options, ret, err);
    /* REFUSED is for what a grant would mend; a file that cannot be executed is a bad request. */
    return status == ERR_REFUSED ? (err->code = ERR_INVALID) : status;
}

static void end(struct gudgeon_process_handle *handle)
{
    proc_close(&handle->proc);
    pthread_mutex_destroy(&handle->lock);
    free(handle);
}

static void release(struct call_resource *resource)
{
    end((struct gudgeon_process_handle *)resource);
}

static gudgeon_process_handle *own_process(struct call *call, bool keep, struct proc proc)
{
    gudgeon_process_handle *handle = xcalloc(1, sizeof *handle);
    handle->resource.release = release;
    handle->scope = call_scope(call);
    handle->proc = proc;
    pthread_mutex_init(&handle->lock, NULL);
    if (!keep) {
        handle->call = call;
        call_own(call, &handle->resource);
        return handle;
    }
    pthread_mutex_lock(&handle->scope->lock);
    handle->next = handle->scope->kept;
    handle->scope->kept = handle;
    pthread_mutex_unlock(&handle->scope->lock);
    return handle;
}

static int32_t spawn(const gudgeon_call *abi, const gudgeon_process_request *request,
                     gudgeon_process_handle **ret)
{
    struct call *call = call_of(abi);
    if (call == NULL || call_scope(call) == NULL || request == NULL ||
        request->size < sizeof *request || ret == NULL)
        return GUDGEON_INVALID;
    struct err err;
    struct proc proc = PROC_INIT;
    CLEANUP(prepared_fini) struct prepared prepared = {0};
    if (prepare_program(request, &prepared, &err) < 0)
        return call_take_err(call, &err);
    if (!is_granted(&call_scope(call)->grant.exec, prepared.file))
        return refuse(call, prepared.argv[0]);
    if (prepare_surroundings(call_scope(call), request, &prepared, &err) < 0 ||
        start(request, &prepared, &proc, &err) < 0)
        return call_take_err(call, &err);
    *ret = own_process(call, request->flags & GUDGEON_PROCESS_KEEP, proc);
    return GUDGEON_OK;
}

/* ---- a running process ----------------------------------------------------------------------- */

static int32_t fd(gudgeon_process_handle *handle, uint32_t which)
{
    pthread_mutex_lock(&handle->lock);
    int result = which < COUNT_OF(handle->proc.pipes) ? handle->proc.pipes[which] : -1;
    pthread_mutex_unlock(&handle->lock);
    return result;
}

static void close_pipe(gudgeon_process_handle *handle, uint32_t which)
{
    pthread_mutex_lock(&handle->lock);
    if (which < COUNT_OF(handle->proc.pipes))
        proc_close_pipe(&handle->proc, (int)which);
    pthread_mutex_unlock(&handle->lock);
}

static int32_t exit_fd(gudgeon_process_handle *handle)
{
    return handle->proc.pidfd; /* the same from start to close */
}

static void send_signal(gudgeon_process_handle *handle, int32_t signal)
{
    if (signal > 0 && signal < NSIG)
        proc_signal_group(&handle->proc, signal);
}

static int32_t wait_end(gudgeon_process_handle *handle, gudgeon_process_exit *result)
{
    struct proc_exit how;
    if (result == NULL || result->size < sizeof *result)
        return GUDGEON_INVALID;
    if (proc_status(&handle->proc, &how) < 0)
        return GUDGEON_RETRY;
    result->signal = (uint32_t)how.signal;
    result->status = how.status;
    return GUDGEON_OK;
}

static bool take_kept(gudgeon_process_handle *handle)
{
    pthread_mutex_lock(&handle->scope->lock);
    gudgeon_process_handle **at = &handle->scope->kept;
    while (*at != NULL && *at != handle)
        at = &(*at)->next;
    bool found = *at != NULL;
    if (found)
        *at = handle->next;
    pthread_mutex_unlock(&handle->scope->lock);
    return found;
}

static void close_process(gudgeon_process_handle *handle)
{
    if (handle == NULL)
        return;
    bool is_ours =
        handle->call != NULL ? call_disown(handle->call, &handle->resource) : take_kept(handle);
    if (is_ours)
        end(handle);
}

void service_process_end_kept(struct service_scope *scope)
{
    while (scope->kept != NULL)
        close_process(scope->kept);
}

const gudgeon_process service_process = {
    .size = sizeof service_process,
    .spawn = spawn,
    .fd = fd,
    .close_fd = close_pipe,
    .exit_fd = exit_fd,
    .signal = send_signal,
    .wait = wait_end,
    .close = close_process,
};
