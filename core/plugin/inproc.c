/* SPDX-License-Identifier: MIT */
#include "plugin/instance_ops.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/load.h"
#include "plugin/mark.h"

/* An instance whose plugin runs in this process: ops are plain function calls. */
struct inproc {
    struct instance instance;
    gudgeon_host host;
    void *self;
    const gudgeon_component *component;
    union {
        const void *any;
        const gudgeon_model *model;
        const gudgeon_tools *tools;
        const gudgeon_sink *sink;
    } ops;
};

/* ---- the plugin's view of the host ----------------------------------------------------------- */

static const void *host_service(const gudgeon_host *host, const char *id)
{
    struct inproc *inproc = host->host_data;
    return id != NULL ? service_find(&inproc->instance.scope, id) : NULL;
}

static void host_log(const gudgeon_host *host, uint32_t level, gudgeon_str message)
{
    struct inproc *inproc = host->host_data;
    instance_log(&inproc->instance, level, message);
}

static void host_tools_changed(const gudgeon_host *host)
{
    struct inproc *inproc = host->host_data;
    atomic_store(&inproc->instance.tools_changed, true);
}

static gudgeon_host host_for(struct inproc *inproc)
{
    return (gudgeon_host){.size = sizeof(gudgeon_host),
                          .abi_minor = GUDGEON_ABI_MINOR,
                          .host_data = inproc,
                          .version = str_of(GUDGEON_VERSION),
                          .service = host_service,
                          .log = host_log,
                          .tools_changed = host_tools_changed};
}

/* ---- going in ------------------------------------------------------------------------------- */

static struct mark enter(const struct instance *instance, const char *op)
{
    return mark_set((struct mark){.plugin = instance->component->plugin->path, .op = op});
}

/* ---- the table ------------------------------------------------------------------------------- */

static int find_component(const struct component_info *info, const gudgeon_component **ret,
                          struct err *err)
{
    const struct gudgeon_plugin *plugin = NULL;
    int status = plugin_load(info->plugin->path, &plugin, err);
    if (status < 0)
        return status;
    CLEANUP(free_ptr) char *kind = xasprintf("%s/%u", kind_name(info->kind), info->kind_version);
    *ret = plugin_component(plugin, kind, info->name);
    if (*ret == NULL)
        return err_set(err, ERR_INVALID, "%s no longer has the component %s; it has been replaced",
                       info->plugin->path, info->name);
    return 0;
}

static int32_t inproc_open(struct instance *instance, struct call *call,
                           const gudgeon_create *request)
{
    struct inproc *inproc = (struct inproc *)instance;
    struct err err;
    struct mark before = enter(instance, "constructor");
    int status = find_component(instance->component, &inproc->component, &err);
    mark_set(before);
    if (status < 0)
        return call_take_err(call, &err);
    inproc->host = host_for(inproc);
    inproc->ops.any = inproc->component->ops;
    gudgeon_create with_host = *request;
    with_host.host = &inproc->host;
    before = enter(instance, "create");
    int32_t op_class = inproc->component->create(&inproc->self, call_abi(call), &with_host);
    mark_set(before);
    return op_class;
}

static bool inproc_has(const struct instance *instance, enum instance_op op)
{
    const struct inproc *inproc = (const struct inproc *)instance;
    if (op == OP_CAPABILITIES)
        return inproc->ops.model->capabilities != NULL;
    return op != OP_FLUSH || inproc->ops.sink->flush != NULL;
}

static int32_t run_op(const struct inproc *inproc, enum instance_op op, const gudgeon_call *call,
                      const void *request)
{
    switch (op) {
    case OP_GENERATE:
        return inproc->ops.model->generate(inproc->self, call, request);
    case OP_CAPABILITIES:
        return inproc->ops.model->capabilities(inproc->self, call, request);
    case OP_LIST:
        return inproc->ops.tools->list(inproc->self, call, request);
    case OP_CALL:
        return inproc->ops.tools->call(inproc->self, call, request);
    case OP_EVENT:
        return inproc->ops.sink->event(inproc->self, call, request);
    case OP_FLUSH:
        return inproc->ops.sink->flush(inproc->self, call, request);
    case OP_COUNT:
        break;
    }
    return GUDGEON_INVALID;
}

static int32_t inproc_run(struct instance *instance, enum instance_op op, const gudgeon_call *call,
                          const void *request)
{
    static const char *const names[OP_COUNT] = {
        [OP_GENERATE] = "generate", [OP_CAPABILITIES] = "capabilities",
        [OP_LIST] = "list",         [OP_CALL] = "call",
        [OP_EVENT] = "event",       [OP_FLUSH] = "flush",
    };
    struct mark before = enter(instance, names[op]);
    int32_t op_class = run_op((struct inproc *)instance, op, call, request);
    mark_set(before);
    return op_class;
}

static int32_t inproc_close(struct instance *instance, const gudgeon_call *call,
                            const gudgeon_stop *request)
{
    struct inproc *inproc = (struct inproc *)instance;
    struct mark before = enter(instance, "destroy");
    int32_t op_class = inproc->component->destroy(inproc->self, call, request);
    mark_set(before);
    return op_class;
}

const struct instance_ops inproc_ops = {
    .size = sizeof(struct inproc),
    .open = inproc_open,
    .has = inproc_has,
    .run = inproc_run,
    .close = inproc_close,
};
