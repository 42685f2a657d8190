/* SPDX-License-Identifier: MIT */
#include "agent/definition_bind.h"

#include <json-c/linkhash.h>
#include <string.h>

#include "agent/definition.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/str.h"
#include "data/fields.h"
#include "data/json.h"
#include "data/yaml.h"
#include "plugin/registry.h"

static bool is_true(struct json_object *value)
{
    return json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

/* Whether granting `have` (a path, a host, a name) grants `want`: it is the same, or a directory
 * above it. */
static bool covers_item(const char *have, const char *want)
{
    size_t len = strlen(have);
    if (strcmp(have, want) == 0)
        return true;
    if (have[0] != '/' || strncmp(have, want, len) != 0)
        return false;
    return have[len - 1] == '/' || want[len] == '/';
}

static bool list_covers(struct json_object *have, const char *want)
{
    if (!json_object_is_type(have, json_type_array))
        return false;
    for (size_t i = 0; i < json_object_array_length(have); i++) {
        gudgeon_str item = json_str(json_object_array_get_idx(have, i));
        if (item.ptr != NULL && covers_item(item.ptr, want))
            return true;
    }
    return false;
}

/*
 * Whether what is granted is what is needed. `true` is met by a list too: whoever names programs
 * or hosts has decided which. A number is a limit, so absent is enough.
 */
static bool covers(struct json_object *have, struct json_object *need)
{
    if (json_object_is_type(need, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(need); i++) {
            gudgeon_str item = json_str(json_object_array_get_idx(need, i));
            if (item.ptr != NULL && !is_true(have) && !list_covers(have, item.ptr))
                return false;
        }
        return true;
    }
    if (json_object_is_type(need, json_type_int))
        return have == NULL || json_object_get_int64(have) >= json_object_get_int64(need);
    if (!is_true(need))
        return true;
    return is_true(have) ||
           (json_object_is_type(have, json_type_array) && json_object_array_length(have) > 0);
}

void definition_check_needs(const struct use_entry *entry, struct yaml_node *node,
                            const struct fields_context *context)
{
    CLEANUP(json_cleanup) struct json_object *needs = NULL, *grant = NULL;
    if (entry->component->needs == NULL ||
        json_read_object(str_of(entry->component->needs), &needs, NULL) < 0 ||
        json_read_object(str_of(entry->grant), &grant, NULL) < 0)
        return;
    CLEANUP(buf_fini) struct buf missing = BUF_INIT(BUF_MAX_ANY);
    json_object_object_foreach(needs, key, need)
    {
        if (covers(json_get(grant, key), need))
            continue;
        buf_addf(&missing, "%s%s: ", missing.len > 0 ? ", " : "", key);
        json_write(&missing, need);
    }
    struct yaml_node *granted = yaml_get(node, "grant");
    if (missing.len == 0 || (granted != NULL && granted->is_faulty))
        return;
    if (granted == NULL)
        yaml_fault(context->diags, node, "%s needs a grant; add   grant: {%s}", entry->use,
                   missing.data);
    else
        yaml_fault(context->diags, granted, "%s needs more than is granted; add to grant: %s",
                   entry->use, missing.data);
}
