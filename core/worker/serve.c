/* SPDX-License-Identifier: MIT */

/*
 * gudgeon-worker --serve: runs one instance of a plugin for the host that started it.
 */

#include "worker/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/call_op.h"
#include "plugin/load.h"
#include "sys/sandbox.h"
#include "worker/confine.h"
#include "worker/guard.h"
#include "worker/worker.h"

enum { LOG_MAX = 8192 };

_Noreturn void serve_leave(void)
{
    /* Not exit: handlers of the plugin are not to run. */
    _exit(0);
}

/* ---- the plugin's view of the host ------------------------------------------------------------
 */

static void tell(struct serve *serve, enum frame_type type, const void *message)
{
    pthread_mutex_lock(&serve->side_lock);
    if (channel_begin(&serve->side, type, 0, message) == 0 && channel_flush(&serve->side) < 0)
        serve_leave();
    atomic_fetch_add(&serve->notices, 1);
    pthread_mutex_unlock(&serve->side_lock);
}

static void host_log(const gudgeon_host *host, uint32_t level, gudgeon_str text)
{
    if (text.ptr == NULL)
        return;
    struct msg_log message = {.level = level, .text = text};
    if (text.len > LOG_MAX)
        message.text.len = LOG_MAX;
    tell(host->host_data, FRAME_LOG, &message);
}

static void host_tools_changed(const gudgeon_host *host)
{
    tell(host->host_data, FRAME_TOOLS_CHANGED, NULL);
}

static const void *host_service(const gudgeon_host *host, const char *id)
{
    (void)host;
    return id != NULL ? proxy_service(id) : NULL;
}

void side_ask(struct serve *serve, const struct msg_ask *ask, struct msg_answer *ret)
{
    struct message message;
    const char *fault;
    uint64_t id = atomic_fetch_add(&serve->last_ask, 2);
    pthread_mutex_lock(&serve->side_lock);
    if (channel_begin(&serve->side, FRAME_ASK, id, ask) < 0 || channel_flush(&serve->side) < 0 ||
        channel_receive(&serve->side, &message, &fault) < 0 || message.type != FRAME_ANSWER ||
        message_read(FRAME_ANSWER, message.payload, ret) < 0)
        serve_leave();
    pthread_mutex_unlock(&serve->side_lock);
}

/* ---- creating ---------------------------------------------------------------------------------
 */

/* What is not enforced here, the operator is to know. */
static void tell_gaps(struct serve *serve, const struct sandbox_report *report)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(LOG_MAX);
    if (report->gaps == 0)
        return;
    buf_add_str(&text, "sandbox: ");
    sandbox_report_text(report, &text);
    tell(serve, FRAME_LOG,
         &(struct msg_log){.level = GUDGEON_LOG_WARN, .text = {text.data, text.len}});
}

static int give_up(struct serve *serve, const struct msg_create *request, struct err *err)
{
    struct sandbox_report report;
    int status = confine(request->path.ptr, request->grant, &report, err);
    if (status == 0)
        tell_gaps(serve, &report);
    return status;
}

static int check_version(const struct msg_create *request, struct err *err)
{
    if (str_is(request->version, GUDGEON_VERSION))
        return 0;
    return err_set(err, ERR_UNAVAILABLE,
                   "the host is gudgeon %.*s, its worker " GUDGEON_VERSION "; restart the host",
                   STR_ARG(request->version));
}

static int find_component(const struct msg_create *request, const gudgeon_component **ret,
                          struct err *err)
{
    const struct gudgeon_plugin *plugin = NULL;
    int status = plugin_load(request->path.ptr, &plugin, err);
    if (status < 0)
        return status;
    *ret = plugin_component(plugin, request->kind.ptr, request->component.ptr);
    if (*ret == NULL)
        return err_set(err, ERR_INVALID, "%s no longer has the component %s; it has been replaced",
                       request->path.ptr, request->component.ptr);
    return 0;
}

int32_t serve_create(struct serve *serve, struct call *call, const struct msg_create *request)
{
    struct err err;
    if (request->path.ptr == NULL || request->kind.ptr == NULL || request->component.ptr == NULL)
        serve_leave();
    if (check_version(request, &err) < 0 || give_up(serve, request, &err) < 0 ||
        find_component(request, &serve->component, &err) < 0)
        return call_take_err(call, &err);
    serve->host = (gudgeon_host){.size = sizeof serve->host,
                                 .abi_minor = GUDGEON_ABI_MINOR,
                                 .host_data = serve,
                                 .version = str_of(GUDGEON_VERSION),
                                 .service = host_service,
                                 .log = host_log,
                                 .tools_changed = host_tools_changed};
    const gudgeon_create create = {.size = sizeof create,
                                   .host = &serve->host,
                                   .name = request->name,
                                   .config = request->config,
                                   .grant = request->grant};
    return serve->component->create(&serve->self, call_abi(call), &create);
}

/* ---- the process ------------------------------------------------------------------------------
 */

static void protect_descriptors(void)
{
    guard_close_from(WORKER_FD_COUNT);
    for (int fd = WORKER_FD_LANE; fd < WORKER_FD_COUNT; fd++)
        if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
            fputs("gudgeon-worker: --serve is for gudgeon alone\n", stderr);
            _exit(2);
        }
}

/* When memory runs out, a worker is to go before the host. */
static void volunteer(void)
{
    CLEANUP(close_fd) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t ignored = fd >= 0 ? write(fd, "500", 3) : 0;
    (void)ignored;
}

static void open_channel(struct channel *channel, int fd)
{
    channel_init(channel, fd);
    channel->is_patient = true;
}

/* Each lane that comes in by the door gets a thread. */
static void watch_door(struct serve *serve)
{
    struct message message;
    const char *fault;
    pthread_t thread;
    while (channel_receive(&serve->door, &message, &fault) == 0) {
        if (message.type != FRAME_LANE || message.fd_count != 2 || message.call >= LANES_MAX)
            serve_leave();
        struct lane *lane = lane_new(serve, (size_t)message.call, message.fds[0], message.fds[1]);
        if (pthread_create(&thread, NULL, lane_serve, lane) != 0)
            abort();
        pthread_detach(thread);
    }
    serve_leave();
}

int worker_serve(int argc, char **argv)
{
    struct serve *serve = xcalloc(1, sizeof *serve);
    pthread_t thread;
    (void)argc, (void)argv; /* the component's name, for people who list processes */
    protect_descriptors();
    volunteer();
    setvbuf(stdout, NULL, _IOLBF, 0);
    serve->page = mmap(NULL, sizeof *serve->page, PROT_READ, MAP_SHARED, WORKER_FD_PAGE, 0);
    if (serve->page == MAP_FAILED)
        return 2;
    close(WORKER_FD_PAGE);
    pthread_mutex_init(&serve->side_lock, NULL);
    atomic_init(&serve->last_ask, 1);
    open_channel(&serve->side, WORKER_FD_SIDE);
    open_channel(&serve->door, WORKER_FD_DOOR);
    serve->door.takes_fds = true;
    struct lane *lane = lane_new(serve, 0, WORKER_FD_LANE, WORKER_FD_CANCEL);
    lane_serve_one(lane); /* create */
    if (serve->component == NULL || (serve->component->flags & GUDGEON_CONCURRENT) == 0)
        lane_serve(lane);
    if (pthread_create(&thread, NULL, lane_serve, lane) != 0)
        abort();
    watch_door(serve);
    return 0;
}
