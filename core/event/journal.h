/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_JOURNAL_H
#define GUDGEON_EVENT_JOURNAL_H

/*
 * The writer of one run's journal: RUNS/<id>/journal.jsonl, blobs/, lock.
 *
 * A record is one JSON object, one line, one write(2) on O_APPEND. The envelope (v, run, seq,
 * time, at_ms, type, [step]) is written here; seq starts at 1 and has no gaps. A record that could
 * not be written whole is cut off again, and the journal refuses everything after it: nothing may
 * be acted on that is not written. Directories 0700, files 0600. The run's lock is held (OFD lock)
 * while the journal is open. A newline within raw JSON fields becomes a space. The process must
 * ignore SIGXFSZ. Used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "event/blob.h"
#include "event/event.h"
#include "event/types.h"

struct err;
struct journal;
struct json_writer;

/* never: the disk is the kernel's business (kill -9 loses nothing, a power loss may). step: the
 * durable types and journal_sync. always: every record. */
enum journal_sync { JOURNAL_SYNC_NEVER, JOURNAL_SYNC_STEP, JOURNAL_SYNC_ALWAYS };

/* Longest record, in bytes; larger content belongs into a blob. */
enum { JOURNAL_MAX_LINE = 32 << 20 };

/* Whether the text can be a run's id, which is also the name of its directory. */
bool journal_is_run_id(const char *text);

/* Makes the run's directory (which must not exist) below `runs` (made when missing). The entries
 * that lead to the file are synced with the first record that is; nothing is left after a
 * failure. */
int journal_create(const char *runs, const char *run_id, enum journal_sync sync,
                   struct journal **ret, struct err *err);

/* Opens an existing one for appending: takes the lock (ERR_BUSY), cuts off what follows the last
 * whole record (its bytes go to a blob; a record that lacks only its newline is kept and gets it)
 * and appends journal.repaired then. seq and at_ms go on from the last record. ERR_NOT_FOUND;
 * ERR_INVALID when more than JOURNAL_MAX_LINE would be cut; ERR_REFUSED for a newer format. */
int journal_open(const char *runs, const char *run_id, enum journal_sync sync, struct journal **ret,
                 struct err *err);
void journal_close(struct journal *journal); /* NULL is allowed; syncs unless never */

const char *journal_run_id(const struct journal *journal);
const char *journal_directory(const struct journal *journal);
int64_t journal_last_seq(const struct journal *journal);

/* Starts a record and gives the writer for its fields (an object is open). step 0 = outside any
 * step. Exactly one commit or abandon must follow. */
struct json_writer *journal_begin(struct journal *journal, enum event_type type, int64_t step);

/* Ends the object and writes it; syncs by level and type. *ret (may be NULL) is the written
 * record, borrowed until the next begin. ERR_IO (disk full, …), ERR_LIMIT. After a failure every
 * later commit, sync and blob fails the same way; begin goes on giving a writer. */
int journal_commit(struct journal *journal, struct record *ret, struct err *err);
void journal_abandon(struct journal *journal);
/* Makes everything written durable: before side effects and at a step's end. No-op at never. */
int journal_sync(struct journal *journal, struct err *err);

/* Keeps bytes as a blob of the run (see blob.h), durable before it returns (unless never). */
int journal_add_blob(struct journal *journal, gudgeon_str bytes, char ret_name[BLOB_NAME_SIZE],
                     struct err *err);

#endif
