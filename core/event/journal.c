/* SPDX-License-Identifier: MIT */
#include "event/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "data/json.h"
#include "event/journal_io.h"
#include "event/lock.h"
#include "event/tail.h"
#include "sys/paths.h"

enum {
    RUN_ID_MAX = 63,
    KEPT_LINE = 1 << 20, /* memory that stays for the next record */
};

struct journal {
    const struct journal_io *io;
    enum journal_sync sync;
    char *runs;
    char *directory; /* RUNS/<id> */
    char *path;      /* of journal.jsonl */
    char run_id[RUN_ID_MAX + 1];
    int fd;
    int lock_fd;

    int64_t seq;         /* of the last record */
    bool unsynced;       /* something was written since the last fdatasync */
    bool names_unsynced; /* nor are the directory entries that lead to the file on disk */
    bool runs_is_new;
    struct err failed; /* why nothing more is written; code 0 = it is well */

    int64_t opened_ns;  /* monotonic */
    int64_t at_base_ms; /* at_ms at that moment */
    int64_t wall_s;     /* the second that `time` shows */
    char time[CLOCK_TEXT_SIZE];

    bool in_record;
    enum event_type type;
    int64_t step;
    struct buf line;
    struct json_writer writer;
};

/* ---- failing ------------------------------------------------------------------------------- */

static int give_failure(const struct journal *journal, struct err *err)
{
    if (err != NULL)
        *err = journal->failed;
    return journal->failed.code;
}

/* From here on the journal takes nothing more. */
static int fail(struct journal *journal, int code, const char *reason, struct err *err)
{
    err_set(&journal->failed, code,
            "journal %s: %s; the run stops here, nothing was acted on after event %" PRId64,
            journal->path, reason, journal->seq);
    return give_failure(journal, err);
}

static int fail_errno(struct journal *journal, int errnum, struct err *err)
{
    char text[128];
    return fail(journal, ERR_IO, strerror_r(errnum, text, sizeof text), err);
}

/* ---- becoming durable ---- */

static int sync_directory(const struct journal *journal, const char *path)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || journal->io->fsync(fd) < 0 ? errno : 0;
}

/* A file is as durable as the directory entries on the way to it. */
static int sync_names(const struct journal *journal)
{
    int errnum = sync_directory(journal, journal->directory);
    if (errnum == 0)
        errnum = sync_directory(journal, journal->runs);
    if (errnum != 0 || !journal->runs_is_new)
        return errnum;
    CLEANUP(free_ptr) char *parent = xasprintf("%s/..", journal->runs);
    return sync_directory(journal, parent);
}

/* Puts all that was written on disk; 0 or an errno value. The names wait for the first time this
 * is due: a run that has nothing durable yet needs no durable name, and starts the sooner. */
static int make_durable(struct journal *journal)
{
    if (journal->io->fdatasync(journal->fd) < 0)
        return errno;
    journal->unsynced = false;
    int errnum = journal->names_unsynced ? sync_names(journal) : 0;
    journal->names_unsynced = errnum != 0;
    return errnum;
}

/* ---- a record ------------------------------------------------------------------------------ */

/* The time of day as text; within one second only the milliseconds are written anew. */
static const char *time_text(struct journal *journal)
{
    enum { MS_AT = sizeof "2026-11-30T12:00:00." - 1 };
    int64_t now_ms = clock_wall_ms();
    if (now_ms / 1000 != journal->wall_s) {
        clock_format_utc(now_ms, journal->time);
        journal->wall_s = now_ms / 1000;
        return journal->time;
    }
    int64_t ms = now_ms % 1000;
    journal->time[MS_AT] = (char)('0' + ms / 100);
    journal->time[MS_AT + 1] = (char)('0' + ms / 10 % 10);
    journal->time[MS_AT + 2] = (char)('0' + ms % 10);
    return journal->time;
}

struct json_writer *journal_begin(struct journal *journal, enum event_type type, int64_t step)
{
    assert(!journal->in_record);
    journal->in_record = true;
    journal->type = type;
    journal->step = step;
    buf_reset(&journal->line);
    if (journal->line.cap > KEPT_LINE)
        buf_fini(&journal->line);
    journal->writer = (struct json_writer)JSON_WRITER_INIT(&journal->line);
    struct json_writer *writer = &journal->writer;
    json_begin_object(writer);
    json_field_int(writer, "v", JOURNAL_VERSION);
    json_field_text(writer, "run", journal->run_id);
    json_field_int(writer, "seq", journal->seq + 1);
    json_field_text(writer, "time", time_text(journal));
    json_field_int(writer, "at_ms",
                   journal->at_base_ms + (clock_monotonic_ns() - journal->opened_ns) / NS_PER_MS);
    json_field_text(writer, "type", event_name(type));
    if (step > 0)
        json_field_int(writer, "step", step);
    return writer;
}

/* Ends the line. In JSON a raw newline is white space: only raw fields can have brought one. */
static int end_line(struct journal *journal)
{
    struct buf *line = &journal->line;
    json_end_object(&journal->writer);
    assert(journal->writer.depth == 0);
    if (journal->writer.status < 0)
        return journal->writer.status;
    char *newline = line->data;
    while ((newline = memchr(newline, '\n', line->len - (size_t)(newline - line->data))) != NULL)
        *newline = ' ';
    return buf_add_char(line, '\n');
}

static bool is_synced_at_once(const struct journal *journal)
{
    return journal->sync == JOURNAL_SYNC_ALWAYS ||
           (journal->sync == JOURNAL_SYNC_STEP && event_is_durable(journal->type));
}

/* Takes the last `len` bytes of the file back. They are counted from its end as it is now: what
 * was before them may have been taken away by somebody else, and must not come back as NULs. */
static int take_back(const struct journal *journal, size_t len)
{
    struct stat st;
    if (len == 0)
        return 0;
    if (fstat(journal->fd, &st) < 0 || st.st_size < (off_t)len)
        return -1;
    return journal->io->ftruncate(journal->fd, st.st_size - (off_t)len);
}

/* Writes the line whole and, where due, durably; else the file is as it was. */
static int write_line(struct journal *journal, struct err *err)
{
    gudgeon_str line = {journal->line.data, journal->line.len};
    size_t written;
    int errnum = journal_io_write(journal->io, journal->fd, line, &written);
    journal->unsynced = true;
    if (errnum == 0 && is_synced_at_once(journal))
        errnum = make_durable(journal);
    if (errnum == 0)
        return 0;
    if (take_back(journal, written) == 0)
        return fail_errno(journal, errnum, err);
    char text[128];
    CLEANUP(free_ptr)
    char *reason =
        xasprintf("%s, and its last line cannot be cut off", strerror_r(errnum, text, sizeof text));
    return fail(journal, ERR_IO, reason, err);
}

int journal_commit(struct journal *journal, struct record *ret, struct err *err)
{
    assert(journal->in_record);
    journal->in_record = false;
    int too_long = end_line(journal);
    if (journal->failed.code != 0)
        return give_failure(journal, err);
    if (too_long < 0) {
        CLEANUP(free_ptr)
        char *reason = xasprintf("a %s record is over %d MiB", event_name(journal->type),
                                 JOURNAL_MAX_LINE >> 20);
        return fail(journal, ERR_LIMIT, reason, err);
    }
    int status = write_line(journal, err);
    if (status < 0)
        return status;
    journal->seq++;
    if (ret != NULL)
        *ret = (struct record){
            .type = journal->type,
            .seq = journal->seq,
            .step = journal->step,
            .line = {journal->line.data, journal->line.len - 1},
        };
    return 0;
}

void journal_abandon(struct journal *journal)
{
    assert(journal->in_record);
    journal->in_record = false;
}

int journal_sync(struct journal *journal, struct err *err)
{
    if (journal->failed.code != 0)
        return give_failure(journal, err);
    if (journal->sync == JOURNAL_SYNC_NEVER || !journal->unsynced)
        return 0;
    int errnum = make_durable(journal);
    return errnum != 0 ? fail_errno(journal, errnum, err) : 0;
}

int journal_add_blob(struct journal *journal, gudgeon_str bytes, char ret_name[BLOB_NAME_SIZE],
                     struct err *err)
{
    if (journal->failed.code != 0)
        return give_failure(journal, err);
    return blob_write(journal->io, journal->directory, bytes, journal->sync != JOURNAL_SYNC_NEVER,
                      ret_name, err);
}

/* ---- opening and closing --------------------------------------------------------------------- */

bool journal_is_run_id(const char *text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    size_t len = strlen(text);
    return len > 0 && len <= RUN_ID_MAX && strspn(text, allowed) == len;
}

static int new_journal(const char *runs, const char *run_id, enum journal_sync sync,
                       struct journal **ret, struct err *err)
{
    if (!journal_is_run_id(run_id))
        return err_set(err, ERR_INVALID, "\"%.80s\" is no run id", run_id);
    struct journal *journal = xcalloc(1, sizeof *journal);
    journal->io = journal_io();
    journal->sync = sync;
    journal->runs = xstrdup(runs);
    journal->directory = xasprintf("%s/%s", runs, run_id);
    journal->path = xasprintf("%s/journal.jsonl", journal->directory);
    memcpy(journal->run_id, run_id, strlen(run_id));
    journal->fd = journal->lock_fd = -1;
    journal->names_unsynced = true;
    journal->wall_s = -1;
    buf_init(&journal->line, JOURNAL_MAX_LINE);
    journal->opened_ns = clock_monotonic_ns();
    *ret = journal;
    return 0;
}

static void free_journal(struct journal *journal)
{
    buf_fini(&journal->line);
    close_fd(&journal->fd);
    close_fd(&journal->lock_fd);
    free(journal->runs);
    free(journal->directory);
    free(journal->path);
    free(journal);
}

void journal_close(struct journal *journal)
{
    if (journal == NULL)
        return;
    journal_sync(journal, NULL); /* nobody is left to be told: what had to be durable is */
    free_journal(journal);
}

const char *journal_run_id(const struct journal *journal)
{
    return journal->run_id;
}

const char *journal_directory(const struct journal *journal)
{
    return journal->directory;
}

int64_t journal_last_seq(const struct journal *journal)
{
    return journal->seq;
}

/* ---- creating ------------------------------------------------------------------------------ */

static int make_files(struct journal *journal, struct err *err)
{
    int status = lock_take(journal->directory, &journal->lock_fd, err);
    if (status < 0)
        return status;
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (journal->fd < 0)
        return err_set_errno(err, errno, "cannot make %s", journal->path);
    return 0;
}

/* Leaves no half-made run behind. */
static void remove_files(const struct journal *journal)
{
    static const char *const files[] = {"journal.jsonl", "lock"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s/%s", journal->directory, files[i]);
        unlink(path);
    }
    rmdir(journal->directory);
}

static int make_directories(struct journal *journal, struct err *err)
{
    struct err why = {0};
    journal->runs_is_new = access(journal->runs, F_OK) < 0;
    int status = journal->runs_is_new ? paths_make_directory(journal->runs, &why) : 0;
    if (status == 0 && mkdir(journal->directory, 0700) == 0)
        return 0;
    if (status == 0 && errno == EEXIST)
        return err_set(err, ERR_INVALID, "run %s exists already", journal->run_id);
    if (status == 0)
        err_set_errno(&why, errno, "cannot make directory %s", journal->directory);
    return err_set(err, why.code, "%s; GUDGEON_STATE_DIR names another place for runs", why.text);
}

static int create(struct journal *journal, struct err *err)
{
    int status = make_directories(journal, err);
    if (status < 0)
        return status;
    status = make_files(journal, err);
    if (status < 0)
        remove_files(journal);
    return status;
}

int journal_create(const char *runs, const char *run_id, enum journal_sync sync,
                   struct journal **ret, struct err *err)
{
    struct journal *journal;
    int status = new_journal(runs, run_id, sync, &journal, err);
    if (status < 0)
        return status;
    status = create(journal, err);
    if (status < 0) {
        free_journal(journal);
        return status;
    }
    *ret = journal;
    return 0;
}

/* ---- opening again, and repair --------------------------------------------------------------- */

/* Where the records of a file end. */
struct end {
    int64_t size;       /* of the file */
    int64_t whole;      /* what is to be kept */
    bool lacks_newline; /* after `whole` */
    int64_t seq, at_ms; /* of the last record; 0 when there is none */
};

/* Whether the line holds a record of this run; then *ret is about the last of them. */
static int find_in_line(const struct journal *journal, gudgeon_str line, int64_t offset,
                        struct end *ret, struct err *err)
{
    struct event_scan scan = EVENT_SCAN_INIT(line);
    struct event event;
    int found = 0;
    while (event_next(&scan, &event)) {
        if (strcmp(event.run, journal->run_id) == 0) {
            ret->whole = offset + (int64_t)scan.at;
            ret->seq = event.record.seq;
            ret->at_ms = event.at_ms;
            found = 1;
        }
        event_release(&event);
    }
    if (scan.damage.code != ERR_REFUSED)
        return found;
    return err_set(err, ERR_REFUSED, "%s", scan.damage.text);
}

static int find_end(const struct journal *journal, struct tail *tail, struct end *ret,
                    struct err *err)
{
    struct end end = {.size = tail->size};
    gudgeon_str line;
    int64_t offset;
    int status;
    while ((status = tail_previous(tail, &line, &offset, err)) > 0) {
        int64_t line_end = offset + (int64_t)line.len;
        if (tail->size - line_end > (int64_t)JOURNAL_MAX_LINE)
            return err_set(err, ERR_INVALID,
                           "its last %d MiB hold no record of this run; look at it before anything "
                           "is written there",
                           JOURNAL_MAX_LINE >> 20);
        int found = find_in_line(journal, line, offset, &end, err);
        if (found < 0)
            return found;
        end.lacks_newline = found && line_end == tail->size;
        if (found && !end.lacks_newline)
            end.whole = line_end + 1;
        if (found)
            break;
    }
    *ret = end;
    return status < 0 ? status : 0;
}

/* Keeps the bytes after the records as a blob and cuts them off. */
static int cut(struct journal *journal, const struct end *end, char ret_blob[BLOB_NAME_SIZE],
               struct err *err)
{
    size_t len = (size_t)(end->size - end->whole);
    CLEANUP(free_ptr) char *bytes = xmalloc(len);
    int status = tail_read(journal->fd, bytes, len, end->whole, err);
    if (status == 0)
        status = journal_add_blob(journal, (gudgeon_str){bytes, len}, ret_blob, err);
    if (status < 0)
        return status;
    if (journal->io->ftruncate(journal->fd, end->whole) < 0)
        return err_set_errno(err, errno, "cannot cut off its torn end");
    return 0;
}

static int repair(struct journal *journal, const struct end *end, struct err *err)
{
    char blob[BLOB_NAME_SIZE] = "";
    if (end->whole < end->size) {
        int status = cut(journal, end, blob, err);
        if (status < 0)
            return status;
    }
    if (end->lacks_newline) {
        int errnum = journal_io_write(journal->io, journal->fd, str_of("\n"), NULL);
        if (errnum != 0)
            return err_set_errno(err, errnum, "cannot end its last line");
    }
    struct json_writer *writer = journal_begin(journal, EVENT_JOURNAL_REPAIRED, 0);
    json_field_int(writer, "bytes", end->size - end->whole);
    if (blob[0] != '\0')
        json_field_text(writer, "blob", blob);
    json_field_int(writer, "after", end->seq);
    return journal_commit(journal, NULL, err);
}

static int go_on(struct journal *journal, struct err *err)
{
    struct tail tail;
    int status = tail_init(&tail, journal->fd, err);
    if (status < 0)
        return status;
    struct end end = {0};
    status = find_end(journal, &tail, &end, err);
    tail_fini(&tail);
    if (status < 0)
        return status;
    journal->seq = end.seq;
    journal->at_base_ms = end.at_ms;
    journal->unsynced = true; /* who wrote it may have been killed */
    return end.whole < end.size || end.lacks_newline ? repair(journal, &end, err) : 0;
}

static int reopen(struct journal *journal, struct err *err)
{
    if (access(journal->path, F_OK) < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "no such run in %s", journal->runs);
    int status = lock_take(journal->directory, &journal->lock_fd, err);
    if (status < 0)
        return status;
    status = file_open(journal->path, O_RDWR | O_APPEND | O_NOFOLLOW, &journal->fd, err);
    return status < 0 ? err_prefix(err, "%s", journal->path) : go_on(journal, err);
}

int journal_open(const char *runs, const char *run_id, enum journal_sync sync, struct journal **ret,
                 struct err *err)
{
    struct journal *journal;
    int status = new_journal(runs, run_id, sync, &journal, err);
    if (status < 0)
        return status;
    status = reopen(journal, err);
    if (status < 0) {
        free_journal(journal);
        err_prefix(err, "run %s", run_id);
        return status;
    }
    *ret = journal;
    return 0;
}
