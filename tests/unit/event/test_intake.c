/* SPDX-License-Identifier: MIT */
#include "event/intake.h"

#include <json-c/json_object.h>

#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/digest.h"
#include "data/json.h"
#include "event/journal.h"
#include "event/mask.h"
#include "scratch.h"
#include "unit.h"

#define BYTES(text) text, sizeof(text) - 1
#define FFFD        "\xef\xbf\xbd"
#define EURO        "\xe2\x82\xac"

static void free_intake(struct intake **intake)
{
    intake_free(*intake);
}

static void close_journal(struct journal **journal)
{
    journal_close(*journal);
}

/* An intake with these secrets; the list ends with NULL. */
static struct intake *with_secrets(const char *const *secrets)
{
    struct intake *intake = intake_new();
    for (; secrets != NULL && *secrets != NULL; secrets++)
        intake_add_secret(intake, *secrets);
    return intake;
}

static struct journal *create(const char *runs)
{
    struct journal *journal = NULL;
    SCRATCH_NEED(journal_create(runs, "r", JOURNAL_SYNC_NEVER, &journal, NULL) == 0);
    return journal;
}

/* A journal and an intake for one test. */
#define SETUP(...)                                                                                 \
    SCRATCH(runs);                                                                                 \
    CLEANUP(close_journal) struct journal *journal = create(runs);                                 \
    CLEANUP(free_intake)                                                                           \
    struct intake *intake = with_secrets((const char *const[]){__VA_ARGS__ NULL})

static void row_failed(unsigned failures, const char *name)
{
    if (CU_get_number_of_failures() > failures)
        printf("#   in row: %s\n", name);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* What no tool may put into a session. */
static void test_text(void)
{
    static const struct {
        const char *name, *in;
        size_t len;
        const char *out;
    } rows[] = {
        {"empty", BYTES(""), ""},
        {"ASCII", BYTES("plain\ttext\n"), "plain\ttext\n"},
        {"UTF-8", BYTES("na\xc3\xafve " EURO " \xf0\x9f\x90\x9f"),
         "na\xc3\xafve " EURO " \xf0\x9f\x90\x9f"},
        {"a cut character", BYTES("x\xf0\x9f\x98"), "x" FFFD},
        {"NUL", BYTES("a\0b"), "a" FFFD "b"},
        {"Latin-1", BYTES("caf\xe9!"), "caf" FFFD "!"},
        {"surrogate bytes", BYTES("\xed\xa0\xbd"), FFFD FFFD FFFD},
        {"overlong", BYTES("\xc0\xaf"), FFFD FFFD},
    };
    CLEANUP(free_intake) struct intake *intake = intake_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        CU_ASSERT_EQUAL(intake_text(intake, (gudgeon_str){rows[i].in, rows[i].len}, &out), 0);
        CHECK_STR(out.data, rows[i].out);
        row_failed(failures, rows[i].name);
        buf_fini(&out);
    }
    struct buf small = BUF_INIT(3);
    CU_ASSERT_EQUAL(intake_text(intake, str_of("four"), &small), ERR_LIMIT);
    buf_fini(&small);
}

/* By the value, wherever it stands and however it is escaped. */
static void test_mask(void)
{
    static const struct {
        const char *name;
        const char *secrets[4];
        const char *in, *out;
    } rows[] = {
        {"once", {"sk-12345"}, "key sk-12345.", "key {secret}."},
        {"alone", {"sk-12345"}, "sk-12345", "{secret}"},
        {"x-api-key echoed",
         {"sk-12345"},
         "{\"error\":\"bad key sk-12345\"}",
         "{\"error\":\"bad key {secret}\"}"},
        {"many", {"sk-12345"}, "sk-12345sk-12345 sk-12345", "{secret}{secret} {secret}"},
        {"two secrets", {"first-one", "second-one"}, "second-one, first-one", "{secret}, {secret}"},
        {"added twice", {"sk-12345", "sk-12345"}, "sk-12345", "{secret}"},
        {"one begins another", {"sk-123", "sk-12345"}, "sk-12345 sk-123!", "{secret} {secret}!"},
        {"one within another", {"12345-abc", "k-12345-abcdef"}, "k-12345-abcdef", "{secret}"},
        {"overlapping", {"abcdefgh", "efghijkl"}, "abcdefghijkl", "{secret}"},
        {"chained", {"abcdefgh", "efghijkl", "ijklmnop"}, "<abcdefghijklmnop>", "<{secret}>"},
        {"chained, added last first",
         {"ijklmnop", "efghijkl", "abcdefgh"},
         "<abcdefghijklmnop>",
         "<{secret}>"},
        {"overlapping itself", {"ababab"}, "abababab!", "{secret}!"},
        {"a near miss", {"sk-12345"}, "sk-1234 sk-1234", "sk-1234 sk-1234"},
        {"too short to mask", {"abcde"}, "abcde", "abcde"},
        {"case counts", {"Secret-1"}, "secret-1", "secret-1"},
        {"quoted in JSON", {"a\"b\\c\nd"}, "{\"k\":\"a\\\"b\\\\c\\nd\"}", "{\"k\":\"{secret}\"}"},
        {"slashes escaped", {"ab/cd/ef"}, "ab\\/cd\\/ef ab/cd/ef", "{secret} {secret}"},
        {"not ASCII",
         {"p\xc3\xa4ssw\xc3\xb6rt"},
         "p\xc3\xa4ssw\xc3\xb6rt p\\u00e4ssw\\u00f6rt p\\u00E4ssw\\u00F6rt",
         "{secret} {secret} {secret}"},
        {"beyond the BMP", {"fish\xf0\x9f\x90\x9f"}, "fish\\ud83d\\udc1f", "{secret}"},
        {"control character",
         {"ab\x01"
          "cdef"},
         "ab\\u0001cdef",
         "{secret}"},
        {"no UTF-8 in the value",
         {"abc\xff"
          "def"},
         "abc" FFFD "def",
         "{secret}"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        CLEANUP(free_intake) struct intake *intake = with_secrets(rows[i].secrets);
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        intake_text(intake, str_of(rows[i].in), &out);
        CHECK_STR(out.data, rows[i].out);
        row_failed(failures, rows[i].name);
        buf_fini(&out);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void test_json(void)
{
    static const struct {
        const char *name, *in, *out;
    } rows[] = {
        {"as it is", "{ \"a\" : [1, 2.50, true, null, \"x\"] }",
         "{\"a\":[1,2.50,true,null,\"x\"]}"},
        {"digits stay", "[812345678901234567,18446744073709551617,1e400]",
         "[812345678901234567,18446744073709551617,1e400]"},
        {"lone high surrogate", "\"\\ud83d\"", "\"" FFFD "\""},
        {"lone low surrogate", "\"x\\uDC1Fy\"", "\"x" FFFD "y\""},
        {"two high ones and a low one", "\"\\ud83d\\ud83d\\udc1f\"",
         "\"" FFFD "\xf0\x9f\x90\x9f\""},
        {"a pair", "\"\\ud83d\\udc1f\"", "\"\xf0\x9f\x90\x9f\""},
        {"escaped backslash before u", "\"\\\\ud83d\"", "\"\\\\ud83d\""},
        {"half a pair at the end", "[\"\\ud83d\\u00", NULL},
        {"NUL in a string", "\"a\\u0000b\"", "\"a" FFFD "b\""},
        {"NUL in a name", "{\"a\\u0000\":1}", "{\"a" FFFD FFFD "\":1}"},
        {"bad bytes in a string", "\"\xf0\x9f\x98\"", "\"" FFFD "\""},
        {"secrets in values and names", "{\"sk-12345\":{\"k\":[\"Bearer sk-12345\"]}}",
         "{\"{secret}\":{\"k\":[\"Bearer {secret}\"]}}"},
        {"a secret number", "{\"pin\":99887766,\"n\":1}", "{\"pin\":\"{secret}\",\"n\":1}"},
        {"equal names", "{\"a\":1,\"a\":2}", "{\"a\":2}"},
        {"no JSON", "{\"a\":}", NULL},
        {"NaN", "NaN", NULL},
    };
    CLEANUP(free_intake)
    struct intake *intake = with_secrets((const char *const[]){"sk-12345", "99887766", NULL});
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        int status = intake_json(intake, str_of(rows[i].in), &out, NULL);
        CU_ASSERT_EQUAL(status, rows[i].out != NULL ? 0 : ERR_INVALID);
        CHECK_STR(out.data, rows[i].out != NULL ? rows[i].out : "");
        row_failed(failures, rows[i].name);
        buf_fini(&out);
    }
}

static struct buf nested(int depth)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < depth; i++)
        buf_add_char(&text, '[');
    for (int i = 0; i < depth; i++)
        buf_add_char(&text, ']');
    return text;
}

/* What a record could not be read with any more is not let in. */
static void test_json_limits(void)
{
    CLEANUP(free_intake) struct intake *intake = intake_new();
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct err err = {0};
    CLEANUP(buf_fini) struct buf deep = nested(INTAKE_MAX_DEPTH);
    CU_ASSERT_EQUAL(intake_json(intake, (gudgeon_str){deep.data, deep.len}, &out, &err), 0);
    CHECK_STR(out.data, deep.data);
    CLEANUP(buf_fini) struct buf deeper = nested(INTAKE_MAX_DEPTH + 1);
    CU_ASSERT_EQUAL(intake_json(intake, (gudgeon_str){deeper.data, deeper.len}, &out, &err),
                    ERR_LIMIT);
    CHECK_STR(err.text, "more than 256 levels or 262144 objects and arrays");
    CLEANUP(buf_fini) struct buf wide = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&wide, "[0");
    for (int i = 0; i < INTAKE_MAX_CONTAINERS; i++)
        buf_add_str(&wide, ",[]");
    buf_add_str(&wide, "]");
    CU_ASSERT_EQUAL(intake_json(intake, (gudgeon_str){wide.data, wide.len}, &out, &err), ERR_LIMIT);
}

/* ---- results -------------------------------------------------------------------------------- */

static void test_result(void)
{
    static const struct {
        const char *name, *in, *out;
    } rows[] = {
        {"short", "text\n", "text\n"},
        {"empty", "", "(no output)"},
        {"a newline", "\n", "(no output)"},
        {"blank", " \t\r\n\v\f", "(no output)"},
        {"NUL", "\xff", FFFD},
        {"exactly the cap", "0123456789012345678901234567890123456789",
         "0123456789012345678901234567890123456789"},
    };
    SETUP();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill = {.bytes = 1};
        CU_ASSERT_EQUAL(intake_result(intake, journal, str_of(rows[i].in), 40, &out, &spill, NULL),
                        0);
        CHECK_STR(out.data, rows[i].out);
        CHECK_STR(spill.blob, "");
        CU_ASSERT_EQUAL(spill.bytes, 0);
        row_failed(failures, rows[i].name);
        buf_fini(&out);
    }
    CLEANUP(free_ptr) char *blobs = xasprintf("%s/r/blobs", runs);
    CU_ASSERT_EQUAL(access(blobs, F_OK), -1);
}

static void test_cut(void)
{
    SETUP();
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    for (int i = 0; i < 20000; i++)
        buf_addf(&text, "%09d\n", i);
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct intake_spill spill;
    CU_ASSERT_EQUAL(
        intake_result(intake, journal, (gudgeon_str){text.data, text.len}, 80, &out, &spill, NULL),
        0);
    char name[DIGEST_HEX_SIZE];
    digest_of((gudgeon_str){text.data, text.len}, name);
    CHECK_STR(spill.blob, name);
    CU_ASSERT_EQUAL(spill.bytes, 200000);
    CLEANUP(free_ptr)
    char *expected =
        xasprintf("000000000\n000000001\n000000002\n000000003\n000000004\n000000005\n"
                  "[… 199,920 of 200,000 bytes left out; the whole is blob %s of this run …]\n"
                  "000019998\n000019999\n",
                  name);
    CHECK_STR(out.data, expected);
    CLEANUP(buf_fini) struct buf blob = scratch_read("%s/r/blobs/%s", runs, name);
    CHECK_STR(blob.data, text.data);
}

/* Every cap from nothing on: no character is cut, the sum is right. */
static void test_cut_everywhere(void)
{
    SETUP();
    static const char text[] =
        "a\xc3\xa9" EURO "\xf0\x9f\x90\x9f" EURO "\xc3\xa9z0123456789" EURO EURO
        "\xf0\x9f\x90\x9f\xf0\x9f\x90\x9f end" EURO;
    for (size_t max = 0; max < sizeof text - 1; max++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill;
        CU_ASSERT_EQUAL(intake_result(intake, journal, str_of(text), max, &out, &spill, NULL), 0);
        CU_ASSERT(utf8_is_valid(out.data, out.len));
        CU_ASSERT(strstr(out.data, FFFD) == NULL);
        const char *line = strstr(out.data, "[…");
        const char *end = strstr(out.data, "…]");
        CU_ASSERT_FATAL(line != NULL && end != NULL);
        size_t kept = (size_t)(line - out.data) + strlen(end) - sizeof "…]" + 1;
        CU_ASSERT(kept <= max + 2); /* the newlines around the line */
        buf_fini(&out);
    }
    CU_ASSERT_EQUAL(scratch_count("%s/r/blobs", runs), 1);
}

/* A secret at each place around both cuts leaves nothing of itself, nor on disk. */
static void test_no_half_secret(void)
{
    SETUP("SECRETVALUE", );
    for (size_t at = 0; at < 200; at++) {
        char text[212];
        memset(text, '.', sizeof text);
        memcpy(text + at, "SECRETVALUE", 11);
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill;
        CU_ASSERT_EQUAL(intake_result(intake, journal, (gudgeon_str){text, sizeof text}, 100, &out,
                                      &spill, NULL),
                        0);
        CU_ASSERT_PTR_NULL(strpbrk(out.data, "SECRTVALU"));
        CLEANUP(buf_fini) struct buf blob = scratch_read("%s/r/blobs/%s", runs, spill.blob);
        CU_ASSERT_PTR_NULL(strstr(blob.data, "SECRET"));
        CU_ASSERT_PTR_NOT_NULL(strstr(blob.data, "{secret}"));
        buf_fini(&out);
    }
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void test_blocks(void)
{
    static const struct {
        const char *name, *in, *out;
    } rows[] = {
        {"text", "[{\"type\":\"text\",\"text\":\"hi\"}]", "[{\"type\":\"text\",\"text\":\"hi\"}]"},
        {"none", "[]", "[{\"type\":\"text\",\"text\":\"(no output)\"}]"},
        {"blank ones only",
         "[{\"type\":\"text\",\"text\":\"\\n\"},{\"type\":\"text\",\"text\":\"\"}]",
         "[{\"type\":\"text\",\"text\":\"(no output)\"}]"},
        {"blank beside an image",
         "[{\"type\":\"text\",\"text\":\" \"},{\"type\":\"image\",\"data\":\"AA==\"}]",
         "[{\"type\":\"image\",\"data\":\"AA==\"}]"},
        {"unknown types and members are kept",
         "[{\"type\":\"chart\",\"x\":[1,2]},{\"type\":\"text\",\"text\":\"t\",\"more\":null}]",
         "[{\"type\":\"chart\",\"x\":[1,2]},{\"type\":\"text\",\"text\":\"t\",\"more\":null}]"},
        {"secrets anywhere",
         "[{\"type\":\"text\",\"text\":\"sk-12345\"},{\"type\":\"image\",\"url\":\"http://h/"
         "?k=sk-12345\"}]",
         "[{\"type\":\"text\",\"text\":\"{secret}\"},{\"type\":\"image\",\"url\":\"http://h/"
         "?k={secret}\"}]"},
        {"lone surrogate", "[{\"type\":\"text\",\"text\":\"\\ud83d\"}]",
         "[{\"type\":\"text\",\"text\":\"" FFFD "\"}]"},
        {"a resource keeps its blank text", "[{\"type\":\"resource\",\"text\":\"\"}]",
         "[{\"type\":\"resource\",\"text\":\"\"}]"},
    };
    SETUP("sk-12345", );
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill;
        CU_ASSERT_EQUAL(intake_blocks(intake, journal, str_of(rows[i].in), 100, &out, &spill, NULL),
                        0);
        CHECK_STR(out.data, rows[i].out);
        CHECK_STR(spill.blob, "");
        row_failed(failures, rows[i].name);
        buf_fini(&out);
    }
}

static void test_blocks_refused(void)
{
    static const struct {
        const char *in;
        int code;
        const char *error;
    } rows[] = {
        {"{}", ERR_INVALID, "content blocks: no array"},
        {"null", ERR_INVALID, "content blocks: no array"},
        {"[5]", ERR_INVALID, "content block 0 is no object with a \"type\""},
        {"[null]", ERR_INVALID, "content block 0 is no object with a \"type\""},
        {"[{\"type\":\"image\"},{\"text\":\"x\"}]", ERR_INVALID,
         "content block 1 is no object with a \"type\""},
        {"[{\"type\":\"text\",\"text\":5}]", ERR_INVALID,
         "content block 0 is text without \"text\""},
        {"[", ERR_INVALID, NULL},
    };
    SETUP();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill;
        struct err err = {0};
        CU_ASSERT_EQUAL(intake_blocks(intake, journal, str_of(rows[i].in), 100, &out, &spill, &err),
                        rows[i].code);
        if (rows[i].error != NULL)
            CHECK_STR(err.text, rows[i].error);
        CU_ASSERT_EQUAL(out.len, 0);
        buf_fini(&out);
    }
}

/* The texts of all blocks are cut as one: here 26 + 10 + 26 letters and two newlines, cap 16. */
static void test_blocks_cut(void)
{
    static const char blocks[] =
        "[{\"type\":\"text\",\"text\":\"abcdefghijklmnopqrstuvwxyz\"},"
        "{\"type\":\"image\",\"data\":\"AA==\"},{\"type\":\"text\",\"text\":\"0123456789\"},"
        "{\"type\":\"resource\",\"uri\":\"u:1\",\"text\":\"ABCDEFGHIJKLMNOPQRSTUVWXYZ\"}]";
    SETUP();
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct intake_spill spill;
    CU_ASSERT_EQUAL(intake_blocks(intake, journal, str_of(blocks), 16, &out, &spill, NULL), 0);
    CLEANUP(free_ptr)
    char *expected = xasprintf("[{\"type\":\"text\",\"text\":\"abcdefghijkl\\n[… 48 of 64 bytes "
                               "left out; the whole is blob "
                               "%s of this run …]\",\"blob\":\"%s\",\"bytes\":64},"
                               "{\"type\":\"image\",\"data\":\"AA==\"},"
                               "{\"type\":\"resource\",\"uri\":\"u:1\",\"text\":\"WXYZ\"}]",
                               spill.blob, spill.blob);
    CHECK_STR(out.data, expected);
    CLEANUP(buf_fini) struct buf blob = scratch_read("%s/r/blobs/%s", runs, spill.blob);
    CHECK_STR(blob.data, "abcdefghijklmnopqrstuvwxyz\n0123456789\nABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

/* One block is cut as a plain result is, and the cut may fall anywhere between blocks. */
static void test_blocks_cut_everywhere(void)
{
    static const char blocks[] = "[{\"type\":\"text\",\"text\":\"ab" EURO "\"},"
                                 "{\"type\":\"text\",\"text\":\"c\"},"
                                 "{\"type\":\"text\",\"text\":\"" EURO EURO "\"}]";
    SETUP();
    for (size_t max = 0; max < 14; max++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        struct intake_spill spill;
        CU_ASSERT_EQUAL(intake_blocks(intake, journal, str_of(blocks), max, &out, &spill, NULL), 0);
        const char *line = strstr(out.data, "[…");
        CU_ASSERT_FATAL(line != NULL);
        CU_ASSERT_PTR_NULL(strstr(line + 1, "[…"));
        CU_ASSERT_PTR_NULL(strstr(out.data, FFFD));
        CU_ASSERT_PTR_NULL(strstr(out.data, "\"text\":\"\""));
        buf_fini(&out);
    }
}

static void test_blocks_media(void)
{
    SETUP();
    CLEANUP(buf_fini) struct buf blocks = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(free_ptr) char *data = xmalloc(INTAKE_MAX_MEDIA);
    memset(data, 'A', INTAKE_MAX_MEDIA);
    buf_add_str(&blocks, "[{\"type\":\"image\",\"data\":\"AA==\"},{\"type\":\"image\",\"data\":\"");
    buf_add(&blocks, data, INTAKE_MAX_MEDIA);
    buf_add_str(&blocks, "\"},{\"type\":\"text\",\"text\":\"seen\"}]");
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct intake_spill spill;
    CU_ASSERT_EQUAL(intake_blocks(intake, journal, (gudgeon_str){blocks.data, blocks.len}, 1000,
                                  &out, &spill, NULL),
                    0);
    CU_ASSERT(starts_with(out.data,
                          "[{\"type\":\"image\",\"data\":\"AA==\"},{\"type\":\"text\",\"text\":"
                          "\"[image of 16,777,242 bytes left out; the whole is blob "));
    CU_ASSERT(ends_with(out.data, " of this run]\"},{\"type\":\"text\",\"text\":\"seen\"}]"));
    CU_ASSERT_EQUAL(scratch_count("%s/r/blobs", runs), 1);
}

/* ---- texts that were cut, and texts in parts ------------------------------------------------- */

static void test_mask_cut(void)
{
    static const struct {
        const char *name;
        const char *secrets[4];
        const char *in, *out;
    } rows[] = {
        {"whole", {"sk-123456789"}, "key sk-123456789.", "key {secret}."},
        {"cut at the end", {"sk-123456789"}, "key sk-12345678", "key {secret}"},
        {"cut before dots",
         {"sk-123456789"},
         "key sk-1234567… (is it right?)",
         "key {secret}… (is it right?)"},
        {"cut twice", {"sk-123456789"}, "sk-1234567… sk-123456", "{secret}… {secret}"},
        {"half of it", {"sk-123456789"}, "sk-123", "{secret}"},
        {"less than half", {"sk-123456789"}, "sk-12", "sk-12"},
        {"less than half of a long one", {"development-key"}, "we develop", "we develop"},
        {"not at the end", {"sk-123456789"}, "sk-1234567 and so on", "sk-1234567 and so on"},
        {"as JSON escapes it", {"sk-\"12345678"}, "key sk-\\\"12345", "key {secret}"},
        {"of two", {"sk-123456789", "sk-12345abcdef"}, "sk-12345abc", "{secret}"},
        {"of a repeating one", {"abababab"}, "xabababa", "x{secret}"},
        {"nothing", {"sk-123456789"}, "", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        CLEANUP(free_intake) struct intake *intake = with_secrets(rows[i].secrets);
        CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
        CU_ASSERT_EQUAL(intake_cut_text(intake, str_of(rows[i].in), &out), 0);
        CHECK_STR(out.data, rows[i].out);
        row_failed(failures, rows[i].name);
    }
}

static void test_finds(void)
{
    CLEANUP(free_intake)
    struct intake *intake = with_secrets((const char *const[]){"sk-\"12345", NULL});
    CU_ASSERT_TRUE(intake_finds_secret(intake, str_of("a sk-\"12345")));
    CU_ASSERT_TRUE(intake_finds_secret(intake, str_of("{\"a\":\"sk-\\\"12345\"}")));
    CU_ASSERT_FALSE(intake_finds_secret(intake, str_of("sk-\"1234")));
    CU_ASSERT_FALSE(intake_finds_secret(intake, (gudgeon_str){NULL, 0}));
}

/* A text cut into parts at every place, and into single bytes, is masked as a whole one is. */
static void test_stream(void)
{
    static const struct {
        const char *name;
        const char *secrets[4];
        const char *in, *out;
    } rows[] = {
        {"one", {"sk-12345"}, "key sk-12345 ok", "key {secret} ok"},
        {"a near miss", {"sk-12345"}, "sk-1234 sk-1234x", "sk-1234 sk-1234x"},
        {"alone", {"sk-12345"}, "sk-12345", "{secret}"},
        {"one that begins another", {"abcdef", "abcdefghijkl"}, "abcdefghijkl", "{secret}"},
        {"one that begins another, alone", {"abcdef", "abcdefghijkl"}, "abcdefgh", "{secret}gh"},
        {"overlapping", {"abcdefgh", "efghijkl"}, "<abcdefghijkl>", "<{secret}>"},
        {"ends as it begins", {"abcdea"}, "abcdea abcdeabcdea.", "{secret} {secret}."},
        {"repeating", {"aaaaaa"}, "aaaaaaaaaaaaaa", "{secret}"},
        {"cut at the end", {"sk-123456789"}, "key sk-12345678", "key {secret}"},
        {"not ours", {"sk-123456789"}, "sk-", "sk-"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        unsigned failures = CU_get_number_of_failures();
        CLEANUP(free_intake) struct intake *intake = with_secrets(rows[i].secrets);
        size_t len = strlen(rows[i].in);
        for (size_t cut = 0; cut <= len + 1; cut++) { /* len + 1: into single bytes */
            CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
            struct mask_stream stream = {.held = BUF_INIT(0)};
            for (size_t at = 0, n; at < len; at += n) {
                n = cut > len ? 1 : at < cut ? cut - at : len - at;
                intake_stream_add(intake, &stream, (gudgeon_str){rows[i].in + at, n}, &out);
            }
            intake_stream_end(intake, &stream, &out);
            CHECK_STR(out.data, rows[i].out);
        }
        row_failed(failures, rows[i].name);
    }
}

/* What can be no beginning of a secret is shown at once. */
static void test_stream_is_prompt(void)
{
    CLEANUP(free_intake)
    struct intake *intake = with_secrets((const char *const[]){"sk-12345", NULL});
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct mask_stream stream = {.held = BUF_INIT(0)};
    intake_stream_add(intake, &stream, str_of("the desk"), &out);
    CHECK_STR(out.data, "the de");
    intake_stream_add(intake, &stream, str_of(" is"), &out);
    CHECK_STR(out.data, "the desk i");
    intake_stream_end(intake, &stream, &out);
    CHECK_STR(out.data, "the desk is");
}

int main(void)
{
    UNIT_MAIN("intake", {"text is made UTF-8", test_text}, {"masking", test_mask},
              {"masking what was cut", test_mask_cut}, {"finding", test_finds},
              {"a text in parts", test_stream}, {"parts are shown at once", test_stream_is_prompt},
              {"JSON values", test_json}, {"JSON that is too large", test_json_limits},
              {"results", test_result}, {"a long result is cut", test_cut},
              {"cuts are between characters", test_cut_everywhere},
              {"no cut leaves half a secret", test_no_half_secret}, {"blocks", test_blocks},
              {"no blocks", test_blocks_refused}, {"blocks are cut as one text", test_blocks_cut},
              {"blocks cut anywhere", test_blocks_cut_everywhere},
              {"large media go to blobs", test_blocks_media});
}
