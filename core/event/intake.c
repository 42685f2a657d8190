/* SPDX-License-Identifier: MIT */
#include "event/intake.h"

#include <json-c/json_object.h>
#include <json-c/linkhash.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/journal.h"
#include "event/mask.h"

static const char no_output[] = "(no output)";

struct intake {
    struct mask mask;
};

struct intake *intake_new(void)
{
    return xcalloc(1, sizeof(struct intake));
}

void intake_free(struct intake *intake)
{
    if (intake == NULL)
        return;
    mask_fini(&intake->mask);
    free(intake);
}

void intake_add_secret(struct intake *intake, const char *value)
{
    mask_add(&intake->mask, value);
}

static gudgeon_str buf_text(const struct buf *buf)
{
    return (gudgeon_str){buf->data, buf->len};
}

/* ---- text ----------------------------------------------------------------------------------- */

typedef int apply_fn(const struct mask *mask, gudgeon_str text, struct buf *out);

static int clean_and(apply_fn *apply, const struct intake *intake, gudgeon_str text,
                     struct buf *out)
{
    if (text.len == 0)
        return 0;
    bool is_clean = memchr(text.ptr, '\0', text.len) == NULL && utf8_is_valid(text.ptr, text.len);
    if (is_clean)
        return apply(&intake->mask, text, out);
    CLEANUP(buf_fini) struct buf clean = BUF_INIT(BUF_MAX_ANY);
    utf8_sanitise(&clean, text.ptr, text.len);
    return apply(&intake->mask, buf_text(&clean), out);
}

int intake_text(const struct intake *intake, gudgeon_str text, struct buf *out)
{
    return clean_and(mask_apply, intake, text, out);
}

int intake_cut_text(const struct intake *intake, gudgeon_str text, struct buf *out)
{
    return clean_and(mask_apply_cut, intake, text, out);
}

bool intake_finds_secret(const struct intake *intake, gudgeon_str text)
{
    return mask_finds(&intake->mask, text);
}

void intake_stream_add(const struct intake *intake, struct mask_stream *stream, gudgeon_str part,
                       struct buf *out)
{
    mask_stream_add(&intake->mask, stream, part, out);
}

void intake_stream_end(const struct intake *intake, struct mask_stream *stream, struct buf *out)
{
    mask_stream_end(&intake->mask, stream, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* The number of four hexadecimal digits, or -1. */
static int hex4(const char *digits)
{
    int number = 0;
    for (int i = 0; i < 4; i++) {
        static const char all[] = "0123456789abcdef0123456789ABCDEF";
        const char *found = digits[i] != '\0' ? strchr(all, digits[i]) : NULL;
        if (found == NULL)
            return -1;
        number = number * 16 + (int)((found - all) % 16);
    }
    return number;
}

/* The code unit that a \uXXXX escape at `at` stands for, or -1. */
static int escaped_unit(const char *at, const char *end)
{
    return end - at >= 6 && at[0] == '\\' && at[1] == 'u' ? hex4(at + 2) : -1;
}

/* Makes each escape of half a surrogate pair one of U+FFFD, which is as long. */
static void mend_surrogates(char *text, size_t len)
{
    char *end = text + len, *at = text;
    while ((at = memchr(at, '\\', (size_t)(end - at))) != NULL && end - at >= 2) {
        int unit = escaped_unit(at, end);
        if (unit < 0xd800 || unit > 0xdfff) {
            at += 2; /* an escaped backslash starts nothing */
            continue;
        }
        int low = unit < 0xdc00 ? escaped_unit(at + 6, end) : -1;
        bool is_pair = low >= 0xdc00 && low <= 0xdfff;
        if (!is_pair)
            memcpy(at + 2, "fffd", 4);
        at += is_pair ? 12 : 6;
    }
}

static int read_foreign(gudgeon_str json, struct json_object **ret, struct err *err)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    utf8_sanitise(&text, json.ptr, json.len);
    mend_surrogates(text.data, text.len);
    return json_read_tolerant(buf_text(&text), ret, err);
}

/* A walk that makes a safe copy of a value. */
struct copying {
    const struct intake *intake;
    size_t containers;
    bool is_too_large;
};

static struct json_object *copy_value(struct copying *copying, struct json_object *value,
                                      int depth);

static struct json_object *new_string(const struct buf *text)
{
    return json_object_new_string_len(text->data, (int)text->len);
}

static struct json_object *copy_string(const struct copying *copying, struct json_object *value)
{
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(copying->intake, json_str(value), &safe);
    return new_string(&safe);
}

/* A PIN or an account number may be a number as well. */
static struct json_object *copy_number(const struct copying *copying, struct json_object *value)
{
    CLEANUP(buf_fini) struct buf digits = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    json_write(&digits, value);
    mask_apply(&copying->intake->mask, buf_text(&digits), &safe);
    return str_same(buf_text(&digits), buf_text(&safe)) ? json_object_get(value)
                                                        : new_string(&safe);
}

static struct json_object *copy_array(struct copying *copying, struct json_object *array, int depth)
{
    struct json_object *copy = json_object_new_array();
    for (size_t i = 0; i < json_object_array_length(array) && !copying->is_too_large; i++)
        json_object_array_add(copy,
                              copy_value(copying, json_object_array_get_idx(array, i), depth + 1));
    return copy;
}

static struct json_object *copy_object(struct copying *copying, struct json_object *object,
                                       int depth)
{
    struct json_object *copy = json_object_new_object();
    json_object_object_foreach(object, key, value)
    {
        if (copying->is_too_large)
            break;
        CLEANUP(buf_fini) struct buf name = BUF_INIT(BUF_MAX_ANY);
        intake_text(copying->intake, str_of(key), &name);
        json_object_object_add(copy, name.data, copy_value(copying, value, depth + 1));
    }
    return copy;
}

static struct json_object *copy_value(struct copying *copying, struct json_object *value, int depth)
{
    enum json_type type = json_object_get_type(value);
    if (type == json_type_array || type == json_type_object)
        copying->is_too_large |=
            depth >= INTAKE_MAX_DEPTH || ++copying->containers > INTAKE_MAX_CONTAINERS;
    if (copying->is_too_large)
        return NULL;
    switch (type) {
    case json_type_string:
        return copy_string(copying, value);
    case json_type_int:
    case json_type_double:
        return copy_number(copying, value);
    case json_type_array:
        return copy_array(copying, value, depth);
    case json_type_object:
        return copy_object(copying, value, depth);
    default:
        return json_object_get(value);
    }
}

static int read_safe(const struct intake *intake, gudgeon_str json, struct json_object **ret,
                     struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    int status = read_foreign(json, &value, err);
    if (status < 0)
        return status;
    struct copying copying = {.intake = intake};
    struct json_object *copy = copy_value(&copying, value, 0);
    if (copying.is_too_large) {
        json_object_put(copy);
        return err_set(err, ERR_LIMIT, "more than %d levels or %d objects and arrays",
                       INTAKE_MAX_DEPTH, INTAKE_MAX_CONTAINERS);
    }
    *ret = copy;
    return 0;
}

int intake_json(const struct intake *intake, gudgeon_str json, struct buf *out, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    int status = read_safe(intake, json, &value, err);
    if (status == 0 && json_write(out, value) < 0)
        status = err_set(err, ERR_LIMIT, "the JSON value is too long");
    return status;
}

/* ---- cutting -------------------------------------------------------------------------------- */

/* The text of a result and what of it is kept: [0, head) and [tail, len). */
struct whole {
    gudgeon_str text;
    size_t head, tail;
    struct intake_spill spill;
    bool line_is_due; /* the one about the rest */
};

static bool is_blank(gudgeon_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (strchr(" \t\r\n\v\f", text.ptr[i]) == NULL || text.ptr[i] == '\0')
            return false;
    return true;
}

/* Decides what is kept; spills the whole when that is not all. */
static int whole_init(struct whole *whole, struct journal *journal, gudgeon_str text,
                      size_t max_bytes, struct err *err)
{
    *whole = (struct whole){.text = text, .head = text.len, .tail = text.len};
    if (text.len <= max_bytes)
        return 0;
    whole->head = utf8_cut(text.ptr, max_bytes - max_bytes / 4);
    whole->tail = text.len - max_bytes / 4;
    while (whole->tail < text.len && ((unsigned char)text.ptr[whole->tail] & 0xc0) == 0x80)
        whole->tail++;
    whole->line_is_due = true;
    whole->spill.bytes = text.len;
    return journal_add_blob(journal, text, whole->spill.blob, err);
}

/* "1,234,567" */
static int add_grouped(struct buf *out, size_t number)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%zu", number);
    int status = 0;
    for (int i = 0; i < len && status == 0; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            status = buf_add_char(out, ',');
        if (status == 0)
            status = buf_add_char(out, digits[i]);
    }
    return status;
}

static int add_line(struct buf *out, const struct whole *whole)
{
    CLEANUP(buf_fini) struct buf line = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&line, "[… ");
    add_grouped(&line, whole->tail - whole->head);
    buf_add_str(&line, " of ");
    add_grouped(&line, whole->spill.bytes);
    buf_addf(&line, " bytes left out; the whole is blob %s of this run …]", whole->spill.blob);
    return buf_add(out, line.data, line.len);
}

/* Adds what is kept of text[start..end). The line about the rest goes into the first part that
 * passes the head. */
static int add_kept(struct buf *out, struct whole *whole, size_t start, size_t end)
{
    const char *text = whole->text.ptr;
    size_t head_end = end < whole->head ? end : whole->head;
    size_t tail_start = start > whole->tail ? start : whole->tail;
    int status = 0;
    if (start < head_end)
        status = buf_add(out, text + start, head_end - start);
    if (status == 0 && whole->line_is_due && end > whole->head) {
        whole->line_is_due = false;
        if (out->len > 0 && out->data[out->len - 1] != '\n')
            status = buf_add_char(out, '\n');
        if (status == 0)
            status = add_line(out, whole);
        if (status == 0 && tail_start < end && text[tail_start] != '\n')
            status = buf_add_char(out, '\n');
    }
    if (status == 0 && tail_start < end)
        status = buf_add(out, text + tail_start, end - tail_start);
    return status;
}

static int too_long(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the result is too long for its place");
}

int intake_result(const struct intake *intake, struct journal *journal, gudgeon_str text,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err)
{
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_cut_text(intake, text, &safe);
    if (is_blank(buf_text(&safe))) {
        buf_reset(&safe);
        buf_add_str(&safe, no_output);
    }
    struct whole whole;
    int status = whole_init(&whole, journal, buf_text(&safe), max_bytes, err);
    if (status < 0)
        return status;
    if (add_kept(out, &whole, 0, safe.len) < 0)
        return too_long(err);
    *spill = whole.spill;
    return 0;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The blocks of a result. `place` says where each one's text stands in the text of all. */
struct blocks {
    struct json_object *array; /* safe */
    struct place {
        bool has_text;
        size_t start, end;
    } * places;
    struct buf text;
    size_t media; /* bytes of what is no text */
};

static void blocks_fini(struct blocks *blocks)
{
    json_cleanup(&blocks->array);
    free(blocks->places);
    buf_fini(&blocks->text);
}

static void set_text(struct json_object *block, gudgeon_str text)
{
    json_object_object_add(block, "text", json_object_new_string_len(text.ptr, (int)text.len));
}

static struct json_object *text_block(gudgeon_str text)
{
    struct json_object *block = json_object_new_object();
    json_object_object_add(block, "type", json_object_new_string("text"));
    set_text(block, text);
    return block;
}

/* What stands for a block that is too large to be kept. */
static int spill_block(struct journal *journal, gudgeon_str json, const char *type,
                       struct json_object **ret, struct err *err)
{
    char blob[BLOB_NAME_SIZE];
    int status = journal_add_blob(journal, json, blob, err);
    if (status < 0)
        return status;
    CLEANUP(buf_fini) struct buf line = BUF_INIT(BUF_MAX_ANY);
    buf_addf(&line, "[%.40s of ", type);
    add_grouped(&line, json.len);
    buf_addf(&line, " bytes left out; the whole is blob %s of this run]", blob);
    *ret = text_block(buf_text(&line));
    return 0;
}

/* Counts what a block holds beside its text; one that passes INTAKE_MAX_MEDIA is replaced. */
static int bound_media(struct blocks *blocks, struct journal *journal, size_t index,
                       struct err *err)
{
    struct json_object *block = json_object_array_get_idx(blocks->array, index);
    CLEANUP(buf_fini) struct buf json = BUF_INIT(BUF_MAX_ANY);
    json_write(&json, block);
    gudgeon_str text = json_get_str(block, "text");
    size_t size = json.len > text.len ? json.len - text.len : 0;
    if (size <= INTAKE_MAX_MEDIA - blocks->media) {
        blocks->media += size;
        return 0;
    }
    struct json_object *instead;
    int status =
        spill_block(journal, buf_text(&json), json_get_str(block, "type").ptr, &instead, err);
    if (status == 0)
        json_object_array_put_idx(blocks->array, index, instead);
    return status;
}

/* Gives the block's text its place in the text of all, on lines of its own. */
static void place_text(struct blocks *blocks, size_t index)
{
    struct place *place = &blocks->places[index];
    gudgeon_str text = json_get_str(json_object_array_get_idx(blocks->array, index), "text");
    place->has_text = text.ptr != NULL;
    if (!place->has_text)
        return;
    if (blocks->text.len > 0)
        buf_add_char(&blocks->text, '\n');
    place->start = blocks->text.len;
    buf_add(&blocks->text, text.ptr, text.len);
    place->end = blocks->text.len;
}

static bool is_blank_text(struct json_object *block)
{
    return str_is(json_get_str(block, "type"), "text") && is_blank(json_get_str(block, "text"));
}

/* Drops blank text blocks; refuses what is no block. */
static int sift(struct json_object *array, struct json_object *ret, struct err *err)
{
    for (size_t i = 0; i < json_object_array_length(array); i++) {
        struct json_object *block = json_object_array_get_idx(array, i);
        gudgeon_str type = json_get_str(block, "type");
        if (type.len == 0)
            return err_set(err, ERR_INVALID, "content block %zu is no object with a \"type\"", i);
        if (str_is(type, "text") && json_get_str(block, "text").ptr == NULL)
            return err_set(err, ERR_INVALID, "content block %zu is text without \"text\"", i);
        if (!is_blank_text(block))
            json_object_array_add(ret, json_object_get(block));
    }
    if (json_object_array_length(ret) == 0)
        json_object_array_add(ret, text_block(str_of(no_output)));
    return 0;
}

static int blocks_read(const struct intake *intake, gudgeon_str json, struct blocks *blocks,
                       struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *given = NULL;
    int status = read_safe(intake, json, &given, err);
    if (status < 0) {
        err_prefix(err, "content blocks");
        return status;
    }
    if (!json_object_is_type(given, json_type_array))
        return err_set(err, ERR_INVALID, "content blocks: no array");
    blocks->array = json_object_new_array();
    return sift(given, blocks->array, err);
}

static int blocks_measure(struct blocks *blocks, struct journal *journal, struct err *err)
{
    size_t count = json_object_array_length(blocks->array);
    blocks->places = xcalloc(count, sizeof *blocks->places);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        status = bound_media(blocks, journal, i, err);
        if (status == 0)
            place_text(blocks, i);
    }
    return status;
}

/* The block with what is kept of its text, borrowed; NULL when nothing is. */
static struct json_object *cut_block(const struct blocks *blocks, size_t index, struct whole *whole)
{
    struct json_object *block = json_object_array_get_idx(blocks->array, index);
    const struct place *place = &blocks->places[index];
    if (!place->has_text)
        return block;
    CLEANUP(buf_fini) struct buf kept = BUF_INIT(BUF_MAX_ANY);
    bool line_was_due = whole->line_is_due;
    add_kept(&kept, whole, place->start, place->end);
    if (kept.len == 0 && place->end > place->start)
        return NULL;
    set_text(block, buf_text(&kept));
    if (line_was_due && !whole->line_is_due) {
        json_object_object_add(block, "blob", json_object_new_string(whole->spill.blob));
        json_object_object_add(block, "bytes", json_object_new_int64((int64_t)whole->spill.bytes));
    }
    return block;
}

static int blocks_write(const struct blocks *blocks, struct whole *whole, struct buf *out)
{
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_begin_array(&writer);
    for (size_t i = 0; i < json_object_array_length(blocks->array); i++) {
        struct json_object *block = cut_block(blocks, i, whole);
        if (block != NULL)
            json_add_value(&writer, block);
    }
    json_end_array(&writer);
    return writer.status;
}

int intake_blocks(const struct intake *intake, struct journal *journal, gudgeon_str json,
                  size_t max_bytes, struct buf *out, struct intake_spill *spill, struct err *err)
{
    CLEANUP(blocks_fini) struct blocks blocks = {.text = BUF_INIT(BUF_MAX_ANY)};
    struct whole whole;
    int status = blocks_read(intake, json, &blocks, err);
    if (status == 0)
        status = blocks_measure(&blocks, journal, err);
    if (status == 0)
        status = whole_init(&whole, journal, buf_text(&blocks.text), max_bytes, err);
    if (status < 0)
        return status;
    if (blocks_write(&blocks, &whole, out) < 0)
        return too_long(err);
    *spill = whole.spill;
    return 0;
}
