/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_DATA_SCHEMA_FORMAT_H
#define GUDGEON_DATA_SCHEMA_FORMAT_H

/*
 * The values of JSON Schema's `format` that can be asserted: one row and one function each.
 *
 * Syntax only: nothing is looked up. A format that has no row is an annotation, whatever was
 * asked. Private to core/data. Pure.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct schema_format;

/* NULL for a format that is not known. */
const struct schema_format *schema_format_named(gudgeon_str name);
bool schema_format_has(const struct schema_format *format, gudgeon_str text);

#endif
