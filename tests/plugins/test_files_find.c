/* SPDX-License-Identifier: MIT */
#include "mock_place.h"
#include "unit.h"

static void put_project(const struct place *place)
{
    place_put_directory(place, "root/src");
    place_put_directory(place, "root/src/deep");
    place_put_directory(place, "root/.git");
    place_put_directory(place, "root/empty");
    place_put(place, "root/README.md", "# Title\nUse make.\n");
    place_put(place, "root/src/a.c", "int main(void)\n{\n\treturn 0;\n}\n");
    place_put(place, "root/src/a.h", "int main(void);\r\n");
    place_put(place, "root/src/deep/b.c", "/* a.c */\nMAIN\n");
    place_put(place, "root/.git/config", "main\n");
    place_put_link(place, "root/link", "src/a.c");
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
    place_open(&place);
    put_project(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        place_check(&place, "list_files", rows[i].arguments, rows[i].is_error, rows[i].want);
    struct answer answer;
    mock_call(&place.mock, "list_files", "{\"path\":\"src\"}", NULL, &answer);
    CHECK_STR(answer.data.data, "[{\"path\":\"src/a.c\",\"type\":\"file\",\"bytes\":30},"
                                "{\"path\":\"src/a.h\",\"type\":\"file\",\"bytes\":17},"
                                "{\"path\":\"src/deep\",\"type\":\"directory\",\"bytes\":0}]");
    answer_fini(&answer);
    place_fini(&place);
}

static void test_strange_names(void)
{
    struct place place;
    place_open(&place);
    place_put(&place, "root/two\nlines", "x\n");
    place_put(&place, "root/bad\xff\xfe", "x\n");
    place_check(&place, "list_files", "{}", false,
                "bad\xff\xfe  2 bytes\ntwo\\x0alines  2 bytes\n");
    place_check(&place, "search_files", "{\"pattern\":\"x\"}", false,
                "bad\xff\xfe:1: x\ntwo\\x0alines:1: x\n[2 matching lines in 2 of 2 files]");
    place_check(&place, "read_file", "{\"path\":\"two\\nlines\"}", false, "x\n");
    place_fini(&place);
}

static void test_long_listing(void)
{
    struct place place;
    struct answer answer;
    place_init(&place);
    place_open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}",
                    &answer);
    answer_fini(&answer);
    for (int i = 0; i < 200; i++) {
        char name[64];
        snprintf(name, sizeof name, "root/file-%03d", i);
        place_put(&place, name, "");
    }
    mock_call(&place.mock, "list_files", "{}", NULL, &answer);
    CU_ASSERT(strstr(answer.text.data, "file-000  0 bytes\nfile-001") == answer.text.data);
    CU_ASSERT(strstr(answer.text.data, "[only the first 56: the limit for one result was reached; "
                                       "list a directory below, or use a glob]") != NULL);
    answer_fini(&answer);
    place_fini(&place);
}

static void test_deep_tree(void)
{
    struct place place;
    place_open(&place);
    CLEANUP(buf_fini) struct buf path = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&path, "root");
    for (int i = 0; i < 100; i++) {
        buf_add_str(&path, "/d");
        place_put_directory(&place, path.data);
    }
    place_check(&place, "list_files", "{\"recursive\":true}", false,
                "…[only the first 65: there are too many files or levels for one call");
    place_check(&place, "search_files", "{\"pattern\":\"x\"}", false,
                "[no match in 0 files; stopped there: there are too many files…");
    place_fini(&place);
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
    place_open(&place);
    put_project(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        place_check(&place, "search_files", rows[i].arguments, rows[i].is_error, rows[i].want);
    struct answer answer;
    mock_call(&place.mock, "search_files", "{\"pattern\":\"return\"}", NULL, &answer);
    CHECK_STR(answer.data.data,
              "[{\"path\":\"src/a.c\",\"line\":3,\"text\":\"\\u0009return 0;\"}]");
    answer_fini(&answer);
    place_fini(&place);
}

static void test_search_long_lines(void)
{
    struct place place;
    place_open(&place);
    CLEANUP(buf_fini) struct buf line = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 1000; i++)
        buf_add_str(&line, "é");
    buf_add_str(&line, "needle");
    for (int i = 0; i < 20000; i++)
        buf_add_str(&line, "é");
    buf_add_str(&line, "late\n");
    place_put(&place, "root/f", line.data);
    place_check(&place, "search_files", "{\"pattern\":\"late\"}", false,
                "[no match in 1 file; of long lines only the first 16384 bytes were searched]");
    struct answer answer;
    mock_call(&place.mock, "search_files", "{\"pattern\":\"needle\"}", NULL, &answer);
    CU_ASSERT(strstr(answer.text.data, "f:1: …éééé") == answer.text.data);
    CU_ASSERT(strstr(answer.text.data, "éneedleé") != NULL);
    CU_ASSERT(strstr(answer.text.data, "é…\n[1 matching line") != NULL);
    CU_ASSERT(answer.text.len < 500);
    answer_fini(&answer);
    place_fini(&place);
}

/* Expressions that make backtracking matchers explode end in time. */
static void test_search_is_bounded(void)
{
    static const char *const patterns[] = {"(a*)*b", "(a|aa)+$", "(x+x+)+y", "(.*)*(.*)*(.*)*z",
                                           "(a?){500}b"};
    struct place place;
    place_open(&place);
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 2000; i++)
        buf_add_str(&text, i % 100 == 99 ? "c\n" : "aaaaaaaaaaxxxxx");
    place_put(&place, "root/f", text.data);
    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        char arguments[128];
        struct answer answer;
        struct mock_call how = {.timeout_ms = 5000};
        snprintf(arguments, sizeof arguments, "{\"regex\":true,\"pattern\":\"%s\"}", patterns[i]);
        CU_ASSERT_EQUAL(mock_call(&place.mock, "search_files", arguments, &how, &answer),
                        GUDGEON_OK);
        answer_fini(&answer);
    }
    place_fini(&place);
}

static void test_time_is_up(void)
{
    struct place place;
    struct answer answer;
    place_open(&place);
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
    place_fini(&place);
}

int main(int argc, char **argv)
{
    UNIT_MAIN(place_main(argc, argv, "files: finding"), {"listing", test_list},
              {"strange names", test_strange_names}, {"a long listing ends", test_long_listing},
              {"a deep tree ends", test_deep_tree}, {"searching", test_search},
              {"searching long lines", test_search_long_lines},
              {"no expression takes for ever", test_search_is_bounded},
              {"what is found in time is told", test_time_is_up});
}
