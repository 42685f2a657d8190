/* SPDX-License-Identifier: MIT */
/*
 * A journal on disks that are really full: a file size limit, and a small tmpfs where one may be
 * mounted (in a mount namespace of the child, so nothing stays mounted).
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "event/journal.h"
#include "event/reader.h"
#include "scratch.h"
#include "unit.h"

#define RUN "0192f0c1-2345-7000-8000-0123456789ab"

enum { NOT_PERMITTED = 77 };

static int count(void *payload, const struct event *event)
{
    *(int64_t *)payload = event->record.seq;
    return 0;
}

/* Adds records until one fails. 0 when the reason is right and the journal holds exactly what was
 * committed; else which check failed. */
static int fill(const char *runs, const char *reason)
{
    struct journal *journal;
    struct err err = {0};
    if (journal_create(runs, RUN, JOURNAL_SYNC_STEP, &journal, &err) < 0)
        return 1;
    CLEANUP(free_ptr) char *directory = xstrdup(journal_directory(journal));
    static char text[1000];
    memset(text, 'x', sizeof text - 1);
    int status;
    do {
        json_field_text(journal_begin(journal, EVENT_CONTROL, 0), "text", text);
        status = journal_commit(journal, NULL, &err);
    } while (status == 0);
    int64_t committed = journal_last_seq(journal), held = 0;
    journal_close(journal);
    struct reader_report report = {0};
    if (status != ERR_IO || strstr(err.text, reason) == NULL)
        return 2;
    if (reader_run(directory, count, &held, &report, NULL) < 0 || held != committed || held == 0)
        return 3;
    return report.torn || report.skipped > 0 ? 4 : 0;
}

static int fill_limited(const char *runs)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {100000, 100000};
    return setrlimit(RLIMIT_FSIZE, &limit) < 0 ? 5 : fill(runs, ": File too large; the run stops");
}

static int fill_tmpfs(const char *runs)
{
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", runs, "tmpfs", 0, "size=128k") < 0)
        return NOT_PERMITTED;
    return fill(runs, ": No space left on device; the run stops");
}

static int in_child(int (*run)(const char *runs), const char *runs)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run(runs));
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_file_limit(void)
{
    SCRATCH(runs);
    CU_ASSERT_EQUAL(in_child(fill_limited, runs), 0);
}

static void test_tmpfs(void)
{
    SCRATCH(runs);
    int status = in_child(fill_tmpfs, runs);
    if (status == NOT_PERMITTED)
        printf("# no tmpfs may be mounted here: only the file size limit was tried\n");
    else
        CU_ASSERT_EQUAL(status, 0);
}

int main(void)
{
    UNIT_MAIN("full disk", {"a file size limit", test_file_limit},
              {"a full file system", test_tmpfs});
}
