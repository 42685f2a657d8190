/* SPDX-License-Identifier: MIT */
#include "agent/usage.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/num.h"
#include "data/json.h"

static const struct {
    unsigned bit;
    const char *key;
    size_t offset;
} counts[] = {
    {GUDGEON_USAGE_INPUT, "input", offsetof(struct usage, input)},
    {GUDGEON_USAGE_OUTPUT, "output", offsetof(struct usage, output)},
    {GUDGEON_USAGE_CACHED, "cached", offsetof(struct usage, cached)},
    {GUDGEON_USAGE_CACHE_WRITE, "cache_write", offsetof(struct usage, cache_write)},
    {GUDGEON_USAGE_REASONING, "reasoning", offsetof(struct usage, reasoning)},
};

static const int64_t *count_at(const struct usage *usage, size_t row)
{
    return (const int64_t *)(const void *)((const char *)usage + counts[row].offset);
}

static int64_t *count_of(struct usage *usage, size_t row)
{
    return (int64_t *)(void *)((char *)usage + counts[row].offset);
}

/* A provider's count, which may be anything. */
static int64_t clamp(uint64_t count)
{
    return count > INT64_MAX / 1024 ? INT64_MAX / 1024 : (int64_t)count;
}

struct usage usage_of_reply(const gudgeon_reply *reply)
{
    return (struct usage){
        .known = reply->usage_known,
        .input = clamp(reply->input_tokens),
        .output = clamp(reply->output_tokens),
        .cached = clamp(reply->cached_tokens),
        .cache_write = clamp(reply->cache_write_tokens),
        .reasoning = clamp(reply->reasoning_tokens),
    };
}

void usage_add(struct usage *sum, const struct usage *part)
{
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (part->known & counts[i].bit)
            *count_of(sum, i) = sum_capped(*count_at(sum, i), *count_at(part, i));
    sum->known |= part->known;
}

void usage_write(struct json_writer *writer, const char *key, const struct usage *usage)
{
    if (usage->known == 0)
        return;
    json_key(writer, key);
    json_begin_object(writer);
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (usage->known & counts[i].bit)
            json_field_int(writer, counts[i].key, *count_at(usage, i));
    json_end_object(writer);
}

int64_t usage_total(const struct usage *usage)
{
    return sum_capped(usage->input, usage->output);
}
