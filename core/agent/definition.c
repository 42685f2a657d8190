/* SPDX-License-Identifier: MIT */
#include "agent/definition.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/definition_bind.h"
#include "agent/definition_table.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/yaml.h"
#include "sys/paths.h"

/* ---- what is loaded -------------------------------------------------------------------------- */

static char *current_directory(void)
{
    char *directory = getcwd(NULL, 0);
    return directory != NULL ? directory : xstrdup("/");
}

/* An empty one that knows its place; "-" stands in the current directory. */
static struct definition *definition_new(const char *path)
{
    struct definition *definition = xcalloc(1, sizeof *definition);
    CLEANUP(free_ptr) char *current = current_directory();
    if (strcmp(path, "-") == 0) {
        definition->path = xstrdup(path);
        definition->directory = TAKE(current);
        return definition;
    }
    definition->path = paths_absolute(current, path);
    const char *slash = strrchr(definition->path, '/');
    size_t len = slash == definition->path ? 1 : (size_t)(slash - definition->path);
    definition->directory = xstrndup(definition->path, len);
    return definition;
}

/* What the file is called in messages. */
static const char *label_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* ---- loading --------------------------------------------------------------------------------- */

static const struct definition_options no_options;

/* Applies --set. Nodes that come from a setting have its text as their file, so the labels live as
 * long as the tree. */
static void apply_settings(const struct definition_options *options, char **labels,
                           struct yaml_node **root, struct diags *diags)
{
    for (size_t i = 0; i < options->set_count; i++) {
        labels[i] = xasprintf("--set %s", options->set[i]);
        yaml_set(root, options->set[i], labels[i], diags);
    }
}

static void fill(struct definition *definition, struct yaml_node *root,
                 const struct definition_options *options, struct diags *diags)
{
    const struct fields_context context = {definition->directory, paths_absolute, diags};
    if (root->kind == YAML_MAPPING) {
        fields_load(&definition_table, root, definition, &context);
        definition_bind(definition, root, options->registry, &context);
        return;
    }
    char shown[YAML_SHOWN_SIZE];
    yaml_fault(diags, root, "a definition is a mapping (agent: NAME, model: …), this is %s",
               yaml_is_empty(root) ? "empty" : yaml_shown(root, shown));
}

/* What both ways of loading share: `definition` is consumed when there is a fault. */
static int finish(struct definition *definition, size_t faults_before, struct definition **ret,
                  const struct diags *diags)
{
    if (diags->count > faults_before) {
        definition_free(definition);
        return ERR_INVALID;
    }
    *ret = definition;
    return 0;
}

int definition_load_text(gudgeon_str text, const char *path,
                         const struct definition_options *options, struct definition **ret,
                         struct diags *diags)
{
    if (options == NULL)
        options = &no_options;
    size_t faults_before = diags->count;
    CLEANUP(yaml_cleanup) struct yaml_node *root = NULL;
    int status = yaml_parse(text, label_of(path), &root, diags);
    if (status < 0)
        return status;
    struct definition *definition = definition_new(path);
    char **labels = xcalloc(options->set_count, sizeof(char *));
    apply_settings(options, labels, &root, diags);
    vars_expand(root, definition->directory, paths_absolute, diags);
    fill(definition, root, options, diags);
    for (size_t i = 0; i < options->set_count; i++)
        free(labels[i]);
    free(labels);
    return finish(definition, faults_before, ret, diags);
}

int definition_load_json(struct json_object *resolved, const char *path,
                         const struct definition_options *options, struct definition **ret,
                         struct diags *diags)
{
    size_t faults_before = diags->count;
    struct err err = {0};
    CLEANUP(yaml_cleanup) struct yaml_node *root = NULL;
    int status = yaml_from_json(resolved, label_of(path), &root, &err);
    if (status < 0) {
        diags_add(diags, label_of(path), 0, 0, "%s", err.text);
        return status;
    }
    struct definition *definition = definition_new(path);
    fill(definition, root, options != NULL ? options : &no_options, diags);
    return finish(definition, faults_before, ret, diags);
}

int definition_load(const char *path, const struct definition_options *options,
                    struct definition **ret, struct diags *diags)
{
    CLEANUP(buf_fini) struct buf text = BUF_INIT(BUF_MAX_ANY);
    struct err err = {0};
    int status = strcmp(path, "-") == 0 ? file_read_fd(STDIN_FILENO, YAML_MAX_BYTES, &text, &err)
                                        : file_read(path, YAML_MAX_BYTES, &text, &err);
    if (status < 0) {
        diags_add(diags, label_of(path), 0, 0, "%s", err.text);
        return status;
    }
    return definition_load_text((gudgeon_str){text.data, text.len}, path, options, ret, diags);
}

void definition_free(struct definition *definition)
{
    if (definition == NULL)
        return;
    for (size_t i = 0; i < definition->model_count; i++)
        free(definition->models[i].entry.name);
    for (size_t i = 0; i < definition->tools_count; i++)
        free(definition->tools[i].entry.name);
    fields_fini(&definition_table, definition);
    free(definition->path);
    free(definition->directory);
    free(definition);
}

/* ---- writing --------------------------------------------------------------------------------- */

int definition_write_json(const struct definition *definition, struct buf *out)
{
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_begin_object(&writer);
    fields_write_json(&definition_table, definition, &writer);
    json_end_object(&writer);
    return writer.status;
}

static void write_compact_schema(struct json_writer *writer)
{
    json_begin_object(writer);
    json_field_text(writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_field_text(writer, "title", "gudgeon agent definition");
    fields_write_schema(&definition_table, writer);
    json_key(writer, "$defs");
    json_begin_object(writer);
    json_key(writer, "variable");
    json_begin_object(writer);
    fields_write_variable(writer);
    json_end_object(writer);
    json_end_object(writer);
    json_end_object(writer);
}

/* The file is for people too. */
int definition_write_schema(struct buf *out)
{
    CLEANUP(buf_fini) struct buf compact = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&compact);
    write_compact_schema(&writer);
    CLEANUP(json_cleanup) struct json_object *schema = NULL;
    int status = json_read((gudgeon_str){compact.data, compact.len}, &schema, NULL);
    if (status < 0)
        return status;
    status = buf_add_str(out, json_object_to_json_string_ext(
                                  schema, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                                              JSON_C_TO_STRING_NOSLASHESCAPE));
    return status < 0 ? status : buf_add_char(out, '\n');
}
