/* SPDX-License-Identifier: MIT */
/*
 * Intake: the first line of the input is a secret, its first byte the cap; the rest is a tool's
 * result, taken as text, as JSON and as blocks. What comes out is UTF-8 without NUL, JSON where
 * it should be, within its cap, and without the secret.
 */
#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/intake.h"
#include "event/journal.h"
#include "sys/tmpdir.h"

enum { LINE_MAX_BYTES = 200 }; /* of the line about what was left out */

static void require(int truth)
{
    if (!truth)
        abort();
}

/* Only of capitals: then no text of ours holds it. */
static bool is_checkable(const char *secret)
{
    return strlen(secret) >= 6 && strspn(secret, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(secret);
}

static void check_text(const struct buf *out, const char *secret)
{
    require(utf8_is_valid(out->data, out->len) && memchr(out->data, '\0', out->len) == NULL);
    require(!is_checkable(secret) || strstr(out->data, secret) == NULL);
}

static void check_result(const struct intake *intake, struct journal *journal, gudgeon_str text,
                         size_t max, const char *secret)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY), out = BUF_INIT(BUF_MAX_ANY);
    struct intake_spill spill;
    require(intake_text(intake, text, &safe) == 0);
    check_text(&safe, secret);
    require(intake_result(intake, journal, text, max, &out, &spill, NULL) == 0);
    check_text(&out, secret);
    require(out.len > 0 && out.len <= max + LINE_MAX_BYTES);
    require((spill.blob[0] != '\0') == (spill.bytes > 0));
    require(spill.bytes == 0 || spill.bytes > max);
    buf_fini(&safe);
    buf_fini(&out);
}

static void check_json(const struct intake *intake, gudgeon_str json, const char *secret)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_object *value = NULL;
    if (intake_json(intake, json, &out, NULL) == 0) {
        check_text(&out, secret);
        require(json_read((gudgeon_str){out.data, out.len}, &value, NULL) == 0);
        json_object_put(value);
    }
    buf_fini(&out);
}

static size_t text_size(struct json_object *blocks)
{
    size_t size = 0;
    for (size_t i = 0; i < json_object_array_length(blocks); i++) {
        struct json_object *block = json_object_array_get_idx(blocks, i);
        require(json_get_str(block, "type").len > 0);
        size += json_get_str(block, "text").len;
    }
    return size;
}

static void check_blocks(const struct intake *intake, struct journal *journal, gudgeon_str json,
                         size_t max, const char *secret)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct intake_spill spill;
    struct json_object *blocks = NULL;
    if (intake_blocks(intake, journal, json, max, &out, &spill, NULL) == 0) {
        check_text(&out, secret);
        require(json_read((gudgeon_str){out.data, out.len}, &blocks, NULL) == 0);
        require(json_object_array_length(blocks) > 0);
        require(text_size(blocks) <= max + LINE_MAX_BYTES);
        json_object_put(blocks);
    }
    buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t *newline = len > 1 ? memchr(bytes + 1, '\n', len - 1) : NULL;
    if (newline == NULL)
        return 0;
    char *runs = NULL;
    struct journal *journal = NULL;
    require(tmpdir_new(&runs, NULL) == 0);
    require(journal_create(runs, "r", JOURNAL_SYNC_NEVER, &journal, NULL) == 0);
    CLEANUP(free_ptr)
    char *secret = xstrndup((const char *)bytes + 1, (size_t)(newline - bytes) - 1);
    size_t rest_len = len - (size_t)(newline + 1 - bytes);
    /* Of exactly this size, for the sanitizer. */
    CLEANUP(free_ptr) char *rest = xmalloc(rest_len);
    memcpy(rest, newline + 1, rest_len);
    gudgeon_str text = {rest, rest_len};
    struct intake *intake = intake_new();
    intake_add_secret(intake, secret);
    check_result(intake, journal, text, bytes[0], secret);
    check_json(intake, text, secret);
    check_blocks(intake, journal, text, bytes[0], secret);
    intake_free(intake);
    journal_close(journal);
    tmpdir_remove(runs);
    return 0;
}
