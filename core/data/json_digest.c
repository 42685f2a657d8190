/* SPDX-License-Identifier: MIT */
#include "data/json_digest.h"

#include <json-c/linkhash.h>
#include <string.h>

#include "data/decimal.h"
#include "data/json.h"

/* Spreads every bit over all others (the finaliser of MurmurHash3, public domain). */
static uint64_t mix(uint64_t hash)
{
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 33;
}

static uint64_t hash_bytes(uint64_t seed, const char *bytes, size_t len)
{
    uint64_t hash = seed ^ mix(len + 1);
    for (; len >= 8; bytes += 8, len -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = mix(hash ^ word);
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes, len);
    return mix(hash ^ rest);
}

static struct json_digest of_bytes(enum json_type type, const char *bytes, size_t len)
{
    enum { BYTES_PER_UNIT = 32 };
    return (struct json_digest){hash_bytes((uint64_t)type, bytes, len), 1 + len / BYTES_PER_UNIT};
}

/* By value: 1, 1.0 and 10e-1 are one number. */
static struct json_digest of_number(struct json_object *number)
{
    struct decimal value;
    decimal_of(number, &value);
    struct json_digest digest = of_bytes(json_type_double, value.digits, (size_t)value.count);
    digest.hash = mix(digest.hash ^ mix((uint64_t)value.exponent * 2 + value.negative));
    return digest;
}

static struct json_digest of_array(struct json_object *array)
{
    struct json_digest whole = of_bytes(json_type_array, "", 0);
    size_t len = json_object_array_length(array);
    for (size_t i = 0; i < len; i++) {
        struct json_digest item = json_digest(json_object_array_get_idx(array, i));
        whole.hash = mix(whole.hash ^ item.hash);
        whole.size += item.size;
    }
    return whole;
}

/* The members' hashes are added up, so that their order does not count. */
static struct json_digest of_object(struct json_object *object)
{
    struct json_digest whole = of_bytes(json_type_object, "", 0);
    json_object_object_foreach(object, name, value)
    {
        struct json_digest member = of_bytes(json_type_string, name, strlen(name));
        struct json_digest content = json_digest(value);
        whole.hash += mix(mix(member.hash) ^ content.hash);
        whole.size += member.size + content.size;
    }
    return whole;
}

struct json_digest json_digest(struct json_object *value)
{
    enum json_type type = json_object_get_type(value);
    switch (type) {
    case json_type_int:
    case json_type_double:
        return of_number(value);
    case json_type_string:
        return of_bytes(type, json_object_get_string(value),
                        (size_t)json_object_get_string_len(value));
    case json_type_array:
        return of_array(value);
    case json_type_object:
        return of_object(value);
    case json_type_boolean:
        return of_bytes(type, "1", (size_t)json_object_get_boolean(value));
    case json_type_null:
        break;
    }
    return of_bytes(type, "", 0);
}
