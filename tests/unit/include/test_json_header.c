/* SPDX-License-Identifier: MIT */
#include <gudgeon/json.h>

#include "suites.h"
#include "unit.h"

static gudgeon_str text(const char *s)
{
    return gudgeon_text(s);
}

static void expect(gudgeon_str have, const char *want)
{
    int same = have.ptr != NULL ? want != NULL && gudgeon_is(have, want) : want == NULL;
    if (!same)
        printf("#   have: %.*s\n#   want: %s\n", (int)have.len, have.ptr ? have.ptr : "(absent)",
               want ? want : "(absent)");
    CU_ASSERT(same);
}

/* ---- scanning ------------------------------------------------------------------------------ */

static void test_scan(void)
{
    static const struct {
        const char *in;
        int strict, lax;
    } rows[] = {
        {"{}", GUDGEON_JSON_SOUND, GUDGEON_JSON_SOUND},
        {" [1, -0.5e+7, true ,false,null,\"a\\u00e9\\n\"] \n", GUDGEON_JSON_SOUND,
         GUDGEON_JSON_SOUND},
        {"", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"{\"a\":\"part", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"{\"a\":1", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"[1,", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"\"\\u00", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"tru", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"1e", GUDGEON_JSON_CUT, GUDGEON_JSON_CUT},
        {"{\"path\": /tmp", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"{\"a\":1}{\"b\":2}", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"[1,]", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"{'a':1}", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"NaN", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"01", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
        {"\"a\nb\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_SOUND},
        {"\"\xe4\xbd\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_SOUND},
        {"\"\xed\xa0\x80\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_SOUND},
        {"\"\xc0\x80\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_SOUND},
        {"\"\xf4\x90\x80\x80\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_SOUND},
        {"\"\\x\"", GUDGEON_JSON_BROKEN, GUDGEON_JSON_BROKEN},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CU_ASSERT_EQUAL(gudgeon_json_scan(text(rows[i].in), 0), rows[i].strict);
        CU_ASSERT_EQUAL(gudgeon_json_scan(text(rows[i].in), GUDGEON_JSON_LAX), rows[i].lax);
    }
    gudgeon_str absent = {NULL, 0}, with_nul = {"{}\0", 3};
    CU_ASSERT_EQUAL(gudgeon_json_scan(absent, 0), GUDGEON_JSON_CUT);
    CU_ASSERT_EQUAL(gudgeon_json_scan(with_nul, 0), GUDGEON_JSON_BROKEN);
}

static void test_depth(void)
{
    char nested[2 * GUDGEON_JSON_DEPTH + 3];
    for (int deeper = 0; deeper <= 1; deeper++) {
        size_t levels = (size_t)GUDGEON_JSON_DEPTH + (size_t)deeper;
        memset(nested, '[', levels);
        memset(nested + levels, ']', levels);
        gudgeon_str all = {nested, 2 * levels};
        CU_ASSERT_EQUAL(gudgeon_json_scan(all, 0),
                        deeper ? GUDGEON_JSON_BROKEN : GUDGEON_JSON_SOUND);
        CU_ASSERT_EQUAL(gudgeon_json_root(all).len, all.len);
    }
}

/* ---- walking ------------------------------------------------------------------------------- */

static void test_look_up(void)
{
    gudgeon_str root = gudgeon_json_root(
        text(" { \"a\" : [ 1 , {\"b\\\"}\":\"x]\"} ,\"two\"],\"n\":-1.50,\"e\":\"\" , \"a\":3} "));
    expect(gudgeon_json_get(root, "a"), "[ 1 , {\"b\\\"}\":\"x]\"} ,\"two\"]");
    expect(gudgeon_json_item(gudgeon_json_get(root, "a"), 0), "1");
    expect(gudgeon_json_item(gudgeon_json_get(root, "a"), 1), "{\"b\\\"}\":\"x]\"}");
    expect(gudgeon_json_inner(gudgeon_json_item(gudgeon_json_get(root, "a"), 2)), "two");
    expect(gudgeon_json_item(gudgeon_json_get(root, "a"), 3), NULL);
    expect(gudgeon_json_get(root, "n"), "-1.50");
    expect(gudgeon_json_inner(gudgeon_json_get(root, "e")), "");
    expect(gudgeon_json_inner(gudgeon_json_get(root, "n")), NULL);
    expect(gudgeon_json_get(gudgeon_json_get(root, "none"), "deeper"), NULL);
    expect(gudgeon_json_get(gudgeon_json_get(root, "a"), "a"), NULL);
    expect(gudgeon_json_item(root, 0), NULL);
    expect(gudgeon_json_get(text("{}"), "a"), NULL);
    CU_ASSERT(gudgeon_json_is(gudgeon_json_item(text("[\"two\"]"), 0), "two"));
    CU_ASSERT(!gudgeon_json_is(text("2"), "2"));
    CU_ASSERT(gudgeon_json_is_true(text("true")) && !gudgeon_json_is_true(text("\"true\"")));
    CU_ASSERT_EQUAL(gudgeon_json_kind(text("-1")), '0');
    CU_ASSERT_EQUAL(gudgeon_json_kind(text("null")), 'n');
    CU_ASSERT_EQUAL(gudgeon_json_kind((gudgeon_str){NULL, 0}), 0);
}

static void test_pick(void)
{
    static const char *const keys[] = {"b", "none", "a", "b c"};
    gudgeon_str values[COUNT_OF(keys)];
    gudgeon_json_pick(text("{\"a\":[1],\"b\" : 2,\"a\":3,\"\\u0062 c\":{\"none\":1}}"), keys,
                      COUNT_OF(keys), values);
    expect(values[0], "2");
    expect(values[1], NULL);
    expect(values[2], "[1]");
    expect(values[3], "{\"none\":1}");
    gudgeon_json_pick(text("[\"a\"]"), keys, COUNT_OF(keys), values);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        expect(values[i], NULL);
}

static void test_each(void)
{
    gudgeon_json_iter iter = gudgeon_json_each(text("{\"a\":1, \"b\" : [2,3] ,\"c\":{}}"));
    gudgeon_str key, value;
    static const char *const want[][2] = {{"a", "1"}, {"b", "[2,3]"}, {"c", "{}"}};
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        CU_ASSERT(gudgeon_json_next(&iter, &key, &value));
        expect(key, want[i][0]);
        expect(value, want[i][1]);
    }
    CU_ASSERT(!gudgeon_json_next(&iter, &key, &value));
    CU_ASSERT(!gudgeon_json_next(&iter, &key, &value));
    iter = gudgeon_json_each(text("\"[1]\""));
    CU_ASSERT(!gudgeon_json_next(&iter, NULL, &value));
}

static void test_numbers(void)
{
    static const struct {
        const char *in;
        int ok;
        uint64_t out;
    } rows[] = {
        {"0", 1, 0},
        {"12.0", 1, 12},
        {"18446744073709551615", 1, UINT64_MAX},
        {"18446744073709551616", 0, 0},
        {"-1", 0, 0},
        {"1.5", 0, 0},
        {"1e3", 0, 0},
        {"\"7\"", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t number = 0;
        CU_ASSERT_EQUAL(gudgeon_json_u64(text(rows[i].in), &number), rows[i].ok);
        CU_ASSERT_EQUAL(number, rows[i].out);
    }
}

/* ---- strings ------------------------------------------------------------------------------- */

static void test_decode(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {"a\\\"b\\\\c\\/d\\n\\t\\u0041\\u00e9\\u4f60", "a\"b\\c/d\n\tA\xc3\xa9\xe4\xbd\xa0"},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
        {"\\ud83d", "\xef\xbf\xbd"},
        {"\\ud83dx\\ude00", "\xef\xbf\xbdx\xef\xbf\xbd"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gudgeon_buf out = {0};
        gudgeon_json_decode(text(rows[i].in), &out);
        expect(gudgeon_buf_str(&out), rows[i].out);
        gudgeon_buf_free(&out);
    }
}

static void test_quote(void)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\""},
        {"a\"b\\\n\x01\x7f\xc3\xa9", "\"a\\\"b\\\\\\n\\u0001\x7f\xc3\xa9\""},
        {"x\xf0\x9f\x98", "\"x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        gudgeon_buf out = {0};
        gudgeon_buf_quote(&out, text(rows[i].in));
        expect(gudgeon_buf_str(&out), rows[i].out);
        CU_ASSERT_EQUAL(gudgeon_json_scan(gudgeon_buf_str(&out), 0), GUDGEON_JSON_SOUND);
        gudgeon_buf_free(&out);
    }
}

static void test_cap(void)
{
    gudgeon_buf out = {.max = 4};
    gudgeon_buf_puts(&out, "abc");
    gudgeon_buf_puts(&out, "de");
    CU_ASSERT(out.failed);
    gudgeon_buf_puts(&out, "f");
    expect(gudgeon_buf_str(&out), "abc");
    gudgeon_buf_reset(&out);
    gudgeon_buf_puts(&out, "abcd");
    CU_ASSERT(!out.failed);
    expect(gudgeon_buf_str(&out), "abcd");
    gudgeon_buf_free(&out);
}

/* ---- the public suite ---------------------------------------------------------------------- */

struct counts {
    int sound, broken, wrong;
};

/* Walks everything, to show that no text makes the reader leave it. */
static size_t walk(gudgeon_str value, int levels)
{
    gudgeon_json_iter iter = gudgeon_json_each(value);
    gudgeon_str key, member;
    size_t total = 1;
    while (levels > 0 && gudgeon_json_next(&iter, &key, &member)) {
        CU_ASSERT(member.ptr >= value.ptr && member.ptr + member.len <= value.ptr + value.len);
        total += walk(member, levels - 1);
    }
    gudgeon_buf out = {0};
    gudgeon_json_decode(gudgeon_json_inner(value), &out);
    gudgeon_buf_free(&out);
    return total;
}

static void run_suite_file(const char *path, const char *name, void *payload)
{
    struct counts *counts = payload;
    struct buf file = BUF_INIT(1 << 20);
    CU_ASSERT_EQUAL(suite_read(path, &file), 0);
    /* A copy of the exact size, so that a sanitizer sees one byte too many. */
    char *copy = xmalloc(file.len > 0 ? file.len : 1);
    memcpy(copy, file.data, file.len);
    gudgeon_str all = {copy, file.len};
    int sound = gudgeon_json_scan(all, 0) == GUDGEON_JSON_SOUND;
    walk(gudgeon_json_root(all), 40);
    counts->sound += name[0] == 'y' && sound;
    counts->broken += name[0] == 'n' && !sound;
    if ((name[0] == 'y' && !sound) || (name[0] == 'n' && sound)) {
        printf("# %s: %s\n", name, sound ? "taken" : "refused");
        counts->wrong++;
    }
    free(copy);
    buf_fini(&file);
}

static void test_suite(void)
{
    CLEANUP(free_ptr) char *path = suite_path("json/test_parsing");
    if (path == NULL)
        return;
    struct counts counts = {0};
    suite_each(path, run_suite_file, &counts);
    printf("# JSON suite: %d taken that must be, %d refused that must be\n", counts.sound,
           counts.broken);
    CU_ASSERT(counts.sound >= 95 && counts.broken >= 188 && counts.wrong == 0);
}

int main(void)
{
    UNIT_MAIN("json header", {"sound, cut short or broken", test_scan},
              {"depth is bounded", test_depth}, {"look-ups chain", test_look_up},
              {"several members at once", test_pick}, {"going over members", test_each},
              {"integers", test_numbers}, {"strings are decoded", test_decode},
              {"strings are quoted", test_quote}, {"a buffer stops at its cap", test_cap},
              {"the public suite", test_suite});
}
