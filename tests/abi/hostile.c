/* SPDX-License-Identifier: MIT */

/*
 * A tools plugin that tries to hurt whoever runs it: it crashes, hangs, floods, forks, and speaks
 * the worker's protocol behind the worker's back. Only for worker processes.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <gudgeon/ext/process.h>
#include <gudgeon/ext/secret.h>
#include <gudgeon/util.h>

struct self {
    const gudgeon_host *host;
    unsigned calls;
};

/* As in the host's protocol: where the sockets are, and a frame's header. */
enum { LANE = 3, SIDE = 5, DOOR = 6, PAYLOAD_MAX = 60 << 10 };
enum { TYPE_DELTA = 5, TYPE_TOOL = 6, TYPE_DONE = 7, TYPE_ASK = 8, TYPE_LOG = 10 };
struct header {
    uint32_t length;
    uint16_t type, flags;
    uint64_t call, parent;
};

typedef int32_t run_fn(struct self *self, const gudgeon_call *call);

static void send_frame(int fd, struct header header, const void *payload, size_t len)
{
    static char frame[sizeof header + PAYLOAD_MAX + 4096];
    memcpy(frame, &header, sizeof header);
    if (payload != NULL)
        memcpy(frame + sizeof header, payload, len);
    send(fd, frame, sizeof header + len, MSG_NOSIGNAL);
}

static void wait_for_ever(void)
{
    for (;;)
        pause();
}

/* ---- it dies ----------------------------------------------------------------------------------
 */

static int32_t null_write(struct self *self, const gudgeon_call *call)
{
    volatile int *volatile nowhere = NULL;
    (void)self, (void)call;
    *nowhere = 1;
    return 0;
}

/* Larger than any stack; never ends in practice. */
static unsigned dig(unsigned depth)
{
    volatile char room[65536];
    room[depth % sizeof room] = 1;
    return depth == ~0U ? 0 : dig(depth + 1) + room[depth % sizeof room];
}

static int32_t overflow_stack(struct self *self, const gudgeon_call *call)
{
    (void)call;
    return (int32_t)dig(self->calls);
}

static int32_t abort_loudly(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    fputs("line of long ago\nfirst of three\nsecond of three\nmy last words\n", stderr);
    abort();
}

static int32_t leave(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    exit(0);
}

static int32_t leave_seven(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    _exit(7);
}

static void *crash_there(void *unused)
{
    raise(SIGSEGV);
    return unused;
}

static int32_t crash_in_thread(struct self *self, const gudgeon_call *call)
{
    pthread_t thread;
    (void)self, (void)call;
    if (pthread_create(&thread, NULL, crash_there, NULL) != 0)
        return GUDGEON_UNAVAILABLE;
    wait_for_ever();
    return 0;
}

static int32_t crash_after_delta(struct self *self, const gudgeon_call *call)
{
    (void)self;
    gudgeon_stream(call, GUDGEON_STDOUT, "partial", 7);
    raise(SIGSEGV);
    return 0;
}

static int32_t crash_in_frame(struct self *self, const gudgeon_call *call)
{
    static const char payload[PAYLOAD_MAX];
    const struct header header = {
        .length = PAYLOAD_MAX, .type = TYPE_DELTA, .flags = 1, .call = 2 * (self->calls + 1)};
    (void)call;
    send_frame(LANE, header, payload, sizeof payload);
    raise(SIGSEGV);
    return 0;
}

static void *crash_soon(void *unused)
{
    const struct timespec pause = {.tv_nsec = 50 * 1000 * 1000};
    nanosleep(&pause, NULL);
    raise(SIGSEGV);
    return unused;
}

/* Dies while the host starts a program for it and it waits for the answer, or right after. */
static int32_t crash_in_host_call(struct self *self, const gudgeon_call *call)
{
    const gudgeon_process *process = self->host->service(self->host, GUDGEON_PROCESS_ID);
    const gudgeon_str argv[] = {gudgeon_text("sleep"), gudgeon_text("600")};
    const gudgeon_process_request request = {.size = sizeof request, .argv = argv, .argv_count = 2};
    gudgeon_process_handle *handle;
    pthread_t thread;
    if (pthread_create(&thread, NULL, crash_soon, NULL) != 0)
        return GUDGEON_UNAVAILABLE;
    for (;;)
        process->spawn(call, &request, &handle);
    return 0;
}

static int32_t sometimes(struct self *self, const gudgeon_call *call)
{
    (void)self;
    if (rand() % 10 == 0)
        raise(SIGSEGV);
    return gudgeon_reply_text(call, 0, "ok");
}

/* ---- it does not end --------------------------------------------------------------------------
 */

static int32_t spin(struct self *self, const gudgeon_call *call)
{
    (void)self;
    gudgeon_stream(call, GUDGEON_STDOUT, "begun", 5);
    for (volatile unsigned i = 0;; i++)
        ;
    return 0;
}

static int32_t ignore_term(struct self *self, const gudgeon_call *call)
{
    (void)self;
    signal(SIGTERM, SIG_IGN);
    gudgeon_stream(call, GUDGEON_STDOUT, "begun", 5);
    wait_for_ever();
    return 0;
}

static int32_t stop_itself(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    raise(SIGSTOP);
    wait_for_ever();
    return 0;
}

static int32_t late_answer(struct self *self, const gudgeon_call *call)
{
    const struct timespec pause = {.tv_nsec = 1000 * 1000};
    (void)self;
    while (!call->cancelled(call))
        nanosleep(&pause, NULL);
    return gudgeon_reply_text(call, 0, "after all");
}

/* ---- too much ---------------------------------------------------------------------------------
 */

static int32_t eat_memory(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    for (;;) {
        char *piece = malloc(1 << 20);
        if (piece == NULL)
            abort();
        memset(piece, 1, 1 << 20);
    }
}

static int32_t many_deltas(struct self *self, const gudgeon_call *call)
{
    (void)self;
    for (int i = 0; i < 100000; i++)
        gudgeon_stream(call, GUDGEON_STDOUT, "x", 1);
    return gudgeon_reply_text(call, 0, "all sent");
}

/* A gigabyte, whatever the host says about it. */
static int32_t much_output(struct self *self, const gudgeon_call *call)
{
    char *block = calloc(1, 1 << 20);
    (void)self;
    for (int i = 0; i < 1024 && block != NULL; i++)
        gudgeon_stream(call, GUDGEON_STDOUT, block, 1 << 20);
    free(block);
    return gudgeon_reply_text(call, 0, "all sent");
}

static int32_t print(struct self *self, const gudgeon_call *call)
{
    (void)self;
    printf("printed by a plugin\n");
    for (int i = 0; i < 100000; i++)
        puts("and more of it, and more, and more, and more, and more, and more, and more");
    fflush(stdout);
    return gudgeon_reply_text(call, 0, "printed");
}

static int32_t log_flood(struct self *self, const gudgeon_call *call)
{
    for (int i = 0; i < 100000; i++)
        gudgeon_logf(self->host, GUDGEON_LOG_INFO, "flood %d", i);
    return gudgeon_reply_text(call, 0, "logged");
}

static int32_t fork_many(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    for (int i = 0; i < 50; i++)
        if (fork() == 0)
            wait_for_ever();
    raise(SIGSEGV);
    return 0;
}

/* ---- it wants out -----------------------------------------------------------------------------
 */

/* A descendant that is in no group of the worker's would outlive it. */
static int32_t escape(struct self *self, const gudgeon_call *call)
{
    (void)self;
    pid_t child = fork();
    if (child < 0)
        return gudgeon_replyf(call, 0, "no fork: %s", strerror(errno));
    if (child == 0) {
        setsid();
        if (fork() == 0)
            wait_for_ever();
        _exit(0);
    }
    return gudgeon_reply_text(call, 0, "out");
}

static int32_t try_to_read(struct self *self, const gudgeon_call *call)
{
    int fd = open("/etc/shadow", O_RDONLY | O_CLOEXEC);
    (void)self;
    if (fd < 0)
        return gudgeon_replyf(call, 0, "not read: %s", strerror(errno));
    close(fd);
    return gudgeon_reply_text(call, 0, "read");
}

static int32_t try_to_connect(struct self *self, const gudgeon_call *call)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)self;
    if (fd < 0)
        return gudgeon_replyf(call, 0, "no socket: %s", strerror(errno));
    close(fd);
    return gudgeon_reply_text(call, 0, "connected");
}

/* ---- it speaks for itself ---------------------------------------------------------------------
 */

static int32_t close_all(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    close_range(0, ~0U, 0);
    wait_for_ever();
    return 0;
}

static int32_t garbage(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    send(LANE, "this is no frame, but long enough for a header", 46, MSG_NOSIGNAL);
    wait_for_ever();
    return 0;
}

static int32_t short_frame(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    send(LANE, "short", 5, MSG_NOSIGNAL);
    wait_for_ever();
    return 0;
}

static int32_t say(int fd, struct header header)
{
    send_frame(fd, header, NULL, 0);
    wait_for_ever();
    return 0;
}

static int32_t unknown_type(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    return say(LANE, (struct header){.type = 99});
}

static int32_t unknown_call(struct self *self, const gudgeon_call *call)
{
    static const char payload[16];
    const struct header header = {.length = sizeof payload, .type = TYPE_DELTA, .call = 123456};
    (void)self, (void)call;
    send_frame(LANE, header, payload, sizeof payload);
    wait_for_ever();
    return 0;
}

static int32_t even_question(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    return say(LANE, (struct header){.type = TYPE_ASK, .call = 4});
}

static int32_t overrun(struct self *self, const gudgeon_call *call)
{
    static const char payload[PAYLOAD_MAX + 4000];
    const struct header header = {.length = sizeof payload, .type = TYPE_DELTA, .call = 2};
    (void)self, (void)call;
    send_frame(LANE, header, payload, sizeof payload);
    wait_for_ever();
    return 0;
}

static int32_t endless_message(struct self *self, const gudgeon_call *call)
{
    static const char payload[PAYLOAD_MAX];
    const struct header header = {.length = PAYLOAD_MAX, .type = TYPE_DONE, .flags = 1, .call = 2};
    (void)self, (void)call;
    for (int i = 0; i < 5000; i++)
        send_frame(LANE, header, payload, sizeof payload);
    wait_for_ever();
    return 0;
}

static int32_t garbage_aside(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    return say(SIDE, (struct header){.type = TYPE_DONE});
}

static int32_t early_done(struct self *self, const gudgeon_call *call)
{
    (void)self;
    gudgeon_reply_text(call, 0, "one");
    for (int i = 0; i < 3; i++)
        send_frame(LANE, (struct header){.type = TYPE_DONE, .call = 2}, NULL, 0);
    wait_for_ever();
    return 0;
}

/* Another process keeps the socket open after the worker's death. */
static int32_t heir(struct self *self, const gudgeon_call *call)
{
    (void)self, (void)call;
    if (fork() == 0) {
        setsid();
        alarm(5);
        wait_for_ever();
    }
    raise(SIGSEGV);
    return 0;
}

static int32_t fine(struct self *self, const gudgeon_call *call)
{
    (void)self;
    return gudgeon_reply_text(call, 0, "fine");
}

static int32_t big_answer(struct self *self, const gudgeon_call *call)
{
    enum { SIZE = 5 << 20 };
    char *text = malloc(SIZE);
    (void)self;
    if (text == NULL)
        return GUDGEON_LIMIT;
    memset(text, 'a', SIZE);
    int32_t result = gudgeon_reply_bytes(call, 0, text, SIZE);
    free(text);
    return result;
}

static const struct tool {
    const char *name;
    run_fn *run;
} tools[] = {
    {"null_write", null_write},
    {"overflow_stack", overflow_stack},
    {"abort", abort_loudly},
    {"leave", leave},
    {"leave_seven", leave_seven},
    {"crash_in_thread", crash_in_thread},
    {"crash_after_delta", crash_after_delta},
    {"crash_in_frame", crash_in_frame},
    {"crash_in_host_call", crash_in_host_call},
    {"sometimes", sometimes},
    {"spin", spin},
    {"ignore_term", ignore_term},
    {"stop_itself", stop_itself},
    {"late_answer", late_answer},
    {"eat_memory", eat_memory},
    {"many_deltas", many_deltas},
    {"much_output", much_output},
    {"print", print},
    {"log_flood", log_flood},
    {"fork_many", fork_many},
    {"escape", escape},
    {"try_to_read", try_to_read},
    {"try_to_connect", try_to_connect},
    {"close_all", close_all},
    {"garbage", garbage},
    {"short_frame", short_frame},
    {"unknown_type", unknown_type},
    {"unknown_call", unknown_call},
    {"even_question", even_question},
    {"overrun", overrun},
    {"endless_message", endless_message},
    {"garbage_aside", garbage_aside},
    {"early_done", early_done},
    {"heir", heir},
    {"fine", fine},
    {"big_answer", big_answer},
};

/* ---- the component ----------------------------------------------------------------------------
 */

static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    (void)self, (void)request;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        const gudgeon_tool tool = {.size = sizeof tool,
                                   .name = gudgeon_text(tools[i].name),
                                   .description = gudgeon_text("hurts")};
        if (call->result(call, &tool) != 0)
            return GUDGEON_INVALID;
    }
    return 0;
}

static int32_t call_tool(void *data, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    struct self *self = data;
    self->calls++;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (gudgeon_is(request->tool, tools[i].name))
            return tools[i].run(self, call);
    return gudgeon_fail(call, GUDGEON_INVALID, "no such tool");
}

static int32_t create(void **ret, const gudgeon_call *call, const gudgeon_create *request)
{
    (void)call;
    /* {"mark": FILE} crashes at the start when the file is there. */
    const char *mark = memmem(request->config.ptr, request->config.len, "\"mark\":\"", 8);
    char path[256];
    if (mark != NULL && sscanf(mark + 8, "%255[^\"]", path) == 1 && access(path, F_OK) == 0)
        raise(SIGSEGV);
    struct self *self = calloc(1, sizeof *self);
    if (self == NULL)
        abort();
    srand((unsigned)getpid());
    self->host = request->host;
    *ret = self;
    return 0;
}

static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call, (void)request;
    free(self);
    return 0;
}

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    .kind = "tools/1",
    .name = "hostile",
    .summary = "Tools that hurt their host",
    .config_schema = "{\"type\":\"object\",\"properties\":{\"mark\":{\"type\":\"string\"}}}",
    .create = create,
    .destroy = destroy,
    .ops = &ops};

static const gudgeon_component *const components[] = {&component, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "hostile", "1.0.0", "MIT", components, 0};
