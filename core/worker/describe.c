/* SPDX-License-Identifier: MIT */

/*
 * gudgeon-worker --describe FILE: loads a plugin file, reads its descriptor and says what it is,
 * or why it is refused. See plugin/describe.h for the other end, and for the exit statuses.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "data/json.h"
#include "plugin/describe.h"
#include "plugin/description.h"
#include "plugin/load.h"
#include "plugin/registry.h"
#include "plugin/trust.h"
#include "sys/sandbox.h"
#include "worker/guard.h"
#include "worker/worker.h"

static const struct sandbox_limits limits = {
    .cpu_s = 10,
    .memory_bytes = UINT64_C(4) << 30, /* language runtimes reserve much that they never touch */
    .file_bytes = 1 << 20,
    .files = 128,
};

enum { LIBRARY_DIRECTORIES_MAX = 16 }; /* of LD_LIBRARY_PATH */

/* Moves standard output away from the constructors: theirs is a file in memory, which shows
 * afterwards whether they wrote to it. The answer's descriptor, or an error. */
static int take_output(struct err *err)
{
    guard_close_from(STDERR_FILENO + 1);
    int answer = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    CLEANUP(close_fd) int memory = memfd_create("stdout", MFD_CLOEXEC);
    if (answer < 0 || memory < 0 || dup2(memory, STDOUT_FILENO) < 0)
        return err_set_errno(err, errno, "cannot set up standard output");
    return answer;
}

/* Printing into the host's standard output would garble what people and programs read there. */
static int check_output(struct err *err)
{
    struct stat st;
    if (fflush(stdout) != 0 || fstat(STDOUT_FILENO, &st) < 0)
        return err_set(err, ERR_INVALID, "constructor closes standard output");
    if (st.st_size > 0)
        return err_set(err, ERR_INVALID, "constructor writes to standard output");
    return 0;
}

/* Nothing but reading: system libraries, and those where the loader looks for this file's own. */
static int enter_sandbox(const char *path, struct err *err)
{
    const char *read[LIBRARY_DIRECTORIES_MAX + 2] = {NULL};
    const char *given = getenv("LD_LIBRARY_PATH");
    CLEANUP(free_ptr) char *libraries = given != NULL ? xstrdup(given) : NULL;
    CLEANUP(free_ptr) char *directory = realpath(path, NULL);
    size_t count = guard_split(libraries, read, LIBRARY_DIRECTORIES_MAX);
    if (directory != NULL) {
        strrchr(directory, '/')[1] = '\0';
        read[count++] = directory;
    }
    const struct sandbox_policy policy = {.read = read, .limits = limits};
    struct sandbox_report report; /* the host learns what holds from workers that do more */
    return guard_enter(&policy, &report, err);
}

static int load(const char *path, const struct gudgeon_plugin **ret, struct err *err)
{
    int status = enter_sandbox(path, err);
    if (status == 0)
        status = plugin_open(path, ret, err);
    return status == 0 ? check_output(err) : status;
}

static int answer_with(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, text, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return ERR_IO;
        text += put;
        len -= (size_t)put;
    }
    return 0;
}

static int describe(int fd, const char *path, const char *name)
{
    const struct gudgeon_plugin *plugin = NULL;
    struct err err = {0};
    struct plugin_info info = {.name = NULL};
    bool lasting = true;
    int status = load(path, &plugin, &err);
    /* Tells the host that the constructors have returned. */
    if (answer_with(fd, "\n", 1) < 0)
        return DESCRIBE_EXIT_MUTE;
    if (status == 0) {
        description_make(plugin, name, &info);
    } else {
        /* What is missing from the system, or the file's permissions, may be mended. */
        lasting = status == ERR_INVALID;
        description_refuse(name, err.text, &info);
    }
    struct buf json = BUF_INIT(DESCRIPTION_MAX_BYTES);
    struct json_writer writer = JSON_WRITER_INIT(&json);
    description_write(&info, lasting, &writer);
    buf_add_char(&json, '\n');
    if (answer_with(fd, json.data, json.len) < 0)
        return DESCRIBE_EXIT_MUTE;
    return info.refused != NULL ? DESCRIBE_EXIT_REFUSED : DESCRIBE_EXIT_DESCRIBED;
}

int worker_describe(int argc, char **argv)
{
    struct err err = {0};
    char *name = NULL;
    if (argc != 1) {
        fputs("usage: gudgeon-worker --describe FILE\n", stderr);
        return DESCRIBE_EXIT_USAGE;
    }
    int answer = -1;
    if (trust_name(argv[0], &name, &err) < 0 || (answer = take_output(&err)) < 0) {
        fprintf(stderr, "gudgeon-worker: %s\n", err.text);
        return DESCRIBE_EXIT_USAGE;
    }
    /* Not exit: the plugin's destructors and atexit handlers are not to run. */
    _exit(describe(answer, argv[0], name));
}
