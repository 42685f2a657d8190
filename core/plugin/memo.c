/* SPDX-License-Identifier: MIT */
#include "plugin/memo.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"

enum { FIRST_BUCKETS = 64 };

struct memo_entry {
    struct memo_entry *next; /* in its bucket */
    uint64_t subject;
    unsigned kind;
    unsigned references; /* the table's own counts as one */
    size_t variant_len;
    size_t len;
    char text[]; /* variant, NUL, bytes, NUL */
};

struct memo {
    pthread_mutex_t lock;
    size_t max_bytes;
    size_t bytes; /* of the entries in the table, their structs included */
    struct memo_entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
};

struct memo *memo_new(size_t max_bytes)
{
    struct memo *memo = xcalloc(1, sizeof *memo);
    pthread_mutex_init(&memo->lock, NULL);
    memo->max_bytes = max_bytes;
    memo->bucket_count = FIRST_BUCKETS;
    memo->buckets = xcalloc(memo->bucket_count, sizeof *memo->buckets);
    return memo;
}

static size_t size_of(size_t variant_len, size_t len)
{
    return sizeof(struct memo_entry) + variant_len + 1 + len + 1;
}

/* All variants of a subject stand in one bucket, so that forgetting looks at one. Ids are counted
 * up by the host, so mixing their bits by one odd factor (2^64 / golden ratio) spreads them. */
static struct memo_entry **bucket_of(const struct memo *memo, unsigned kind, uint64_t subject)
{
    uint64_t mixed = (subject * 2 + (kind & 1)) * UINT64_C(0x9e3779b97f4a7c15);
    return &memo->buckets[(mixed >> 32) & (memo->bucket_count - 1)];
}

static gudgeon_str variant_of(const struct memo_entry *entry)
{
    return (gudgeon_str){entry->text, entry->variant_len};
}

static bool is_of(const struct memo_entry *entry, unsigned kind, uint64_t subject)
{
    return entry->kind == kind && entry->subject == subject;
}

/* Where the entry hangs; *result is NULL when there is none. */
static struct memo_entry **find(const struct memo *memo, const struct memo_key *key)
{
    struct memo_entry **at = bucket_of(memo, key->kind, key->subject);
    while (*at != NULL &&
           !(is_of(*at, key->kind, key->subject) && str_same(variant_of(*at), key->variant)))
        at = &(*at)->next;
    return at;
}

static void drop_reference(struct memo_entry *entry)
{
    assert(entry->references > 0);
    if (--entry->references == 0)
        free(entry);
}

static void unlink_entry(struct memo *memo, struct memo_entry **at)
{
    struct memo_entry *entry = *at;
    *at = entry->next;
    memo->bytes -= size_of(entry->variant_len, entry->len);
    memo->count--;
    drop_reference(entry);
}

static void grow(struct memo *memo)
{
    struct memo_entry **old = memo->buckets;
    size_t old_count = memo->bucket_count;
    memo->bucket_count *= 2;
    memo->buckets = xcalloc(memo->bucket_count, sizeof *memo->buckets);
    for (size_t i = 0; i < old_count; i++)
        while (old[i] != NULL) {
            struct memo_entry *entry = old[i];
            old[i] = entry->next;
            struct memo_entry **bucket = bucket_of(memo, entry->kind, entry->subject);
            entry->next = *bucket;
            *bucket = entry;
        }
    free(old);
}

static struct memo_entry *link_copy(struct memo *memo, const struct memo_key *key,
                                    gudgeon_str bytes)
{
    if (memo->count >= memo->bucket_count)
        grow(memo);
    struct memo_entry *entry = xcalloc(1, size_of(key->variant.len, bytes.len));
    entry->kind = key->kind;
    entry->subject = key->subject;
    entry->references = 2; /* the table and the caller */
    entry->variant_len = key->variant.len;
    entry->len = bytes.len;
    if (key->variant.len > 0)
        memcpy(entry->text, key->variant.ptr, key->variant.len);
    if (bytes.len > 0)
        memcpy(entry->text + key->variant.len + 1, bytes.ptr, bytes.len);
    struct memo_entry **bucket = bucket_of(memo, key->kind, key->subject);
    entry->next = *bucket;
    *bucket = entry;
    memo->bytes += size_of(entry->variant_len, entry->len);
    memo->count++;
    return entry;
}

struct memo_entry *memo_get(struct memo *memo, const struct memo_key *key)
{
    pthread_mutex_lock(&memo->lock);
    struct memo_entry *entry = *find(memo, key);
    if (entry != NULL)
        entry->references++;
    pthread_mutex_unlock(&memo->lock);
    return entry;
}

struct memo_entry *memo_put(struct memo *memo, const struct memo_key *key, gudgeon_str bytes)
{
    struct memo_entry *entry = NULL;
    pthread_mutex_lock(&memo->lock);
    struct memo_entry **standing = find(memo, key);
    if (*standing != NULL)
        unlink_entry(memo, standing);
    if (key->variant.len <= memo->max_bytes && bytes.len <= memo->max_bytes &&
        memo->bytes + size_of(key->variant.len, bytes.len) <= memo->max_bytes)
        entry = link_copy(memo, key, bytes);
    pthread_mutex_unlock(&memo->lock);
    return entry;
}

void memo_forget(struct memo *memo, unsigned kind, uint64_t subject)
{
    pthread_mutex_lock(&memo->lock);
    struct memo_entry **at = bucket_of(memo, kind, subject);
    while (*at != NULL)
        if (is_of(*at, kind, subject))
            unlink_entry(memo, at);
        else
            at = &(*at)->next;
    pthread_mutex_unlock(&memo->lock);
}

gudgeon_str memo_bytes(const struct memo_entry *entry)
{
    return (gudgeon_str){entry->text + entry->variant_len + 1, entry->len};
}

void memo_unref(struct memo *memo, struct memo_entry *const *entries, size_t count)
{
    pthread_mutex_lock(&memo->lock);
    for (size_t i = 0; i < count; i++)
        drop_reference(entries[i]);
    pthread_mutex_unlock(&memo->lock);
}

void memo_free(struct memo *memo)
{
    if (memo == NULL)
        return;
    for (size_t i = 0; i < memo->bucket_count; i++)
        while (memo->buckets[i] != NULL) {
            assert(memo->buckets[i]->references == 1);
            unlink_entry(memo, &memo->buckets[i]);
        }
    free(memo->buckets);
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}
