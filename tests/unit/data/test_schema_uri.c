/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/str.h"
#include "data/schema_uri.h"
#include "unit.h"

/* RFC 3986 §5.4, and what schemas have besides. */
static void test_resolve(void)
{
    static const char base[] = "http://a/b/c/d;p?q";
    static const struct {
        const char *base, *reference, *target;
    } rows[] = {
        {base, "g:h", "g:h"},
        {base, "g", "http://a/b/c/g"},
        {base, "./g", "http://a/b/c/g"},
        {base, "g/", "http://a/b/c/g/"},
        {base, "/g", "http://a/g"},
        {base, "//g", "http://g"},
        {base, "?y", "http://a/b/c/d;p?y"},
        {base, "g?y", "http://a/b/c/g?y"},
        {base, ";x", "http://a/b/c/;x"},
        {base, "", "http://a/b/c/d;p?q"},
        {base, ".", "http://a/b/c/"},
        {base, "..", "http://a/b/"},
        {base, "../g", "http://a/b/g"},
        {base, "../../g", "http://a/g"},
        {base, "../../../g", "http://a/g"},
        {base, "/../g", "http://a/g"},
        {base, "g..", "http://a/b/c/g.."},
        {base, "./g/.", "http://a/b/c/g/"},
        {base, "g/../h", "http://a/b/c/h"},
        {"http://h", "x", "http://h/x"},
        {"", "x.json", "x.json"},
        {"", "", ""},
        {"dir/x.json", "y.json", "dir/y.json"},
        {"dir/x.json", "../y.json", "y.json"},
        {"urn:uuid:1", "", "urn:uuid:1"},
        {base, "urn:x:../y", "urn:x:../y"},
        {base, "1x:y", "http://a/b/c/1x:y"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr)
        char *target = schema_uri_resolve(rows[i].base, str_of(rows[i].reference));
        CHECK_STR(target, rows[i].target);
    }
    char long_name[SCHEMA_URI_MAX + 2];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    CU_ASSERT_PTR_NULL(schema_uri_resolve("", str_of(long_name)));
}

static void test_split_and_decode(void)
{
    gudgeon_str fragment;
    gudgeon_str before = schema_uri_split(str_of("x#/a%20b%zz%4"), &fragment);
    CU_ASSERT(str_is(before, "x"));
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    schema_uri_decode(&out, fragment);
    CHECK_STR(out.data, "/a b%zz%4");
    buf_reset(&out);
    schema_pointer_add(&out, "a/b~c");
    CHECK_STR(out.data, "/a~1b~0c");
    buf_fini(&out);
    before = schema_uri_split(str_of("x"), &fragment);
    CU_ASSERT(str_is(before, "x"));
    CU_ASSERT_PTR_NULL(fragment.ptr);
    schema_uri_split(str_of("#"), &fragment);
    CU_ASSERT_PTR_NOT_NULL(fragment.ptr);
}

int main(void)
{
    UNIT_MAIN("schema uri", {"references are resolved", test_resolve},
              {"fragments and pointers", test_split_and_decode});
}
