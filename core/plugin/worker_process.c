/* SPDX-License-Identifier: MIT */
#include "plugin/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "plugin/call.h"
#include "plugin/instance_ops.h"
#include "plugin/process_env.h"
#include "sys/cancel.h"
#include "sys/paths.h"

enum {
    WORDS_KEPT = 2048,
    LINE_MAX_BYTES = 4096,
    QUOTE_MAX = 400, /* of its last words, in an error */
    QUOTE_LINES = 3,
    TURN_MESSAGES = 64, /* that are taken in before others get their turn */
};

/* ---- lanes ------------------------------------------------------------------------------------
 */

static void lane_free(struct worker_lane *lane)
{
    channel_fini(&lane->channel);
    close_fd(&lane->cancel_fd);
    free(lane);
}

static int pair(int *ret_ours, int *ret_theirs, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_set_errno(err, errno, "cannot make a socket for a worker");
    *ret_ours = ends[0];
    *ret_theirs = ends[1];
    return 0;
}

/* *ret_theirs is the worker's end, the caller's to pass on and close. */
static int lane_new(struct worker_process *worker, struct worker_lane **ret, int *ret_theirs,
                    struct err *err)
{
    int ours = -1;
    int status = pair(&ours, ret_theirs, err);
    if (status < 0)
        return status;
    struct worker_lane *lane = xcalloc(1, sizeof *lane);
    channel_init(&lane->channel, ours);
    lane->slot = &worker->page->slots[worker->lane_count];
    lane->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (lane->cancel_fd < 0) {
        status = err_set_errno(err, errno, "cannot make an eventfd for a worker");
        close_fd(ret_theirs);
        lane_free(lane);
        return status;
    }
    *ret = lane;
    return 0;
}

/* Passes a new lane through the door. Under the lock. */
static int add_lane(struct worker_process *worker, struct worker_lane **ret, struct err *err)
{
    CLEANUP(close_fd) int theirs = -1;
    if (worker->lane_count == LANES_MAX)
        return err_set(err, ERR_UNAVAILABLE, "more than %d calls at one time", LANES_MAX);
    int status = lane_new(worker, ret, &theirs, err);
    if (status < 0)
        return status;
    const int fds[] = {theirs, (*ret)->cancel_fd};
    channel_begin(&worker->door, FRAME_LANE, worker->lane_count, NULL);
    channel_attach(&worker->door, fds, COUNT_OF(fds));
    if (channel_flush(&worker->door) < 0) {
        lane_free(*ret);
        return err_set(err, ERR_UNAVAILABLE, "its worker takes no more calls");
    }
    worker->lanes[worker->lane_count++] = *ret;
    return 0;
}

int worker_process_take_lane(struct worker_process *worker, struct worker_lane **ret,
                             struct err *err)
{
    struct worker_lane *lane = NULL;
    int status = 0;
    pthread_mutex_lock(&worker->lock);
    for (size_t i = 0; i < worker->lane_count && lane == NULL; i++)
        if (!worker->lanes[i]->is_busy)
            lane = worker->lanes[i];
    if (lane == NULL)
        status = add_lane(worker, &lane, err);
    if (status == 0) {
        lane->is_busy = true;
        *ret = lane;
    }
    pthread_mutex_unlock(&worker->lock);
    return status;
}

void worker_process_give_lane(struct worker_process *worker, struct worker_lane *lane)
{
    pthread_mutex_lock(&worker->lock);
    lane->is_busy = false;
    pthread_mutex_unlock(&worker->lock);
}

void worker_process_serving(struct worker_process *worker, struct worker_lane *lane,
                            struct call *call)
{
    pthread_mutex_lock(&worker->lock);
    lane->served = call;
    if (call != NULL && worker->is_dead)
        cancel_set(call_cancel(call));
    pthread_mutex_unlock(&worker->lock);
}

/* ---- death ------------------------------------------------------------------------------------
 */

static bool on_death(void *payload)
{
    struct worker_process *worker = payload;
    pthread_mutex_lock(&worker->lock);
    worker->is_dead = true;
    for (size_t i = 0; i < worker->lane_count; i++)
        if (worker->lanes[i]->served != NULL)
            cancel_set(call_cancel(worker->lanes[i]->served));
    pthread_mutex_unlock(&worker->lock);
    return false;
}

bool worker_process_has_died(struct worker_process *worker)
{
    struct pollfd death = {.fd = worker->proc.pidfd, .events = POLLIN};
    return poll(&death, 1, 0) > 0;
}

void worker_process_condemn(struct worker_process *worker, int code, const char *why)
{
    pthread_mutex_lock(&worker->lock);
    if (worker->verdict == NULL) {
        worker->verdict = xstrdup(why);
        worker->verdict_code = code;
    }
    pthread_mutex_unlock(&worker->lock);
    proc_signal_group(&worker->proc, SIGKILL);
}

/* ---- words ------------------------------------------------------------------------------------
 */

static void say_line(struct worker_process *worker)
{
    if (worker->line.len > 0)
        instance_log(worker->instance, GUDGEON_LOG_INFO,
                     (gudgeon_str){worker->line.data, worker->line.len});
    buf_reset(&worker->line);
}

/* What a plugin prints is a diagnostic, line by line; the last of it explains a death. */
static void take_words(struct worker_process *worker, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] == '\n' || buf_add_char(&worker->line, bytes[i]) < 0)
            say_line(worker);
    if (len > WORDS_KEPT) {
        bytes += len - WORDS_KEPT;
        len = WORDS_KEPT;
    }
    if (worker->words.len + len > WORDS_KEPT)
        buf_consume(&worker->words, worker->words.len + len - WORDS_KEPT);
    buf_add(&worker->words, bytes, len);
}

/* Reads once; false when there is nothing more for now. */
static bool read_words(struct worker_process *worker)
{
    char chunk[16384];
    pthread_mutex_lock(&worker->lock);
    ssize_t got = read(worker->proc.pipes[STDOUT_FILENO], chunk, sizeof chunk);
    if (got > 0)
        take_words(worker, chunk, (size_t)got);
    pthread_mutex_unlock(&worker->lock);
    return got > 0;
}

static bool on_words(void *payload)
{
    return read_words(payload); /* at its end there is nothing to wait for */
}

/* Where the last few lines begin. */
static const char *last_lines(const char *text, size_t len)
{
    unsigned lines = 0;
    for (size_t i = len; i > 0; i--)
        if (text[i - 1] == '\n' && i < len && ++lines == QUOTE_LINES)
            return text + i;
    return text;
}

static char *quote(struct worker_process *worker)
{
    for (int i = 0; i < TURN_MESSAGES && read_words(worker); i++)
        ;
    pthread_mutex_lock(&worker->lock);
    const char *start = last_lines(worker->words.data, worker->words.len);
    size_t len = (size_t)(worker->words.data + worker->words.len - start);
    while (len > 0 && start[len - 1] == '\n')
        len--;
    char *line = utf8_one_line((gudgeon_str){start, len}, QUOTE_MAX);
    pthread_mutex_unlock(&worker->lock);
    return line;
}

/* How it ended when the host did not end it. */
static int judge_exit(struct worker_process *worker, struct err *err)
{
    char text[PROC_EXIT_TEXT_SIZE];
    struct proc_exit how = {.status = -1};
    proc_status(&worker->proc, &how);
    proc_exit_text(&how, text);
    if (how.signal == SIGKILL)
        return err_set(err, ERR_LIMIT, "its worker %s, as when memory runs out", text);
    if (how.signal == SIGXCPU)
        return err_set(err, ERR_LIMIT, "its worker used up its processor time");
    return err_set(err, ERR_UNAVAILABLE, "its worker %s", text);
}

int worker_process_explain(struct worker_process *worker, struct err *err)
{
    CLEANUP(free_ptr) char *said = quote(worker);
    pthread_mutex_lock(&worker->lock);
    if (worker->verdict != NULL)
        err_set(err, worker->verdict_code, "%s; its worker was killed", worker->verdict);
    else
        judge_exit(worker, err);
    pthread_mutex_unlock(&worker->lock);
    if (said[0] != '\0') {
        CLEANUP(free_ptr) char *text = xstrdup(err->text);
        err_set(err, err->code, "%s; it said: %s", text, said);
    }
    const struct plugin_info *plugin = worker->instance->component->plugin;
    return err_prefix(err, "plugin %s",
                      plugin->name != NULL ? plugin->name : worker->instance->component->name);
}

/* ---- the side ---------------------------------------------------------------------------------
 */

static int answer_side(struct worker_process *worker, const struct message *message,
                       const char **ret_fault)
{
    struct msg_ask ask;
    struct relay_answer answer;
    if (message->call % 2 == 0 || message_read(FRAME_ASK, message->payload, &ask) < 0) {
        *ret_fault = "asked something malformed";
        return ERR_PROTOCOL;
    }
    int status = relay_ask_side(&worker->relay, &ask, &answer, ret_fault);
    if (status == 0)
        channel_begin(&worker->side, FRAME_ANSWER, message->call, &answer.message);
    relay_answer_fini(&worker->relay, &answer);
    if (status == 0 && channel_flush(&worker->side) == ERR_BUSY) {
        *ret_fault = "does not take answers";
        status = ERR_PROTOCOL;
    }
    return status;
}

static bool take_notice(struct worker_process *worker, const struct message *message)
{
    struct msg_log log;
    if (message->call != 0)
        return false;
    if (message->type == FRAME_LOG && message_read(FRAME_LOG, message->payload, &log) == 0)
        instance_log(worker->instance, log.level, log.text);
    else if (message->type == FRAME_TOOLS_CHANGED && message->payload.len == 0)
        atomic_store(&worker->instance->tools_changed, true);
    else
        return false;
    atomic_fetch_add(&worker->notices, 1); /* only now: whoever sees it may rely on the notice */
    return true;
}

static int take_aside(struct worker_process *worker, const struct message *message,
                      const char **ret_fault)
{
    if (message->type == FRAME_ASK)
        return answer_side(worker, message, ret_fault);
    if (take_notice(worker, message))
        return 0;
    *ret_fault = "sent a notice that is none";
    return ERR_PROTOCOL;
}

/* Takes in up to `count` messages; false when the side is closed. Under the side's lock. */
static bool hear(struct worker_process *worker, uint64_t count)
{
    struct message message;
    const char *fault = NULL;
    int status = 0;
    for (uint64_t i = 0; i < count && status == 0; i++) {
        status = channel_receive(&worker->side, &message, &fault);
        if (status == 0)
            status = take_aside(worker, &message, &fault);
    }
    if (status == ERR_PROTOCOL)
        worker_process_condemn(worker, ERR_PROTOCOL, fault);
    return status == 0 || status == ERR_BUSY;
}

static bool on_side(void *payload)
{
    struct worker_process *worker = payload;
    pthread_mutex_lock(&worker->side_lock);
    bool is_open = hear(worker, TURN_MESSAGES);
    pthread_mutex_unlock(&worker->side_lock);
    return is_open;
}

void worker_process_hear(struct worker_process *worker)
{
    pthread_mutex_lock(&worker->side_lock);
    hear(worker, 1 << 16);
    pthread_mutex_unlock(&worker->side_lock);
}

/* ---- starting ---------------------------------------------------------------------------------
 */

static int make_page(struct lane_page **ret, int *ret_fd, struct err *err)
{
    /* Sealed, so that the worker cannot take it away from under the host. */
    static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    *ret_fd = memfd_create("gudgeon-lanes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*ret_fd < 0 || ftruncate(*ret_fd, sizeof **ret) < 0 ||
        fcntl(*ret_fd, F_ADD_SEALS, seals) < 0)
        return err_set_errno(err, errno, "cannot make a page for a worker");
    void *page = mmap(NULL, sizeof **ret, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
    if (page == MAP_FAILED)
        return err_set_errno(err, errno, "cannot map a worker's page");
    *ret = page;
    return 0;
}

/* The instance's environment, and where the host finds its libraries. */
static int make_env(struct instance *instance, struct process_env *env, struct err *err)
{
    const char *temporary = NULL;
    int status = service_temporary(&instance->scope, &temporary, err);
    if (status < 0)
        return status;
    process_env_init(env, &instance->scope, temporary);
    const char *libraries = getenv("LD_LIBRARY_PATH");
    if (libraries == NULL)
        return 0;
    CLEANUP(free_ptr) char *item = xasprintf("LD_LIBRARY_PATH=%s", libraries);
    return process_env_add(env, &instance->scope, str_of(item), err);
}

static int spawn(struct worker_process *worker, const int passed[WORKER_FD_COUNT], struct err *err)
{
    CLEANUP(process_env_fini) struct process_env env = {0};
    CLEANUP(free_ptr) char *file = paths_worker();
    const char *const argv[] = {file, "--serve", worker->instance->component->name, NULL};
    int status = make_env(worker->instance, &env, err);
    if (status < 0)
        return status;
    const struct proc_options options = {
        .argv = argv,
        .envp = (const char *const *)env.items,
        .stdio = {PROC_NULL, PROC_PIPE, PROC_MERGED},
        .passed = passed + WORKER_FD_LANE,
        .passed_count = WORKER_FD_COUNT - WORKER_FD_LANE,
        .new_group = true,
    };
    return keeper_spawn(&options, &worker->proc, err);
}

static void watch(struct keeper_watch *watch, int fd, bool (*run)(void *),
                  struct worker_process *worker)
{
    *watch = (struct keeper_watch){.fd = fd, .run = run, .payload = worker};
    keeper_watch_add(watch);
}

static void close_theirs(int (*fds)[WORKER_FD_COUNT])
{
    for (size_t i = 0; i < WORKER_FD_COUNT; i++)
        if (i != WORKER_FD_CANCEL) /* which both have */
            close_fd(&(*fds)[i]);
}

static int open_sockets(struct worker_process *worker, int theirs[WORKER_FD_COUNT], struct err *err)
{
    int side = -1, door = -1;
    int status = make_page(&worker->page, &theirs[WORKER_FD_PAGE], err);
    if (status == 0)
        status = lane_new(worker, &worker->lanes[0], &theirs[WORKER_FD_LANE], err);
    if (status < 0)
        return status;
    worker->lane_count = 1;
    theirs[WORKER_FD_CANCEL] = worker->lanes[0]->cancel_fd;
    status = pair(&side, &theirs[WORKER_FD_SIDE], err);
    worker->side.fd = side;
    if (status == 0)
        status = pair(&door, &theirs[WORKER_FD_DOOR], err);
    worker->door.fd = door;
    return status;
}

static void worker_free(struct worker_process *worker)
{
    proc_close(&worker->proc);
    relay_fini(&worker->relay);
    for (size_t i = 0; i < worker->lane_count; i++)
        lane_free(worker->lanes[i]);
    channel_fini(&worker->side);
    channel_fini(&worker->door);
    if (worker->page != NULL)
        munmap(worker->page, sizeof *worker->page);
    free(worker->verdict);
    buf_fini(&worker->words);
    buf_fini(&worker->line);
    pthread_mutex_destroy(&worker->side_lock);
    pthread_mutex_destroy(&worker->lock);
    free(worker);
}

int worker_process_start(struct instance *instance, struct worker_process **ret, struct err *err)
{
    struct worker_process *worker = xcalloc(1, sizeof *worker);
    CLEANUP(close_theirs) int theirs[WORKER_FD_COUNT];
    for (size_t i = 0; i < WORKER_FD_COUNT; i++)
        theirs[i] = -1;
    worker->instance = instance;
    worker->proc = (struct proc)PROC_INIT;
    atomic_init(&worker->references, 1);
    channel_init(&worker->side, -1);
    channel_init(&worker->door, -1);
    relay_init(&worker->relay, &instance->scope);
    buf_init(&worker->words, WORDS_KEPT);
    buf_init(&worker->line, LINE_MAX_BYTES);
    pthread_mutex_init(&worker->side_lock, NULL);
    pthread_mutex_init(&worker->lock, NULL);
    int status = open_sockets(worker, theirs, err);
    if (status == 0)
        status = spawn(worker, theirs, err);
    if (status < 0) {
        worker_free(worker);
        return status;
    }
    watch(&worker->death_watch, worker->proc.pidfd, on_death, worker);
    watch(&worker->side_watch, worker->side.fd, on_side, worker);
    watch(&worker->words_watch, worker->proc.pipes[STDOUT_FILENO], on_words, worker);
    *ret = worker;
    return 0;
}

struct worker_process *worker_process_ref(struct worker_process *worker)
{
    atomic_fetch_add(&worker->references, 1);
    return worker;
}

void worker_process_unref(struct worker_process *worker)
{
    if (worker == NULL || atomic_fetch_sub(&worker->references, 1) > 1)
        return;
    keeper_watch_remove(&worker->words_watch);
    keeper_watch_remove(&worker->side_watch);
    keeper_watch_remove(&worker->death_watch);
    worker_process_hear(worker);
    worker_free(worker);
}
