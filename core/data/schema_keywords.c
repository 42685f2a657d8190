/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <json-c/linkhash.h>
#include <string.h>

#include "base/alloc.h"
#include "data/schema_compiler.h"
#include "data/schema_model.h"
#include "data/schema_run.h"

#define ANY        SCHEMA_ANY
#define NUMBERS    (SCHEMA_NUMBER | SCHEMA_INTEGER)
#define CONTAINERS (SCHEMA_OBJECT | SCHEMA_ARRAY)

/* In the order of evaluation, which is also the order in which faults are reported. */
const struct schema_keyword schema_keywords[] = {
    /* name, shape, vocabulary, instances, prepare, check */
    {"$id", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, NULL, NULL},
    {"$schema", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, NULL, NULL},
    {"$anchor", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, NULL, NULL},
    {"$dynamicAnchor", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, NULL, NULL},
    {"$defs", SCHEMA_SHAPE_SCHEMA_MAP, SCHEMA_CORE, ANY, NULL, NULL},
    {"definitions", SCHEMA_SHAPE_SCHEMA_MAP, SCHEMA_CORE, ANY, NULL, NULL}, /* $defs of old */

    {"type", SCHEMA_SHAPE_ANY, SCHEMA_VALIDATION, ANY, schema_prepare_type, schema_check_type},
    {"const", SCHEMA_SHAPE_ANY, SCHEMA_VALIDATION, ANY, schema_prepare_values, schema_check_const},
    {"enum", SCHEMA_SHAPE_ARRAY, SCHEMA_VALIDATION, ANY, schema_prepare_values, schema_check_enum},

    {"multipleOf", SCHEMA_SHAPE_NUMBER, SCHEMA_VALIDATION, NUMBERS, schema_prepare_step,
     schema_check_multiple_of},
    {"minimum", SCHEMA_SHAPE_NUMBER, SCHEMA_VALIDATION, NUMBERS, NULL, schema_check_minimum},
    {"maximum", SCHEMA_SHAPE_NUMBER, SCHEMA_VALIDATION, NUMBERS, NULL, schema_check_maximum},
    {"exclusiveMinimum", SCHEMA_SHAPE_NUMBER, SCHEMA_VALIDATION, NUMBERS, NULL,
     schema_check_exclusive_minimum},
    {"exclusiveMaximum", SCHEMA_SHAPE_NUMBER, SCHEMA_VALIDATION, NUMBERS, NULL,
     schema_check_exclusive_maximum},

    {"minLength", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_STRING, NULL,
     schema_check_min_length},
    {"maxLength", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_STRING, NULL,
     schema_check_max_length},
    {"pattern", SCHEMA_SHAPE_REGEX, SCHEMA_VALIDATION, SCHEMA_STRING, NULL, schema_check_pattern},
    {"format", SCHEMA_SHAPE_STRING, SCHEMA_FORMAT | SCHEMA_FORMAT_ASSERTION, SCHEMA_STRING,
     schema_prepare_format, schema_check_format},

    {"minItems", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_ARRAY, NULL, schema_check_min_items},
    {"maxItems", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_ARRAY, NULL, schema_check_max_items},
    {"uniqueItems", SCHEMA_SHAPE_BOOLEAN, SCHEMA_VALIDATION, SCHEMA_ARRAY, NULL,
     schema_check_unique_items},
    {"prefixItems", SCHEMA_SHAPE_SCHEMAS, SCHEMA_APPLICATOR, SCHEMA_ARRAY, NULL,
     schema_check_prefix_items},
    {"items", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, SCHEMA_ARRAY, schema_prepare_items,
     schema_check_items},
    {"minContains", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_ARRAY, NULL, NULL},
    {"maxContains", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_ARRAY, NULL, NULL},
    {"contains", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, SCHEMA_ARRAY, schema_prepare_contains,
     schema_check_contains},

    {"minProperties", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_OBJECT, NULL,
     schema_check_min_properties},
    {"maxProperties", SCHEMA_SHAPE_COUNT, SCHEMA_VALIDATION, SCHEMA_OBJECT, NULL,
     schema_check_max_properties},
    {"required", SCHEMA_SHAPE_NAMES, SCHEMA_VALIDATION, SCHEMA_OBJECT, NULL, schema_check_required},
    {"dependentRequired", SCHEMA_SHAPE_NAMES_MAP, SCHEMA_VALIDATION, SCHEMA_OBJECT, NULL,
     schema_check_dependent_required},
    {"propertyNames", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, SCHEMA_OBJECT, NULL,
     schema_check_property_names},
    {"properties", SCHEMA_SHAPE_SCHEMA_MAP, SCHEMA_APPLICATOR, SCHEMA_OBJECT, NULL,
     schema_check_properties},
    {"patternProperties", SCHEMA_SHAPE_PATTERN_MAP, SCHEMA_APPLICATOR, SCHEMA_OBJECT, NULL,
     schema_check_pattern_properties},
    {"additionalProperties", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, SCHEMA_OBJECT, NULL,
     schema_check_additional_properties},
    {"dependentSchemas", SCHEMA_SHAPE_SCHEMA_MAP, SCHEMA_APPLICATOR, SCHEMA_OBJECT, NULL,
     schema_check_dependent_schemas},

    {"$ref", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, schema_prepare_ref, schema_check_ref},
    {"$dynamicRef", SCHEMA_SHAPE_STRING, SCHEMA_CORE, ANY, schema_prepare_ref,
     schema_check_dynamic_ref},
    {"allOf", SCHEMA_SHAPE_SCHEMAS, SCHEMA_APPLICATOR, ANY, NULL, schema_check_all_of},
    {"anyOf", SCHEMA_SHAPE_SCHEMAS, SCHEMA_APPLICATOR, ANY, NULL, schema_check_any_of},
    {"oneOf", SCHEMA_SHAPE_SCHEMAS, SCHEMA_APPLICATOR, ANY, NULL, schema_check_one_of},
    {"not", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, ANY, NULL, schema_check_not},
    {"then", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, ANY, NULL, NULL},
    {"else", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, ANY, NULL, NULL},
    {"if", SCHEMA_SHAPE_SCHEMA, SCHEMA_APPLICATOR, ANY, schema_prepare_if, schema_check_if},

    {"unevaluatedItems", SCHEMA_SHAPE_SCHEMA, SCHEMA_UNEVALUATED, SCHEMA_ARRAY, NULL,
     schema_check_unevaluated_items},
    {"unevaluatedProperties", SCHEMA_SHAPE_SCHEMA, SCHEMA_UNEVALUATED, SCHEMA_OBJECT, NULL,
     schema_check_unevaluated_properties},
};
const size_t schema_keyword_count = COUNT_OF(schema_keywords);
static_assert(COUNT_OF(schema_keywords) <= SCHEMA_KEYWORD_MAX, "a set of keywords is a uint64_t");

uint64_t schema_keywords_in(struct json_object *source)
{
    uint64_t found = 0;
    json_object_object_foreach(source, name, value)
    {
        (void)value;
        for (size_t i = 0; i < schema_keyword_count; i++)
            if (schema_keywords[i].name[0] == name[0] && strcmp(schema_keywords[i].name, name) == 0)
                found |= UINT64_C(1) << i;
    }
    return found;
}
