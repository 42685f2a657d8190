/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mock_place.h"
#include "unit.h"

static mode_t mode_of(const struct place *place, const char *name)
{
    CLEANUP(free_ptr) char *path = place_path(place, name);
    struct stat found;
    return lstat(path, &found) == 0 ? found.st_mode & 07777 : 0;
}

static void test_write(void)
{
    struct place place;
    place_open(&place);
    umask(022);
    place_check(&place, "write_file", "{\"path\":\"new\",\"content\":\"a\\u0000b\"}", false,
                "wrote 3 bytes to the new file 'new'");
    CU_ASSERT_EQUAL(mode_of(&place, "root/new"), 0644);
    place_check(&place, "write_file", "{\"path\":\"new\",\"content\":\"h\\u00e9\\n\"}", false,
                "wrote 4 bytes to 'new', which had 3 bytes before");
    CHECK_STR(place_get(&place, "root/new"), "hé\n");
    place_check(&place, "write_file", "{\"path\":\"new\",\"content\":\"\"}", false,
                "wrote 0 bytes to 'new', which had 4 bytes before");
    CHECK_STR(place_get(&place, "root/new"), "");
    place_check(&place, "write_file", "{\"path\":\"x/y/z/deep\",\"content\":\"d\"}", false,
                "wrote 1 bytes to the new file 'x/y/z/deep'");
    CHECK_STR(place_get(&place, "root/x/y/z/deep"), "d");
    place_check(&place, "write_file", "{\"path\":\"x\",\"content\":\"\"}", true,
                "'x' is a directory, not a file");
    place_check(&place, "write_file", "{\"path\":\"new/below\",\"content\":\"\"}", true,
                "'new' cannot be reached: a part of the path is no directory");
    place_check(&place, "write_file", "{\"path\":\"a\"}", true, "content is missing");
    place_check(&place, "list_files", "{}", false, "new  0 bytes\nx/\n");
    place_fini(&place);
}

static void test_mode_is_kept(void)
{
    static const mode_t modes[][2] = {
        {0600, 0600}, {0755, 0755}, {0640, 0640}, {0666, 0666}, {06755, 0755}};
    struct place place;
    place_open(&place);
    CLEANUP(free_ptr) char *path = place_path(&place, "root/f");
    umask(027);
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        place_put(&place, "root/f", "old");
        chmod(path, modes[i][0]);
        place_check(&place, "write_file", "{\"path\":\"f\",\"content\":\"n\"}", false, "wrote…");
        CU_ASSERT_EQUAL(mode_of(&place, "root/f"), modes[i][1]);
        place_check(&place, "edit_file", "{\"path\":\"f\",\"old\":\"n\",\"new\":\"m\"}", false,
                    "replaced…");
        CU_ASSERT_EQUAL(mode_of(&place, "root/f"), modes[i][1]);
    }
    umask(022);
    place_fini(&place);
}

/* Run as an ordinary user: root may write anything. */
static void test_read_only_file(void)
{
    struct place place;
    place_open(&place);
    place_put(&place, "root/f", "old");
    CLEANUP(free_ptr) char *path = place_path(&place, "root/f");
    CLEANUP(free_ptr) char *root = place_path(&place, "root");
    chmod(path, 0444);
    bool is_root = geteuid() == 0;
    if (is_root && (chown(path, 65534, 65534) != 0 || chown(root, 65534, 65534) != 0 ||
                    syscall(SYS_setresuid, 0, 65534, 0) != 0))
        abort(); /* this thread alone */
    if (is_root)
        chmod(place.base, 0755);
    place_check(&place, "write_file", "{\"path\":\"f\",\"content\":\"n\"}", true,
                "'f' may not be written: it is read-only");
    place_check(&place, "edit_file", "{\"path\":\"f\",\"old\":\"old\",\"new\":\"n\"}", true,
                "'f' may not be written: it is read-only");
    if (is_root && syscall(SYS_setresuid, 0, 0, 0) != 0)
        abort();
    CHECK_STR(place_get(&place, "root/f"), "old");
    place_fini(&place);
}

static void test_size_limit(void)
{
    struct place place;
    struct answer answer;
    place_init(&place);
    place_open_with(&place, "{\"root\":\"%s\",\"max_bytes\":8}", "{\"write\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    place_check(&place, "write_file", "{\"path\":\"f\",\"content\":\"12345678\"}", false, "wrote…");
    place_check(&place, "write_file", "{\"path\":\"f\",\"content\":\"123456789\"}", true,
                "the content is over the limit of 8 bytes for one file: nothing was written");
    place_check(&place, "edit_file", "{\"path\":\"f\",\"old\":\"8\",\"new\":\"89\"}", true,
                "'f' would grow beyond 8 bytes; nothing was changed");
    place_check(&place, "edit_file", "{\"path\":\"f\",\"old\":\"8\",\"new\":\"9\"}", false,
                "replaced 1 occurrence in 'f', in line 1");
    CHECK_STR(place_get(&place, "root/f"), "12345679");
    place_fini(&place);
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
    place_open(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char arguments[512];
        place_put(&place, "root/f", rows[i].before);
        snprintf(arguments, sizeof arguments, "{\"path\":\"f\",%s}", rows[i].arguments);
        place_check(&place, "edit_file", arguments, rows[i].is_error, rows[i].want);
        CHECK_STR(place_get(&place, "root/f"), rows[i].after);
    }
    place_check(&place, "edit_file", "{\"path\":\"none\",\"old\":\"a\",\"new\":\"b\"}", true,
                "'none' does not exist; list_files shows what does");
    place_check(&place, "list_files", "{}", false, "f  5 bytes\n");
    place_fini(&place);
}

/* A limit on the size of files plays the full disk. */
static void test_write_fails_whole(void)
{
    static const struct rlimit tight = {100, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    struct place place;
    char content[201] = "", arguments[300];
    place_open(&place);
    place_put(&place, "root/f", "old");
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
    CHECK_STR(place_get(&place, "root/f"), "old");
    place_check(&place, "list_files", "{}", false, "f  3 bytes\n");
    place_fini(&place);
}

static void test_cancelled_write(void)
{
    struct place place;
    struct answer answer;
    struct mock_call how = {.cancel_at = ""};
    place_open(&place);
    place_put(&place, "root/f", "old");
    static const char *const calls[][2] = {
        {"write_file", "{\"path\":\"f\",\"content\":\"new\"}"},
        {"edit_file", "{\"path\":\"f\",\"old\":\"old\",\"new\":\"new\"}"}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        CU_ASSERT_EQUAL(mock_call(&place.mock, calls[i][0], calls[i][1], &how, &answer),
                        GUDGEON_CANCELLED);
        answer_fini(&answer);
    }
    CHECK_STR(place_get(&place, "root/f"), "old");
    place_fini(&place);
}

/* Readers meet the one or the other content, whole, while a file is written over and over. */
struct reader {
    const struct place *place;
    bool stop;
};

static void *read_for_ever(void *payload)
{
    struct reader *reader = payload;
    CLEANUP(free_ptr) char *path = place_path(reader->place, "root/f");
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
    place_open(&place);
    char content[4097] = "", arguments[4200];
    memset(content, 'a', 4096);
    place_put(&place, "root/f", content);
    struct reader reader = {.place = &place};
    pthread_t thread;
    void *torn = NULL;
    pthread_create(&thread, NULL, read_for_ever, &reader);
    for (int i = 0; i < 200; i++) {
        memset(content, 'a' + i % 26, 4096);
        snprintf(arguments, sizeof arguments, "{\"path\":\"f\",\"content\":\"%s\"}", content);
        place_check(&place, "write_file", arguments, false, "wrote 4096…");
    }
    __atomic_store_n(&reader.stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, &torn);
    CU_ASSERT_PTR_NULL(torn);
    place_fini(&place);
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
    place_open(&place);
    place_put(&place, "root/f", "<a>\n<b>\n");
    struct editor editors[] = {{&place, 'a'}, {&place, 'b'}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, edit_many, &editors[i]);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CU_ASSERT_EQUAL(strlen(place_get(&place, "root/f")), 8 + 2 * EDITS);
    place_fini(&place);
}

int main(int argc, char **argv)
{
    UNIT_MAIN(place_main(argc, argv, "files: writing"), {"writing", test_write},
              {"the mode is kept", test_mode_is_kept},
              {"a file that is read-only stays", test_read_only_file},
              {"the limit of sizes", test_size_limit}, {"editing", test_edit},
              {"a write that fails leaves the old", test_write_fails_whole},
              {"a cancelled write leaves the old", test_cancelled_write},
              {"a write is whole or not at all", test_write_is_atomic},
              {"edits that overlap", test_edits_overlap});
}
