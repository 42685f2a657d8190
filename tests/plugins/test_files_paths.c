/* SPDX-License-Identifier: MIT */

/*
 * Paths that try to leave the root of the files plugin.
 */

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "mock_place.h"
#include "unit.h"

static void put_hostile_tree(const struct place *place)
{
    place_put(place, "root/a.txt", "inside\n");
    place_put_directory(place, "root/d");
    place_put(place, "root/d/b.txt", "deeper\n");
    place_put_link(place, "root/out", "../outside/secret");
    place_put_link(place, "root/outdir", "../outside");
    place_put_link(place, "root/abs", "/etc/passwd");
    place_put_link(place, "root/loop1", "loop2");
    place_put_link(place, "root/loop2", "loop1");
    place_put_link(place, "root/proc", "/proc/self/root");
    place_put_link(place, "root/up", "..");
    place_put_link(place, "root/dangling", "nowhere");
    CLEANUP(free_ptr) char *fifo = place_path(place, "root/fifo");
    CLEANUP(free_ptr) char *absolute = place_path(place, "outside/secret");
    mkfifo(fifo, 0644);
    place_put_link(place, "root/absout", absolute);
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
    place_check(place, "read_file", arguments, row->is_error, row->read);
    for (size_t i = 0; i < COUNT_OF(others) && row->is_error; i++) {
        struct answer answer;
        char text[PATH_MAX];
        snprintf(text, sizeof text, "{\"path\":\"%s\",%s}", path, others[i].more);
        CU_ASSERT_EQUAL(mock_call(&place->mock, others[i].tool, text, NULL, &answer), GUDGEON_OK);
        CU_ASSERT(strstr(answer_shown(&answer), "classified") == NULL);
        CU_ASSERT(strstr(answer_shown(&answer), "root:x") == NULL);
        answer_fini(&answer);
    }
    CHECK_STR(place_get(place, "outside/secret"), "classified\n");
}

static void test_hostile_paths(void)
{
    for (size_t i = 0; i < COUNT_OF(hostile_rows); i++) {
        struct place place;
        place_open(&place);
        put_hostile_tree(&place);
        check_hostile(&place, &hostile_rows[i]);
        place_fini(&place);
    }
}

static void test_long_paths(void)
{
    struct place place;
    place_open(&place);
    char *path = xcalloc(1, 20000);
    char *arguments = xcalloc(1, 20100);
    static const size_t lengths[] = {300, 4095, 4096, 19000};
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        memset(path, 'x', lengths[i]);
        snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
        place_check(&place, "read_file", arguments, true, "…too long");
    }
    for (size_t i = 0; i < 4000; i++)
        path[i] = i % 2 == 0 ? 'd' : '/';
    path[4000] = '\0';
    snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
    place_check(&place, "read_file", arguments, true, "…does not exist");
    for (size_t i = 0; i < 1350; i++)
        memcpy(path + 3 * i, "../", 3);
    path[4050] = '\0';
    snprintf(arguments, 20100, "{\"path\":\"%s\"}", path);
    place_check(&place, "read_file", arguments, true, "…leads outside");
    free(path);
    free(arguments);
    place_fini(&place);
}

static void test_links_inside(void)
{
    struct place place;
    place_open(&place);
    place_put_directory(&place, "root/2026");
    place_put(&place, "root/2026/note", "now\n");
    place_put_link(&place, "root/current", "2026");
    if (place_has_openat2) {
        place_check(&place, "read_file", "{\"path\":\"current/note\"}", false, "now\n");
        place_check(&place, "list_files", "{\"path\":\"current\"}", false,
                    "current/note  4 bytes\n");
    } else {
        place_check(&place, "read_file", "{\"path\":\"current/note\"}", true, "'current/note' …");
    }
    place_put_link(&place, "root/link", "2026/note");
    place_check(&place, "write_file", "{\"path\":\"link\",\"content\":\"x\"}", true,
                "'link' is a symbolic link to '2026/note': write to that file instead");
    place_check(&place, "edit_file", "{\"path\":\"link\",\"old\":\"now\",\"new\":\"x\"}", true,
                "'link' is a symbolic link…");
    CHECK_STR(place_get(&place, "root/2026/note"), "now\n");
    place_fini(&place);
}

static void test_magic_links(void)
{
    struct answer answer;
    struct place place;
    place_init(&place);
    mock_open(&place.mock, "files", "{\"root\":\"/proc/self\"}", "{\"read\":[\"/\"]}", &answer);
    answer_fini(&answer);
    place_check(&place, "read_file", "{\"path\":\"root/etc/passwd\"}", true, "'root/etc/passwd' …");
    place_check(&place, "list_files", "{\"path\":\"cwd\"}", true, "'cwd' …");
    place_check(&place, "read_file", "{\"path\":\"comm\"}", false, "test_files_path\n");
    place_fini(&place);
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
    CLEANUP(free_ptr) char *dir = place_path(swapper->place, "root/d");
    CLEANUP(free_ptr) char *dir_link = place_path(swapper->place, "root/dlink");
    CLEANUP(free_ptr) char *file = place_path(swapper->place, "root/f");
    CLEANUP(free_ptr) char *file_link = place_path(swapper->place, "root/flink");
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
    place_open(&place);
    place_put_directory(&place, "root/d");
    place_put(&place, "root/d/secret", "inside\n");
    place_put_link(&place, "root/dlink", "../outside");
    place_put(&place, "root/f", "inside\n");
    place_put_link(&place, "root/flink", "../outside/secret");
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
    CHECK_STR(place_get(&place, "outside/secret"), "classified\n");
    CHECK_STR(place_get(&place, "outside/new/deep"), "(none)");
    place_fini(&place);
}

int main(int argc, char **argv)
{
    UNIT_MAIN(place_main(argc, argv, "files: paths"), {"no path leads outside", test_hostile_paths},
              {"long paths", test_long_paths}, {"links within the root", test_links_inside},
              {"links of /proc", test_magic_links}, {"no race leads outside", test_race});
}
