/* SPDX-License-Identifier: MIT */
#include "assembly.h"

/*
 * OpenRouter's reasoning_details: an array of items that must be sent back as one complete array.
 * A stream gives an item in pieces of the same type and index: `text`, `summary` and `data` are
 * joined, of `signature` the last one counts, of anything else the first. An item that came in
 * one piece stays byte for byte; one without an index always does.
 */

enum { MAX_DETAILS = 1024 };

static const char *const joined_keys[] = {"text", "summary", "data"};
enum { JOINED = sizeof joined_keys / sizeof joined_keys[0] };

void assembly_free_details(struct assembly *assembly)
{
    for (size_t i = 0; i < assembly->detail_count; i++) {
        struct detail *detail = &assembly->details[i];
        for (size_t k = 0; k < JOINED; k++)
            gudgeon_buf_free(&detail->text[k]);
        gudgeon_buf_free(&detail->whole);
        gudgeon_buf_free(&detail->type);
        gudgeon_buf_free(&detail->signature);
        gudgeon_buf_free(&detail->others);
        gudgeon_buf_free(&detail->index);
    }
    free(assembly->details);
}

static int same(const gudgeon_buf *buf, gudgeon_str text)
{
    return buf->len == text.len && (text.len == 0 || memcmp(buf->ptr, text.ptr, text.len) == 0);
}

static struct detail *find(struct assembly *assembly, gudgeon_str type, gudgeon_str index)
{
    for (size_t i = 0; i < assembly->detail_count && index.len > 0; i++)
        if (same(&assembly->details[i].index, index) && same(&assembly->details[i].type, type))
            return &assembly->details[i];
    return NULL;
}

static struct detail *add(struct assembly *assembly, gudgeon_str type, gudgeon_str index)
{
    struct detail *grown = NULL;
    if (assembly->detail_count < MAX_DETAILS)
        grown = realloc(assembly->details, (assembly->detail_count + 1) * sizeof *grown);
    if (grown == NULL) {
        assembly->failed = 1;
        return NULL;
    }
    assembly->details = grown;
    struct detail *detail = &grown[assembly->detail_count++];
    memset(detail, 0, sizeof *detail);
    gudgeon_buf_put(&detail->type, type);
    gudgeon_buf_put(&detail->index, index);
    return detail;
}

static int has_member(const gudgeon_buf *others, gudgeon_str key)
{
    char name[64];
    gudgeon_buf object = {0};
    if (key.len >= sizeof name)
        return 1;
    memcpy(name, key.ptr, key.len);
    name[key.len] = '\0';
    gudgeon_buf_puts(&object, "{");
    gudgeon_buf_put(&object, gudgeon_buf_str(others));
    gudgeon_buf_puts(&object, "}");
    int has = gudgeon_json_get(gudgeon_buf_str(&object), name).ptr != NULL;
    gudgeon_buf_free(&object);
    return has;
}

static void take_member(struct detail *detail, gudgeon_str key, gudgeon_str value)
{
    if (gudgeon_is(key, "type") || gudgeon_is(key, "index") || gudgeon_json_kind(value) == 'n')
        return;
    for (size_t k = 0; k < JOINED; k++)
        if (gudgeon_is(key, joined_keys[k]) && gudgeon_json_kind(value) == '"') {
            gudgeon_buf_put(&detail->text[k], gudgeon_json_inner(value));
            return;
        }
    if (gudgeon_is(key, "signature")) {
        gudgeon_buf_reset(&detail->signature);
        gudgeon_buf_put(&detail->signature, value);
    } else if (!has_member(&detail->others, key)) {
        gudgeon_buf_puts(&detail->others, ",\"");
        gudgeon_buf_put(&detail->others, key);
        gudgeon_buf_puts(&detail->others, "\":");
        gudgeon_buf_put(&detail->others, value);
    }
}

void assembly_add_details(struct assembly *assembly, gudgeon_str items)
{
    gudgeon_json_iter iter = gudgeon_json_each(items);
    gudgeon_str item, key, value;
    while (gudgeon_json_next(&iter, NULL, &item)) {
        gudgeon_str type = gudgeon_json_get(item, "type"), index = gudgeon_json_get(item, "index");
        if (gudgeon_json_kind(index) != '0')
            index = (gudgeon_str){NULL, 0};
        struct detail *detail = find(assembly, type, index);
        if (detail == NULL)
            detail = add(assembly, type, index);
        if (detail == NULL)
            return;
        if (detail->pieces++ == 0)
            gudgeon_buf_put(&detail->whole, item);
        gudgeon_json_iter members = gudgeon_json_each(item);
        while (gudgeon_json_next(&members, &key, &value))
            take_member(detail, key, value);
    }
}

static void write_member(gudgeon_buf *out, const char *key, const gudgeon_buf *value,
                         const char *quote)
{
    if (value->len == 0)
        return;
    gudgeon_buf_puts(out, ",\"");
    gudgeon_buf_puts(out, key);
    gudgeon_buf_puts(out, "\":");
    gudgeon_buf_puts(out, quote);
    gudgeon_buf_put(out, gudgeon_buf_str(value));
    gudgeon_buf_puts(out, quote);
}

static void write_joined(const struct detail *detail, gudgeon_buf *out)
{
    gudgeon_buf_puts(out, "{\"type\":");
    gudgeon_buf_put(out,
                    detail->type.len > 0 ? gudgeon_buf_str(&detail->type) : gudgeon_text("null"));
    for (size_t k = 0; k < JOINED; k++)
        write_member(out, joined_keys[k], &detail->text[k], "\"");
    write_member(out, "signature", &detail->signature, "");
    gudgeon_buf_put(out, gudgeon_buf_str(&detail->others));
    write_member(out, "index", &detail->index, "");
    gudgeon_buf_puts(out, "}");
}

void assembly_write_details(const struct assembly *assembly, gudgeon_buf *out)
{
    gudgeon_buf_puts(out, "[");
    for (size_t i = 0; i < assembly->detail_count; i++) {
        const struct detail *detail = &assembly->details[i];
        if (i > 0)
            gudgeon_buf_puts(out, ",");
        if (detail->pieces == 1)
            gudgeon_buf_put(out, gudgeon_buf_str(&detail->whole));
        else
            write_joined(detail, out);
    }
    gudgeon_buf_puts(out, "]");
}
