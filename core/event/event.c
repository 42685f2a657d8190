/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include <assert.h>
#include <inttypes.h>
#include <json-c/json_object.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "data/json.h"

/* How every record starts as journal_begin writes it. A string in a record cannot hold this text
 * (its quotes would be escaped), so within a damaged line it is where a record starts. */
static const char envelope_start[] = "{\"v\":1,\"run\":\"";

/* How the JSON reader begins its messages about a text of one line; whoever reads journals counts
 * lines of the file. */
static const char only_line[] = "line 1, ";

enum { MAX_ATTEMPTS = 16 };

static const char *member_text(struct json_object *fields, const char *key)
{
    struct json_object *value = json_get(fields, key);
    return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

/* What a counter of ours can have reached: whoever goes on from it cannot pass the type's end. */
static bool is_count(int64_t number)
{
    return number >= 0 && number < INT64_C(1) << 53;
}

/* Takes `fields` on success only. */
static int read_envelope(struct json_object *fields, struct event *ret, struct err *err)
{
    int64_t version = json_get_int(fields, "v", 0);
    if (version > JOURNAL_VERSION)
        return err_set(err, ERR_REFUSED,
                       "format version %" PRId64 " is newer than this program reads (%d)", version,
                       JOURNAL_VERSION);
    struct event event = {
        .record = {.seq = json_get_int(fields, "seq", 0), .step = json_get_int(fields, "step", 0)},
        .type_name = member_text(fields, "type"),
        .run = member_text(fields, "run"),
        .time = member_text(fields, "time"),
        .at_ms = json_get_int(fields, "at_ms", -1),
        .fields = fields,
    };
    if (version < 1 || !is_count(event.record.seq) || event.record.seq < 1 ||
        !is_count(event.at_ms) || event.type_name == NULL || event.run == NULL ||
        event.time == NULL)
        return err_set(err, ERR_INVALID,
                       "JSON, but no record: v, run, seq, time, at_ms or type "
                       "is missing or wrong");
    event.record.type = event_type_of(event.type_name);
    *ret = event;
    return 0;
}

/* The record at the start of `text`; *ret_used is its length with the white space around it. */
static int parse_first(gudgeon_str text, struct event *ret, size_t *ret_used, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *fields = NULL;
    size_t used;
    int status = json_read_first(text, &fields, &used, err);
    if (status < 0)
        return status;
    status = read_envelope(fields, ret, err);
    if (status < 0)
        return status;
    fields = NULL;
    ret->record.line = (gudgeon_str){text.ptr, used};
    while (used < text.len && strchr(" \t\r", text.ptr[used]) != NULL && text.ptr[used] != '\0')
        used++;
    *ret_used = used;
    return 0;
}

int event_parse(gudgeon_str line, struct event *ret, struct err *err)
{
    struct event event;
    size_t used;
    int status = parse_first(line, &event, &used, err);
    if (status < 0)
        return status;
    if (used < line.len) {
        event_release(&event);
        return err_set(err, ERR_INVALID, "bytes after the end of the record");
    }
    *ret = event;
    return 0;
}

void event_release(struct event *event)
{
    json_cleanup(&event->fields);
}

/* Says what is wrong at scan->at, unless something was said before. */
static void note_damage(struct event_scan *scan, const struct err *why)
{
    if (scan->damage.code != 0)
        return;
    gudgeon_str rest = {scan->line.ptr + scan->at, scan->line.len - scan->at};
    size_t nuls = 0;
    while (nuls < rest.len && rest.ptr[nuls] == '\0')
        nuls++;
    if (nuls > 0)
        err_set(&scan->damage, ERR_INVALID, "%zu NUL bytes", nuls);
    else
        err_set(&scan->damage, why->code, "%s",
                why->text + (starts_with(why->text, only_line) ? sizeof only_line - 1 : 0));
}

bool event_next(struct event_scan *scan, struct event *ret)
{
    while (scan->at < scan->line.len && scan->attempts < MAX_ATTEMPTS) {
        gudgeon_str rest = {scan->line.ptr + scan->at, scan->line.len - scan->at};
        struct err why = {0};
        size_t used;
        if (parse_first(rest, ret, &used, &why) == 0) {
            scan->at += used;
            if (scan->at < scan->line.len)
                note_damage(scan, &(struct err){ERR_INVALID, "bytes after the end of the record"});
            return true;
        }
        note_damage(scan, &why);
        scan->attempts++;
        const char *next =
            memmem(rest.ptr + 1, rest.len - 1, envelope_start, sizeof envelope_start - 1);
        if (next == NULL)
            return false;
        scan->at += (size_t)(next - rest.ptr);
    }
    return false;
}
