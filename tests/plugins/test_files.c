/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "mock_place.h"
#include "unit.h"

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
    place_init(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct answer answer;
        int32_t class = place_open_with(&place, rows[i].config, rows[i].grant, &answer);
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
    place_fini(&place);
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
    place_open(&place);
    CU_ASSERT_EQUAL(place.mock.tool_count, COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct mock_tool *tool = mock_tool(&place.mock, rows[i].name);
        CU_ASSERT_PTR_NOT_NULL_FATAL(tool);
        CU_ASSERT_EQUAL(tool->flags, rows[i].flags);
        CU_ASSERT(strstr(tool->description, place.base) != NULL);
    }
    place_fini(&place);
}

static void test_read_only_call(void)
{
    struct place place;
    struct answer answer;
    place_init(&place);
    place_open_with(&place, "{\"root\":\"%s\"}", "{\"read\":[\"%s\"]}", &answer);
    answer_fini(&answer);
    CU_ASSERT_EQUAL(
        mock_call(&place.mock, "write_file", "{\"path\":\"a\",\"content\":\"x\"}", NULL, &answer),
        GUDGEON_INVALID);
    answer_fini(&answer);
    CHECK_STR(place_get(&place, "root/a"), "(none)");
    place_fini(&place);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void test_read(void)
{
    struct place place;
    place_open(&place);
    place_put(&place, "root/three", "one\ntwo\nthree\n");
    place_put(&place, "root/open", "one\ntwo");
    place_put(&place, "root/empty", "");
    place_put(&place, "root/crlf", "a\r\nb\r\n");
    place_put(&place, "root/blank", "\n\n");
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
        place_check(&place, "read_file", rows[i].arguments, rows[i].is_error, rows[i].want);
    place_fini(&place);
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
    place_open(&place);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char name[64], arguments[128];
        snprintf(name, sizeof name, "root/%s", rows[i].name);
        place_put_bytes(&place, name, rows[i].bytes, rows[i].len);
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", rows[i].name);
        place_check(&place, "read_file", arguments, true, rows[i].want);
        snprintf(arguments, sizeof arguments, "{\"path\":\"%s\",\"old\":\"t\",\"new\":\"\"}",
                 rows[i].name);
        place_check(&place, "edit_file", arguments, true, "…it is not edited");
    }
    place_put(&place, "root/latin1", "caf\xe9\n");
    place_check(&place, "read_file", "{\"path\":\"latin1\"}", false, "caf\xe9\n");
    place_check(&place, "search_files", "{\"pattern\":\"e\"}", false,
                "[no match in 1 file; 4 binary skipped]");
    place_fini(&place);
}

/* All lines come back, once each, by following what the last line says. */
static void test_read_in_parts(void)
{
    struct place place;
    struct answer answer;
    place_init(&place);
    place_open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}",
                    &answer);
    answer_fini(&answer);
    CLEANUP(buf_fini) struct buf whole = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf got = BUF_INIT(BUF_MAX_ANY);
    for (int i = 1; i <= 20000; i++)
        buf_addf(&whole, "line %d of the file\n", i);
    place_put(&place, "root/long", whole.data);
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
    place_fini(&place);
}

static void test_long_line(void)
{
    struct place place;
    struct answer answer;
    place_init(&place);
    place_open_with(&place, "{\"root\":\"%s\",\"result_bytes\":1024}", "{\"read\":[\"%s\"]}",
                    &answer);
    answer_fini(&answer);
    CLEANUP(buf_fini) struct buf whole = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&whole, "x");
    for (int i = 0; i < 100000; i++)
        buf_add_str(&whole, "é");
    buf_add_str(&whole, "\nsecond\n");
    place_put(&place, "root/wide", whole.data);
    mock_call(&place.mock, "read_file", "{\"path\":\"wide\"}", NULL, &answer);
    /* 1 + 511 × 2 bytes: the character that the limit cuts is left out. */
    CU_ASSERT_EQUAL(memcmp(answer.text.data + 1021, "é\n[", 4), 0);
    CU_ASSERT(strstr(answer.text.data, "[lines 1 to 1, the last of which is too long to be shown "
                                       "whole; go on with offset 2]") != NULL);
    answer_fini(&answer);
    place_check(&place, "read_file", "{\"path\":\"wide\",\"offset\":2}", false,
                "second\n[lines 2 to 2, the end]");
    place_fini(&place);
}

static void test_huge(void)
{
    struct place place;
    place_open(&place);
    CLEANUP(free_ptr) char *path = place_path(&place, "root/huge");
    place_put(&place, "root/huge", "needle\n");
    CU_ASSERT_EQUAL_FATAL(truncate(path, (off_t)1 << 40), 0); /* sparse */
    place_check(&place, "read_file", "{\"path\":\"huge\"}", true, "'huge' is binary data…");
    place_check(&place, "edit_file", "{\"path\":\"huge\",\"old\":\"needle\",\"new\":\"\"}", true,
                "'huge' has 1099511627776 bytes: files over 4194304 bytes are not edited");
    place_check(&place, "search_files", "{\"pattern\":\"needle\"}", false,
                "[no match in 0 files; 1 too large skipped]");
    place_fini(&place);
}

int main(int argc, char **argv)
{
    UNIT_MAIN(place_main(argc, argv, "files"), {"configuration and grants", test_create},
              {"the tools' flags", test_flags},
              {"a tool that is not listed cannot be called", test_read_only_call},
              {"reading", test_read}, {"what is no text is named", test_binary},
              {"a long file comes in parts", test_read_in_parts},
              {"a line longer than a result", test_long_line}, {"a huge file", test_huge});
}
