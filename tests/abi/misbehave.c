/* SPDX-License-Identifier: MIT */

/*
 * A tools plugin whose tools each break one rule of the ABI, for the tests of whoever calls it.
 *
 * `misbehave` is an ordinary component; `misbehave-concurrent` has the same tools and says
 * GUDGEON_CONCURRENT. The configuration {"create": …} makes create itself break a rule.
 */

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

struct self {
    const gudgeon_host *host;
    pthread_t late; /* the thread of `late`, waiting for `late-go` */
    int has_late, is_ending;
    sem_t go;
    const gudgeon_call *late_call;
    int32_t late_delta, late_result;
    atomic_int inside; /* calls in `rendezvous` */
    unsigned extra_tools;
};

static gudgeon_str text_of(const char *bytes, size_t len)
{
    gudgeon_str str = {bytes, len};
    return str;
}

static int32_t reply(const gudgeon_call *call, gudgeon_tool_result result)
{
    result.size = sizeof result;
    return call->result(call, &result);
}

/* ---- the tools ------------------------------------------------------------------------------ */

static int32_t fine(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self;
    return gudgeon_reply_bytes(call, 0, request->arguments.ptr, request->arguments.len);
}

static int32_t twice(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_reply_text(call, 0, "first");
    int32_t second = gudgeon_reply_text(call, 0, "second");
    gudgeon_stream(call, GUDGEON_PROGRESS, second == GUDGEON_INVALID ? "INVALID" : "other", 7);
    return 0;
}

static int32_t silent(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)call, (void)request;
    return 0;
}

static int32_t bad_utf8(struct self *self, const gudgeon_call *call,
                        const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_stream(call, GUDGEON_STDOUT, "out \xff\xfe", 6);
    return gudgeon_reply_bytes(call, 0, "a\xc3(\0\xed\xa0\x80z", 8);
}

static int32_t bad_content(struct self *self, const gudgeon_call *call,
                           const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return reply(call, (gudgeon_tool_result){.content = gudgeon_text("[{\"type\":\"text\",")});
}

/* JSON, but no array of blocks. */
static int32_t odd_content(struct self *self, const gudgeon_call *call,
                           const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return reply(call, (gudgeon_tool_result){.content = gudgeon_text("{\"type\":\"text\"}")});
}

static int32_t bad_data(struct self *self, const gudgeon_call *call,
                        const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return reply(call, (gudgeon_tool_result){.data = gudgeon_text("{\"n\":NaN}")});
}

/* A length without bytes. */
static int32_t null_text(struct self *self, const gudgeon_call *call,
                         const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return reply(call, (gudgeon_tool_result){.text = text_of(NULL, 10)});
}

/* A result that says it is smaller than any that there ever was. */
static int32_t short_result(struct self *self, const gudgeon_call *call,
                            const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_tool_result result = {.size = 4};
    return call->result(call, &result);
}

static int32_t unknown_class(struct self *self, const gudgeon_call *call,
                             const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    return gudgeon_fail(call, 77, "a class of the future");
}

static int32_t negative_class(struct self *self, const gudgeon_call *call,
                              const gudgeon_tool_call *request)
{
    (void)self, (void)call, (void)request;
    return -1;
}

/* A result and then a class: the class counts. */
static int32_t both(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_reply_text(call, 0, "answer");
    return gudgeon_fail(call, GUDGEON_UNAVAILABLE, "and then it broke");
}

static int32_t flood(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    static const char line[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    for (int i = 0; i < 1 << 20; i++)
        if (gudgeon_stream(call, GUDGEON_STDOUT, line, sizeof line - 1) != 0)
            return GUDGEON_LIMIT;
    return 0;
}

static int32_t unknown_channel(struct self *self, const gudgeon_call *call,
                               const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    gudgeon_stream(call, 99, "?", 1);
    return gudgeon_reply_text(call, 0, "done");
}

/* Does not look at the deadline, and answers only after it was cancelled. */
static int32_t deaf(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)request;
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    while (!call->cancelled(call))
        nanosleep(&pause, NULL);
    nanosleep(&pause, NULL);
    return gudgeon_reply_text(call, 0, "too late");
}

static int32_t crash(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)call, (void)request;
    volatile int *volatile nowhere = NULL;
    *nowhere = 1;
    return 0;
}

static int32_t leave(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)self, (void)call, (void)request;
    exit(0);
}

/* ---- deltas from where none may come --------------------------------------------------------- */

static void *delta_elsewhere(void *data)
{
    struct self *self = data;
    self->late_delta = gudgeon_stream(self->late_call, GUDGEON_STDOUT, "elsewhere", 9);
    self->late_result = gudgeon_reply_text(self->late_call, 0, "elsewhere");
    return NULL;
}

static void *delta_when_told(void *data)
{
    struct self *self = data;
    while (sem_wait(&self->go) != 0)
        ;
    return self->is_ending ? NULL : delta_elsewhere(data);
}

static int32_t say_what_happened(const struct self *self, const gudgeon_call *call)
{
    return gudgeon_replyf(call, 0, "delta %s, result %s", self->late_delta != 0 ? "stop" : "taken",
                          self->late_result != 0 ? "refused" : "taken");
}

/* A delta and a result while the op runs, but on another thread; then the truth about them. */
static int32_t other_thread(struct self *self, const gudgeon_call *call,
                            const gudgeon_tool_call *request)
{
    (void)request;
    pthread_t thread;
    self->late_call = call;
    if (pthread_create(&thread, NULL, delta_elsewhere, self) != 0)
        return GUDGEON_UNAVAILABLE;
    pthread_join(thread, NULL);
    return say_what_happened(self, call);
}

/* Returns, and keeps the call for `late-go`. The call object must still live then. */
static int32_t late(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)request;
    self->late_call = call;
    self->has_late = pthread_create(&self->late, NULL, delta_when_told, self) == 0;
    return gudgeon_reply_text(call, 0, "returned");
}

static int32_t late_go(struct self *self, const gudgeon_call *call,
                       const gudgeon_tool_call *request)
{
    (void)request;
    if (!self->has_late)
        return gudgeon_fail(call, GUDGEON_INVALID, "call `late` first");
    sem_post(&self->go);
    pthread_join(self->late, NULL);
    self->has_late = 0;
    return say_what_happened(self, call);
}

/* Waits until two calls are in here ("met") or until the deadline or a cancel ("alone"). */
static int32_t rendezvous(struct self *self, const gudgeon_call *call,
                          const gudgeon_tool_call *request)
{
    (void)request;
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    atomic_fetch_add(&self->inside, 1);
    struct timespec now;
    do {
        if (atomic_load(&self->inside) >= 2)
            return gudgeon_reply_text(call, 0, "met");
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!call->cancelled(call) &&
             now.tv_sec * INT64_C(1000000000) + now.tv_nsec < call->deadline_ns(call));
    atomic_fetch_sub(&self->inside, 1);
    return gudgeon_reply_text(call, 0, "alone");
}

/* Lists one tool more than before. */
static int32_t grow(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    (void)request;
    self->extra_tools++;
    self->host->tools_changed(self->host);
    return gudgeon_reply_text(call, 0, "grown");
}

static int32_t log_noise(struct self *self, const gudgeon_call *call,
                         const gudgeon_tool_call *request)
{
    (void)request;
    self->host->log(self->host, GUDGEON_LOG_WARN, gudgeon_text("two\nlines \x1b[31m"));
    self->host->log(self->host, 99, text_of("\xff", 1));
    self->host->log(self->host, GUDGEON_LOG_INFO, text_of(NULL, 0));
    return gudgeon_reply_text(call, 0, "said");
}

/* "1" or "0" on STDOUT for each service: whether the host has it. */
static int32_t service(struct self *self, const gudgeon_call *call,
                       const gudgeon_tool_call *request)
{
    static const char *const ids[] = {"gudgeon.http/1", "gudgeon.process/1", "gudgeon.secret/1",
                                      "gudgeon.memo/1", "gudgeon.tools/1",   "gudgeon.none/1"};
    (void)request;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const void *table = self->host->service(self->host, ids[i]);
        gudgeon_stream(call, GUDGEON_STDOUT, table != NULL ? "1" : "0", 1);
        if (self->host->service(self->host, ids[i]) != table)
            return GUDGEON_PROTOCOL;
    }
    return reply(call, (gudgeon_tool_result){.flags = 0});
}

static const struct tool {
    const char *name;
    int32_t (*run)(struct self *self, const gudgeon_call *call, const gudgeon_tool_call *request);
} tools[] = {
    {"fine", fine},
    {"twice", twice},
    {"silent", silent},
    {"bad_utf8", bad_utf8},
    {"bad_content", bad_content},
    {"odd_content", odd_content},
    {"bad_data", bad_data},
    {"null_text", null_text},
    {"short_result", short_result},
    {"unknown_class", unknown_class},
    {"negative_class", negative_class},
    {"both", both},
    {"flood", flood},
    {"unknown_channel", unknown_channel},
    {"deaf", deaf},
    {"crash", crash},
    {"leave", leave},
    {"other_thread", other_thread},
    {"late", late},
    {"late-go", late_go},
    {"rendezvous", rendezvous},
    {"grow", grow},
    {"log", log_noise},
    {"service", service},
};

/* ---- the component --------------------------------------------------------------------------- */

static int32_t list_one(const gudgeon_call *call, const char *name, const char *parameters)
{
    gudgeon_tool tool = {.size = sizeof tool,
                         .name = gudgeon_text(name),
                         .description = gudgeon_text("breaks a rule"),
                         .parameters = gudgeon_text(parameters)};
    return call->result(call, &tool);
}

static int32_t list(void *data, const gudgeon_call *call, const gudgeon_list *request)
{
    struct self *self = data;
    (void)request;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (list_one(call, tools[i].name, NULL) != 0)
            return GUDGEON_INVALID;
    for (unsigned i = 0; i < self->extra_tools; i++) {
        char name[24];
        snprintf(name, sizeof name, "extra_%u", i);
        if (list_one(call, name, "{\"type\":\"object\"}") != 0)
            return GUDGEON_INVALID;
    }
    return 0;
}

static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (gudgeon_is(request->tool, tools[i].name))
            return tools[i].run(self, call, request);
    return gudgeon_fail(call, GUDGEON_INVALID, "no such tool");
}

static int says(gudgeon_str config, const char *what)
{
    char pattern[64];
    int len = snprintf(pattern, sizeof pattern, "\"%s\"", what);
    return config.len > 0 && memmem(config.ptr, config.len, pattern, (size_t)len) != NULL;
}

static int32_t refuse(const gudgeon_call *call)
{
    gudgeon_error error = {.size = sizeof error,
                           .message = gudgeon_text("needs the network"),
                           .grant = gudgeon_text("{\"network\":true}")};
    call->error(call, &error);
    return GUDGEON_REFUSED;
}

static int32_t create(void **ret, const gudgeon_call *call, const gudgeon_create *request)
{
    if (says(request->config, "refuse"))
        return refuse(call);
    if (says(request->config, "fail"))
        return GUDGEON_INVALID; /* without a word */
    if (says(request->config, "crash"))
        raise(SIGSEGV);
    struct self *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    self->host = request->host;
    sem_init(&self->go, 0, 0);
    *ret = self;
    return 0;
}

static int32_t destroy(void *data, const gudgeon_call *call, const gudgeon_stop *request)
{
    struct self *self = data;
    (void)call, (void)request;
    self->is_ending = 1;
    sem_post(&self->go);
    if (self->has_late)
        pthread_join(self->late, NULL);
    sem_destroy(&self->go);
    free(self);
    return 0;
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const char schema[] = "{\"type\":\"object\",\"properties\":{\"create\":{\"enum\":"
                             "[\"refuse\",\"fail\",\"crash\"]}},\"additionalProperties\":false}";

static const gudgeon_component ordinary = {.size = sizeof ordinary,
                                           .kind = "tools/1",
                                           .name = "misbehave",
                                           .summary = "Tools that break the rules",
                                           .config_schema = schema,
                                           .create = create,
                                           .destroy = destroy,
                                           .ops = &ops};
static const gudgeon_component concurrent = {.size = sizeof concurrent,
                                             .flags = GUDGEON_CONCURRENT,
                                             .kind = "tools/1",
                                             .name = "misbehave-concurrent",
                                             .summary = "The same, overlapping",
                                             .config_schema = schema,
                                             .create = create,
                                             .destroy = destroy,
                                             .ops = &ops};
static const gudgeon_component *const components[] = {&ordinary, &concurrent, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "misbehave", "1.0.0", "MIT", components, 0};
