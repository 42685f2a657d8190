/* SPDX-License-Identifier: MIT */
#include "plugin/service.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "plugin/call_op.h"
#include "plugin/secrets.h"

enum { TEXT_MAX = 1 << 20 };

/* A text with secrets in it that a call has borrowed. */
struct filled {
    struct call_resource resource;
    struct buf text;
};

static void wipe(struct call_resource *resource)
{
    struct filled *filled = (struct filled *)resource;
    secrets_wipe(&filled->text);
    free(filled);
}

static int32_t expand(const gudgeon_call *abi, gudgeon_str text, gudgeon_str *value)
{
    struct call *call = call_of(abi);
    if (call == NULL || call_scope(call) == NULL || value == NULL || text.ptr == NULL)
        return GUDGEON_INVALID;
    struct err err;
    struct filled *filled = xcalloc(1, sizeof *filled);
    filled->resource.release = wipe;
    buf_init(&filled->text, TEXT_MAX);
    if (service_expand(call_scope(call), text, &filled->text, &err) < 0) {
        wipe(&filled->resource);
        return call_take_err(call, &err);
    }
    call_own(call, &filled->resource);
    *value = (gudgeon_str){filled->text.data, filled->text.len};
    return GUDGEON_OK;
}

const gudgeon_secret service_secret = {.size = sizeof service_secret, .expand = expand};
