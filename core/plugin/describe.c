/* SPDX-License-Identifier: MIT */
#include "plugin/describe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "plugin/description.h"
#include "sys/proc.h"

enum {
    WORDS_MAX = 64 << 10, /* of standard error that are read */
    QUOTE_MAX = 160,      /* of them that are shown */
};

/* The worker must find libraries where the host will. */
static int start(const char *worker, const char *path, struct proc *ret, struct err *err)
{
    const char *libraries = getenv("LD_LIBRARY_PATH");
    CLEANUP(free_ptr)
    char *library_path = libraries != NULL ? xasprintf("LD_LIBRARY_PATH=%s", libraries) : NULL;
    const char *const argv[] = {worker, "--describe", path, NULL};
    const char *const envp[] = {"PATH=/usr/bin:/bin", library_path, NULL};
    const struct proc_options options = {
        .argv = argv,
        .envp = envp,
        .directory = "/",
        .stdio = {PROC_NULL, PROC_PIPE, PROC_PIPE},
        .new_group = true,
    };
    return proc_spawn(&options, ret, err);
}

/* Adds the first line that was said on standard error: often the reason. */
static int quote(const struct buf *words, struct err *err)
{
    size_t start = strspn(words->data, "\r\n");
    size_t len = strcspn(words->data + start, "\r\n");
    if (len == 0)
        return err->code;
    CLEANUP(free_ptr)
    char *line = utf8_one_line((gudgeon_str){words->data + start, len}, QUOTE_MAX);
    CLEANUP(free_ptr) char *text = xstrdup(err->text);
    return err_set(err, err->code, "%s; it said: %s", text, line);
}

/* The worker sends a newline once the constructors have returned, before the object. */
static bool has_loaded(const struct buf *answer)
{
    return answer->len > 0 && answer->data[0] == '\n';
}

static int no_answer(const struct proc_exit *end, bool loaded, struct err *err)
{
    if (end->signal != 0) {
        const char *name = sigabbrev_np(end->signal);
        return err_set(err, ERR_INVALID, "%s crashed with SIG%s",
                       loaded ? "reading its descriptor" : "constructor",
                       name != NULL ? name : "?");
    }
    if (end->status == DESCRIBE_EXIT_MUTE)
        return err_set(err, ERR_INVALID, "constructor closed descriptors that are not its own");
    if (loaded)
        return err_set(err, ERR_INVALID, "reading its descriptor ended the process");
    return err_set(err, ERR_INVALID, "constructor exited with status %d", end->status);
}

static int late(int status, int64_t deadline_ms, struct err *err)
{
    if (status == ERR_TIMEOUT && deadline_ms % 1000 == 0)
        return err_set(err, status, "did not answer within %d s", (int)(deadline_ms / 1000));
    if (status == ERR_TIMEOUT)
        return err_set(err, status, "did not answer within %d ms", (int)deadline_ms);
    return err_set(err, status, "constructor prints without end");
}

int describe_file(const char *worker, const char *path, int64_t deadline_ms,
                  struct json_object **ret, struct err *err)
{
    CLEANUP(proc_close) struct proc proc = PROC_INIT;
    CLEANUP(buf_fini) struct buf answer = BUF_INIT(DESCRIPTION_MAX_BYTES);
    CLEANUP(buf_fini) struct buf words = BUF_INIT(WORDS_MAX);
    struct err own = {0};
    err = err != NULL ? err : &own;
    int64_t deadline_ns = clock_monotonic_ns() + deadline_ms * NS_PER_MS;
    int status = start(worker, path, &proc, err);
    if (status < 0)
        return err_prefix(err, "cannot be described");
    status = proc_collect(&proc, deadline_ns, NULL, &answer, &words);
    if (status < 0)
        return late(status, deadline_ms, err);
    struct proc_exit end;
    proc_status(&proc, &end);
    bool ended_well = end.signal == 0 && (end.status == DESCRIBE_EXIT_DESCRIBED ||
                                          end.status == DESCRIBE_EXIT_REFUSED);
    if (!ended_well || answer.len <= 1) {
        no_answer(&end, has_loaded(&answer), err);
        return quote(&words, err);
    }
    status = json_read_object((gudgeon_str){answer.data, answer.len}, ret, err);
    return status < 0 ? err_prefix(err, "its description") : 0;
}
