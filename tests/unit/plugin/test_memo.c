/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "base/str.h"
#include "plugin/call.h"
#include "plugin/call_op.h"
#include "plugin/memo.h"
#include "plugin/service.h"
#include "unit.h"

#include <pthread.h>
#include <stdlib.h>

static struct memo_key key_of(unsigned kind, uint64_t subject, const char *variant)
{
    return (struct memo_key){kind, subject, str_of(variant)};
}

static bool put(struct memo *memo, struct memo_key key, const char *bytes)
{
    struct memo_entry *entry = memo_put(memo, &key, str_of(bytes));
    if (entry == NULL)
        return false;
    CHECK_STR(memo_bytes(entry).ptr, bytes);
    memo_unref(memo, &entry, 1);
    return true;
}

static bool holds(struct memo *memo, struct memo_key key, const char *bytes)
{
    struct memo_entry *entry = memo_get(memo, &key);
    if (entry == NULL)
        return bytes == NULL;
    bool same = bytes != NULL && str_is(memo_bytes(entry), bytes);
    memo_unref(memo, &entry, 1);
    return same;
}

static void test_keys(void)
{
    struct memo *memo = memo_new(1 << 20);
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "v"), NULL));
    CU_ASSERT_TRUE(put(memo, key_of(1, 7, "v"), "a"));
    CU_ASSERT_TRUE(put(memo, key_of(1, 7, "w"), "b"));
    CU_ASSERT_TRUE(put(memo, key_of(1, 7, NULL), "c"));
    CU_ASSERT_TRUE(put(memo, key_of(2, 7, "v"), "d"));
    CU_ASSERT_TRUE(put(memo, key_of(1, 8, "v"), ""));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "v"), "a"));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "w"), "b"));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, ""), "c"));
    CU_ASSERT_TRUE(holds(memo, key_of(2, 7, "v"), "d"));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 8, "v"), ""));
    CU_ASSERT_TRUE(put(memo, key_of(1, 7, "v"), "replaced"));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "v"), "replaced"));
    memo_forget(memo, 1, 7);
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "v"), NULL));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, "w"), NULL));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 7, NULL), NULL));
    CU_ASSERT_TRUE(holds(memo, key_of(2, 7, "v"), "d"));
    CU_ASSERT_TRUE(holds(memo, key_of(1, 8, "v"), ""));
    memo_free(memo);
    memo_free(NULL);
}

static struct memo_key numbered(unsigned i)
{
    return key_of(1 + i % 2, i / 2, "v");
}

static void test_many(void)
{
    struct memo *memo = memo_new(1 << 24);
    char text[32];
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "%u", i);
        wrong += !put(memo, numbered(i), text);
    }
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "%u", i);
        wrong += !holds(memo, numbered(i), text);
        if (i % 3 == 0)
            memo_forget(memo, 1 + i % 2, i / 2);
    }
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "%u", i);
        wrong += !holds(memo, numbered(i), i % 3 == 0 ? NULL : text);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    memo_free(memo);
}

static void test_cap(void)
{
    CLEANUP(free_ptr) char *half = xcalloc(1, 600);
    memset(half, 'x', 599);
    struct memo *memo = memo_new(1000);
    CU_ASSERT_TRUE(put(memo, key_of(1, 1, "v"), half));
    CU_ASSERT_FALSE(put(memo, key_of(1, 2, "v"), half));
    CU_ASSERT_TRUE(put(memo, key_of(1, 1, "v"), half)); /* it makes its own room */
    CU_ASSERT_TRUE(holds(memo, key_of(1, 1, "v"), half));
    memo_forget(memo, 1, 1);
    CU_ASSERT_TRUE(put(memo, key_of(1, 2, "v"), half));
    /* Declined: what stood under the key is out of date and must be gone. */
    const struct memo_key key = key_of(1, 2, "v");
    CU_ASSERT_PTR_NULL(memo_put(memo, &key, (gudgeon_str){half, SIZE_MAX}));
    CU_ASSERT_TRUE(holds(memo, key, NULL));
    memo_free(memo);
}

static void test_references(void)
{
    struct memo *memo = memo_new(1 << 20);
    const struct memo_key key = key_of(1, 1, "v");
    struct memo_entry *first = memo_put(memo, &key, str_of("first"));
    struct memo_entry *again = memo_get(memo, &key);
    CU_ASSERT_PTR_EQUAL(first, again);
    struct memo_entry *second = memo_put(memo, &key, str_of("second"));
    memo_unref(memo, &again, 1);
    CHECK_STR(memo_bytes(first).ptr, "first");
    memo_forget(memo, 1, 1);
    CHECK_STR(memo_bytes(second).ptr, "second");
    memo_unref(memo, &first, 1);
    memo_unref(memo, &second, 1);
    memo_free(memo);
}

/* ---- through the service --------------------------------------------------------------------- */

static void test_service(void)
{
    struct service_scope scope;
    CU_ASSERT_EQUAL(
        service_scope_init(&scope, &(struct service_scope_options){.kind = KIND_MODEL}, NULL), 0);
    struct call *call = call_new(&(struct call_options){0});
    const gudgeon_call *abi = call_abi(call);
    call_begin(call, &(struct call_op){.scope = &scope});
    const gudgeon_str variant = str_of("v");
    CU_ASSERT_PTR_NULL(service_memo.get(abi, 1, 1, variant).ptr);
    char bytes[] = "one";
    gudgeon_str one = service_memo.put(abi, 1, 1, variant, str_of(bytes));
    bytes[0] = 'X';
    CHECK_STR(one.ptr, "one");
    gudgeon_str two = service_memo.put(abi, 1, 1, variant, str_of("two"));
    for (int i = 0; i < 1000; i++)
        CU_ASSERT_PTR_EQUAL(service_memo.get(abi, 1, 1, variant).ptr, two.ptr);
    memo_forget(scope.memo, 1, 1);
    CHECK_STR(one.ptr, "one"); /* borrowed until the op returns, whatever happened to it */
    CHECK_STR(two.ptr, "two");
    CU_ASSERT_PTR_NULL(service_memo.get(abi, 1, 1, variant).ptr);
    CU_ASSERT_PTR_NULL(service_memo.put(abi, 1, 1, variant, (gudgeon_str){NULL, 0}).ptr);
    CU_ASSERT_PTR_NULL(service_memo.put(abi, 1, 1, (gudgeon_str){NULL, 1}, variant).ptr);
    CU_ASSERT_EQUAL(call_end(call, GUDGEON_OK), 0);
    CU_ASSERT_PTR_NULL(service_memo.put(abi, 1, 1, variant, str_of("after the end")).ptr);
    call_free(call);
    service_scope_fini(&scope);
}

static void *work(void *payload)
{
    struct memo *memo = payload;
    for (unsigned i = 0; i < 3000; i++) {
        const struct memo_key key = key_of(1, i % 50, "v");
        struct memo_entry *entry = memo_get(memo, &key);
        if (entry == NULL)
            entry = memo_put(memo, &key, str_of("same"));
        CU_ASSERT_TRUE(str_is(memo_bytes(entry), "same"));
        if (i % 7 == 0)
            memo_forget(memo, 1, i % 50);
        memo_unref(memo, &entry, 1);
    }
    return NULL;
}

static void test_threads(void)
{
    struct memo *memo = memo_new(1 << 20);
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, work, memo);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    memo_free(memo);
}

int main(void)
{
    UNIT_MAIN("memo", {"kind, subject and variant", test_keys}, {"many entries", test_many},
              {"the cap", test_cap}, {"entries outlive their place", test_references},
              {"gudgeon.memo/1", test_service}, {"several threads", test_threads});
}
