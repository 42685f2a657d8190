/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_JOURNAL_CHECK_H
#define GUDGEON_TESTS_JOURNAL_CHECK_H

/*
 * Whether a journal is what config/journal.schema.json says, strictly: no damage, no type and no
 * field that the schema does not describe. Every test that makes a journal ends with
 * CU_ASSERT(journal_is_valid(DIRECTORY)). Tests run at the repository's root.
 */

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "data/json.h"
#include "data/schema.h"
#include "event/reader.h"
#include "scratch.h"

/* A published schema; freed by the caller. */
static inline struct json_object *schema_file_read(const char *path)
{
    struct buf text = scratch_read("%s", path);
    struct json_object *root = NULL;
    struct err err = {0};
    if (json_read_object((gudgeon_str){text.data, text.len}, &root, &err) < 0)
        printf("# %s: %s\n", path, err.text);
    SCRATCH_NEED(root != NULL);
    buf_fini(&text);
    return root;
}

static inline struct json_object *journal_schema_read(void)
{
    return schema_file_read("config/journal.schema.json");
}

/* Compiles it with the schema of content blocks that it refers to. */
static inline struct schema *journal_schema_compile(struct json_object *root)
{
    CLEANUP(json_cleanup)
    struct json_object *blocks = schema_file_read("include/gudgeon/blocks.schema.json");
    struct schema_document document = {.uri = json_get_str(blocks, "$id").ptr, .schema = blocks};
    struct schema_options options = {.documents = &document, .document_count = 1};
    struct schema *schema = NULL;
    struct err err = {0};
    if (schema_compile(root, &options, &schema, &err) < 0)
        printf("# config/journal.schema.json: %s\n", err.text);
    SCRATCH_NEED(schema != NULL);
    return schema;
}

/* The schema as writers are held to it: fields that it does not describe are faults. */
static inline struct schema *journal_schema_strict(void)
{
    CLEANUP(json_cleanup) struct json_object *root = journal_schema_read();
    json_object_object_add(root, "unevaluatedProperties", json_object_new_boolean(false));
    return journal_schema_compile(root);
}

struct journal_check {
    struct schema *schema;
    bool valid;
};

static inline int journal_check_event(void *payload, const struct event *event)
{
    struct journal_check *check = payload;
    struct err err = {0};
    if (event->record.type == EVENT_UNKNOWN)
        err_set(&err, ERR_INVALID, "a type that the schema does not describe");
    else
        schema_check_err(check->schema, event->fields, &err);
    if (err.code != 0) {
        printf("# record %lld, %s: %s\n", (long long)event->record.seq, event->type_name, err.text);
        check->valid = false;
    }
    return 0;
}

static inline bool journal_is_valid(const char *directory)
{
    struct journal_check check = {.schema = journal_schema_strict(), .valid = true};
    struct reader_report report = {0};
    struct err err = {0};
    if (reader_run(directory, journal_check_event, &check, &report, &err) < 0)
        printf("# %s\n", err.text);
    else if (report.first[0] != '\0' || report.torn)
        printf("# %s: %s\n", directory, report.torn ? "torn" : report.first);
    else if (report.records == 0)
        printf("# %s: no record\n", directory);
    schema_free(check.schema);
    return err.code == 0 && report.first[0] == '\0' && !report.torn && report.records > 0 &&
           check.valid;
}

#endif
