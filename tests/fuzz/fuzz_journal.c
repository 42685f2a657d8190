/* SPDX-License-Identifier: MIT */
/*
 * A damaged journal: the input is the file. Reading it, opening it and reading it again must agree
 * about what it holds, whatever the damage; what is cut off is nothing that was read.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "event/journal.h"
#include "event/reader.h"
#include "sys/tmpdir.h"

static void require(int truth)
{
    if (!truth)
        abort();
}

struct reading {
    size_t records;
    int64_t last_seq;
    bool foreign; /* records of a run that is not "r" */
    struct reader_report report;
};

static int take(void *payload, const struct event *event)
{
    struct reading *reading = payload;
    require(event->record.seq > reading->last_seq && event->fields != NULL);
    require(event->type_name != NULL && event->time != NULL && event->at_ms >= 0);
    reading->last_seq = event->record.seq;
    reading->records++;
    reading->foreign |= strcmp(event->run, "r") != 0;
    return 0;
}

static struct reading read_journal(const char *directory)
{
    struct reading reading = {0};
    require(reader_run(directory, take, &reading, &reading.report, NULL) == 0);
    require(reading.records == reading.report.records);
    return reading;
}

static void put(const char *directory, const uint8_t *bytes, size_t len)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/journal.jsonl", directory);
    require(mkdir(directory, 0700) == 0);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
}

static struct journal *reopen(const char *runs)
{
    struct journal *journal = NULL;
    struct err err = {0};
    int status = journal_open(runs, "r", JOURNAL_SYNC_NEVER, &journal, &err);
    require(status == 0 || status == ERR_REFUSED || status == ERR_INVALID);
    require((status == 0) == (journal != NULL));
    return journal;
}

static void check(const char *runs, const char *directory)
{
    struct reading before = read_journal(directory);
    struct journal *journal = reopen(runs);
    if (journal == NULL)
        return;
    int64_t opened = journal_last_seq(journal);
    journal_close(journal);
    struct reading after = read_journal(directory);
    require(!after.report.torn);
    require(after.records >= before.records || before.foreign || before.report.skipped > 0);
    journal = reopen(runs); /* nothing is left to be repaired */
    require(journal != NULL && journal_last_seq(journal) == opened);
    journal_begin(journal, EVENT_CONTROL, 0);
    require(journal_commit(journal, NULL, NULL) == 0);
    journal_close(journal);
    if (!before.foreign && before.report.skipped == 0)
        require(read_journal(directory).last_seq == opened + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *runs = NULL;
    require(tmpdir_new(&runs, NULL) == 0);
    CLEANUP(free_ptr) char *directory = xasprintf("%s/r", runs);
    put(directory, bytes, len);
    check(runs, directory);
    tmpdir_remove(runs);
    return 0;
}
