/* SPDX-License-Identifier: MIT */

/*
 * The files plugin. Run with `--no-openat2` the same rows hold on a kernel that lacks openat2
 * (a seccomp filter plays it), but for those that follow a symbolic link within the root.
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "mock_host.h"
#include "unit.h"

static bool has_openat2 = true;

/* ---- a directory to work in: BASE/root is the root, BASE/outside must stay as it is -----------
 */

struct place {
    char *base;
    struct mock mock;
};

static char *in_base(const struct place *place, const char *name)
{
    return xasprintf("%s/%s", place->base, name);
}

static void put_bytes(const struct place *place, const char *name, const char *bytes, size_t len)
{
    CLEANUP(free_ptr) char *path = in_base(place, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    close(fd);
}

static void put(const struct place *place, const char *name, const char *text)
{
    put_bytes(place, name, text, strlen(text));
}

static void put_directory(const struct place *place, const char *name)
{
    CLEANUP(free_ptr) char *path = in_base(place, name);
    if (mkdir(path, 0755) != 0)
        abort();
}

static void put_link(const struct place *place, const char *name, const char *to)
{
    CLEANUP(free_ptr) char *path = in_base(place, name);
    if (symlink(to, path) != 0)
        abort();
}

/* What a file holds; "(none)" when there is none. Borrowed until the next call. */
static const char *get(const struct place *place, const char *name)
{
    static char text[1 << 20];
    CLEANUP(free_ptr) char *path = in_base(place, name);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return "(none)";
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

static void set_up(struct place *place)
{
    char template[] = "/tmp/gudgeon-files-XXXXXX";
    if (mkdtemp(template) == NULL)
        abort();
    place->base = xstrdup(template);
    put_directory(place, "root");
    put_directory(place, "outside");
    put(place, "outside/secret", "classified\n");
}

/* Opens the plugin; `config` and `grant` may hold %s for BASE/root. */
static int32_t open_with(struct place *place, const char *config, const char *grant,
                         struct answer *answer)
{
    char texts[2][PATH_MAX];
    const char *const formats[] = {config, grant};
    for (size_t i = 0; i < 2; i++) {
        const char *hole = strstr(formats[i], "%s");
        if (hole == NULL)
            snprintf(texts[i], sizeof texts[i], "%s", formats[i]);
        else
            snprintf(texts[i], sizeof texts[i], "%.*s%s/root%s", (int)(hole - formats[i]),
                     formats[i], place->base, hole + 2);
    }
    return mock_open(&place->mock, "files", texts[0], texts[1], answer);
}

static void set_up_open(struct place *place)
{
    struct answer answer;
    set_up(place);
    CU_ASSERT_EQUAL_FATAL(open_with(place, "{\"root\":\"%s\"}", "{\"write\":[\"%s\"]}", &answer),
                          GUDGEON_OK);
    answer_fini(&answer);
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *where)
{
    (void)found;
    (void)type;
    (void)where;
    return remove(path);
}

static void tear_down(struct place *place)
{
    mock_close(&place->mock);
    CHECK_STR(get(place, "outside/secret"), "classified\n");
    CU_ASSERT_EQUAL(nftw(place->base, remove_one, 200, FTW_DEPTH | FTW_PHYS), 0);
    free(place->base);
}

/* One call, judged: the text the model sees, and whether it is an error. `want` may end in "…"
 * (only the beginning counts) or begin with it (it stands somewhere). */
static void check_call(struct place *place, const char *tool, const char *arguments,
                       bool want_error, const char *want)
{
    struct answer answer;
    int32_t class = mock_call(&place->mock, tool, arguments, NULL, &answer);
    const char *have = answer_shown(&answer);
    size_t len = strlen(want), dots = strlen("…");
    bool is_within = strncmp(want, "…", dots) == 0;
    bool is_start = !is_within && len > dots && strcmp(want + len - dots, "…") == 0;
    bool same = is_within  ? strstr(have, want + dots) != NULL
                : is_start ? strncmp(have, want, len - dots) == 0
                           : strcmp(have, want) == 0;
    bool is_error = (answer.flags & GUDGEON_IS_ERROR) != 0;
    if (class != GUDGEON_OK || !same || is_error != want_error)
        printf("#   %s %.200s: class %d%s\n#   have: %.600s\n#   want: %.600s\n", tool, arguments,
               class, is_error ? ", an error" : "", have, want);
    CU_ASSERT_EQUAL(class, GUDGEON_OK);
    CU_ASSERT_EQUAL(is_error, want_error);
    CU_ASSERT(same);
    answer_fini(&answer);
}

/* ---- grants and configuration ---------------------------------------------------------------- */

static void test_create(void)
{
    static const struct {
        const char *name, *config, *grant;
        int32_t class;
        bool can_write;
        const char *message, *missing;
    } rows[] = {
        {"a read grant", "{\"root\":\"%s\"}", "{\"read\":[\"%s\"]}", GUDGEON_OK, false, "", ""},
        {"a write grant", "{\"root\":\"%s\"}", "{\"write\":[\"%s\"]}", GUDGEON_OK, true, "", ""},
        {"a slash at the end", "{\"root\":\"%s/\"}", "{\"read\":[\"%s\"]}", GUDGEON_OK, false, "",
         ""},
        {"a grant of what is above", "{\"root\":\"%s\"}", "{\"read\":[\"/nowhere\",\"/tmp\"]}",
         GUDGEON_OK, false, "", ""},
        {"both, read only", "{\"root\":\"%s\",\"read_only\":true}",
         "{\"read\":[\"/\"],\"write\":[\"/\"]}", GUDGEON_OK, false, "", ""},
        {"no grant", "{\"root\":\"%s\"}", "{}", GUDGEON_REFUSED, false, "is not within", "read"},
        {"a grant of a neighbour", "{\"root\":\"%s\"}", "{\"read\":[\"%s/../outside\"]}",
         GUDGEON_REFUSED, false, "is not within", "read"},
        {"a grant of what only begins so", "{\"root\":\"%s\"}", "{\"read\":[\"/tm\"]}",
         GUDGEON_REFUSED, false, "is not within", "read"},
        {"writing asked for, not granted", "{\"root\":\"%s\",\"read_only\":false}",
         "{\"read\":[\"%s\"]}", GUDGEON_REFUSED, false, "written", "write"},
        {"no such root", "{\"root\":\"%s/none\"}", "{\"read\":[\"/\"]}", GUDGEON_INVALID, false,
         "no such directory", ""},
        {"a root that is a file", "{\"root\":\"/etc/passwd\"}", "{\"read\":[\"/\"]}",
         GUDGEON_INVALID, false, "Not a directory", ""},
        {"a root with a NUL", "{\"root\":\"/tmp\\u0000x\"}", "{\"read\":[\"/\"]}", GUDGEON_INVALID,
         false, "root", ""},
        {"an empty root", "{\"root\":\"\"}", "{\"read\":[\"/\"]}", GUDGEON_INVALID, false, "root",
         ""},
        {"a size that is none", "{\"root\":\"%s\",\"max_bytes\":\"lots\"}", "{\"read\":[\"/\"]}",
         GUDGEON_INVALID, false, "max_bytes", ""},
        {"a size out of bounds", "{\"root\":\"%s\",\"result_bytes\":\"1GiB\"}",
         "{\"read\":[\"/\"]}", GUDGEON_INVALID, false, "result_bytes", ""},
        {"the whole file system", "{\"root\":\"/\"}", "{\"read\":[\"/\"]}", GUDGEON_OK, false, "",
         ""},
    };
    struct place place;
    set_up(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer answer;
        int32_t class = open_with(&place, rows[i].config, rows[i].grant, &answer);
        if (class != rows[i].class)
            printf("#   %s: %d %s\n", rows[i].name, class, answer.message.data);
        CU_ASSERT_EQUAL(class, rows[i].class);
        CU_ASSERT(strstr(answer.message.data, rows[i].message) != NULL);
        if (rows[i].missing[0] != '\0') {
            CLEANUP(free_ptr)
            char *grant = xasprintf("{\"%s\":[\"%s/root\"]}", rows[i].missing, place.base);
            CHECK_STR(answer.grant.data, grant);
        }
        if (class == GUDGEON_OK) {
            CU_ASSERT_EQUAL(place.mock.tool_count, rows[i].can_write ? 5 : 3);
            CU_ASSERT_EQUAL(mock_tool(&place.mock, "write_file") != NULL, rows[i].can_write);
        }
        answer_fini(&answer);
        mock_close(&place.mock);
    }
    place.mock = (struct mock){.log = BUF_INIT(1)};
    tear_down(&place);
}

static void test_flags(void)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } rows[] = {
        {"list_files", GUDGEON_TOOL_READ},
        {"read_file", GUDGEON_TOOL_READ},
        {"search_files", GUDGEON_TOOL_READ},
        {"write_file", GUDGEON_TOOL_IDEMPOTENT | GUDGEON_TOOL_DESTRUCTIVE},
        {"edit_file", GUDGEON_TOOL_DESTRUCTIVE},
    };
    struct place place;
    set_up_open(&place);
    CU_ASSERT_EQUAL(place.mock.tool_count, COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct mock_tool *tool = mock_tool(&place.mock, rows[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(tool);
        CU_ASSERT_EQUAL(tool->flags, rows[i].flags);
        CU_ASSERT(strstr(tool->description, place.base) != NULL);
    }
    tear_down(&place);
}

static void test_read_only_call(void)
{
    struct place place;
    struct answer answer;
    set_up(&place);
    open_with(&place, "{\"root\":\"%s\"}", "{\"read\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    CU_ASSERT_EQUAL(
        mock_call(&place.mock, "write_file", "{\"path\":\"a\",\"content\":\"x\"}", NULL, &answer),
        GUDGEON_INVALID);
    answer_fini(&answer);
    CHECK_STR(get(&place, "root/a"), "(none)");
    tear_down(&place);
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void put_hostile_tree(const struct place *place)
{
    put(place, "root/a.txt", "inside\n");
    put_directory(place, "root/d");
    put(place, "root/d/b.txt", "deeper\n");
    put_link(place, "root/out", "../outside/secret");
    put_link(place, "root/outdir", "../outside");
    put_link(place, "root/abs", "/etc/passwd");
    put_link(place, "root/loop1", "loop2");
    put_link(place, "root/loop2", "loop1");
    put_link(place, "root/proc", "/proc/self/root");
    put_link(place, "root/up", "..");
    put_link(place, "root/dangling", "nowhere");
    CLEANUP(free_ptr) char *fifo = in_base(place, "root/fifo");
    CLEANUP(free_ptr) char *absolute = in_base(place, "outside/secret");
    mkfifo(fifo, 0644);
    put_link(place, "root/absout", absolute);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/root/sock", place->base);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        abort();
    close(fd);
}

/* `path` is JSON text; "%s" in it is BASE. Each is tried by all tools: `read` says what read_file
 * answers, and none of them may touch what is outside. */
static const struct hostile_row {
    const char *path;
    bool is_error;
    const char *read;
} hostile_rows[] = {
    {"a.txt", false, "inside\n"},
    {"./a.txt", false, "inside\n"},
    {"d//b.txt", false, "deeper\n"},
    {"d/../a.txt", false, "inside\n"},
    {"nowhere/../a.txt", false, "inside\n"},
    {"%s/root/a.txt", false, "inside\n"},
    {"%s/root//d/./b.txt", false, "deeper\n"},
    {"..", true, "'..' leads outside…"},
    {"../outside/secret", true, "'../outside/secret' leads outside…"},
    {"d/../../outside/secret", true, "'d/../../outside/secret' leads outside…"},
    {"%s/root/../outside/secret", true, "…leads outside"},
    {"%s/outside/secret", true, "…is outside the root directory"},
    {"%s/rootless", true, "…is outside the root directory"},
    {"/etc/passwd", true, "'/etc/passwd' is outside the root directory…"},
    {"//etc/passwd", true, "…is outside the root directory"},
    {"/", true, "'/' is outside the root directory…"},
    {"out", true, "'out' …"},
    {"outdir/secret", true, "'outdir/secret' …"},
    {"up/outside/secret", true, "'up/outside/secret' …"},
    {"abs", true, "'abs' …"},
    {"absout", true, "'absout' …"},
    {"loop1", true, "'loop1' …"},
    {"loop1/x", true, "'loop1/x' …"},
    {"proc/etc/passwd", true, "'proc/etc/passwd' …"},
    {"dangling", true, "'dangling' …"},
    {"a.txt/x", true, "'a.txt/x' cannot be reached…"},
    {"missing", true, "'missing' does not exist; list_files shows what does"},
    {"fifo", true, "'fifo' is a named pipe, not a file"},
    {"sock", true, "'sock' is a socket, not a file"},
    {"d", true, "'d' is a directory, not a file; list_files shows what is in it"},
    {"", true, "'.' is a directory, not a file…"},
    {".", true, "'.' is a directory, not a file…"},
    {"a.txt\\u0000.png", true, "…NUL"},
    {"\\u0000", true, "…NUL"},
};

static void check_hostile(struct place *place, const struct hostile_row *row)
{
    static const struct {
        const char *tool, *more; /* beside the path */
    } others[] = {
        {"list_files", "\"recursive\":true"},
        {"search_files", "\"pattern\":\"classified\""},
        {"search_files", "\"pattern\":\"root:\""},
        {"edit_file", "\"old\":\"classified\",\"new\":\"hit\""},
        {"write_file", "\"content\":\"inside\\n\""},
    };
    const char *hole = strstr(row->path, "%s");
    CLEANUP(free_ptr)
    char *path = hole == NULL ? xstrdup(row->path) : xasprintf("%s%s", place->base, hole + 2);
    CLEANUP(free_ptr) char *arguments = xasprintf("{\"path\":\"%s\"}", path);
    check_call(place, "read_file", arguments, row->is_error, row->read);
    for (size_t i = 0; i < COUNT_OF(others) && row->is_error; i++) {
        struct answer answer;
        char text[PATH_MAX];
        snprintf(text, sizeof text, "{\"path\":\"%s\",%s}", path, others[i].more);
        CU_ASSERT_EQUAL(mock_call(&place->mock, others[i].tool, text, NULL, &answer), GUDGEON_OK);
        CU_ASSERT(strstr(answer_shown(&answer), "classified") == NULL);
        CU_ASSERT(strstr(answer_shown(&answer), "root:x") == NULL);
        answer_fini(&answer);
    }
    CHECK_STR(get(place, "outside/secret"), "classified\n");
}

static void test_hostile_paths(void)
{
    for (size_t i = 0; i < COUNT_OF(hostile_rows); i++) {
        struct place place;
        set_up_open(&place);
        put_hostile_tree(&place);
        check_hostile(&place, &hostile_rows[i]);
        tear_down(&place);
    }
}

static void test_long_paths(void)
{
    struct place place;
    set_up_open(&place);
    char *path = xcalloc(1, 20000);
    char *arguments = xcalloc(1, 20100);
    static const size_t lengths[] = {300, 4095, 4096, 19000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        memset(path, 'x', lengths[i]);
        snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
        check_call(&place, "read_file", arguments, true, "…too long");
    }
    for (size_t i = 0; i < 4000; i++)
        path[i] = i % 2 == 0 ? 'd' : '/';
    path[4000] = '\0';
    snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
    check_call(&place, "read_file", arguments, true, "…does not exist");
    for (size_t i = 0; i < 1350; i++)
        memcpy(path + 3 * i, "../", 3);
    path[4050] = '\0';
    snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
    check_call(&place, "read_file", arguments, true, "…leads outside");
    free(path);
    free(arguments);
    tear_down(&place);
}

static void test_links_inside(void)
{
    struct place place;
    set_up_open(&place);
    put_directory(&place, "root/2026");
    put(&place, "root/2026/note", "now\n");
    put_link(&place, "root/current", "2026");
    if (has_openat2) {
        check_call(&place, "read_file", "{\"path\":\"current/note\"}", false, "now\n");
        check_call(&place, "list_files", "{\"path\":\"current\"}", false,
                   "current/note  4 bytes\n");
    } else {
        check_call(&place, "read_file", "{\"path\":\"current/note\"}", true, "'current/note' …");
    }
    put_link(&place, "root/link", "2026/note");
    check_call(&place, "write_file", "{\"path\":\"link\",\"content\":\"x\"}", true,
               "'link' is a symbolic link to '2026/note': write to that file instead");
    check_call(&place, "edit_file", "{\"path\":\"link\",\"old\":\"now\",\"new\":\"x\"}", true,
               "'link' is a symbolic link…");
    CHECK_STR(get(&place, "root/2026/note"), "now\n");
    tear_down(&place);
}

static void test_magic_links(void)
{
    struct answer answer;
    struct place place;
    set_up(&place);
    mock_open(&place.mock, "files", "{\"root\":\"/proc/self\"}", "{\"read\":[\"/\"]}", &answer);
    answer_fini(&answer);
    check_call(&place, "read_file", "{\"path\":\"root/etc/passwd\"}", true, "'root/etc/passwd' …");
    check_call(&place, "list_files", "{\"path\":\"cwd\"}", true, "'cwd' …");
    check_call(&place, "read_file", "{\"path\":\"comm\"}", false, "test_files\n");
    tear_down(&place);
}

/* One thread swaps a directory for a link to the outside, and a file likewise, as fast as it can;
 * whatever the tools say, none may reach the outside. */
struct swapper {
    const struct place *place;
    bool stop;
};

static void swap(const char *a, const char *b)
{
    syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2u /* RENAME_EXCHANGE */);
}

static void *swap_for_ever(void *payload)
{
    struct swapper *swapper = payload;
    CLEANUP(free_ptr) char *dir = in_base(swapper->place, "root/d");
    CLEANUP(free_ptr) char *dir_link = in_base(swapper->place, "root/dlink");
    CLEANUP(free_ptr) char *file = in_base(swapper->place, "root/f");
    CLEANUP(free_ptr) char *file_link = in_base(swapper->place, "root/flink");
    while (!__atomic_load_n(&swapper->stop, __ATOMIC_RELAXED)) {
        swap(dir, dir_link);
        swap(file, file_link);
    }
    return NULL;
}

static void test_race(void)
{
    static const struct {
        const char *tool, *arguments;
    } calls[] = {
        {"read_file", "{\"path\":\"d/secret\"}"},
        {"read_file", "{\"path\":\"f\"}"},
        {"search_files", "{\"pattern\":\"classified\"}"},
        {"list_files", "{\"recursive\":true}"},
        {"write_file", "{\"path\":\"d/secret\",\"content\":\"inside\\n\"}"},
        {"write_file", "{\"path\":\"f\",\"content\":\"inside\\n\"}"},
        {"write_file", "{\"path\":\"d/new/deep\",\"content\":\"inside\\n\"}"},
        {"edit_file", "{\"path\":\"d/secret\",\"old\":\"side\",\"new\":\"SIDE\"}"},
    };
    struct place place;
    pthread_t thread;
    set_up_open(&place);
    put_directory(&place, "root/d");
    put(&place, "root/d/secret", "inside\n");
    put_link(&place, "root/dlink", "../outside");
    put(&place, "root/f", "inside\n");
    put_link(&place, "root/flink", "../outside/secret");
    struct swapper swapper = {.place = &place};
    pthread_create(&thread, NULL, swap_for_ever, &swapper);
    for (size_t i = 0; i < 150 * COUNT_OF(calls); i++) {
        struct answer answer;
        size_t which = i % COUNT_OF(calls);
        mock_call(&place.mock, calls[which].tool, calls[which].arguments, NULL, &answer);
        CU_ASSERT_EQUAL(answer.class, GUDGEON_OK);
        CU_ASSERT(strstr(answer_shown(&answer), "classified") == NULL);
        CU_ASSERT(strstr(answer_shown(&answer), "11 bytes") == NULL);
        answer_fini(&answer);
    }
    __atomic_store_n(&swapper.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    CHECK_STR(get(&place, "outside/secret"), "classified\n");
    CHECK_STR(get(&place, "outside/new/deep"), "(none)");
    tear_down(&place);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void test_read(void)
{
    struct place place;
    set_up_open(&place);
    put(&place, "root/three", "one\ntwo\nthree\n");
    put(&place, "root/open", "one\ntwo");
    put(&place, "root/empty", "");
    put(&place, "root/crlf", "a\r\nb\r\n");
    put(&place, "root/blank", "\n\n");
    static const struct {
        const char *arguments;
        bool is_error;
        const char *want;
    } rows[] = {
        {"{\"path\":\"three\"}", false, "one\ntwo\nthree\n"},
        {"{\"path\":\"open\"}", false, "one\ntwo"},
        {"{\"path\":\"empty\"}", false, "(the file is empty)"},
        {"{\"path\":\"crlf\"}", false, "a\r\nb\r\n"},
        {"{\"path\":\"blank\"}", false, "\n\n"},
        {"{\"path\":\"three\",\"offset\":1,\"limit\":3}", false, "one\ntwo\nthree\n"},
        {"{\"path\":\"three\",\"limit\":9223372036854775807}", false, "one\ntwo\nthree\n"},
        {"{\"path\":\"three\",\"limit\":2}", false,
         "one\ntwo\n[lines 1 to 2; go on with offset 3]"},
        {"{\"path\":\"three\",\"offset\":2}", false, "two\nthree\n[lines 2 to 3, the end]"},
        {"{\"path\":\"three\",\"offset\":2.0,\"limit\":1}", false,
         "two\n[lines 2 to 2; go on with offset 3]"},
        {"{\"path\":\"open\",\"offset\":2}", false, "two\n[lines 2 to 2, the end]"},
        {"{\"path\":\"three\",\"offset\":4}", true, "'three' has only 3 lines"},
        {"{\"path\":\"open\",\"offset\":3}", true, "'open' has only 2 lines"},
        {"{\"path\":\"three\",\"offset\":9223372036854775807}", true, "'three' has only 3 lines"},
        {"{\"path\":\"empty\",\"offset\":5}", false, "(the file is empty)"},
        {"{\"path\":\"three\",\"offset\":0}", true, "offset and limit count lines from 1"},
        {"{\"path\":\"three\",\"limit\":-1}", true, "offset and limit count lines from 1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_call(&place, "read_file", rows[i].arguments, rows[i].is_error, rows[i].want);
    tear_down(&place);
}

static void test_binary(void)
{
    static const struct {
        const char *name, *bytes;
        size_t len;
        const char *want;
    } rows[] = {
        {"png", "\x89PNG\r\n\x1a\n", 8, "'png' is a PNG image (8 bytes): it cannot be shown as…"},
        {"elf",
         "\x7f"
         "ELF\x02",
         5, "'elf' is a compiled program or library…"},
        {"nul", "text\0more", 9, "'nul' is binary data (9 bytes)…"},
        {"wide",
         "\xff\xfe"
         "a\0",
         4, "'wide' is UTF-16 text…"},
    };
    struct place place;
    set_up_open(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char name[64], arguments[128];
        snprintf(name, sizeof name, "root/%s", rows[i].name);
        put_bytes(&place, name, rows[i].bytes, rows[i].len);
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", rows[i].name);
        check_call(&place, "read_file", arguments, true, rows[i].want);
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\",\"old\":\"t\",\"new\":\"\"}",
                 rows[i].name);
        check_call(&place, "edit_file", arguments, true, "…it is not edited");
    }
    put(&place, "root/latin1", "caf\xe9\n");
    check_call(&place, "read_file", "{\"path\":\"latin1\"}", false, "caf\xe9\n");
    check_call(&place, "search_files", "{\"pattern\":\"e\"}", false,
               "[no match in 1 file; 4 binary skipped]");
    tear_down(&place);
}

/* All lines come back, once each, by following what the last line says. */
static void test_read_in_parts(void)
{
    struct place place;
    struct answer answer;
    set_up(&place);
    open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    CLEANUP(buf_fini) struct buf whole = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf got = BUF_INIT(BUF_MAX_ANY);
    for (int i = 1; i <= 20000; i++)
        buf_addf(&whole, "line %d of the file\n", i);
    put(&place, "root/long", whole.data);
    long long offset = 1;
    for (int i = 0; i < 1000 && offset > 0; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "{\"path\":\"long\",\"offset\":%lld}", offset);
        mock_call(&place.mock, "read_file", arguments, NULL, &answer);
        CU_ASSERT(answer.text.len <= 1024 + 256);
        char *note = strrchr(answer.text.data, '[');
        CU_ASSERT_PTR_NOT_NULL_FATAL(note);
        buf_add(&got, answer.text.data, (size_t)(note - answer.text.data));
        char *next = strstr(note, "go on with offset ");
        offset = next != NULL ? strtoll(next + 18, NULL, 10) : 0;
        answer_fini(&answer);
    }
    CU_ASSERT_EQUAL(got.len, whole.len);
    CU_ASSERT_EQUAL(memcmp(got.data, whole.data, whole.len), 0);
    tear_down(&place);
}

static void test_long_line(void)
{
    struct place place;
    struct answer answer;
    set_up(&place);
    open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    CLEANUP(buf_fini) struct buf whole = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&whole, "x");
    for (int i = 0; i < 100000; i++)
        buf_add_str(&whole, "é");
    buf_add_str(&whole, "\nsecond\n");
    put(&place, "root/wide", whole.data);
    mock_call(&place.mock, "read_file", "{\"path\":\"wide\"}", NULL, &answer);
    /* 1 + 511 × 2 bytes: the character that the limit cuts is left out. */
    CU_ASSERT_EQUAL(memcmp(answer.text.data + 1021, "é\n[", 4), 0);
    CU_ASSERT(strstr(answer.text.data, "[lines 1 to 1, the last of which is too long to be shown "
                                       "whole; go on with offset 2]") != NULL);
    answer_fini(&answer);
    check_call(&place, "read_file", "{\"path\":\"wide\",\"offset\":2}", false,
               "second\n[lines 2 to 2, the end]");
    tear_down(&place);
}

static void test_huge(void)
{
    struct place place;
    set_up_open(&place);
    CLEANUP(free_ptr) char *path = in_base(&place, "root/huge");
    put(&place, "root/huge", "needle\n");
    CU_ASSERT_EQUAL_FATAL(truncate(path, (off_t)1 << 40), 0); /* sparse */
    check_call(&place, "read_file", "{\"path\":\"huge\"}", true, "'huge' is binary data…");
    check_call(&place, "edit_file", "{\"path\":\"huge\",\"old\":\"needle\",\"new\":\"\"}", true,
               "'huge' has 1099511627776 bytes: files over 4194304 bytes are not edited");
    check_call(&place, "search_files", "{\"pattern\":\"needle\"}", false,
               "[no match in 0 files; 1 too large skipped]");
    tear_down(&place);
}

/* ---- writing --------------------------------------------------------------------------------- */

static mode_t mode_of(const struct place *place, const char *name)
{
    CLEANUP(free_ptr) char *path = in_base(place, name);
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_mode & 07777 : 0;
}

static void test_write(void)
{
    struct place place;
    set_up_open(&place);
    umask(022);
    check_call(&place, "write_file", "{\"path\":\"new\",\"content\":\"a\\u0000b\"}", false,
               "wrote 3 bytes to the new file 'new'");
    CU_ASSERT_EQUAL(mode_of(&place, "root/new"), 0644);
    check_call(&place, "write_file", "{\"path\":\"new\",\"content\":\"h\\u00e9\\n\"}", false,
               "wrote 4 bytes to 'new', which had 3 bytes before");
    CHECK_STR(get(&place, "root/new"), "hé\n");
    check_call(&place, "write_file", "{\"path\":\"new\",\"content\":\"\"}", false,
               "wrote 0 bytes to 'new', which had 4 bytes before");
    CHECK_STR(get(&place, "root/new"), "");
    check_call(&place, "write_file", "{\"path\":\"x/y/z/deep\",\"content\":\"d\"}", false,
               "wrote 1 bytes to the new file 'x/y/z/deep'");
    CHECK_STR(get(&place, "root/x/y/z/deep"), "d");
    check_call(&place, "write_file", "{\"path\":\"x\",\"content\":\"\"}", true,
               "'x' is a directory, not a file");
    check_call(&place, "write_file", "{\"path\":\"new/below\",\"content\":\"\"}", true,
               "'new' cannot be reached: a part of the path is no directory");
    check_call(&place, "write_file", "{\"path\":\"a\"}", true, "content is missing");
    check_call(&place, "list_files", "{}", false, "new  0 bytes\nx/\n");
    tear_down(&place);
}

static void test_mode_is_kept(void)
{
    static const mode_t modes[][2] = {
        {0600, 0600}, {0755, 0755}, {0640, 0640}, {0666, 0666}, {06755, 0755}};
    struct place place;
    set_up_open(&place);
    CLEANUP(free_ptr) char *path = in_base(&place, "root/f");
    umask(027);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        put(&place, "root/f", "old");
        chmod(path, modes[i][0]);
        check_call(&place, "write_file", "{\"path\":\"f\",\"content\":\"n\"}", false, "wrote…");
        CU_ASSERT_EQUAL(mode_of(&place, "root/f"), modes[i][1]);
        check_call(&place, "edit_file", "{\"path\":\"f\",\"old\":\"n\",\"new\":\"m\"}", false,
                   "replaced…");
        CU_ASSERT_EQUAL(mode_of(&place, "root/f"), modes[i][1]);
    }
    umask(022);
    tear_down(&place);
}

/* Run as an ordinary user: root may write anything. */
static void test_read_only_file(void)
{
    struct place place;
    set_up_open(&place);
    put(&place, "root/f", "old");
    CLEANUP(free_ptr) char *path = in_base(&place, "root/f");
    CLEANUP(free_ptr) char *root = in_base(&place, "root");
    chmod(path, 0444);
    bool is_root = geteuid() == 0;
    if (is_root && (chown(path, 65534, 65534) != 0 || chown(root, 65534, 65534) != 0 ||
                    syscall(SYS_setresuid, 0, 65534, 0) != 0))
        abort(); /* this thread alone */
    if (is_root)
        chmod(place.base, 0755);
    check_call(&place, "write_file", "{\"path\":\"f\",\"content\":\"n\"}", true,
               "'f' may not be written: it is read-only");
    check_call(&place, "edit_file", "{\"path\":\"f\",\"old\":\"old\",\"new\":\"n\"}", true,
               "'f' may not be written: it is read-only");
    if (is_root && syscall(SYS_setresuid, 0, 0, 0) != 0)
        abort();
    CHECK_STR(get(&place, "root/f"), "old");
    tear_down(&place);
}

static void test_size_limit(void)
{
    struct place place;
    struct answer answer;
    set_up(&place);
    open_with(&place, "{\"root\":\"%s\",\"max_bytes\":8}", "{\"write\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    check_call(&place, "write_file", "{\"path\":\"f\",\"content\":\"12345678\"}", false, "wrote…");
    check_call(&place, "write_file", "{\"path\":\"f\",\"content\":\"123456789\"}", true,
               "the content is over the limit of 8 bytes for one file: nothing was written");
    check_call(&place, "edit_file", "{\"path\":\"f\",\"old\":\"8\",\"new\":\"89\"}", true,
               "'f' would grow beyond 8 bytes; nothing was changed");
    check_call(&place, "edit_file", "{\"path\":\"f\",\"old\":\"8\",\"new\":\"9\"}", false,
               "replaced 1 occurrence in 'f', in line 1");
    CHECK_STR(get(&place, "root/f"), "12345679");
    tear_down(&place);
}

static void test_edit(void)
{
    static const struct {
        const char *name, *before, *arguments;
        bool is_error;
        const char *want, *after;
    } rows[] = {
        {"once", "a\nb\nc\n", "\"old\":\"b\\n\",\"new\":\"B\\nBB\\n\"", false,
         "replaced 1 occurrence in 'f', in line 2", "a\nB\nBB\nc\n"},
        {"deletes", "abc", "\"old\":\"b\",\"new\":\"\"", false,
         "replaced 1 occurrence in 'f', in line 1", "ac"},
        {"to nothing at all", "abc", "\"old\":\"abc\",\"new\":\"\"", false,
         "replaced 1 occurrence…", ""},
        {"several", "x\nx\n\nx x\n", "\"old\":\"x\",\"new\":\"y\"", true,
         "the old text occurs 4 times in 'f' (lines 1, 2, 4, 4): add more…", "x\nx\n\nx x\n"},
        {"very many", "xxxxxxx", "\"old\":\"x\",\"new\":\"y\"", true,
         "the old text occurs 7 times in 'f' (lines 1, 1, 1, 1, 1, …): add more…", "xxxxxxx"},
        {"all", "x\nx\n\nx x\n", "\"old\":\"x\",\"new\":\"yy\",\"all\":true", false,
         "replaced 4 occurrences in 'f', the first in line 1", "yy\nyy\n\nyy yy\n"},
        {"all, overlapping", "aaaa", "\"old\":\"aa\",\"new\":\"a\",\"all\":true", false,
         "replaced 2 occurrences…", "aa"},
        {"none", "abc\n", "\"old\":\"x\",\"new\":\"y\"", true,
         "the old text does not occur in 'f': read the file…", "abc\n"},
        {"other white space", "if (x)\n\treturn;\n",
         "\"old\":\"if (x)\\n    return;\",\"new\":\"y\"", true,
         "the old text does not occur in 'f' as given, but its first line stands in line 1…",
         "if (x)\n\treturn;\n"},
        {"the same", "abc", "\"old\":\"abc\",\"new\":\"abc\"", true, "old and new are the same…",
         "abc"},
        {"empty", "abc", "\"old\":\"\",\"new\":\"x\"", true, "old is missing, empty…", "abc"},
        {"an empty file", "", "\"old\":\"a\",\"new\":\"x\"", true, "the old text does not occur…",
         ""},
        {"CRLF", "a\r\nb\r\nc\r\n", "\"old\":\"a\\nb\\n\",\"new\":\"x\\ny\\n\"", false,
         "replaced 1 occurrence in 'f', in line 1", "x\r\ny\r\nc\r\n"},
        {"CRLF in one line", "a\r\nb\r\n", "\"old\":\"b\",\"new\":\"x\"", false,
         "replaced 1 occurrence in 'f', in line 2", "a\r\nx\r\n"},
        {"CRLF written out", "a\r\nb\r\n", "\"old\":\"a\\r\\nb\",\"new\":\"x\"", false,
         "replaced 1 occurrence…", "x\r\n"},
        {"escapes", "say \"hi\" \\ é", "\"old\":\"\\\"hi\\\" \\\\ \\u00e9\",\"new\":\"\\t\"", false,
         "replaced 1 occurrence…", "say \t"},
    };
    struct place place;
    set_up_open(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char arguments[512];
        put(&place, "root/f", rows[i].before);
        snprintf(arguments, sizeof arguments, "{\"path\":\"f\",%s}", rows[i].arguments);
        check_call(&place, "edit_file", arguments, rows[i].is_error, rows[i].want);
        CHECK_STR(get(&place, "root/f"), rows[i].after);
    }
    check_call(&place, "edit_file", "{\"path\":\"none\",\"old\":\"a\",\"new\":\"b\"}", true,
               "'none' does not exist; list_files shows what does");
    check_call(&place, "list_files", "{}", false, "f  5 bytes\n");
    tear_down(&place);
}

/* A limit on the size of files plays the full disk. */
static void test_write_fails_whole(void)
{
    static const struct rlimit tight = {100, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    struct place place;
    char content[201] = "", arguments[300];
    set_up_open(&place);
    put(&place, "root/f", "old");
    memset(content, 'x', sizeof content - 1);
    snprintf(arguments, sizeof arguments, "{\"path\":\"f\",\"content\":\"%s\"}", content);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tight);
    struct answer answer;
    mock_call(&place.mock, "write_file", arguments, NULL, &answer);
    setrlimit(RLIMIT_FSIZE, &none);
    CU_ASSERT_EQUAL(answer.flags, GUDGEON_IS_ERROR);
    CHECK_STR(answer.text.data, "'f': File too large");
    answer_fini(&answer);
    CHECK_STR(get(&place, "root/f"), "old");
    check_call(&place, "list_files", "{}", false, "f  3 bytes\n");
    tear_down(&place);
}

static void test_cancelled_write(void)
{
    struct place place;
    struct answer answer;
    struct mock_call how = {.cancel_at = ""};
    set_up_open(&place);
    put(&place, "root/f", "old");
    static const char *const calls[][2] = {
        {"write_file", "{\"path\":\"f\",\"content\":\"new\"}"},
        {"edit_file", "{\"path\":\"f\",\"old\":\"old\",\"new\":\"new\"}"}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        CU_ASSERT_EQUAL(mock_call(&place.mock, calls[i][0], calls[i][1], &how, &answer),
                        GUDGEON_CANCELLED);
        answer_fini(&answer);
    }
    CHECK_STR(get(&place, "root/f"), "old");
    tear_down(&place);
}

/* Readers meet the one or the other content, whole, while a file is written over and over. */
static void *read_for_ever(void *payload)
{
    struct swapper *reader = payload;
    CLEANUP(free_ptr) char *path = in_base(reader->place, "root/f");
    char text[8192];
    while (!__atomic_load_n(&reader->stop, __ATOMIC_RELAXED)) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t len = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (len != 4096 || text[0] != text[4095])
            return payload;
        close(fd);
    }
    return NULL;
}

static void test_write_is_atomic(void)
{
    struct place place;
    set_up_open(&place);
    char content[4097] = "", arguments[4200];
    memset(content, 'a', 4096);
    put(&place, "root/f", content);
    struct swapper reader = {.place = &place};
    pthread_t thread;
    void *torn = NULL;
    pthread_create(&thread, NULL, read_for_ever, &reader);
    for (int i = 0; i < 200; i++) {
        memset(content, 'a' + i % 26, 4096);
        snprintf(arguments, sizeof arguments, "{\"path\":\"f\",\"content\":\"%s\"}", content);
        check_call(&place, "write_file", arguments, false, "wrote 4096…");
    }
    __atomic_store_n(&reader.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, &torn);
    CU_ASSERT_PTR_NULL(torn);
    tear_down(&place);
}

/* Two threads edit one file through one instance: no edit is lost. */
enum { EDITS = 60 };

struct editor {
    struct place *place;
    char mark;
};

static void *edit_many(void *payload)
{
    struct editor *editor = payload;
    for (int i = 0; i < EDITS; i++) {
        char arguments[128];
        struct answer answer;
        snprintf(arguments, sizeof arguments, "{\"path\":\"f\",\"old\":\"<%c\",\"new\":\"<%cx\"}",
                 editor->mark, editor->mark);
        mock_call(&editor->place->mock, "edit_file", arguments, NULL, &answer);
        answer_fini(&answer);
    }
    return NULL;
}

static void test_edits_overlap(void)
{
    struct place place;
    set_up_open(&place);
    put(&place, "root/f", "<a>\n<b>\n");
    struct editor editors[] = {{&place, 'a'}, {&place, 'b'}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, edit_many, &editors[i]);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(strlen(get(&place, "root/f")), 8 + 2 * EDITS);
    tear_down(&place);
}

/* ---- listing and searching ------------------------------------------------------------------- */

static void put_project(const struct place *place)
{
    put_directory(place, "root/src");
    put_directory(place, "root/src/deep");
    put_directory(place, "root/.git");
    put_directory(place, "root/empty");
    put(place, "root/README.md", "# Title\nUse make.\n");
    put(place, "root/src/a.c", "int main(void)\n{\n\treturn 0;\n}\n");
    put(place, "root/src/a.h", "int main(void);\r\n");
    put(place, "root/src/deep/b.c", "/* a.c */\nMAIN\n");
    put(place, "root/.git/config", "main\n");
    put_link(place, "root/link", "src/a.c");
}

static void test_list(void)
{
    static const struct {
        const char *arguments;
        bool is_error;
        const char *want;
    } rows[] = {
        {"{}", false, ".git/\nREADME.md  18 bytes\nempty/\nlink -> src/a.c\nsrc/\n"},
        {"{\"path\":\"src\"}", false, "src/a.c  30 bytes\nsrc/a.h  17 bytes\nsrc/deep/\n"},
        {"{\"path\":\"empty\"}", false, "(the directory is empty)\n"},
        {"{\"path\":\"README.md\"}", false, "README.md  18 bytes\n"},
        {"{\"recursive\":true}", false,
         ".git/\nREADME.md  18 bytes\nempty/\nlink -> src/a.c\nsrc/\nsrc/a.c  30 bytes\n"
         "src/a.h  17 bytes\nsrc/deep/\nsrc/deep/b.c  15 bytes\n"},
        {"{\"path\":\".git\"}", false, ".git/config  5 bytes\n"},
        {"{\"glob\":\"*.md\"}", false, "README.md  18 bytes\n"},
        {"{\"glob\":\"*.c\"}", false, "(nothing matches the glob)\n"},
        {"{\"glob\":\"*.c\",\"recursive\":true}", false,
         "src/a.c  30 bytes\nsrc/deep/b.c  15 bytes\n"},
        {"{\"glob\":\"**/*.c\"}", false, "src/a.c  30 bytes\nsrc/deep/b.c  15 bytes\n"},
        {"{\"glob\":\"src/*.[ch]\"}", false, "src/a.c  30 bytes\nsrc/a.h  17 bytes\n"},
        {"{\"path\":\"src\",\"glob\":\"deep/*\"}", false, "src/deep/b.c  15 bytes\n"},
        {"{\"path\":\"none\"}", true, "'none' does not exist…"},
    };
    struct place place;
    set_up_open(&place);
    put_project(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_call(&place, "list_files", rows[i].arguments, rows[i].is_error, rows[i].want);
    struct answer answer;
    mock_call(&place.mock, "list_files", "{\"path\":\"src\"}", NULL, &answer);
    CHECK_STR(answer.data.data, "[{\"path\":\"src/a.c\",\"type\":\"file\",\"bytes\":30},"
                                "{\"path\":\"src/a.h\",\"type\":\"file\",\"bytes\":17},"
                                "{\"path\":\"src/deep\",\"type\":\"directory\",\"bytes\":0}]");
    answer_fini(&answer);
    tear_down(&place);
}

static void test_strange_names(void)
{
    struct place place;
    set_up_open(&place);
    put(&place, "root/two\nlines", "x\n");
    put(&place, "root/bad\xff\xfe", "x\n");
    check_call(&place, "list_files", "{}", false, "bad\xff\xfe  2 bytes\ntwo\\x0alines  2 bytes\n");
    check_call(&place, "search_files", "{\"pattern\":\"x\"}", false,
               "bad\xff\xfe:1: x\ntwo\\x0alines:1: x\n[2 matching lines in 2 of 2 files]");
    check_call(&place, "read_file", "{\"path\":\"two\\nlines\"}", false, "x\n");
    tear_down(&place);
}

static void test_long_listing(void)
{
    struct place place;
    struct answer answer;
    set_up(&place);
    open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    for (int i = 0; i < 200; i++) {
        char name[64];
        snprintf(name, sizeof name, "root/file-%03d", i);
        put(&place, name, "");
    }
    mock_call(&place.mock, "list_files", "{}", NULL, &answer);
    CU_ASSERT(strstr(answer.text.data, "file-000  0 bytes\nfile-001") == answer.text.data);
    CU_ASSERT(strstr(answer.text.data, "[only the first 56: the limit for one result was reached; "
                                       "list a directory below, or use a glob]") != NULL);
    answer_fini(&answer);
    tear_down(&place);
}

static void test_deep_tree(void)
{
    struct place place;
    set_up_open(&place);
    CLEANUP(buf_fini) struct buf path = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&path, "root");
    for (int i = 0; i < 100; i++) {
        buf_add_str(&path, "/d");
        put_directory(&place, path.data);
    }
    check_call(&place, "list_files", "{\"recursive\":true}", false,
               "…[only the first 65: there are too many files or levels for one call");
    check_call(&place, "search_files", "{\"pattern\":\"x\"}", false,
               "[no match in 0 files; stopped there: there are too many files…");
    tear_down(&place);
}

static void test_search(void)
{
    static const struct {
        const char *arguments;
        bool is_error;
        const char *want;
    } rows[] = {
        {"{\"pattern\":\"main\"}", false,
         "src/a.c:1: int main(void)\nsrc/a.h:1: int main(void);\n"
         "[2 matching lines in 2 of 4 files]"},
        {"{\"pattern\":\"main\",\"ignore_case\":true,\"path\":\"src/deep\"}", false,
         "src/deep/b.c:2: MAIN\n[1 matching line in 1 of 1 file]"},
        {"{\"pattern\":\"main\",\"path\":\"src/a.c\"}", false,
         "src/a.c:1: int main(void)\n[1 matching line in 1 of 1 file]"},
        {"{\"pattern\":\"a.c\"}", false, "src/deep/b.c:1: /* a.c */\n[1 matching line in 1 of 4…"},
        {"{\"pattern\":\"A.C\",\"ignore_case\":true}", false,
         "src/deep/b.c:1: /* a.c */\n[1 matching line in 1 of 4…"},
        {"{\"pattern\":\"m.*n\",\"regex\":true,\"glob\":\"*.h\"}", false,
         "src/a.h:1: int main(void);\n[1 matching line in 1 of 1 file]"},
        {"{\"pattern\":\"\\\\);$\",\"regex\":true}", false,
         "src/a.h:1: int main(void);\n[1 matching line in 1 of 4 files]"},
        {"{\"pattern\":\"^}$\",\"regex\":true}", false, "src/a.c:4: }\n[1 matching…"},
        {"{\"pattern\":\"nothing\"}", false, "[no match in 4 files]"},
        {"{\"pattern\":\"main\",\"glob\":\"*.md\"}", false, "[no match in 1 file]"},
        {"{\"pattern\":\"(\",\"regex\":true}", true, "the pattern is no POSIX extended regular…"},
        {"{\"pattern\":\"(a)\\\\1\",\"regex\":true}", true, "back references such as \\1…"},
        {"{\"pattern\":\"((a{1,99}){1,99}){1,99}\",\"regex\":true}", true, "the bounds {…} of…"},
        {"{\"pattern\":\"a{99999999999999999999}\",\"regex\":true}", true, "the bounds {…} of…"},
        {"{\"pattern\":\"a\\nb\"}", true, "pattern: give a text of one line…"},
        {"{\"pattern\":\"\"}", true, "pattern: give a text of one line…"},
        {"{\"pattern\":\"x\",\"path\":\"none\"}", true, "'none' does not exist…"},
    };
    struct place place;
    set_up_open(&place);
    put_project(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        check_call(&place, "search_files", rows[i].arguments, rows[i].is_error, rows[i].want);
    struct answer answer;
    mock_call(&place.mock, "search_files", "{\"pattern\":\"return\"}", NULL, &answer);
    CHECK_STR(answer.data.data,
              "[{\"path\":\"src/a.c\",\"line\":3,\"text\":\"\\u0009return 0;\"}]");
    answer_fini(&answer);
    tear_down(&place);
}

static void test_search_long_lines(void)
{
    struct place place;
    set_up_open(&place);
    CLEANUP(buf_fini) struct buf line = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 1000; i++)
        buf_add_str(&line, "é");
    buf_add_str(&line, "needle");
    for (int i = 0; i < 20000; i++)
        buf_add_str(&line, "é");
    buf_add_str(&line, "late\n");
    put(&place, "root/f", line.data);
    check_call(&place, "search_files", "{\"pattern\":\"late\"}", false,
               "[no match in 1 file; of long lines only the first 16384 bytes were searched]");
    struct answer answer;
    mock_call(&place.mock, "search_files", "{\"pattern\":\"needle\"}", NULL, &answer);
    CU_ASSERT(strstr(answer.text.data, "f:1: …éééé") == answer.text.data);
    CU_ASSERT(strstr(answer.text.data, "éneedleé") != NULL);
    CU_ASSERT(strstr(answer.text.data, "é…\n[1 matching line") != NULL);
    CU_ASSERT(answer.text.len < 500);
    answer_fini(&answer);
    tear_down(&place);
}

/* Expressions that make backtracking matchers explode end in time. */
static void test_search_is_bounded(void)
{
    static const char *const patterns[] = {"(a*)*b", "(a|aa)+$", "(x+x+)+y", "(.*)*(.*)*(.*)*z",
                                           "(a?){500}b"};
    struct place place;
    set_up_open(&place);
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 2000; i++)
        buf_add_str(&text, i % 100 == 99 ? "c\n" : "aaaaaaaaaaxxxxx");
    put(&place, "root/f", text.data);
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        char arguments[128];
        struct answer answer;
        struct mock_call how = {.timeout_ms = 5000};
        snprintf(arguments, sizeof arguments, "{\"regex\":true,\"pattern\":\"%s\"}", patterns[i]);
        CU_ASSERT_EQUAL(mock_call(&place.mock, "search_files", arguments, &how, &answer),
                        GUDGEON_OK);
        answer_fini(&answer);
    }
    tear_down(&place);
}

static void test_time_is_up(void)
{
    struct place place;
    struct answer answer;
    set_up_open(&place);
    put_project(&place);
    struct mock_call late = {.timeout_ms = 1}, cancelled = {.cancel_at = ""};
    CU_ASSERT_EQUAL(mock_call(&place.mock, "list_files", "{}", &late, &answer), GUDGEON_OK);
    CHECK_STR(answer.text.data, "[only the first 0: the time for this call was used up; list a "
                                "directory below, or use a glob]\n");
    answer_fini(&answer);
    CU_ASSERT_EQUAL(mock_call(&place.mock, "search_files", "{\"pattern\":\"x\"}", &late, &answer),
                    GUDGEON_OK);
    CHECK_STR(answer.text.data,
              "[no match in 0 files; stopped there: the time for this call was used up]");
    answer_fini(&answer);
    static const char *const calls[][2] = {{"list_files", "{}"},
                                           {"search_files", "{\"pattern\":\"x\"}"},
                                           {"read_file", "{\"path\":\"README.md\"}"}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        CU_ASSERT_EQUAL(mock_call(&place.mock, calls[i][0], calls[i][1], &cancelled, &answer),
                        GUDGEON_CANCELLED);
        answer_fini(&answer);
    }
    tear_down(&place);
}

/* ---- a kernel without openat2 ---------------------------------------------------------------- */

static void forbid_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT_OF(code), .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
    has_openat2 = false;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--no-openat2") == 0)
        forbid_openat2();
    UNIT_MAIN(has_openat2 ? "files" : "files without openat2",
              {"configuration and grants", test_create}, {"the tools' flags", test_flags},
              {"a tool that is not listed cannot be called", test_read_only_call},
              {"no path leads outside", test_hostile_paths}, {"long paths", test_long_paths},
              {"links within the root", test_links_inside}, {"links of /proc", test_magic_links},
              {"no race leads outside", test_race}, {"reading", test_read},
              {"what is no text is named", test_binary},
              {"a long file comes in parts", test_read_in_parts},
              {"a line longer than a result", test_long_line}, {"a huge file", test_huge},
              {"writing", test_write}, {"the mode is kept", test_mode_is_kept},
              {"a file that is read-only stays", test_read_only_file},
              {"the limit of sizes", test_size_limit}, {"editing", test_edit},
              {"a write that fails leaves the old", test_write_fails_whole},
              {"a cancelled write leaves the old", test_cancelled_write},
              {"a write is whole or not at all", test_write_is_atomic},
              {"edits that overlap", test_edits_overlap}, {"listing", test_list},
              {"strange names", test_strange_names}, {"a long listing ends", test_long_listing},
              {"a deep tree ends", test_deep_tree}, {"searching", test_search},
              {"searching long lines", test_search_long_lines},
              {"no expression takes for ever", test_search_is_bounded},
              {"what is found in time is told", test_time_is_up});
}
