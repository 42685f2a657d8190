/* SPDX-License-Identifier: MIT */
/*
 * JSON Schema: the input is a schema and an instance, one JSON text after the other. Whether faults
 * are reported must not change the answer, and every fault is one line of valid UTF-8.
 */
#include <json-c/json_object.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void want(int condition)
{
    if (!condition)
        abort();
}

static void look(void *payload, const struct schema_fault *fault)
{
    ++*(int *)payload;
    want(fault->keyword != NULL);
    want(utf8_is_valid(fault->message, strlen(fault->message)) && fault->message[0] != '\0');
    want(utf8_is_valid(fault->instance_path, strlen(fault->instance_path)));
}

static void use(const struct schema *schema, struct json_object **instance)
{
    int faults = 0;
    int loud = schema_check(schema, *instance, look, &faults);
    int quiet = schema_check(schema, *instance, NULL, NULL);
    want(loud == quiet || loud == ERR_LIMIT || quiet == ERR_LIMIT);
    want(loud != ERR_INVALID || faults > 0);
    struct err err = {0};
    if (schema_complete(schema, instance, true, &err) == 0)
        schema_check_err(schema, *instance, &err);
    schema_types(schema_item(schema_property(schema_root(schema), "a"), 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    struct json_object *root = NULL, *instance = NULL;
    struct schema_options options = {.assert_format = len % 2 == 0};
    struct schema *schema = NULL;
    struct err err = {0};
    size_t used;
    if (json_read_first((gudgeon_str){text, len}, &root, &used, NULL) < 0)
        return 0;
    if (json_read((gudgeon_str){text + used, len - used}, &instance, NULL) == 0 &&
        schema_compile(root, &options, &schema, &err) == 0)
        use(schema, &instance);
    schema_free(schema);
    json_object_put(root);
    json_object_put(instance);
    return 0;
}
