/* SPDX-License-Identifier: MIT */
#include "plugin/abi.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/kind.h"

const struct abi_version abi_host = {GUDGEON_ABI_MAJOR, GUDGEON_ABI_MINOR};

bool abi_is_name(const char *text)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (text == NULL)
        return false;
    size_t len = strnlen(text, ABI_NAME_MAX + 1);
    return len > 0 && len <= ABI_NAME_MAX && strspn(text, legal) == len;
}

/* ---- negotiation ---------------------------------------------------------------------------- */

int abi_negotiate(const struct gudgeon_plugin *plugin, struct abi_version host, struct err *err)
{
    if (plugin->magic != GUDGEON_MAGIC)
        return err_set(err, ERR_INVALID,
                       "its gudgeon_plugin does not begin with the magic number; "
                       "begin it with GUDGEON_PLUGIN_PREFIX");
    bool same_minor_needed = host.major == 0;
    if (plugin->abi_major != host.major || (same_minor_needed && plugin->abi_minor != host.minor))
        return err_set(err, ERR_PROTOCOL,
                       "made for ABI %u.%u, this host has %u.%u; rebuild it with this host's "
                       "headers",
                       plugin->abi_major, plugin->abi_minor, host.major, host.minor);
    if (!GUDGEON_HAS(plugin, minimum_host_minor))
        return err_set(err, ERR_INVALID, "its gudgeon_plugin says that it has only %u bytes",
                       plugin->size);
    if (plugin->minimum_host_minor > host.minor)
        return err_set(err, ERR_PROTOCOL,
                       "needs a host with ABI %u.%llu or later, this one has %u.%u",
                       plugin->abi_major, (unsigned long long)plugin->minimum_host_minor,
                       host.major, host.minor);
    return 0;
}

/* ---- components ----------------------------------------------------------------------------- */

const struct kind_row *abi_kind(const gudgeon_component *component)
{
    return kind_row(component->kind);
}

/* "tools/1": a word, a slash, a number. */
static bool is_kind(const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    if (word == 0 || text[word] != '/')
        return false;
    const char *number = text + word + 1;
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && digits <= 4 && number[digits] == '\0';
}

static uint32_t size_of(const void *ops)
{
    uint32_t size;
    memcpy(&size, ops, sizeof size);
    return size;
}

static bool has_op(const void *ops, size_t offset)
{
    void *op;
    memcpy(&op, (const char *)ops + offset, sizeof op);
    return op != NULL;
}

static int check_ops(const gudgeon_component *component, const struct kind_row *row,
                     struct err *err)
{
    if (component->create == NULL)
        return err_set(err, ERR_INVALID, "has no create");
    if (component->destroy == NULL)
        return err_set(err, ERR_INVALID, "has no destroy");
    if (component->ops == NULL)
        return err_set(err, ERR_INVALID, "has no ops: %s needs a %s", row->text, row->struct_name);
    for (size_t i = 0; i < KIND_OPS_MAX && row->mandatory[i].name != NULL; i++) {
        size_t offset = row->mandatory[i].offset;
        if (size_of(component->ops) < offset + sizeof(void *))
            return err_set(err, ERR_INVALID, "the size of its ops is %u; set it to sizeof (%s)",
                           size_of(component->ops), row->struct_name);
        if (!has_op(component->ops, offset))
            return err_set(err, ERR_INVALID, "its %s has no %s", row->struct_name,
                           row->mandatory[i].name);
    }
    return 0;
}

/* "tools/1" for "tool/1"; "" where the word is right and the version another one. */
static const char *meant_kind(const char *kind)
{
    const char *words[KIND_COUNT];
    for (size_t i = 0; i < KIND_COUNT; i++)
        words[i] = kind_name((enum kind)i);
    CLEANUP(free_ptr) char *word = xstrndup(kind, strcspn(kind, "/"));
    const char *near = nearest_name(word, words, KIND_COUNT);
    const struct kind_row *row = near != NULL ? kind_row_of(kind_of_name(near), 1) : NULL;
    return row != NULL && strcmp(word, near) != 0 ? row->text : "";
}

static int check_component(const gudgeon_component *component, struct buf *warnings,
                           struct err *err)
{
    if (!GUDGEON_HAS(component, ops))
        return err_set(err, ERR_INVALID, "its size is %u; set it to sizeof (gudgeon_component)",
                       component->size);
    if (component->kind == NULL || !is_kind(component->kind))
        return err_set(err, ERR_INVALID, "kind is \"%.32s\", must be like \"tools/1\"",
                       component->kind != NULL ? component->kind : "");
    if (!abi_is_name(component->name))
        return err_set(err, ERR_INVALID, "name is \"%.64s\", must be of a-z, 0-9, _ and -",
                       component->name != NULL ? component->name : "");
    const struct kind_row *row = abi_kind(component);
    if (row != NULL)
        return check_ops(component, row, err);
    const char *meant = meant_kind(component->kind);
    buf_addf(warnings,
             "%scomponent \"%s\" is passed over: kind \"%s\" is not known to this host%s%s%s",
             warnings->len > 0 ? "; " : "", component->name, component->kind,
             meant[0] != '\0' ? "; is it meant to be " : "", meant, meant[0] != '\0' ? "?" : "");
    return 0;
}

static bool is_repeated(const gudgeon_component *const *components, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(components[i]->kind, components[index]->kind) == 0 &&
            strcmp(components[i]->name, components[index]->name) == 0)
            return true;
    return false;
}

static int check_components(const gudgeon_component *const *components, struct buf *warnings,
                            struct err *err)
{
    size_t count = 0;
    for (; components[count] != NULL; count++) {
        if (count == ABI_COMPONENTS_MAX)
            return err_set(err, ERR_INVALID,
                           "lists more than %d components; does the array end with NULL?",
                           ABI_COMPONENTS_MAX);
        const gudgeon_component *component = components[count];
        int status = check_component(component, warnings, err);
        if (status == 0 && is_repeated(components, count))
            status = err_set(err, ERR_INVALID, "is listed twice with this kind and name");
        if (status < 0 && GUDGEON_HAS(component, name) && abi_is_name(component->name))
            return err_prefix(err, "component \"%s\"", component->name);
        if (status < 0)
            return err_prefix(err, "component %zu", count + 1);
    }
    return count > 0 ? 0 : err_set(err, ERR_INVALID, "offers no component");
}

int abi_check(const struct gudgeon_plugin *plugin, const char *file_name, struct buf *warnings,
              struct err *err)
{
    if (!abi_is_name(plugin->name))
        return err_set(err, ERR_INVALID, "its name is \"%.64s\", must be of a-z, 0-9, _ and -",
                       plugin->name != NULL ? plugin->name : "");
    if (strcmp(plugin->name, file_name) != 0)
        return err_set(err, ERR_INVALID, "calls itself \"%s\", so its file must be %s.so",
                       plugin->name, plugin->name);
    if (plugin->version == NULL || plugin->licence == NULL)
        return err_set(err, ERR_INVALID, "its %s is missing",
                       plugin->version == NULL ? "version" : "licence");
    if (plugin->components == NULL)
        return err_set(err, ERR_INVALID, "offers no component");
    return check_components(plugin->components, warnings, err);
}
