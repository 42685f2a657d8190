/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_URI_H
#define GUDGEON_DATA_SCHEMA_URI_H

/*
 * URI references and JSON pointers as JSON Schema uses them: references are resolved against a
 * base and split at their fragment.
 * Nothing is ever fetched; a URI is a name. Private to core/data. Pure.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct buf;

/* Longer URIs are no names but attacks: bases and references are joined again and again. */
enum { SCHEMA_URI_MAX = 4096 };

/* The reference without its fragment, and the fragment without its #; absent when there is none. */
gudgeon_str schema_uri_split(gudgeon_str reference, gudgeon_str *ret_fragment);
/* The absolute form of a reference without fragment (RFC 3986 §5.2), freed by the caller; NULL when
 * it is longer than SCHEMA_URI_MAX. `base` may itself be relative or empty. */
char *schema_uri_resolve(const char *base, gudgeon_str reference);
/* Adds the text with its %XX turned into bytes; one that is malformed stays as it is. */
void schema_uri_decode(struct buf *out, gudgeon_str text);
/* Adds "/" and a name as a token of a JSON pointer (RFC 6901). */
void schema_pointer_add(struct buf *out, const char *name);

#endif
