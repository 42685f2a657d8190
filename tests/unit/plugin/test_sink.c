/* SPDX-License-Identifier: MIT */
/* Sinks over real instances: jsonl, and tests/abi/awkward.c, which takes its time. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "plugin/services.h"
#include "plugin/sink.h"
#include "sys/paths.h"
#include "unit.h"

struct rig {
    struct plugin_info plugin;
    struct component_info component;
    struct services *services;
    struct secrets *secrets;
    pthread_mutex_t lock;
    struct buf log;
};

static void on_log(void *payload, const char *instance, int level, const char *message)
{
    struct rig *rig = payload;
    pthread_mutex_lock(&rig->lock);
    buf_addf(&rig->log, "%s %d %s\n", instance, level, message);
    pthread_mutex_unlock(&rig->lock);
}

/* `file` is below the build directory. */
static void rig_init(struct rig *rig, const char *file, const char *component)
{
    *rig = (struct rig){.component = {.kind = KIND_SINK, .kind_version = 1}};
    CLEANUP(free_ptr) char *plugins = paths_plugins(); /* BUILD/plugins */
    *strrchr(plugins, '/') = '\0';
    rig->plugin.path = xasprintf("%s/%s", plugins, file);
    rig->component.plugin = &rig->plugin;
    rig->component.name = (char *)component;
    rig->services = services_new();
    rig->secrets = secrets_new();
    pthread_mutex_init(&rig->lock, NULL);
    buf_init(&rig->log, BUF_MAX_ANY);
}

static void rig_fini(struct rig *rig)
{
    free(rig->plugin.path);
    secrets_free(rig->secrets);
    services_free(rig->services);
    pthread_mutex_destroy(&rig->lock);
    buf_fini(&rig->log);
}

static struct sink *opened(struct rig *rig, const char *config)
{
    struct instance_options options = {.name = "it",
                                       .config = str_of(config),
                                       .services = rig->services,
                                       .secrets = rig->secrets,
                                       .on_log = on_log,
                                       .payload = rig};
    struct sink *sink = NULL;
    struct err err = {0};
    if (sink_open(&rig->component, &options, "RUN", &sink, &err) < 0)
        printf("#   %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(sink);
    return sink;
}

/* Everything that is pushed before the end arrives, in order. */
static void test_all(void)
{
    struct rig rig;
    rig_init(&rig, "plugins/jsonl.so", "jsonl");
    char path[] = "/tmp/gudgeon-sink-XXXXXX";
    close(mkstemp(path));
    CLEANUP(free_ptr) char *config = xasprintf("{\"path\":\"%s\"}", path);
    struct buf want = BUF_INIT(BUF_MAX_ANY), have = BUF_INIT(BUF_MAX_ANY);
    struct sink *sink = opened(&rig, config);
    for (int i = 0; i < 1000; i++) {
        CLEANUP(free_ptr) char *line = xasprintf("{\"n\":%d}", i);
        sink_push(sink, "step.started", str_of(line));
        buf_addf(&want, "%s\n", line);
    }
    sink_close(sink);
    CU_ASSERT_EQUAL(file_read(path, 1 << 20, &have, NULL), 0);
    CHECK_STR(have.data, want.data);
    CHECK_STR(rig.log.data, "");
    buf_fini(&want);
    buf_fini(&have);
    unlink(path);
    rig_fini(&rig);
}

static void test_fails(void)
{
    struct rig rig;
    rig_init(&rig, "tests/abi/awkward.so", "awkward");
    struct sink *sink = opened(&rig, "{\"create\":\"refuse\"}");
    for (int i = 0; i < 100; i++)
        sink_push(sink, "step.started", str_of("{}"));
    sink_close(sink);
    CHECK_STR(rig.log.data, "it 2 sink disabled for this run: no room\n");
    rig_fini(&rig);
}

/* A sink that is stuck holds up the end for a few seconds at most, and what is lost is told. */
static void test_stuck(void)
{
    struct rig rig;
    rig_init(&rig, "tests/abi/awkward.so", "awkward");
    struct sink *sink = opened(&rig, "{}");
    for (int i = 0; i < 3; i++)
        sink_push(sink, "step.started", str_of("{}"));
    int64_t before_ns = clock_monotonic_ns();
    sink_close(sink);
    CU_ASSERT(clock_monotonic_ns() - before_ns < 8 * NS_PER_S);
    CHECK_STR(rig.log.data, "it 2 3 event(s) were not taken\n");
    rig_fini(&rig);
}

static void test_none(void)
{
    sink_close(NULL);
    struct rig rig;
    rig_init(&rig, "plugins/jsonl.so", "jsonl");
    struct instance_options options = {.name = "it",
                                       .config = str_of("{\"path\":\"/nowhere/at/all\"}"),
                                       .services = rig.services,
                                       .secrets = rig.secrets};
    struct sink *sink = NULL;
    struct err err = {0};
    CU_ASSERT_EQUAL(sink_open(&rig.component, &options, "RUN", &sink, &err), ERR_INVALID);
    CHECK_STR(err.text, "sink \"it\": cannot open /nowhere/at/all: No such file or directory");
    CU_ASSERT_EQUAL(sink_open(&rig.component, &options, "RUN", &sink, NULL), ERR_INVALID);
    CU_ASSERT_PTR_NULL(sink);
    rig_fini(&rig);
}

int main(void)
{
    UNIT_MAIN("sink", {"all events, in order", test_all}, {"one that fails", test_fails},
              {"one that is stuck", test_stuck}, {"one that cannot be opened", test_none});
}
