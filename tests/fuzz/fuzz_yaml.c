/* SPDX-License-Identifier: MIT */
/*
 * YAML that loads must be writable as JSON that our own strict reader takes, and that JSON must
 * give a tree that is written the same; YAML that does not load must say why, at a place that the
 * text has. The first byte chooses whether variables are expanded before.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/vars.h"
#include "data/yaml.h"

static void require(int truth)
{
    if (!truth)
        abort();
}

static char *no_path(const char *base, const char *path)
{
    (void)path;
    return xstrdup(base);
}

static void check_places(const struct diags *diags, size_t len)
{
    for (size_t i = 0; i < diags->kept; i++)
        require(diags->places[i].line <= len + 2 && diags->places[i].column <= len + 2);
}

static char *as_json(struct yaml_node *root, struct diags *diags)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    yaml_to_json(root, NULL, &writer, diags);
    return buf_take(&out);
}

static void check_json(const char *json, struct diags *diags)
{
    CLEANUP(json_cleanup) struct json_object *value = NULL;
    CLEANUP(yaml_cleanup) struct yaml_node *again = NULL;
    require(json_read((gudgeon_str){json, strlen(json)}, &value, NULL) == 0);
    require(yaml_from_json(value, "again", &again, NULL) == 0);
    CLEANUP(free_ptr) char *same = as_json(again, diags);
    require(strcmp(json, same) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    struct diags diags = DIAGS_INIT;
    CLEANUP(yaml_cleanup) struct yaml_node *root = NULL;
    gudgeon_str text = {(const char *)bytes + 1, len - 1};
    int status = yaml_parse(text, "f", &root, &diags);
    require((status == 0) == (root != NULL));
    require(status == 0 || diags.count > 0);
    check_places(&diags, len);
    if (root != NULL && bytes[0] % 2 == 1)
        vars_expand(root, "/nowhere", no_path, &diags);
    if (root != NULL && diags.count == 0) {
        CLEANUP(free_ptr) char *json = as_json(root, &diags);
        if (diags.count == 0)
            check_json(json, &diags);
    }
    diags_fini(&diags);
    return 0;
}
