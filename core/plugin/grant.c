/* SPDX-License-Identifier: MIT */
#include "plugin/grant.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"

void grant_list_fini(struct grant_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    *list = (struct grant_list){0};
}

void grant_list_add(struct grant_list *list, gudgeon_str name)
{
    list->names = xreallocarray(list->names, list->count + 1, sizeof *list->names);
    list->names[list->count++] = str_dup(name);
}

bool grant_list_has(const struct grant_list *list, gudgeon_str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (str_is(name, list->names[i]))
            return true;
    return false;
}

static int add_name(struct grant_list *list, const char *key, struct json_object *value,
                    struct err *err)
{
    gudgeon_str name = json_str(value);
    if (name.ptr == NULL || name.len == 0)
        return err_set(err, ERR_INVALID, "grant: %s is to be a list of names", key);
    grant_list_add(list, name);
    return 0;
}

static int read_list(struct grant_list *list, struct json_object *grant, const char *key,
                     struct err *err)
{
    struct json_object *value = json_get(grant, key);
    if (value == NULL)
        return 0;
    if (json_object_is_type(value, json_type_boolean)) {
        list->is_all = json_object_get_boolean(value);
        return 0;
    }
    if (!json_object_is_type(value, json_type_array))
        return err_set(err, ERR_INVALID, "grant: %s is to be true, false or a list of names", key);
    int status = 0;
    for (size_t i = 0; i < json_object_array_length(value) && status == 0; i++)
        status = add_name(list, key, json_object_array_get_idx(value, i), err);
    return status;
}

int grant_init(struct grant *grant, gudgeon_str json, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    *grant = (struct grant){0};
    if (json.ptr == NULL)
        return 0;
    if (json_read_object(json, &object, err) < 0)
        return err_prefix(err, "grant");
    int status = read_list(&grant->exec, object, "exec", err);
    if (status == 0)
        status = read_list(&grant->network, object, "network", err);
    if (status == 0)
        status = read_list(&grant->env, object, "env", err);
    if (status < 0)
        grant_fini(grant);
    return status;
}

void grant_fini(struct grant *grant)
{
    grant_list_fini(&grant->exec);
    grant_list_fini(&grant->network);
    grant_list_fini(&grant->env);
}
