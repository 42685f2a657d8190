/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_JSON_H
#define GUDGEON_DATA_JSON_H

/*
 * Strict JSON (RFC 8259) to and from json-c values.
 *
 * json-c's own reader lets NaN, trailing bytes, duplicate keys, bad UTF-8 and raw control
 * characters pass and saturates big numbers, so text is read by our scanner, which builds json-c
 * values directly. Every number keeps its digits: what is no int64 is kept as a double with its
 * source text, and json_write prints that text. A json_object belongs to one thread (its
 * reference count is not atomic); free it with json_object_put or CLEANUP(json_cleanup).
 * JSON null is a NULL pointer, as json-c has it.
 *
 * json-c ends keys at their NUL, so U+0000 in a *key* is held as the two bytes C0 80, which are
 * never valid UTF-8 and so cannot be confused with anything; json_write turns them back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>
#include <json-c/json_object.h>

struct buf;
struct err;

/* What is read at most, beyond which ERR_LIMIT. */
enum {
    JSON_MAX_DEPTH = 512,   /* json-c frees by recursion: safe on the smallest stack of ours */
    JSON_MAX_NUMBER = 1024, /* characters of one number */
    JSON_MAX_CONTAINERS = 1 << 20, /* objects and arrays of one text: each costs up to 750 bytes,
                                      though "{}," has only three */
};

/* Reads exactly one value with nothing but white space around it. *ret is NULL for `null`.
 * ERR_INVALID: "line L, column C: what" (columns count characters, from 1); ERR_LIMIT as above.
 * Lone surrogate escapes, byte order marks and duplicate keys are refused. */
int json_read(gudgeon_str text, struct json_object **ret, struct err *err);
/* The same, but of equal names in one object the last counts, which RFC 8259 §4 leaves open: for
 * the words of other people's programs, where a refusal helps nobody. */
int json_read_tolerant(gudgeon_str text, struct json_object **ret, struct err *err);
/* Like json_read, and the value must be an object. */
int json_read_object(gudgeon_str text, struct json_object **ret, struct err *err);
/* Like json_read for the first complete value; sets *ret_used to the bytes it took, leading space
 * included; whatever follows is not looked at. */
int json_read_first(gudgeon_str text, struct json_object **ret, size_t *ret_used, struct err *err);

/* Adds the value as compact JSON: members in their order, no white space, escapes only where JSON
 * wants them (\n, \t and their like short, other control characters as \u00xx), digits as they were
 * read. A double without source text gets the fewest digits that give it back; NaN and the
 * infinities, which JSON lacks, become null. The same value always gives the same bytes. After
 * ERR_LIMIT a part of it stands in the buffer. */
int json_write(struct buf *out, struct json_object *value);
/* The beginning of a value, or of an object's key, as one line of JSON for people: it ends in "…"
 * when there is more. */
enum { JSON_PREVIEW_SIZE = 84 };
void json_preview(struct json_object *value, char out[JSON_PREVIEW_SIZE]);
void json_preview_key(const char *key, char out[JSON_PREVIEW_SIZE]);
/* Equality as JSON Schema has it: numbers by value (1 = 1.0, exact at any size), objects without
 * order. */
bool json_equal(struct json_object *a, struct json_object *b);
/* A copy that shares nothing with the original. */
struct json_object *json_copy(struct json_object *value);
/* json-c tells of a failed allocation by NULL (of what it made) or -1 (of what it was to add);
 * the host ends then, as in alloc.h. The value is handed through. */
struct json_object *json_made(struct json_object *value);
void json_added(int status);
void json_cleanup(struct json_object **value);
/* The type as JSON Schema names it: "integer" for an int64 and for any other number without a
 * fraction, else "null", "boolean", "number", "string", "array" or "object". */
const char *json_type_name(struct json_object *value);
bool json_is_number(struct json_object *value);

/* Members of an object, borrowed from it; absent, NULL or of another type gives the fallback.
 * `object` may be NULL. */
struct json_object *json_get(struct json_object *object, const char *key);
gudgeon_str json_get_str(struct json_object *object, const char *key);
/* 3.0 and 3e2 count as integers, as in JSON Schema; what int64_t cannot hold gives the fallback. */
int64_t json_get_int(struct json_object *object, const char *key, int64_t fallback);
double json_get_double(struct json_object *object, const char *key, double fallback);
bool json_get_bool(struct json_object *object, const char *key, bool fallback);
gudgeon_str json_str(struct json_object *value); /* absent when it is no string */

/*
 * A streaming writer: text goes straight into a buffer, commas and escapes are its business.
 * Misuse (a value where a key is due) is an assertion. The first ERR_LIMIT of the buffer is kept
 * in `status` and later additions do nothing.
 */
enum { JSON_WRITER_DEPTH = 64 };
struct json_writer {
    struct buf *out;
    int status; /* 0 or ERR_LIMIT */
    int depth;
    uint64_t has_items; /* one bit a level: whether a comma is due */
    uint64_t is_object; /* one bit a level */
    bool after_key;
};

#define JSON_WRITER_INIT(buffer)                                                                   \
    {                                                                                              \
        .out = (buffer)                                                                            \
    }

void json_begin_object(struct json_writer *writer);
void json_end_object(struct json_writer *writer);
void json_begin_array(struct json_writer *writer);
void json_end_array(struct json_writer *writer);
void json_key(struct json_writer *writer, const char *key);
void json_add_str(struct json_writer *writer, gudgeon_str text); /* valid UTF-8 */
void json_add_int(struct json_writer *writer, int64_t number);
void json_add_bool(struct json_writer *writer, bool value);
void json_add_null(struct json_writer *writer);
/* Adds text that is one JSON value already; it is not looked at. */
void json_add_raw(struct json_writer *writer, gudgeon_str json);
void json_add_value(struct json_writer *writer, struct json_object *value);

/* key + value in one line; the str and raw forms add nothing for absent text. */
void json_field_str(struct json_writer *writer, const char *key, gudgeon_str text);
void json_field_text(struct json_writer *writer, const char *key, const char *text);
void json_field_int(struct json_writer *writer, const char *key, int64_t number);
void json_field_bool(struct json_writer *writer, const char *key, bool value);
void json_field_raw(struct json_writer *writer, const char *key, gudgeon_str json);

#endif
