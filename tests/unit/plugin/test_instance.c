/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "plugin/services.h"
#include "sys/cancel.h"
#include "sys/paths.h"
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include <gudgeon/ext/memo.h>

/* Longer than any of these tests may take; passing does not wait for it. */
#define PATIENCE_NS (20 * NS_PER_S)

/* ---- a plugin as the registry would describe it
 * -------------------------------------------------- */

struct fixture {
    struct plugin_info plugin;
    struct component_info component;
    pthread_mutex_t lock; /* of the log: messages come from any thread */
    struct buf log;
    unsigned lines;
};

static char *fixture_path(const char *name)
{
    CLEANUP(free_ptr) char *plugins = paths_plugins(); /* BUILD/plugins */
    *strrchr(plugins, '/') = '\0';
    return xasprintf("%s/tests/abi/%s.so", plugins, name);
}

static void fixture_init(struct fixture *fixture, const char *plugin, enum kind kind,
                         const char *name)
{
    *fixture = (struct fixture){.plugin = {.path = fixture_path(plugin)},
                                .component = {.kind = kind, .kind_version = 1}};
    fixture->component.plugin = &fixture->plugin;
    fixture->component.name = xstrdup(name);
    pthread_mutex_init(&fixture->lock, NULL);
    buf_init(&fixture->log, BUF_MAX_ANY);
}

static void fixture_fini(struct fixture *fixture)
{
    free(fixture->plugin.path);
    free(fixture->component.name);
    buf_fini(&fixture->log);
    pthread_mutex_destroy(&fixture->lock);
}

static void on_log(void *payload, const char *instance, int level, const char *message)
{
    struct fixture *fixture = payload;
    pthread_mutex_lock(&fixture->lock);
    buf_addf(&fixture->log, "%s %d %s\n", instance, level, message);
    fixture->lines++;
    pthread_mutex_unlock(&fixture->lock);
}

/* Where the tools of a test run; the same rules hold in both. */
static enum isolation isolation;

static int try_open(struct fixture *fixture, const struct instance_options *wanted,
                    struct instance **ret, struct err *err)
{
    struct instance_options options = *wanted;
    options.name = options.name != NULL ? options.name : "it";
    options.on_log = on_log;
    options.payload = fixture;
    options.isolation = fixture->component.kind == KIND_TOOLS ? isolation : ISOLATION_NONE;
    return instance_open(&fixture->component, &options, ret, err);
}

static struct instance *opened(struct fixture *fixture, const struct instance_options *wanted)
{
    struct instance *instance = NULL;
    struct err err = {0};
    int status = try_open(fixture, wanted, &instance, &err);
    if (status < 0)
        printf("#   %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(status, 0);
    return instance;
}

static const struct instance_options plain;

static struct call *patient_call(void)
{
    const struct call_options options = {
        .id = "run/1", .deadline_ns = clock_monotonic_ns() + PATIENCE_NS, .output_max = 1000};
    return call_new(&options);
}

/* Calls a tool and gives its code; *ret_text, if wanted, is a copy of the result's text. */
static int call_tool(struct instance *instance, const char *tool, const char *arguments,
                     char **ret_text)
{
    struct call *call = patient_call();
    int code = instance_call(instance, call, str_of(tool), str_of(arguments));
    if (ret_text != NULL)
        *ret_text =
            code == 0 ? str_dup(call_tool_result(call)->text) : xstrdup(call_error(call)->message);
    call_free(call);
    return code;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static void test_life(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "probe", KIND_SINK, "probe");
    struct instance *instance =
        opened(&fixture, &(struct instance_options){.name = "mine", .config = str_of("{\"a\":1}")});
    CHECK_STR(instance_name(instance), "mine");
    CU_ASSERT_PTR_EQUAL(instance_component(instance), &fixture.component);
    CHECK_STR(fixture.log.data, "mine 3 created mine {\"a\":1} {}\n");
    buf_reset(&fixture.log);
    instance_close(instance);
    CHECK_STR(fixture.log.data, "mine 3 destroyed\n");
    instance_close(NULL);
    fixture_fini(&fixture);
}

static void test_open_fails(void)
{
    static const struct {
        const char *plugin, *component, *config, *grant;
        int code;
        const char *says;
    } rows[] = {
        {"misbehave", "misbehave", "{\"create\":\"refuse\"}", NULL, ERR_REFUSED,
         "tools \"it\": needs the network; add to its entry: grant: {\"network\":true}"},
        {"misbehave", "misbehave", "{\"create\":\"fail\"}", NULL, ERR_INVALID,
         "tools \"it\": invalid"},
        {"probe", "probe", "{\"class\":4}", NULL, ERR_QUOTA, "tools \"it\": it has nothing left"},
        {"probe", "probe", "{}", "{\"exec\":7}", ERR_INVALID,
         "tools \"it\": grant: exec is to be true, false or a list of names"},
        {"probe", "probe", "{}", "{\"env\":[1]}", ERR_INVALID,
         "tools \"it\": grant: env is to be a list of names"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture fixture;
        struct instance *instance = NULL;
        struct err err = {0};
        fixture_init(&fixture, rows[i].plugin, KIND_TOOLS, rows[i].component);
        const struct instance_options options = {.config = str_of(rows[i].config),
                                                 .grant = str_of(rows[i].grant)};
        CU_ASSERT_EQUAL(try_open(&fixture, &options, &instance, &err), rows[i].code);
        CU_ASSERT_EQUAL(try_open(&fixture, &options, &instance, NULL), rows[i].code);
        CHECK_STR(err.text, rows[i].says);
        CU_ASSERT_PTR_NULL(instance);
        CHECK_STR(fixture.log.data, "");
        fixture_fini(&fixture);
    }
}

static void test_no_component(void)
{
    static const struct {
        const char *plugin, *component;
    } rows[] = {{"probe", "gone"}, {"no-such-file", "probe"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture fixture;
        struct instance *instance = NULL;
        struct err err = {0};
        fixture_init(&fixture, rows[i].plugin, KIND_TOOLS, rows[i].component);
        CU_ASSERT(try_open(&fixture, &plain, &instance, &err) < 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].plugin));
        CU_ASSERT_PTR_NULL(instance);
        fixture_fini(&fixture);
    }
}

static void test_create_answers(void)
{
    struct fixture fixture;
    struct instance *instance = NULL;
    struct err err = {0};
    fixture_init(&fixture, "probe", KIND_SINK, "probe");
    const struct instance_options options = {.config = str_of("{\"answers\":true}")};
    CU_ASSERT_EQUAL(try_open(&fixture, &options, &instance, &err), ERR_PROTOCOL);
    CHECK_STR(err.text, "sink \"it\": the plugin gave a result where none is owed");
    fixture_fini(&fixture);
}

/* ---- the ops -----------------------------------------------------------------------------------
 */

static int generate(struct instance *instance, uint64_t count, struct call *call)
{
    static const gudgeon_msg msgs[] = {
        {.size = sizeof msgs[0], .id = 1, .role = {"user", 4}, .content = {"[]", 2}},
        {.size = sizeof msgs[0], .id = 2, .role = {"user", 4}, .content = {"[]", 2}},
        {.size = sizeof msgs[0], .id = 3, .role = {"user", 4}, .content = {"[]", 2}},
    };
    const gudgeon_msg *const pointers[] = {&msgs[0], &msgs[1], &msgs[2]};
    const gudgeon_generate request = {.size = sizeof request,
                                      .model = str_of("m"),
                                      .msgs = pointers,
                                      .msg_count = count,
                                      .stream = 1};
    return instance_generate(instance, call, &request);
}

static void test_model(void)
{
    static const struct {
        uint64_t count, forget;
        const char *content;
    } rows[] = {
        {1, 0, "[{\"type\":\"text\",\"text\":\"0 known\"}]"},
        {3, 2, "[{\"type\":\"text\",\"text\":\"1 known\"}]"},
        {3, 0, "[{\"type\":\"text\",\"text\":\"2 known\"}]"},
    };
    struct fixture fixture;
    fixture_init(&fixture, "probe", KIND_MODEL, "probe");
    struct instance *instance = opened(&fixture, &plain);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct call *call = patient_call();
        CU_ASSERT_EQUAL(generate(instance, rows[i].count, call), 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(call_reply(call));
        CHECK_STR(call_reply(call)->content.ptr, rows[i].content);
        CHECK_STR(call_reply(call)->model_served.ptr, "m");
        CU_ASSERT_TRUE(call_has_shown(call));
        call_free(call);
        instance_forget(instance, GUDGEON_MEMO_MESSAGE, rows[i].forget);
    }
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_capabilities(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "probe", KIND_MODEL, "probe");
    struct instance *instance = opened(&fixture, &plain);
    struct call *call = patient_call();
    CU_ASSERT_EQUAL(instance_capabilities(instance, call, "seven77"), 0);
    CU_ASSERT_EQUAL(call_capabilities(call)->window_tokens, 7);
    call_free(call);
    instance_close(instance);
    fixture_fini(&fixture);
    fixture_init(&fixture, "probe", KIND_MODEL, "probe-silent");
    instance = opened(&fixture, &plain);
    call = patient_call();
    CU_ASSERT_EQUAL(instance_capabilities(instance, call, "m"), ERR_NOT_FOUND);
    call_free(call);
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_sink(void)
{
    static const struct {
        const char *component;
        int empty_flush;
    } rows[] = {{"probe", ERR_UNAVAILABLE}, {"probe-hasty", 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fixture fixture;
        fixture_init(&fixture, "probe", KIND_SINK, rows[i].component);
        struct instance *instance = opened(&fixture, &plain);
        struct call *calls[] = {patient_call(), patient_call(), patient_call()};
        CU_ASSERT_EQUAL(instance_flush(instance, calls[0]), rows[i].empty_flush);
        buf_reset(&fixture.log);
        const gudgeon_event event = {.size = sizeof event,
                                     .run = str_of("r"),
                                     .type = str_of("step.started"),
                                     .json = str_of("{}")};
        CU_ASSERT_EQUAL(instance_event(instance, calls[1], &event), 0);
        CHECK_STR(fixture.log.data, "it 3 step.started {}\n");
        CU_ASSERT_EQUAL(instance_flush(instance, calls[2]), 0);
        for (size_t k = 0; k < COUNT_OF(calls); k++)
            call_free(calls[k]);
        instance_close(instance);
        fixture_fini(&fixture);
    }
}

static void count_tool(void *payload, const gudgeon_tool *tool)
{
    CU_ASSERT(tool->name.len > 0);
    ++*(unsigned *)payload;
}

static unsigned tools_of(struct instance *instance)
{
    unsigned count = 0;
    struct call *call = patient_call();
    CU_ASSERT_EQUAL(instance_list(instance, call, count_tool, &count), 0);
    call_free(call);
    return count;
}

static void test_list(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    CU_ASSERT_FALSE(instance_tools_changed(instance));
    unsigned before = tools_of(instance);
    CU_ASSERT(before > 10);
    CU_ASSERT_EQUAL(call_tool(instance, "grow", "{}", NULL), 0);
    CU_ASSERT_TRUE(instance_tools_changed(instance));
    CU_ASSERT_EQUAL(tools_of(instance), before + 1);
    CU_ASSERT_FALSE(instance_tools_changed(instance));
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_rules(void)
{
    static const struct {
        const char *tool;
        int code;
        const char *text; /* the result's or the error's */
    } rows[] = {
        {"fine", 0, "{\"x\":1}"},
        {"twice", ERR_PROTOCOL, "the plugin answered twice"},
        {"silent", ERR_PROTOCOL, "the plugin returned success without a result"},
        {"bad_content", ERR_PROTOCOL, "the result's content is no JSON array of blocks"},
        {"odd_content", ERR_PROTOCOL, "the result's content is no JSON array of blocks"},
        {"bad_data", ERR_PROTOCOL, "the result's data is no JSON"},
        {"null_text", ERR_PROTOCOL, "malformed text in the result"},
        {"short_result", ERR_PROTOCOL,
         "the plugin gave a result whose size is too small; set its .size to sizeof"},
        {"unknown_class", ERR_INVALID, "a class of the future"},
        {"negative_class", ERR_PROTOCOL, "the plugin returned a value that is no class"},
        {"both", ERR_UNAVAILABLE, "and then it broke"},
        {"flood", ERR_LIMIT, ""},
        {"unknown_channel", 0, "done"},
        {"other_thread", ERR_PROTOCOL, "the plugin used a call on another thread than its own"},
        {"no such tool", ERR_INVALID, "no such tool"},
    };
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = NULL;
        CU_ASSERT_EQUAL(call_tool(instance, rows[i].tool, "{\"x\":1}", &text), rows[i].code);
        CHECK_STR(text, rows[i].text);
    }
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_output(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    struct call *call = patient_call();
    CU_ASSERT_EQUAL(instance_call(instance, call, str_of("flood"), str_of("{}")), ERR_LIMIT);
    CU_ASSERT_EQUAL(call_output(call).len, 1000);
    CU_ASSERT_TRUE(call_output_is_cut(call));
    call_free(call);
    call = patient_call();
    CU_ASSERT_EQUAL(instance_call(instance, call, str_of("bad_utf8"), str_of("{}")), 0);
    CU_ASSERT_EQUAL(call_output(call).len, 6);
    CU_ASSERT_EQUAL(call_tool_result(call)->text.len, 8); /* byte for byte: intake's to mend */
    call_free(call);
    instance_close(instance);
    fixture_fini(&fixture);
}

/* A thread of the plugin uses the call after its op has returned. */
static void test_late(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    struct call *first = patient_call();
    CU_ASSERT_EQUAL(instance_call(instance, first, str_of("late"), str_of("{}")), 0);
    CLEANUP(free_ptr) char *text = NULL;
    CU_ASSERT_EQUAL(call_tool(instance, "late-go", "{}", &text), 0);
    CHECK_STR(text, "delta stop, result refused");
    CHECK_STR(call_tool_result(first)->text.ptr, "returned");
    CU_ASSERT_EQUAL(call_output(first).len, 0);
    call_free(first);
    instance_close(instance);
    fixture_fini(&fixture);
}

/* ---- services ----------------------------------------------------------------------------------
 */

static void test_services(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    struct call *call = patient_call();
    CU_ASSERT_EQUAL(instance_call(instance, call, str_of("service"), str_of("{}")), 0);
    /* http, process, secret; not memo, tools, or what there is not */
    CHECK_STR(call_output(call).ptr, "111000");
    call_free(call);
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_secret(void)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } rows[] = {
        {"a {secret:named} b", 0, "a v4lue b"},
        {"no secret", 0, "no secret"},
        {"{secret:unnamed}", ERR_REFUSED, "the configuration does not name {secret:unnamed}"},
        {"{secret:missing}", ERR_AUTH, NULL},
    };
    setenv("GUDGEON_SECRET_NAMED", "v4lue", 1);
    setenv("GUDGEON_SECRET_UNNAMED", "hidden", 1);
    struct fixture fixture;
    struct secrets *secrets = secrets_new();
    fixture_init(&fixture, "probe", KIND_TOOLS, "probe");
    struct instance *instance =
        opened(&fixture, &(struct instance_options){
                             .secrets = secrets,
                             .config = str_of("{\"k\":\"{secret:named} {secret:missing}\"}")});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *text = NULL;
        CU_ASSERT_EQUAL(call_tool(instance, "secret", rows[i].text, &text), rows[i].code);
        if (rows[i].says != NULL)
            CHECK_STR(text, rows[i].says);
    }
    instance_close(instance);
    secrets_free(secrets);
    fixture_fini(&fixture);
}

/* What a tool leaves running ends with its call. */
static void test_left_open(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "probe", KIND_TOOLS, "probe");
    struct instance *instance =
        opened(&fixture, &(struct instance_options){.grant = str_of("{\"exec\":[\"sleep\"]}")});
    CLEANUP(free_ptr) char *text = NULL;
    CU_ASSERT_EQUAL(call_tool(instance, "leave", "{}", &text), 0);
    CU_ASSERT_EQUAL(fcntl(atoll(text) > 0 ? (int)atoll(text) : -1, F_GETFD), -1);
    instance_close(instance);
    fixture_fini(&fixture);
}

/* ---- the log ------------------------------------------------------------------------------------
 */

static void test_log(void)
{
    struct fixture fixture;
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave");
    struct instance *instance = opened(&fixture, &plain);
    CU_ASSERT_EQUAL(call_tool(instance, "log", "{}", NULL), 0);
    CHECK_STR(fixture.log.data, "it 2 two lines  [31m\nit 3 \xef\xbf\xbd\n");
    instance_close(instance);
    fixture_fini(&fixture);
}

static void test_log_flood(void)
{
    clock_set_fake(true);
    struct fixture fixture;
    fixture_init(&fixture, "probe", KIND_TOOLS, "probe");
    struct instance *instance = opened(&fixture, &plain);
    CU_ASSERT_EQUAL(call_tool(instance, "flood", "{}", NULL), 0);
    CU_ASSERT_EQUAL(fixture.lines, 100);
    clock_fake_advance(11 * NS_PER_S);
    buf_reset(&fixture.log);
    instance_close(instance);
    CHECK_STR(fixture.log.data,
              "it 2 901 messages were left out: there were too many\nit 3 destroyed\n"
              "it 2 closing failed: timeout: the far side does not listen\n");
    fixture_fini(&fixture);
    clock_set_fake(false);
}

/* ---- threads ------------------------------------------------------------------------------------
 */

struct worker {
    pthread_t thread;
    struct instance *instance;
    struct call *call;
    const char *tool;
    int code;
};

static void *work(void *payload)
{
    struct worker *worker = payload;
    worker->code =
        instance_call(worker->instance, worker->call, str_of(worker->tool), str_of("{}"));
    return NULL;
}

static void start(struct worker *worker, struct instance *instance, const char *tool)
{
    *worker = (struct worker){.instance = instance, .call = patient_call(), .tool = tool};
    CU_ASSERT_EQUAL_FATAL(pthread_create(&worker->thread, NULL, work, worker), 0);
}

static const char *finish(struct worker *worker)
{
    pthread_join(worker->thread, NULL);
    return worker->code == 0 ? call_tool_result(worker->call)->text.ptr : err_name(worker->code);
}

static void test_concurrent(void)
{
    struct fixture fixture;
    struct worker workers[2];
    fixture_init(&fixture, "misbehave", KIND_TOOLS, "misbehave-concurrent");
    fixture.component.flags = GUDGEON_CONCURRENT;
    struct instance *instance = opened(&fixture, &plain);
    for (size_t i = 0; i < COUNT_OF(workers); i++)
        start(&workers[i], instance, "rendezvous");
    for (size_t i = 0; i < COUNT_OF(workers); i++) {
        CHECK_STR(finish(&workers[i]), "met");
        call_free(workers[i].call);
    }
    instance_close(instance);
    fixture_fini(&fixture);
}

static int on_begun(void *payload, const gudgeon_delta *delta)
{
    (void)delta;
    sem_post(payload);
    return 0;
}

/* While one call runs, the others wait; each way to end the wait ends it. */
static void test_serialised(void)
{
    struct fixture fixture;
    struct worker running = {.tool = "wait"}, waiting[3];
    int64_t begun_ns = clock_monotonic_ns();
    sem_t begun;
    sem_init(&begun, 0, 0);
    fixture_init(&fixture, "probe", KIND_TOOLS, "probe");
    running.instance = opened(&fixture, &plain);
    running.call = call_new(&(struct call_options){.on_delta = on_begun, .payload = &begun});
    pthread_create(&running.thread, NULL, work, &running);
    while (sem_wait(&begun) != 0)
        ;
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        start(&waiting[i], running.instance, "id");
    struct call *late = call_new(&(struct call_options){.deadline_ns = 1});
    CU_ASSERT_EQUAL(instance_call(running.instance, late, str_of("id"), str_of("{}")), ERR_TIMEOUT);
    CHECK_STR(call_error(late)->message, "ended while it waited for another call of this instance");
    cancel_set(call_cancel(waiting[1].call));
    CHECK_STR(finish(&waiting[1]), "cancelled");
    CU_ASSERT(clock_monotonic_ns() - begun_ns < PATIENCE_NS); /* not by its deadline */
    cancel_set(call_cancel(running.call));
    CHECK_STR(finish(&running), "cancelled");
    CHECK_STR(finish(&waiting[0]), "run/1");
    CHECK_STR(finish(&waiting[2]), "run/1");
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        call_free(waiting[i].call);
    call_free(running.call);
    call_free(late);
    instance_close(running.instance);
    fixture_fini(&fixture);
    sem_destroy(&begun);
}

static void test_cancelled_before(void)
{
    static const char *const components[] = {"misbehave", "misbehave-concurrent"};
    for (size_t i = 0; i < COUNT_OF(components); i++) {
        struct fixture fixture;
        fixture_init(&fixture, "misbehave", KIND_TOOLS, components[i]);
        fixture.component.flags = i == 1 ? GUDGEON_CONCURRENT : 0;
        struct instance *instance = opened(&fixture, &plain);
        struct call *call = patient_call();
        cancel_set(call_cancel(call));
        CU_ASSERT_EQUAL(instance_call(instance, call, str_of("grow"), str_of("{}")), ERR_CANCELLED);
        CU_ASSERT_FALSE(instance_tools_changed(instance)); /* it never ran */
        call_free(call);
        instance_close(instance);
        fixture_fini(&fixture);
    }
}

/* ---- in a worker --------------------------------------------------------------------------------
 */

#define IN_WORKER(test)                                                                            \
    static void test##_in_worker(void)                                                             \
    {                                                                                              \
        isolation = ISOLATION_WORKER;                                                              \
        test();                                                                                    \
        isolation = ISOLATION_NONE;                                                                \
    }
IN_WORKER(test_open_fails)
IN_WORKER(test_no_component)
IN_WORKER(test_list)
IN_WORKER(test_rules)
IN_WORKER(test_output)
IN_WORKER(test_services)
IN_WORKER(test_secret)
IN_WORKER(test_log)
IN_WORKER(test_concurrent)
IN_WORKER(test_serialised)
IN_WORKER(test_cancelled_before)

int main(void)
{
    UNIT_MAIN(
        "instance", {"opening and closing", test_life}, {"create that fails", test_open_fails},
        {"a component or file that is gone", test_no_component},
        {"create that answers", test_create_answers}, {"a model and its memo", test_model},
        {"capabilities are optional", test_capabilities}, {"a sink", test_sink},
        {"tools that change", test_list}, {"broken rules", test_rules}, {"output", test_output},
        {"a call used too late", test_late}, {"services by kind", test_services},
        {"secrets by name", test_secret}, {"what is left open ends with the call", test_left_open},
        {"the log is made safe", test_log}, {"the log is no flood", test_log_flood},
        {"concurrent ops overlap", test_concurrent}, {"others take turns", test_serialised},
        {"cancelled before its turn", test_cancelled_before},
        {"worker: create that fails", test_open_fails_in_worker},
        {"worker: a component or file that is gone", test_no_component_in_worker},
        {"worker: tools that change", test_list_in_worker},
        {"worker: broken rules", test_rules_in_worker}, {"worker: output", test_output_in_worker},
        {"worker: services by kind", test_services_in_worker},
        {"worker: secrets by name", test_secret_in_worker},
        {"worker: the log is made safe", test_log_in_worker},
        {"worker: concurrent ops overlap", test_concurrent_in_worker},
        {"worker: others take turns", test_serialised_in_worker},
        {"worker: cancelled before its turn", test_cancelled_before_in_worker});
}
