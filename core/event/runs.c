/* SPDX-License-Identifier: MIT */
#include "event/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/journal.h"
#include "event/lock.h"
#include "event/reader.h"
#include "event/tail.h"

enum {
    HEAD_RECORDS = 4,      /* among which run.started has to be */
    TAIL_BYTES = 64 << 10, /* how far back from the end is looked */
    SHORTEST_NAME = 4,
};

/* ---- names ---------------------------------------------------------------------------------- */

struct names {
    char **items;
    size_t count;
};

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static int newest_first(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

static bool is_run(const char *runs, const struct dirent *entry)
{
    if (!journal_is_run_id(entry->d_name))
        return false;
    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    CLEANUP(free_ptr) char *path = xasprintf("%s/%s", runs, entry->d_name);
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int names_read(const char *runs, struct names *names, struct err *err)
{
    DIR *dir = opendir(runs);
    if (dir == NULL)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot open %s", runs);
    size_t room = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (!is_run(runs, entry))
            continue;
        if (names->count == room) {
            room = room > 0 ? room * 2 : 64;
            names->items = xreallocarray(names->items, room, sizeof *names->items);
        }
        names->items[names->count++] = xstrdup(entry->d_name);
    }
    closedir(dir);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, newest_first);
    return 0;
}

/* ---- one run -------------------------------------------------------------------------------- */

/* The first line of `text`, cut on a character to what fits, with "…" where something is left, and
 * fit to be shown: a journal may be anybody's. */
static void copy_line(char *out, size_t size, gudgeon_str text)
{
    static const char more[] = "…";
    const char *newline = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    size_t len = newline != NULL ? (size_t)(newline - text.ptr) : text.len;
    bool is_cut = newline != NULL;
    if (len > size - sizeof more) {
        len = utf8_cut(text.ptr, size - sizeof more);
        is_cut = true;
    }
    if (len > 0)
        memcpy(out, text.ptr, len);
    memcpy(out + len, is_cut ? more : "", is_cut ? sizeof more : 1);
    utf8_make_line(out);
}

struct head {
    struct run_summary *summary;
    int seen;
    bool found;
};

static int take_head(void *payload, const struct event *event)
{
    struct head *head = payload;
    struct run_summary *summary = head->summary;
    if (head->seen++ == 0)
        copy_line(summary->started, sizeof summary->started, str_of(event->time));
    if (event->record.type == EVENT_RUN_STARTED) {
        struct json_object *definition = json_get(event->fields, "definition");
        copy_line(summary->agent, sizeof summary->agent, json_get_str(definition, "agent"));
        copy_line(summary->task, sizeof summary->task, json_get_str(event->fields, "task"));
        head->found = true;
    }
    return head->found || head->seen >= HEAD_RECORDS;
}

/* What the end of a journal says, newest record first. */
struct ending {
    struct run_summary *summary;
    bool any;                            /* a record was seen */
    bool rests;                          /* the last run.* record: finished or waiting */
    bool state_known;                    /* a run.* record was seen */
    bool has_totals;                     /* steps and tokens stood in run.finished */
    int64_t step;                        /* the newest, of any kind */
    int64_t input_tokens, output_tokens; /* of the records seen */
};

static void take_finished(struct ending *ending, struct json_object *fields)
{
    struct run_summary *summary = ending->summary;
    struct json_object *usage = json_get(fields, "usage");
    summary->steps = json_get_int(fields, "steps", 0);
    summary->duration_ms = json_get_int(fields, "duration_ms", summary->duration_ms);
    summary->input_tokens = json_get_int(usage, "input", -1);
    summary->output_tokens = json_get_int(usage, "output", -1);
    ending->has_totals = json_get(fields, "steps") != NULL;
}

static void take_state(struct ending *ending, const struct event *event)
{
    enum event_type type = event->record.type;
    if (ending->state_known || (type != EVENT_RUN_STARTED && type != EVENT_RUN_WAITING &&
                                type != EVENT_RUN_RESUMED && type != EVENT_RUN_FINISHED))
        return;
    ending->state_known = true;
    ending->rests = type == EVENT_RUN_WAITING || type == EVENT_RUN_FINISHED;
    if (ending->rests)
        copy_line(ending->summary->state, sizeof ending->summary->state,
                  json_get_str(event->fields, "state"));
    if (type == EVENT_RUN_FINISHED)
        take_finished(ending, event->fields);
}

static void take_counts(struct ending *ending, const struct event *event)
{
    struct run_summary *summary = ending->summary;
    struct json_object *usage = json_get(event->fields, "usage");
    int64_t number = json_get_int(event->fields, "number", 0);
    if (event->record.step > ending->step)
        ending->step = event->record.step;
    if (event->record.type == EVENT_STEP_STARTED && number > summary->steps)
        summary->steps = number;
    if (event->record.type == EVENT_MODEL_REPLIED || event->record.type == EVENT_MODEL_FAILED ||
        event->record.type == EVENT_CALL_FINISHED) {
        ending->input_tokens = sum_capped(ending->input_tokens, json_get_int(usage, "input", 0));
        ending->output_tokens = sum_capped(ending->output_tokens, json_get_int(usage, "output", 0));
    }
}

static void take_last(struct ending *ending, const struct event *event)
{
    if (!ending->any)
        ending->summary->duration_ms = event->at_ms;
    ending->any = true;
    take_state(ending, event);
    if (!ending->has_totals)
        take_counts(ending, event);
}

/* Reads back from the end until all is known or TAIL_BYTES are seen. */
static int read_ending(struct tail *tail, struct ending *ending, bool *ret_all)
{
    gudgeon_str line;
    int64_t offset = tail->size;
    int more = 1;
    while (!ending->has_totals && tail->size - offset < TAIL_BYTES &&
           (more = tail_previous(tail, &line, &offset, NULL)) > 0) {
        struct event event;
        if (event_parse(line, &event, NULL) < 0)
            continue;
        take_last(ending, &event);
        event_release(&event);
    }
    *ret_all = more == 0;
    return more < 0 ? more : 0;
}

/* False when the end cannot be read. */
static bool read_tail(const char *directory, struct run_summary *summary, bool *ret_rests)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/journal.jsonl", directory);
    CLEANUP(close_fd) int fd = -1;
    struct tail tail;
    if (file_open(path, O_RDONLY | O_NOFOLLOW, &fd, NULL) < 0 || tail_init(&tail, fd, NULL) < 0)
        return false;
    struct ending ending = {.summary = summary};
    bool all;
    int status = read_ending(&tail, &ending, &all);
    tail_fini(&tail);
    if (status < 0)
        return false;
    if (!ending.has_totals) {
        if (summary->steps == 0)
            summary->steps = ending.step;
        summary->input_tokens = all ? ending.input_tokens : -1;
        summary->output_tokens = all ? ending.output_tokens : -1;
    }
    *ret_rests = ending.rests;
    return true;
}

static void summarise(const char *runs, const char *id, struct run_summary *summary)
{
    CLEANUP(free_ptr) char *directory = xasprintf("%s/%s", runs, id);
    struct head head = {.summary = summary};
    bool rests = false;
    copy_line(summary->id, sizeof summary->id, str_of(id));
    bool readable = reader_run(directory, take_head, &head, NULL, NULL) == 0 &&
                    read_tail(directory, summary, &rests);
    const char *state = NULL;
    if (!rests && lock_is_held(directory))
        state = "running";
    else if (!readable || !head.found)
        state = "unreadable";
    else if (!rests)
        state = "interrupted";
    if (state != NULL)
        copy_line(summary->state, sizeof summary->state, str_of(state));
}

int runs_list(const char *runs, size_t limit,
              void (*each)(void *payload, const struct run_summary *), void *payload,
              struct err *err)
{
    CLEANUP(names_fini) struct names names = {0};
    int status = names_read(runs, &names, err);
    if (status < 0)
        return status;
    size_t count = limit > 0 && limit < names.count ? limit : names.count;
    for (size_t i = 0; i < count; i++) {
        struct run_summary summary = {0};
        summarise(runs, names.items[i], &summary);
        each(payload, &summary);
    }
    return 0;
}

/* ---- finding -------------------------------------------------------------------------------- */

static bool is_meant(const char *id, const char *name)
{
    return starts_with(id, name) || ends_with(id, name);
}

/* The one that is meant, or NULL; names some of them when there are several. */
static const char *find(const struct names *names, const char *name, struct buf *several)
{
    const char *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *id = names->items[i];
        if (strcmp(id, name) == 0)
            return id;
        if (strlen(name) < SHORTEST_NAME || !is_meant(id, name))
            continue;
        if (count < 3)
            buf_addf(several, "%s%s", count > 0 ? ", " : "", id);
        found = id;
        count++;
    }
    if (count > 3)
        buf_addf(several, " and %zu more", count - 3);
    if (count < 2)
        buf_reset(several);
    return count == 1 ? found : NULL;
}

int runs_find(const char *runs, const char *name, char **ret_id, struct err *err)
{
    CLEANUP(names_fini) struct names names = {0};
    int status = names_read(runs, &names, err);
    if (status < 0)
        return status;
    if (names.count == 0)
        return err_set(err, ERR_NOT_FOUND, "there are no runs in %s", runs);
    CLEANUP(buf_fini) struct buf several = BUF_INIT(BUF_MAX_ANY);
    const char *id = strcmp(name, "last") == 0 ? names.items[0] : find(&names, name, &several);
    if (several.len > 0 && id == NULL)
        return err_set(err, ERR_INVALID, "\"%s\" means several runs: %s", name, several.data);
    if (id == NULL)
        return err_set(err, ERR_NOT_FOUND, "no run \"%s\" in %s; gudgeon runs lists them", name,
                       runs);
    *ret_id = xstrdup(id);
    return 0;
}
