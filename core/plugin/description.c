/* SPDX-License-Identifier: MIT */
#include "plugin/description.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/utf8.h"
#include "data/json.h"
#include "data/schema.h"
#include "plugin/abi.h"
#include "plugin/kind.h"
#include "plugin/registry.h"

enum {
    WORD_MAX = 128, /* bytes of a version or a licence that are kept */
    SUMMARY_MAX = 1024,
    JSON_TEXT_MAX = 1 << 20, /* a schema's: more is refused */
};

void plugin_info_fini(struct plugin_info *info)
{
    for (size_t i = 0; i < info->component_count; i++) {
        struct component_info *component = &info->components[i];
        free(component->name);
        free(component->summary);
        free(component->config_schema);
        free(component->needs);
    }
    free(info->components);
    free(info->path);
    free(info->name);
    free(info->version);
    free(info->licence);
    free(info->refused);
    free(info->warning);
    *info = (struct plugin_info){.path = NULL};
}

/* ---- from the descriptor -------------------------------------------------------------------- */

/* A plugin's words; NULL stays NULL. */
static char *copy_line(const char *text, size_t max)
{
    return text != NULL ? utf8_one_line((gudgeon_str){text, strnlen(text, max)}, max) : NULL;
}

/* The frozen prefix is readable whatever the version is. */
static void copy_prefix(const struct gudgeon_plugin *plugin, struct plugin_info *info)
{
    if (plugin->magic != GUDGEON_MAGIC || !GUDGEON_HAS(plugin, minimum_host_minor))
        return;
    info->abi_major = plugin->abi_major;
    info->abi_minor = plugin->abi_minor;
    info->version = copy_line(plugin->version, WORD_MAX);
    info->licence = copy_line(plugin->licence, WORD_MAX);
}

/* Sets *ret to the text when it is there and of a bearable size. */
static int copy_json(const char *what, const char *text, char **ret, struct err *err)
{
    if (text == NULL)
        return 0;
    size_t len = strnlen(text, JSON_TEXT_MAX + 1);
    if (len > JSON_TEXT_MAX)
        return err_set(err, ERR_LIMIT, "%s is larger than 1 MiB", what);
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    int status = json_read_object((gudgeon_str){text, len}, &object, err);
    if (status < 0)
        return err_prefix(err, "%s", what);
    *ret = xstrndup(text, len);
    return 0;
}

static int check_schema(const char *text, struct err *err)
{
    struct schema *schema = NULL;
    int status = text != NULL ? schema_compile_text(text, &schema, err) : 0;
    schema_free(schema);
    return status < 0 ? err_prefix(err, "config_schema") : 0;
}

static int copy_component(const gudgeon_component *component, struct component_info *info,
                          struct err *err)
{
    const struct kind_row *row = abi_kind(component);
    info->kind = row->kind;
    info->kind_version = row->version;
    info->flags = component->flags;
    info->name = xstrdup(component->name);
    info->summary = copy_line(component->summary != NULL ? component->summary : "", SUMMARY_MAX);
    int status = copy_json("config_schema", component->config_schema, &info->config_schema, err);
    if (status == 0)
        status = check_schema(info->config_schema, err);
    if (status == 0)
        status = copy_json("needs", component->needs, &info->needs, err);
    return status < 0 ? err_prefix(err, "component \"%s\"", component->name) : 0;
}

static int copy_components(const gudgeon_component *const *components, struct plugin_info *info,
                           struct err *err)
{
    info->components = xcalloc(ABI_COMPONENTS_MAX, sizeof *info->components);
    int status = 0;
    for (; *components != NULL && status == 0; components++)
        if (abi_kind(*components) != NULL)
            status = copy_component(*components, &info->components[info->component_count++], err);
    return status;
}

void description_make(const struct gudgeon_plugin *plugin, const char *file_name,
                      struct plugin_info *ret)
{
    struct err err = {0};
    CLEANUP(buf_fini) struct buf warnings = BUF_INIT(BUF_MAX_ANY);
    *ret = (struct plugin_info){.name = xstrdup(file_name)};
    copy_prefix(plugin, ret);
    int status = abi_negotiate(plugin, abi_host, &err);
    if (status == 0)
        status = abi_check(plugin, file_name, &warnings, &err);
    if (status == 0)
        status = copy_components(plugin->components, ret, &err);
    if (status < 0)
        ret->refused = copy_line(err.text, sizeof err.text);
    if (warnings.len > 0)
        ret->warning = copy_line(warnings.data, warnings.len);
}

void description_refuse(const char *file_name, const char *reason, struct plugin_info *ret)
{
    *ret = (struct plugin_info){.name = xstrdup(file_name),
                                .refused = copy_line(reason, ERR_TEXT_MAX)};
}

/* ---- to JSON -------------------------------------------------------------------------------- */

static void write_component(const struct component_info *component, struct json_writer *writer)
{
    json_begin_object(writer);
    json_field_text(writer, "kind", kind_row_of(component->kind, component->kind_version)->text);
    json_field_text(writer, "name", component->name);
    json_field_text(writer, "summary", component->summary);
    json_field_int(writer, "flags", component->flags);
    json_field_text(writer, "config_schema", component->config_schema);
    json_field_text(writer, "needs", component->needs);
    json_end_object(writer);
}

void description_write(const struct plugin_info *info, bool lasting, struct json_writer *writer)
{
    json_begin_object(writer);
    json_field_text(writer, "refused", info->refused);
    if (info->refused != NULL)
        json_field_bool(writer, "lasting", lasting);
    json_field_text(writer, "name", info->name);
    json_field_text(writer, "version", info->version);
    json_field_text(writer, "licence", info->licence);
    json_key(writer, "abi");
    json_begin_array(writer);
    json_add_int(writer, info->abi_major);
    json_add_int(writer, info->abi_minor);
    json_end_array(writer);
    json_field_text(writer, "warning", info->warning);
    json_key(writer, "components");
    json_begin_array(writer);
    for (size_t i = 0; i < info->component_count && info->refused == NULL; i++)
        write_component(&info->components[i], writer);
    json_end_array(writer);
    json_end_object(writer);
}

/* ---- from JSON ------------------------------------------------------------------------------ */

/* A copy of a member that is text without NULs, or NULL. */
static char *read_text(struct json_object *object, const char *key)
{
    gudgeon_str text = json_get_str(object, key);
    if (text.ptr == NULL || memchr(text.ptr, '\0', text.len) != NULL)
        return NULL;
    return xstrndup(text.ptr, text.len);
}

static char *read_line(struct json_object *object, const char *key)
{
    CLEANUP(free_ptr) char *text = read_text(object, key);
    return copy_line(text, BUF_MAX_ANY);
}

static int read_component(struct json_object *object, struct component_info *info, struct err *err)
{
    CLEANUP(free_ptr) char *kind = read_text(object, "kind");
    const struct kind_row *row = kind != NULL ? kind_row(kind) : NULL;
    info->name = read_text(object, "name");
    info->summary = read_line(object, "summary");
    info->flags = (unsigned)json_get_int(object, "flags", 0);
    info->config_schema = read_text(object, "config_schema");
    info->needs = read_text(object, "needs");
    if (row == NULL || !abi_is_name(info->name) || info->summary == NULL)
        return err_set(err, ERR_INVALID, "a component without kind, name or summary");
    info->kind = row->kind;
    info->kind_version = row->version;
    return 0;
}

static int read_components(struct json_object *array, struct plugin_info *info, struct err *err)
{
    size_t count =
        json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
    if (count > ABI_COMPONENTS_MAX)
        return err_set(err, ERR_INVALID, "%zu components", count);
    info->components = xcalloc(count > 0 ? count : 1, sizeof *info->components);
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        info->component_count++;
        status = read_component(json_object_array_get_idx(array, i), &info->components[i], err);
    }
    return status;
}

static unsigned read_number(struct json_object *array, size_t index)
{
    bool is_there =
        json_object_is_type(array, json_type_array) && index < json_object_array_length(array);
    return is_there ? (unsigned)json_object_get_int64(json_object_array_get_idx(array, index)) : 0;
}

int description_read(struct json_object *object, struct plugin_info *ret, struct err *err)
{
    struct json_object *abi = json_get(object, "abi");
    struct plugin_info info = {
        .name = read_text(object, "name"),
        .version = read_line(object, "version"),
        .licence = read_line(object, "licence"),
        .refused = read_line(object, "refused"),
        .warning = read_line(object, "warning"),
        .abi_major = read_number(abi, 0),
        .abi_minor = read_number(abi, 1),
    };
    int status = read_components(json_get(object, "components"), &info, err);
    bool is_whole = abi_is_name(info.name) && info.version != NULL && info.licence != NULL;
    if (status == 0 && info.refused == NULL && !is_whole)
        status = err_set(err, ERR_INVALID, "no name, version or licence");
    if (status < 0) {
        plugin_info_fini(&info);
        return err_prefix(err, "not a description of a plugin");
    }
    *ret = info;
    return 0;
}
