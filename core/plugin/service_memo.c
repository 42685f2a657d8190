/* SPDX-License-Identifier: MIT */
#include "plugin/service.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "plugin/call_op.h"
#include "plugin/memo.h"

/* The entries that one call has borrowed. */
struct borrowed {
    struct call_resource resource;
    struct memo *memo;
    struct memo_entry **entries;
    size_t count, capacity;
};

static void give_back(struct call_resource *resource)
{
    struct borrowed *borrowed = (struct borrowed *)resource;
    memo_unref(borrowed->memo, borrowed->entries, borrowed->count);
    free(borrowed->entries);
    free(borrowed);
}

static struct borrowed *borrowed_of(struct call *call)
{
    struct borrowed *borrowed = (struct borrowed *)call_find(call, give_back);
    if (borrowed != NULL)
        return borrowed;
    borrowed = xcalloc(1, sizeof *borrowed);
    borrowed->resource.release = give_back;
    borrowed->memo = call_scope(call)->memo;
    call_own(call, &borrowed->resource);
    return borrowed;
}

/* Lends the entry, whose reference the caller gives over, until the op returns. */
static gudgeon_str lend(struct call *call, struct memo_entry *take_entry)
{
    if (take_entry == NULL)
        return (gudgeon_str){NULL, 0};
    struct borrowed *borrowed = borrowed_of(call);
    if (borrowed->count == borrowed->capacity) {
        borrowed->capacity = borrowed->capacity > 0 ? 2 * borrowed->capacity : 64;
        borrowed->entries =
            xreallocarray(borrowed->entries, borrowed->capacity, sizeof(struct memo_entry *));
    }
    borrowed->entries[borrowed->count++] = take_entry;
    return memo_bytes(take_entry);
}

/* The cache that the call may use, or NULL. */
static struct memo *memo_of(struct call *call, gudgeon_str variant)
{
    if (call == NULL || call_scope(call) == NULL || (variant.ptr == NULL && variant.len > 0))
        return NULL;
    return call_scope(call)->memo;
}

static gudgeon_str get(const gudgeon_call *abi, uint32_t kind, uint64_t subject,
                       gudgeon_str variant)
{
    struct call *call = call_of(abi);
    struct memo *memo = memo_of(call, variant);
    const struct memo_key key = {kind, subject, variant};
    return memo != NULL ? lend(call, memo_get(memo, &key)) : (gudgeon_str){NULL, 0};
}

static gudgeon_str put(const gudgeon_call *abi, uint32_t kind, uint64_t subject,
                       gudgeon_str variant, gudgeon_str bytes)
{
    struct call *call = call_of(abi);
    struct memo *memo = memo_of(call, variant);
    const struct memo_key key = {kind, subject, variant};
    if (memo == NULL || bytes.ptr == NULL)
        return (gudgeon_str){NULL, 0};
    return lend(call, memo_put(memo, &key, bytes));
}

const gudgeon_memo service_memo = {.size = sizeof service_memo, .get = get, .put = put};
