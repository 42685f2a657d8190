/* SPDX-License-Identifier: MIT */
/* What a schema of draft 2020-12 must look like, as one schema in the words of its specification
 * (the original comes in eight documents), for schemas that hold schemas. */
#include "data/schema_compiler.h"

const char schema_meta_uri[] = "https://json-schema.org/draft/2020-12/schema";

#define SCHEMA "{\"$dynamicRef\":\"#meta\"}"
#define MAP    "{\"type\":\"object\",\"additionalProperties\":" SCHEMA "}"
#define LIST   "{\"$ref\":\"#/$defs/schemas\"}"
#define COUNT  "{\"$ref\":\"#/$defs/count\"}"
#define NAMES  "{\"$ref\":\"#/$defs/names\"}"
#define NAME   "{\"$ref\":\"#/$defs/anchor\"}"
#define URI    "{\"type\":\"string\",\"format\":\"uri-reference\"}"
#define NUMBER "{\"type\":\"number\"}"
#define BOOL   "{\"type\":\"boolean\"}"
#define TEXT   "{\"type\":\"string\"}"

const char schema_meta_text[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"$id\":\"https://json-schema.org/draft/2020-12/schema\","
    "\"$dynamicAnchor\":\"meta\","
    "\"type\":[\"object\",\"boolean\"],"
    "\"properties\":{"
    /* core */
    "\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\",\"pattern\":\"^[^#]*#?$\"},"
    "\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},"
    "\"$ref\":" URI ",\"$dynamicRef\":" URI ",\"$anchor\":" NAME ",\"$dynamicAnchor\":" NAME ","
    "\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{\"format\":\"uri\"},"
    "\"additionalProperties\":" BOOL "},"
    "\"$comment\":" TEXT ",\"$defs\":" MAP ",\"definitions\":" MAP ","
    /* applicators */
    "\"prefixItems\":" LIST ",\"items\":" SCHEMA ",\"contains\":" SCHEMA ","
    "\"additionalProperties\":" SCHEMA ",\"properties\":" MAP ","
    "\"patternProperties\":{\"type\":\"object\",\"propertyNames\":{\"format\":\"regex\"},"
    "\"additionalProperties\":" SCHEMA "},"
    "\"dependentSchemas\":" MAP ",\"propertyNames\":" SCHEMA ","
    "\"if\":" SCHEMA ",\"then\":" SCHEMA ",\"else\":" SCHEMA ","
    "\"allOf\":" LIST ",\"anyOf\":" LIST ",\"oneOf\":" LIST ",\"not\":" SCHEMA ","
    "\"unevaluatedItems\":" SCHEMA ",\"unevaluatedProperties\":" SCHEMA ","
    /* validation */
    "\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/type\"},{\"type\":\"array\","
    "\"items\":{\"$ref\":\"#/$defs/type\"},\"minItems\":1,\"uniqueItems\":true}]},"
    "\"const\":true,\"enum\":{\"type\":\"array\"},"
    "\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
    "\"maximum\":" NUMBER ",\"exclusiveMaximum\":" NUMBER ","
    "\"minimum\":" NUMBER ",\"exclusiveMinimum\":" NUMBER ","
    "\"maxLength\":" COUNT ",\"minLength\":" COUNT ","
    "\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},"
    "\"maxItems\":" COUNT ",\"minItems\":" COUNT ",\"uniqueItems\":" BOOL ","
    "\"maxContains\":" COUNT ",\"minContains\":" COUNT ","
    "\"maxProperties\":" COUNT ",\"minProperties\":" COUNT ",\"required\":" NAMES ","
    "\"dependentRequired\":{\"type\":\"object\",\"additionalProperties\":" NAMES "},"
    /* annotations */
    "\"title\":" TEXT ",\"description\":" TEXT ",\"default\":true,\"deprecated\":" BOOL ","
    "\"readOnly\":" BOOL ",\"writeOnly\":" BOOL ",\"examples\":{\"type\":\"array\"},"
    "\"format\":" TEXT ",\"contentEncoding\":" TEXT ",\"contentMediaType\":" TEXT ","
    "\"contentSchema\":" SCHEMA "},"
    "\"$defs\":{"
    "\"schemas\":{\"type\":\"array\",\"minItems\":1,\"items\":" SCHEMA "},"
    "\"count\":{\"type\":\"integer\",\"minimum\":0},"
    "\"names\":{\"type\":\"array\",\"items\":" TEXT ",\"uniqueItems\":true},"
    "\"anchor\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
    "\"type\":{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\",\"number\",\"object\","
    "\"string\"]}}}";
