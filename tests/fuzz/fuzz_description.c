/* SPDX-License-Identifier: MIT */

/*
 * A plugin's description, which comes from a process that the plugin shares: whatever is accepted
 * is written and read again to the same bytes.
 */

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "data/json.h"
#include "plugin/description.h"
#include "plugin/registry.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static bool read_one(const char *bytes, size_t len, struct plugin_info *info)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    return json_read_object((gudgeon_str){bytes, len}, &object, NULL) == 0 &&
           description_read(object, info, NULL) == 0;
}

static void write_one(const struct plugin_info *info, struct buf *out)
{
    struct json_writer writer = JSON_WRITER_INIT(out);
    description_write(info, true, &writer);
    assert(writer.status == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct plugin_info info, again;
    if (!read_one((const char *)data, size, &info))
        return 0;
    CLEANUP(buf_fini) struct buf first = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(buf_fini) struct buf second = BUF_INIT(BUF_MAX_ANY);
    write_one(&info, &first);
    assert(read_one(first.data, first.len, &again));
    write_one(&again, &second);
    assert(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    plugin_info_fini(&info);
    plugin_info_fini(&again);
    return 0;
}
