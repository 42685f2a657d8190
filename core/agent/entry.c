/* SPDX-License-Identifier: MIT */
#include "agent/entry.h"

#include "agent/definition.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/instance.h"
#include "plugin/kind.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"

static int look_up_secrets(struct secrets *secrets, gudgeon_str config, struct err *err)
{
    size_t at = 0, len;
    gudgeon_str name;
    for (; secrets_next(config, &at, &len, &name); at += len) {
        CLEANUP(free_ptr) char *text = str_dup(name);
        const char *value;
        int status = secrets_get(secrets, text, &value, err);
        if (status < 0)
            return status;
    }
    return 0;
}

int entry_options(const struct use_entry *entry, const struct instance_options *shared,
                  struct instance_options *ret, struct err *err)
{
    struct instance_options options = *shared;
    options.name = entry->name;
    options.config = str_of(entry->config);
    options.grant = str_of(entry->grant);
    int status = look_up_secrets(shared->secrets, options.config, err);
    if (status == 0)
        *ret = options;
    else
        err_prefix(err, "%s \"%s\"", kind_name(entry->component->kind), entry->name);
    return status;
}
