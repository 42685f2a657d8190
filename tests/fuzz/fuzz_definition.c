/* SPDX-License-Identifier: MIT */
/*
 * A definition either loads, and then its resolved form loads to the same again, or every fault of
 * it is one line. What stands behind a NUL is a setting (--set).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/definition.h"
#include "base/buf.h"
#include "data/diag.h"
#include "data/json.h"
#include "tests/unit/agent/fake_registry.h"

static void require(int truth)
{
    if (!truth)
        abort();
}

static char *resolved(const struct definition *definition)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    require(definition_write_json(definition, &out) == 0);
    return buf_take(&out);
}

static void check_resolved(const struct definition *definition,
                           const struct definition_options *options)
{
    CLEANUP(free_ptr) char *json = resolved(definition);
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    struct definition *again = NULL;
    struct diags diags = DIAGS_INIT;
    require(json_read_object(str_of(json), &value, NULL) == 0);
    require(definition_load_json(value, "/f", options, &again, &diags) == 0);
    CLEANUP(free_ptr) char *same = resolved(again);
    require(strcmp(json, same) == 0);
    definition_free(again);
    diags_fini(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    CLEANUP(free_ptr) char *text = xstrndup((const char *)bytes, len);
    size_t text_len = strlen(text);
    const char *setting = text + text_len + 1;
    struct definition_options options = {.registry = &fake_registry};
    struct definition_options with_setting = {&fake_registry, &setting, text_len < len ? 1 : 0};
    struct definition *definition = NULL;
    struct diags diags = DIAGS_INIT;
    int status = definition_load_text((gudgeon_str){text, text_len}, "/f", &with_setting,
                                      &definition, &diags);
    require((status == 0) == (definition != NULL));
    require((status == 0) == (diags.count == 0));
    for (size_t i = 0; i < diags.kept; i++)
        require(strchr(diags.lines[i], '\n') == NULL);
    if (definition != NULL)
        check_resolved(definition, &options);
    definition_free(definition);
    diags_fini(&diags);
    return 0;
}
