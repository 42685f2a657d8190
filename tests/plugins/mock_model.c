/* SPDX-License-Identifier: MIT */
#include "mock_model.h"

#include <CUnit/CUnit.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/ext/memo.h>

#include "base/alloc.h"
#include "base/err.h"
#include "data/json.h"
#include "mock_host.h"

enum { KEPT_MAX = 64 << 20 };

/* A call in the making: what host_data points at. */
struct asking {
    struct mock_model *model;
    struct mock_reply *reply;
    bool is_over;
};

static struct asking *asking_of(const gudgeon_call *call)
{
    return call->host_data;
}

struct mock_http *mock_http_of_call(const gudgeon_call *call)
{
    return &asking_of(call)->model->http;
}

/* ---- replies ------------------------------------------------------------------------------- */

static const size_t buffers[] = {
    offsetof(struct mock_reply, content),     offsetof(struct mock_reply, finish_raw),
    offsetof(struct mock_reply, response_id), offsetof(struct mock_reply, model_served),
    offsetof(struct mock_reply, origin),      offsetof(struct mock_reply, text),
    offsetof(struct mock_reply, reasoning),   offsetof(struct mock_reply, message),
    offsetof(struct mock_reply, code),        offsetof(struct mock_reply, fault),
};

static struct buf *buffer(struct mock_reply *reply, size_t index)
{
    return (struct buf *)((char *)reply + buffers[index]);
}

void mock_reply_init(struct mock_reply *reply)
{
    memset(reply, 0, sizeof *reply);
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        buf_init(buffer(reply, i), KEPT_MAX);
    for (size_t i = 0; i < MOCK_MODEL_CALLS; i++) {
        buf_init(&reply->call_names[i], KEPT_MAX);
        buf_init(&reply->call_arguments[i], KEPT_MAX);
    }
}

void mock_reply_fini(struct mock_reply *reply)
{
    for (size_t i = 0; i < COUNT_OF(buffers); i++)
        buf_fini(buffer(reply, i));
    for (size_t i = 0; i < MOCK_MODEL_CALLS; i++) {
        buf_fini(&reply->call_names[i]);
        buf_fini(&reply->call_arguments[i]);
    }
}

/* ---- the call ------------------------------------------------------------------------------ */

static void keep(struct buf *buf, gudgeon_str text)
{
    buf_reset(buf);
    buf_add(buf, text.ptr, text.len);
}

static void broke(struct asking *asking, const char *rule)
{
    buf_addf(&asking->reply->fault, "%s; ", rule);
}

static int64_t call_deadline_ns(const gudgeon_call *call)
{
    return asking_of(call)->model->deadline_ns;
}

static int32_t call_cancelled(const gudgeon_call *call)
{
    return asking_of(call)->model->cancelled;
}

static int32_t call_cancel_fd(const gudgeon_call *call)
{
    return asking_of(call)->model->cancel_fd;
}

static int32_t call_delta(const gudgeon_call *call, const gudgeon_delta *delta)
{
    struct asking *asking = asking_of(call);
    struct mock_reply *reply = asking->reply;
    if (asking->is_over)
        broke(asking, "delta after the return");
    if (delta->size != sizeof *delta)
        broke(asking, "delta without size");
    reply->deltas++;
    if (delta->channel == GUDGEON_TEXT) {
        buf_add(&reply->text, delta->bytes.ptr, delta->bytes.len);
    } else if (delta->channel == GUDGEON_REASONING) {
        buf_add(&reply->reasoning, delta->bytes.ptr, delta->bytes.len);
    } else if (delta->channel == GUDGEON_ARGUMENTS && delta->index < MOCK_MODEL_CALLS) {
        struct buf *name = &reply->call_names[delta->index];
        if ((name->len == 0) != (delta->name.len > 0))
            broke(asking, "the name belongs to the first delta of a call");
        buf_add(name, delta->name.ptr, delta->name.len);
        buf_add(&reply->call_arguments[delta->index], delta->bytes.ptr, delta->bytes.len);
    } else {
        broke(asking, "delta on a strange channel");
    }
    return asking->model->stop_after != 0 && reply->deltas >= asking->model->stop_after;
}

static int32_t call_result(const gudgeon_call *call, const void *result)
{
    struct asking *asking = asking_of(call);
    struct mock_reply *reply = asking->reply;
    const gudgeon_reply *given = result;
    CLEANUP(json_cleanup) struct json_object *blocks = NULL;
    struct err err = {0};
    if (given->size != sizeof *given || asking->is_over || reply->results++ > 0)
        broke(asking, "result");
    if (json_read(given->content, &blocks, &err) < 0)
        buf_addf(&reply->fault, "content is no JSON (%s): %.*s; ", err.text,
                 (int)given->content.len, given->content.ptr);
    keep(&reply->content, given->content);
    keep(&reply->finish_raw, given->finish_raw);
    keep(&reply->response_id, given->response_id);
    keep(&reply->model_served, given->model_served);
    keep(&reply->origin, given->origin);
    reply->finish = given->finish;
    reply->usage_known = given->usage_known;
    reply->input = given->input_tokens;
    reply->output = given->output_tokens;
    reply->cached = given->cached_tokens;
    reply->cache_write = given->cache_write_tokens;
    reply->reasoning_tokens = given->reasoning_tokens;
    return GUDGEON_OK;
}

static int32_t call_capabilities(const gudgeon_call *call, const void *result)
{
    const gudgeon_capabilities *given = result;
    struct mock_reply *reply = asking_of(call)->reply;
    reply->usage_known = given->can;
    reply->input = given->window_tokens;
    reply->results++;
    return GUDGEON_OK;
}

static void call_error(const gudgeon_call *call, const gudgeon_error *error)
{
    struct asking *asking = asking_of(call);
    struct mock_reply *reply = asking->reply;
    if (error->size != sizeof *error || error->message.len == 0 ||
        memchr(error->message.ptr, '\n', error->message.len) != NULL)
        broke(asking, "error");
    reply->http_status = error->http_status;
    reply->retry_after_ms = error->retry_after_ms;
    keep(&reply->message, error->message);
    keep(&reply->code, error->provider_code);
}

static gudgeon_call make_call(struct asking *asking)
{
    return (gudgeon_call){
        .size = sizeof(gudgeon_call),
        .host_data = asking,
        .id = {"run/call", 8},
        .deadline_ns = call_deadline_ns,
        .cancelled = call_cancelled,
        .cancel_fd = call_cancel_fd,
        .delta = call_delta,
        .result = call_result,
        .error = call_error,
    };
}

/* ---- the memo ------------------------------------------------------------------------------ */

static struct mock_memo_entry *find_entry(struct mock_model *model, uint32_t kind, uint64_t subject,
                                          gudgeon_str variant)
{
    for (size_t i = 0; i < model->entry_count; i++) {
        struct mock_memo_entry *entry = &model->entries[i];
        if (entry->kind == kind && entry->subject == subject &&
            strlen(entry->variant) == variant.len &&
            memcmp(entry->variant, variant.ptr, variant.len) == 0)
            return entry;
    }
    return NULL;
}

static gudgeon_str memo_get(const gudgeon_call *call, uint32_t kind, uint64_t subject,
                            gudgeon_str variant)
{
    struct mock_model *model = asking_of(call)->model;
    struct mock_memo_entry *entry = find_entry(model, kind, subject, variant);
    if (entry == NULL)
        return (gudgeon_str){NULL, 0};
    model->memo_hits++;
    return (gudgeon_str){entry->bytes.data, entry->bytes.len};
}

static gudgeon_str memo_put(const gudgeon_call *call, uint32_t kind, uint64_t subject,
                            gudgeon_str variant, gudgeon_str bytes)
{
    struct mock_model *model = asking_of(call)->model;
    model->memo_puts++;
    if (model->declines)
        return (gudgeon_str){NULL, 0};
    size_t size = (model->entry_count + 1) * sizeof *model->entries;
    model->entries = xrealloc(model->entries, size);
    struct mock_memo_entry *entry = &model->entries[model->entry_count++];
    entry->kind = kind;
    entry->subject = subject;
    entry->variant = xstrndup(variant.ptr, variant.len);
    buf_init(&entry->bytes, KEPT_MAX);
    buf_add(&entry->bytes, bytes.ptr, bytes.len);
    return (gudgeon_str){entry->bytes.data, entry->bytes.len};
}

static const gudgeon_memo memo_service = {
    .size = sizeof memo_service,
    .get = memo_get,
    .put = memo_put,
};

/* ---- the host ------------------------------------------------------------------------------ */

static const void *host_service(const gudgeon_host *host, const char *id)
{
    (void)host;
    if (strcmp(id, GUDGEON_HTTP_ID) == 0)
        return &mock_http_service;
    return strcmp(id, GUDGEON_MEMO_ID) == 0 ? &memo_service : NULL;
}

static void host_log(const gudgeon_host *host, uint32_t level, gudgeon_str message)
{
    struct mock_model *model = (struct mock_model *)host;
    buf_addf(&model->log, "%u %.*s\n", level, (int)message.len, message.ptr);
}

static void host_tools_changed(const gudgeon_host *host)
{
    (void)host;
    CU_ASSERT(!"a model has no tools to change");
}

static const struct gudgeon_plugin *load(const char *file)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/plugins/%s.so", mock_build_directory(), file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        printf("# %s\n", dlerror());
        CU_FAIL_FATAL("the plugin does not load");
    }
    return dlsym(library, "gudgeon_plugin");
}

int32_t mock_model_open(struct mock_model *model, const char *file, const char *config,
                        struct mock_reply *reply)
{
    struct mock_reply unwanted;
    mock_reply_init(&unwanted);
    *model = (struct mock_model){
        .host = {.size = sizeof model->host,
                 .abi_minor = GUDGEON_ABI_MINOR,
                 .version = {"test", 4},
                 .service = host_service,
                 .log = host_log,
                 .tools_changed = host_tools_changed},
        .component = load(file)->components[0],
        .deadline_ns = INT64_MAX,
        .cancel_fd = -1,
    };
    mock_http_init(&model->http);
    buf_init(&model->log, KEPT_MAX);
    struct asking asking = {.model = model, .reply = reply != NULL ? reply : &unwanted};
    gudgeon_call call = make_call(&asking);
    gudgeon_create request = {.size = sizeof request,
                              .host = &model->host,
                              .name = {"model", 5},
                              .config = {config, strlen(config)},
                              .grant = {"{}", 2}};
    int32_t error_class = model->component->create(&model->self, &call, &request);
    if (error_class != GUDGEON_OK && reply == NULL)
        printf("# create: %d %s\n", error_class, asking.reply->message.data);
    if (error_class != GUDGEON_OK)
        model->self = NULL;
    mock_reply_fini(&unwanted);
    return error_class;
}

void mock_model_close(struct mock_model *model)
{
    struct mock_reply reply;
    mock_reply_init(&reply);
    struct asking asking = {.model = model, .reply = &reply};
    gudgeon_call call = make_call(&asking);
    gudgeon_stop stop = {.size = sizeof stop};
    if (model->self != NULL)
        CU_ASSERT_EQUAL(model->component->destroy(model->self, &call, &stop), GUDGEON_OK);
    for (size_t i = 0; i < model->entry_count; i++) {
        free(model->entries[i].variant);
        buf_fini(&model->entries[i].bytes);
    }
    free(model->entries);
    mock_http_fini(&model->http);
    buf_fini(&model->log);
    mock_reply_fini(&reply);
}

int32_t mock_model_generate(struct mock_model *model, const gudgeon_generate *request,
                            struct mock_reply *reply)
{
    const gudgeon_model *ops = model->component->ops;
    struct asking asking = {.model = model, .reply = reply};
    gudgeon_call call = make_call(&asking);
    mock_reply_init(reply);
    reply->class = ops->generate(model->self, &call, request);
    asking.is_over = true;
    if ((reply->class == GUDGEON_OK) != (reply->results == 1))
        broke(&asking, "a result is owed with OK, and only then");
    buf_add(&reply->fault, model->http.fault.data, model->http.fault.len);
    if (model->http.opened != model->http.closed + (model->http.open_class != GUDGEON_OK))
        broke(&asking, "an exchange was not closed");
    model->http.opened = model->http.closed = 0;
    if (reply->fault.len > 0)
        printf("# fault: %s\n", reply->fault.data);
    CU_ASSERT(reply->fault.len == 0);
    return reply->class;
}

char *mock_json(const char *text)
{
    char *json = xstrdup(text);
    for (char *at = json; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return json;
}

uint32_t mock_model_can(struct mock_model *model, const char *name, uint64_t *window)
{
    const gudgeon_model *ops = model->component->ops;
    struct mock_reply reply;
    mock_reply_init(&reply);
    struct asking asking = {.model = model, .reply = &reply};
    gudgeon_call call = make_call(&asking);
    call.result = call_capabilities;
    gudgeon_capabilities_request request = {.size = sizeof request, .model = {name, strlen(name)}};
    CU_ASSERT_EQUAL(ops->capabilities(model->self, &call, &request), GUDGEON_OK);
    CU_ASSERT_EQUAL(reply.results, 1);
    if (window != NULL)
        *window = reply.input;
    uint32_t can = reply.usage_known;
    mock_reply_fini(&reply);
    return can;
}
