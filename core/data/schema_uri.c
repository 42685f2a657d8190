/* SPDX-License-Identifier: MIT */
#include "data/schema_uri.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

/* The components of RFC 3986 §3; an absent one has no pointer, only `path` always has. */
struct parts {
    gudgeon_str scheme, authority, path, query;
};

static gudgeon_str slice(const char *from, const char *to)
{
    return (gudgeon_str){from, (uint64_t)(to - from)};
}

/* The first of the bytes `stops` in [at, end), or end. */
static const char *find_any(const char *at, const char *end, const char *stops)
{
    while (at < end && (*at == '\0' || strchr(stops, *at) == NULL))
        at++;
    return at;
}

gudgeon_str schema_uri_split(gudgeon_str reference, gudgeon_str *ret_fragment)
{
    const char *end = reference.ptr + reference.len;
    const char *hash = find_any(reference.ptr, end, "#");
    *ret_fragment = hash < end ? slice(hash + 1, end) : (gudgeon_str){NULL, 0};
    return slice(reference.ptr, hash);
}

static bool is_scheme(gudgeon_str text)
{
    if (text.len == 0 || !isalpha((unsigned char)text.ptr[0]))
        return false;
    for (uint64_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!isalnum((unsigned char)c) && c != '+' && c != '-' && c != '.')
            return false;
    }
    return true;
}

static struct parts parse(gudgeon_str uri)
{
    struct parts parts = {.path = {"", 0}};
    const char *at = uri.ptr, *end = uri.ptr + uri.len;
    const char *colon = find_any(at, end, ":/?");
    if (colon < end && *colon == ':' && is_scheme(slice(at, colon))) {
        parts.scheme = slice(at, colon);
        at = colon + 1;
    }
    if (end - at >= 2 && at[0] == '/' && at[1] == '/') {
        const char *stop = find_any(at + 2, end, "/?");
        parts.authority = slice(at + 2, stop);
        at = stop;
    }
    const char *question = find_any(at, end, "?");
    parts.path = slice(at, question);
    if (question < end)
        parts.query = slice(question + 1, end);
    return parts;
}

/* Adds a path without its "." and ".." segments (§5.2.4). `floor` is where the path begins. */
static void add_without_dots(struct buf *out, gudgeon_str path)
{
    size_t floor = out->len;
    const char *at = path.ptr, *end = path.ptr + path.len;
    while (at < end) {
        const char *slash = find_any(at, end, "/");
        gudgeon_str segment = slice(at, slash);
        bool last = slash == end;
        if (str_is(segment, "..")) {
            if (out->len > floor)
                buf_truncate(out, out->len - 1); /* the slash that ends the parent */
            while (out->len > floor && out->data[out->len - 1] != '/')
                buf_truncate(out, out->len - 1);
            if (out->len == floor && path.ptr[0] == '/')
                buf_add_char(out, '/');
        } else if (!str_is(segment, ".")) {
            buf_add(out, segment.ptr, segment.len);
            if (!last)
                buf_add_char(out, '/');
        }
        at = last ? end : slash + 1;
    }
}

/* The base's path up to its last slash, then the reference's (§5.2.3). */
static void add_merged(struct buf *out, const struct parts *base, gudgeon_str path)
{
    struct buf merged = BUF_INIT(BUF_MAX_ANY);
    uint64_t keep = base->path.len;
    while (keep > 0 && base->path.ptr[keep - 1] != '/')
        keep--;
    buf_add(&merged, base->path.ptr, keep);
    if (keep == 0 && base->authority.ptr != NULL)
        buf_add_char(&merged, '/');
    buf_add(&merged, path.ptr, path.len);
    add_without_dots(out, (gudgeon_str){merged.data, merged.len});
    buf_fini(&merged);
}

static void add_path(struct buf *out, const struct parts *base, const struct parts *reference)
{
    gudgeon_str path = reference->path;
    bool inherits = reference->scheme.ptr == NULL && reference->authority.ptr == NULL;
    if (inherits && path.len == 0)
        buf_add(out, base->path.ptr, base->path.len);
    else if (inherits && path.ptr[0] != '/')
        add_merged(out, base, path);
    else if (path.len > 0 && path.ptr[0] == '/')
        add_without_dots(out, path);
    else
        buf_add(out, path.ptr, path.len); /* urn:x:y has no segments */
}

char *schema_uri_resolve(const char *base_uri, gudgeon_str reference)
{
    struct parts base = parse(str_of(base_uri)), ref = parse(reference);
    bool own_authority = ref.scheme.ptr != NULL || ref.authority.ptr != NULL;
    gudgeon_str scheme = ref.scheme.ptr != NULL ? ref.scheme : base.scheme;
    gudgeon_str authority = own_authority ? ref.authority : base.authority;
    bool own_query = own_authority || ref.path.len > 0 || ref.query.ptr != NULL;
    gudgeon_str query = own_query ? ref.query : base.query;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    if (scheme.ptr != NULL)
        buf_addf(&out, "%.*s:", STR_ARG(scheme));
    if (authority.ptr != NULL)
        buf_addf(&out, "//%.*s", STR_ARG(authority));
    add_path(&out, &base, &ref);
    if (query.ptr != NULL)
        buf_addf(&out, "?%.*s", STR_ARG(query));
    if (out.len > SCHEMA_URI_MAX || memchr(out.data, '\0', out.len) != NULL) {
        buf_fini(&out);
        return NULL;
    }
    return buf_take(&out);
}

void schema_pointer_add(struct buf *out, const char *name)
{
    buf_add_char(out, '/');
    for (; *name != '\0'; name++) {
        if (*name == '~' || *name == '/')
            buf_add_str(out, *name == '~' ? "~0" : "~1");
        else
            buf_add_char(out, *name);
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void schema_uri_decode(struct buf *out, gudgeon_str text)
{
    for (uint64_t i = 0; i < text.len; i++) {
        bool coded = text.ptr[i] == '%' && i + 2 < text.len && hex_value(text.ptr[i + 1]) >= 0 &&
                     hex_value(text.ptr[i + 2]) >= 0;
        if (!coded) {
            buf_add_char(out, text.ptr[i]);
            continue;
        }
        buf_add_char(out, (char)(hex_value(text.ptr[i + 1]) << 4 | hex_value(text.ptr[i + 2])));
        i += 2;
    }
}
