/* SPDX-License-Identifier: MIT */
/* JSON: what is read is written as text that reads as the same value, which has the same digest. */
#include <json-c/json_object.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "data/json.h"
#include "data/json_digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void want(int condition)
{
    if (!condition)
        abort();
}

static void write_and_read(struct json_object *value)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY), again = BUF_INIT(BUF_MAX_ANY);
    struct json_object *reread = NULL, *copy = json_copy(value);
    want(json_write(&text, value) == 0);
    want(json_read((gudgeon_str){text.data, text.len}, &reread, NULL) == 0);
    want(json_write(&again, reread) == 0 && strcmp(text.data, again.data) == 0);
    want(json_equal(value, reread) && json_equal(copy, reread));
    want(json_digest(value).hash == json_digest(copy).hash);
    char preview[JSON_PREVIEW_SIZE];
    json_preview(value, preview);
    want(strlen(preview) < sizeof preview);
    json_object_put(copy);
    json_object_put(reread);
    buf_fini(&text);
    buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    gudgeon_str text = {(const char *)bytes, len};
    struct json_object *value = NULL, *first = NULL, *tolerant = NULL;
    struct err err = {0};
    size_t used = 0;
    int status = json_read(text, &value, &err);
    want((status == 0) == (err.text[0] == '\0'));
    if (json_read_tolerant(text, &tolerant, NULL) == 0)
        write_and_read(tolerant);
    else
        want(status < 0);
    if (status == 0) {
        want(json_equal(value, tolerant));
        want(json_read_first(text, &first, &used, NULL) == 0 && used <= len);
        want(json_equal(value, first));
    }
    json_object_put(value);
    json_object_put(first);
    json_object_put(tolerant);
    return 0;
}
