/* SPDX-License-Identifier: MIT */

/*
 * The `clock` plugin: one tool, `now`.
 *
 * A zone is UTC, the machine's own or a fixed offset. Names such as Europe/Amsterdam are not taken:
 * the C library knows them only through the TZ variable, which belongs to the whole process.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gudgeon/args.h>
#include <gudgeon/json.h>
#include <gudgeon/util.h>

enum { ZONE_SIZE = 16, STAMP_SIZE = 40 };

struct clock {
    char zone[ZONE_SIZE]; /* when a call names none */
};

#define ZONE_HELP    "UTC, local (the machine's), or an offset such as +02:00"
#define ZONE_PATTERN "^(UTC|Z|local|[+-][0-9]{2}(:?[0-9]{2})?)$"

static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"zone\":{\"type\":\"string\",\"pattern\":\"" ZONE_PATTERN "\",\"default\":\"local\","
    "\"description\":\"The zone when a call names none: " ZONE_HELP ".\"}}}";

static const char parameters[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"zone\":{\"type\":\"string\",\"description\":\"" ZONE_HELP ".\"}}}";

/* A moment as one zone's clocks show it. */
struct shown {
    struct tm tm;
    long offset_s; /* east of UTC */
};

/* ---- zones ----------------------------------------------------------------------------------- */

/* Two digits at `at`; -1 when they are none. */
static int two_digits(const char *at)
{
    bool are_digits = at[0] >= '0' && at[0] <= '9' && at[1] >= '0' && at[1] <= '9';
    return are_digits ? (at[0] - '0') * 10 + (at[1] - '0') : -1;
}

/* "+02:00", "-0330", "+02". */
static bool read_offset(const char *zone, long *offset_s)
{
    if (*zone != '+' && *zone != '-')
        return false;
    int hours = two_digits(zone + 1), minutes = 0;
    if (hours < 0)
        return false;
    const char *rest = zone + 3;
    if (*rest != '\0') {
        rest += *rest == ':';
        minutes = two_digits(rest);
        if (minutes < 0 || rest[2] != '\0')
            return false;
    }
    *offset_s = (hours * 3600L + minutes * 60L) * (*zone == '-' ? -1 : 1);
    return hours < 24 && minutes < 60;
}

/* False when the zone is not known. */
static bool show(const char *zone, time_t when, struct shown *ret)
{
    ret->offset_s = 0;
    if (strcmp(zone, "local") == 0) {
        bool is_known = localtime_r(&when, &ret->tm) != NULL;
        ret->offset_s = ret->tm.tm_gmtoff;
        return is_known;
    }
    if (strcmp(zone, "UTC") != 0 && strcmp(zone, "Z") != 0 && !read_offset(zone, &ret->offset_s))
        return false;
    when += ret->offset_s;
    return gmtime_r(&when, &ret->tm) != NULL;
}

/* "2026-11-30T14:03:05+01:00" (RFC 3339). */
static void stamp(const struct shown *shown, char text[STAMP_SIZE])
{
    size_t len = strftime(text, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &shown->tm);
    long minutes = labs(shown->offset_s) / 60;
    snprintf(text + len, STAMP_SIZE - len, "%c%02ld:%02ld", shown->offset_s < 0 ? '-' : '+',
             minutes / 60 % 24, minutes % 60);
}

/* ---- the tool -------------------------------------------------------------------------------- */

static int32_t reply_now(const gudgeon_call *call, const struct shown *shown, time_t when)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    struct shown utc;
    char here[STAMP_SIZE], there[STAMP_SIZE], text[192], data[192];
    show("UTC", when, &utc);
    stamp(shown, here);
    stamp(&utc, there);
    const char *day = days[shown->tm.tm_wday];
    snprintf(text, sizeof text, "%s, %s. UTC: %s. Unix time: %lld.", day, here, there,
             (long long)when);
    snprintf(data, sizeof data, "{\"time\":\"%s\",\"weekday\":\"%s\",\"utc\":\"%s\",\"unix\":%lld}",
             here, day, there, (long long)when);
    gudgeon_tool_result result = {
        .size = sizeof result, .text = gudgeon_text(text), .data = gudgeon_text(data)};
    return call->result(call, &result);
}

static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    const struct clock *clock = self;
    char zone[ZONE_SIZE];
    struct shown shown;
    time_t when = time(NULL);
    if (!gudgeon_is(request->tool, "now"))
        return gudgeon_fail(call, GUDGEON_INVALID, "clock has no such tool");
    memcpy(zone, clock->zone, sizeof zone);
    bool is_text = gudgeon_arg_text(request->arguments, "zone", zone, sizeof zone) == GUDGEON_OK ||
                   gudgeon_arg(request->arguments, "zone").ptr == NULL;
    if (!is_text || !show(zone, when, &shown))
        return gudgeon_reply_text(call, GUDGEON_IS_ERROR, "zone: give " ZONE_HELP);
    return reply_now(call, &shown, when);
}

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    (void)self;
    (void)request;
    gudgeon_tool tool = {.size = sizeof tool,
                         .flags = GUDGEON_TOOL_READ,
                         .name = gudgeon_text("now"),
                         .description = gudgeon_text("Tells the date, the day of the week and the "
                                                     "time."),
                         .parameters = gudgeon_text(parameters)};
    return call->result(call, &tool);
}

/* ---- lifecycle ------------------------------------------------------------------------------- */

static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    struct shown shown;
    struct clock *clock = calloc(1, sizeof *clock);
    if (clock == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    memcpy(clock->zone, "local", sizeof "local");
    bool is_text =
        gudgeon_arg_text(request->config, "zone", clock->zone, ZONE_SIZE) == GUDGEON_OK ||
        gudgeon_arg(request->config, "zone").ptr == NULL;
    if (!is_text || !show(clock->zone, time(NULL), &shown)) {
        free(clock);
        return gudgeon_fail(call, GUDGEON_INVALID, "zone: give " ZONE_HELP);
    }
    *self = clock;
    return GUDGEON_OK;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    free(self);
    return GUDGEON_OK;
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    .flags = GUDGEON_CONCURRENT | GUDGEON_REPLICABLE,
    .kind = "tools/1",
    .name = "clock",
    .summary = "Tells the date and the time.",
    .config_schema = config_schema,
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};

static const gudgeon_component *const components[] = {&component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "clock", "0.1.0", "MIT", components, 0};
