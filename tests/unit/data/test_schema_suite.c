/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "data/schema.h"
#include "suites.h"
#include "unit.h"

/* The documents that the suite serves as http://localhost:1234/…, under their paths. */
struct remotes {
    const char *root;
    struct schema_document *documents;
    size_t count;
};

static struct json_object *read_file(const char *path)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    struct json_object *value = NULL;
    struct err err;
    CU_ASSERT_EQUAL_FATAL(suite_read(path, &text), 0);
    CU_ASSERT_EQUAL_FATAL(json_read((gudgeon_str){text.data, text.len}, &value, &err), 0);
    buf_fini(&text);
    return value;
}

static void add_remote(const char *path, const char *name, void *payload)
{
    struct remotes *remotes = payload;
    struct stat found;
    if (stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        suite_each(path, add_remote, remotes);
        return;
    }
    if (!ends_with(name, ".json"))
        return;
    remotes->documents =
        xreallocarray(remotes->documents, remotes->count + 1, sizeof *remotes->documents);
    remotes->documents[remotes->count++] = (struct schema_document){
        .uri = xasprintf("http://localhost:1234%s", path + strlen(remotes->root)),
        .schema = read_file(path),
    };
}

static void remotes_fini(struct remotes *remotes)
{
    for (size_t i = 0; i < remotes->count; i++) {
        free((char *)remotes->documents[i].uri);
        json_object_put(remotes->documents[i].schema);
    }
    free(remotes->documents);
}

struct counts {
    struct schema_options options;
    bool say; /* print what fails */
    int passed, all;
};

/* One group: a schema and the instances for it. */
static void run_group(struct counts *counts, const char *file, struct json_object *group)
{
    struct json_object *tests = json_get(group, "tests");
    struct schema *schema = NULL;
    struct err err = {0};
    int compiled = schema_compile(json_get(group, "schema"), &counts->options, &schema, &err);
    for (size_t i = 0; i < json_object_array_length(tests); i++) {
        struct json_object *test = json_object_array_get_idx(tests, i);
        int status = compiled;
        if (compiled == 0)
            status = schema_check_err(schema, json_get(test, "data"), &err);
        bool passed = compiled == 0 && (status == 0) == json_get_bool(test, "valid", false) &&
                      status != ERR_LIMIT;
        counts->all++;
        counts->passed += passed;
        if (!passed && counts->say)
            printf("# %s: %s: %s: %s\n", file, json_get_str(group, "description").ptr,
                   json_get_str(test, "description").ptr, status < 0 ? err.text : "valid");
    }
    schema_free(schema);
}

static void run_file(const char *path, const char *name, void *payload)
{
    if (!ends_with(name, ".json"))
        return;
    CLEANUP(json_cleanup) struct json_object *groups = read_file(path);
    for (size_t i = 0; i < json_object_array_length(groups); i++)
        run_group(payload, name, json_object_array_get_idx(groups, i));
}

/* Runs a folder of the suite; false when it is not here. */
static bool run_folder(const char *folder, bool assert_format, struct counts *counts)
{
    CLEANUP(free_ptr) char *root = suite_path("json-schema/remotes");
    if (root == NULL)
        return false;
    struct remotes remotes = {.root = root};
    suite_each(root, add_remote, &remotes);
    counts->options = (struct schema_options){
        .assert_format = assert_format,
        .documents = remotes.documents,
        .document_count = remotes.count,
    };
    CLEANUP(free_ptr) char *path = suite_path(folder);
    suite_each(path, run_file, counts);
    remotes_fini(&remotes);
    return true;
}

static void test_required(void)
{
    struct counts counts = {.say = true};
    if (!run_folder("json-schema/tests/draft2020-12", false, &counts))
        return;
    printf("# JSON Schema 2020-12: %d of %d required cases pass\n", counts.passed, counts.all);
    CU_ASSERT(counts.all >= 1299);
    CU_ASSERT_EQUAL(counts.passed, counts.all);
}

/* What the specification leaves open: counted, and not to become fewer. */
static void test_optional(void)
{
    struct counts others = {.say = getenv("VERBOSE") != NULL}, formats = others;
    if (!run_folder("json-schema/tests/draft2020-12/optional", false, &others) ||
        !run_folder("json-schema/tests/draft2020-12/optional/format", true, &formats))
        return;
    printf("# JSON Schema 2020-12: %d of %d optional cases pass, %d of %d of formats\n",
           others.passed, others.all, formats.passed, formats.all);
    CU_ASSERT(others.passed >= 147);
    CU_ASSERT(formats.passed >= 656);
}

int main(void)
{
    UNIT_MAIN("schema suite", {"the required cases of the public suite", test_required},
              {"its optional cases", test_optional});
}
