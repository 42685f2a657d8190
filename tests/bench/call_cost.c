/* SPDX-License-Identifier: MIT */
/*
 * What a worker costs: a tool call in this process and in a worker, and a worker from nothing to
 * ready. Prints three medians: in-process call and isolated call in microseconds, start in
 * milliseconds.
 *
 *     call_cost PLUGIN.so COMPONENT TOOL [CALLS] [STARTS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"

static struct plugin_info plugin;
static struct component_info component = {.plugin = &plugin, .kind = KIND_TOOLS, .kind_version = 1};

static struct instance *open_one(enum isolation isolation)
{
    struct instance *instance = NULL;
    struct err err = {0};
    const struct instance_options options = {.name = "bench", .isolation = isolation};
    if (instance_open(&component, &options, &instance, &err) < 0) {
        fprintf(stderr, "call_cost: %s\n", err.text);
        exit(1);
    }
    return instance;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median(int64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (double)values[count / 2];
}

static int64_t time_call(struct instance *instance, const char *tool)
{
    int64_t begun_ns = clock_monotonic_ns();
    struct call *call = call_new(&(struct call_options){.deadline_ns = begun_ns + 60 * NS_PER_S});
    if (instance_call(instance, call, str_of(tool), str_of("{}")) < 0) {
        fprintf(stderr, "call_cost: %s\n", call_error(call)->message);
        exit(1);
    }
    call_free(call);
    return clock_monotonic_ns() - begun_ns;
}

static double calls(enum isolation isolation, const char *tool, size_t count)
{
    int64_t *values = xcalloc(count, sizeof *values);
    struct instance *instance = open_one(isolation);
    time_call(instance, tool);
    for (size_t i = 0; i < count; i++)
        values[i] = time_call(instance, tool);
    instance_close(instance);
    double result = median(values, count) / 1000;
    free(values);
    return result;
}

static double starts(size_t count)
{
    int64_t *values = xcalloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        int64_t begun_ns = clock_monotonic_ns();
        struct instance *instance = open_one(ISOLATION_WORKER);
        values[i] = clock_monotonic_ns() - begun_ns;
        instance_close(instance);
    }
    double result = median(values, count) / 1e6;
    free(values);
    return result;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t call_count = argc > 4 ? strtoul(argv[4], NULL, 10) : 20000;
    size_t start_count = argc > 5 ? strtoul(argv[5], NULL, 10) : 101;
    plugin.path = plugin.name = argv[1];
    component.name = argv[2];
    printf("%.2f %.2f %.2f\n", calls(ISOLATION_NONE, argv[3], call_count),
           calls(ISOLATION_WORKER, argv[3], call_count), starts(start_count));
    return 0;
}
