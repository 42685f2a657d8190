/* SPDX-License-Identifier: MIT */
#include "agent/toolbox.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/json.h"
#include "data/schema.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "sys/cancel.h"

enum {
    NAME_BYTES_MAX = 64, /* the strictest provider's limit on a tool's name */
    HASH_CHARS = 8,
    LIST_TIME_S = 30,
    TOOLS_MAX = 4096, /* in one toolbox */
};

static const char no_parameters[] = "{\"type\":\"object\",\"properties\":{}}";

struct toolbox {
    struct toolbox_options options;
    struct instance **instances; /* one for each entry of the definition */
    size_t instance_count;
    struct tool **tools;
    const gudgeon_tool **view;
    size_t count;
    uint64_t revision;
    char digest[65]; /* over the list: tells whether a new one is another one */
};

/* The built-in tools: a row each. `wanted` says for which definitions. */
static bool wants_final_answer(const struct definition *definition)
{
    return definition->finish == FINISH_TOOL;
}

static const struct {
    enum builtin id;
    const char *name, *description, *parameters;
    bool (*wanted)(const struct definition *definition);
} builtins[] = {
    {BUILTIN_FINAL_ANSWER, "final_answer",
     "Gives the final answer to the task and ends the run. Call it when the task is done.",
     "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\",\"description\":\"The "
     "complete answer.\"}},\"required\":[\"answer\"],\"additionalProperties\":false}",
     wants_final_answer},
};

const char *effect_name(enum effect effect)
{
    static const char *const names[] = {
        [EFFECT_READ] = "read", [EFFECT_IDEMPOTENT] = "idempotent", [EFFECT_WRITE] = "write"};
    return names[effect];
}

static bool matches_any(const struct text_list *globs, const char *name)
{
    for (size_t i = 0; i < globs->count; i++)
        if (fnmatch(globs->items[i], name, 0) == 0)
            return true;
    return false;
}

/* The operator's word stands; a plugin that relays others' tools can only make things stricter. */
static enum effect effect_of(const struct tools_entry *entry, const char *name, unsigned flags)
{
    bool relayed = entry->entry.component->flags & GUDGEON_RELAYED;
    if (matches_any(&entry->idempotent, name))
        return EFFECT_IDEMPOTENT;
    if (!relayed && (flags & GUDGEON_TOOL_READ))
        return EFFECT_READ;
    return !relayed && (flags & GUDGEON_TOOL_IDEMPOTENT) ? EFFECT_IDEMPOTENT : EFFECT_WRITE;
}

static bool approval_of(const struct tools_entry *entry, unsigned flags)
{
    bool relayed = entry->entry.component->flags & GUDGEON_RELAYED;
    return entry->approve == APPROVE_ALWAYS ||
           (entry->approve == APPROVE_DESTRUCTIVE &&
            ((flags & GUDGEON_TOOL_DESTRUCTIVE) || (relayed && !(flags & GUDGEON_TOOL_READ))));
}

static void end_in_hash(char *name, const char *full)
{
    struct digest digest;
    char hex[65];
    digest_init(&digest);
    digest_update(&digest, full, strlen(full));
    digest_hex(&digest, hex);
    size_t keep = strlen(name);
    if (keep > NAME_BYTES_MAX - HASH_CHARS - 1)
        keep = NAME_BYTES_MAX - HASH_CHARS - 1;
    name[keep] = '_';
    memcpy(name + keep + 1, hex, HASH_CHARS);
    name[keep + 1 + HASH_CHARS] = '\0';
}

const struct tool *toolbox_find(const struct toolbox *toolbox, gudgeon_str name)
{
    for (size_t i = 0; i < toolbox->count; i++)
        if (str_is(name, toolbox->tools[i]->name))
            return toolbox->tools[i];
    return NULL;
}

/* A name that every dialect takes and that no other tool has, or NULL. */
static char *legal_name(const struct toolbox *toolbox, const struct tools_entry *entry,
                        gudgeon_str plugin_name)
{
    CLEANUP(free_ptr)
    char *full = entry->prefixed ? xasprintf("%s_%.*s", entry->entry.name, STR_ARG(plugin_name))
                                 : str_dup(plugin_name);
    char *name = xmalloc(strlen(full) + HASH_CHARS + 2);
    bool changed = strlen(full) > NAME_BYTES_MAX;
    size_t len = strlen(full);
    for (size_t i = 0; i <= len; i++) {
        bool legal =
            full[i] == '\0' || isalnum((unsigned char)full[i]) || full[i] == '_' || full[i] == '-';
        name[i] = legal ? full[i] : '_';
        changed |= !legal;
    }
    if (strlen(full) > NAME_BYTES_MAX || (changed && toolbox_find(toolbox, str_of(name)) != NULL))
        end_in_hash(name, full);
    if (toolbox_find(toolbox, str_of(name)) != NULL) {
        free(name);
        return NULL;
    }
    return name;
}

static void tool_free(struct tool *tool)
{
    free(tool->name);
    free(tool->plugin_name);
    free(tool->description);
    free(tool->parameters);
    schema_free(tool->schema);
    free(tool);
}

/* Finishes a tool whose texts are set, and takes it into the list. */
static int add_tool(struct toolbox *toolbox, struct tool *take_tool, struct err *err)
{
    struct tool *tool = take_tool;
    if (schema_compile_text(tool->parameters, &tool->schema, err) < 0) {
        err_prefix(err, "tool \"%s\": parameters", tool->name);
        tool_free(tool);
        return ERR_INVALID;
    }
    tool->abi = (gudgeon_tool){
        .size = sizeof tool->abi,
        .name = str_of(tool->name),
        .description = str_of(tool->description),
        .parameters = str_of(tool->parameters),
    };
    toolbox->tools = xreallocarray(toolbox->tools, toolbox->count + 1, sizeof *toolbox->tools);
    toolbox->tools[toolbox->count++] = tool;
    return 0;
}

struct listing {
    struct toolbox *toolbox;
    struct instance *instance;
    const struct tools_entry *entry;
    struct err err; /* the first fault that makes the list unusable */
};

static void log_dropped(struct listing *listing, const char *why)
{
    const struct toolbox_options *options = &listing->toolbox->options;
    CLEANUP(free_ptr) char *text = xasprintf("left out: %s", why);
    if (options->on_log != NULL)
        options->on_log(options->payload, instance_name(listing->instance), GUDGEON_LOG_WARN, text);
}

static void take_listed(void *payload, const gudgeon_tool *listed)
{
    struct listing *listing = payload;
    const struct tools_entry *entry = listing->entry;
    CLEANUP(free_ptr) char *plugin_name = str_dup(listed->name);
    if ((entry->allow.count > 0 && !matches_any(&entry->allow, plugin_name)) ||
        matches_any(&entry->deny, plugin_name) || listing->toolbox->count >= TOOLS_MAX)
        return;
    char *name = legal_name(listing->toolbox, entry, listed->name);
    if (name == NULL) {
        err_set(&listing->err, ERR_INVALID,
                "tools \"%s\": there is a tool \"%s\" already; give this entry a `name:`, which "
                "goes before its tools' names",
                entry->entry.name, plugin_name);
        return;
    }
    struct tool *tool = xcalloc(1, sizeof *tool);
    tool->name = name;
    tool->plugin_name = TAKE(plugin_name);
    tool->description = str_dup(listed->description);
    tool->parameters =
        listed->parameters.len > 0 ? str_dup(listed->parameters) : xstrdup(no_parameters);
    tool->effect = effect_of(entry, tool->plugin_name, listed->flags);
    tool->needs_approval = approval_of(entry, listed->flags);
    tool->instance = listing->instance;
    tool->entry = entry;
    struct err err = {0};
    if (add_tool(listing->toolbox, tool, &err) < 0)
        log_dropped(listing, err.text);
}

static int list_instance(struct toolbox *toolbox, size_t index, struct err *err)
{
    struct listing listing = {.toolbox = toolbox,
                              .instance = toolbox->instances[index],
                              .entry = &toolbox->options.definition->tools[index]};
    struct call *call = call_new(&(struct call_options){
        .parent = toolbox->options.cancel,
        .deadline_ns = clock_monotonic_ns() + LIST_TIME_S * NS_PER_S,
    });
    int status = instance_list(listing.instance, call, take_listed, &listing);
    if (status < 0) {
        const char *message = call_error(call)->message;
        err_set(err, status, "tools \"%s\": cannot list its tools: %s", listing.entry->entry.name,
                message[0] != '\0' ? message : err_name(status));
    } else if (listing.err.code != 0) {
        *err = listing.err;
        status = listing.err.code;
    }
    call_free(call);
    return status;
}

static int add_builtins(struct toolbox *toolbox, struct err *err)
{
    for (size_t i = 0; i < COUNT_OF(builtins); i++) {
        if (!builtins[i].wanted(toolbox->options.definition))
            continue;
        struct tool *tool = xcalloc(1, sizeof *tool);
        tool->name = xstrdup(builtins[i].name);
        tool->plugin_name = xstrdup(builtins[i].name);
        tool->description = xstrdup(builtins[i].description);
        tool->parameters = xstrdup(builtins[i].parameters);
        tool->effect = EFFECT_READ;
        tool->builtin = builtins[i].id;
        if (add_tool(toolbox, tool, err) < 0)
            return err->code;
    }
    return 0;
}

static void drop_tools(struct toolbox *toolbox)
{
    for (size_t i = 0; i < toolbox->count; i++)
        tool_free(toolbox->tools[i]);
    toolbox->count = 0;
}

static void write_tool(struct json_writer *writer, const struct tool *tool)
{
    json_begin_object(writer);
    json_field_text(writer, "name", tool->name);
    json_field_text(writer, "instance", tool->instance ? instance_name(tool->instance) : "gudgeon");
    json_field_text(writer, "tool", tool->plugin_name);
    json_field_text(writer, "description", tool->description);
    json_field_raw(writer, "parameters", tool->abi.parameters);
    json_field_text(writer, "effect", effect_name(tool->effect));
    json_field_text(writer, "approve", tool->needs_approval ? "ask" : "never");
    json_end_object(writer);
}

static void write_tools(const struct toolbox *toolbox, struct json_writer *writer)
{
    json_begin_array(writer);
    for (size_t i = 0; i < toolbox->count; i++)
        write_tool(writer, toolbox->tools[i]);
    json_end_array(writer);
}

static void digest_tools(const struct toolbox *toolbox, char ret[65])
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&text);
    write_tools(toolbox, &writer);
    struct digest digest;
    digest_init(&digest);
    digest_update(&digest, text.data, text.len);
    digest_hex(&digest, ret);
    buf_fini(&text);
}

static int list_all(struct toolbox *toolbox, bool *ret_changed, struct err *err)
{
    drop_tools(toolbox);
    if (add_builtins(toolbox, err) < 0)
        return err->code;
    for (size_t i = 0; i < toolbox->instance_count; i++)
        if (list_instance(toolbox, i, err) < 0)
            return err->code;
    toolbox->view = xreallocarray(toolbox->view, toolbox->count, sizeof *toolbox->view);
    for (size_t i = 0; i < toolbox->count; i++)
        toolbox->view[i] = &toolbox->tools[i]->abi;
    char digest[65];
    digest_tools(toolbox, digest);
    *ret_changed = strcmp(digest, toolbox->digest) != 0;
    if (*ret_changed) {
        memcpy(toolbox->digest, digest, sizeof digest);
        toolbox->revision++;
    }
    return 0;
}

static int open_instances(struct toolbox *toolbox, struct err *err)
{
    const struct definition *definition = toolbox->options.definition;
    toolbox->instances = xcalloc(definition->tools_count, sizeof *toolbox->instances);
    for (size_t i = 0; i < definition->tools_count; i++) {
        const struct use_entry *entry = &definition->tools[i].entry;
        struct instance_options options = {
            .name = entry->name,
            .config = str_of(entry->config),
            .grant = str_of(entry->grant),
            .services = toolbox->options.services,
            .secrets = toolbox->options.secrets,
            .on_log = toolbox->options.on_log,
            .payload = toolbox->options.payload,
        };
        CLEANUP(buf_fini) struct buf scratch = BUF_INIT(BUF_MAX_ANY);
        if (secrets_expand(options.secrets, options.config, &scratch, err) < 0 ||
            instance_open(entry->component, &options, &toolbox->instances[i], err) < 0)
            return err_prefix(err, "tools \"%s\"", entry->name);
        toolbox->instance_count++;
    }
    return 0;
}

int toolbox_open(const struct toolbox_options *options, struct toolbox **ret, struct err *err)
{
    struct toolbox *toolbox = xcalloc(1, sizeof *toolbox);
    toolbox->options = *options;
    bool changed;
    if (open_instances(toolbox, err) < 0 || list_all(toolbox, &changed, err) < 0) {
        toolbox_free(toolbox);
        return err->code;
    }
    *ret = toolbox;
    return 0;
}

void toolbox_free(struct toolbox *toolbox)
{
    if (toolbox == NULL)
        return;
    drop_tools(toolbox);
    for (size_t i = 0; i < toolbox->instance_count; i++)
        instance_close(toolbox->instances[i]);
    free(toolbox->instances);
    free(toolbox->tools);
    free(toolbox->view);
    free(toolbox);
}

int toolbox_refresh(struct toolbox *toolbox, bool *ret_changed, struct err *err)
{
    *ret_changed = false;
    for (size_t i = 0; i < toolbox->instance_count; i++)
        if (instance_tools_changed(toolbox->instances[i]))
            return list_all(toolbox, ret_changed, err);
    return 0;
}

uint64_t toolbox_revision(const struct toolbox *toolbox)
{
    return toolbox->revision;
}

const gudgeon_tool *const *toolbox_list(const struct toolbox *toolbox, size_t *ret_count)
{
    *ret_count = toolbox->count;
    return toolbox->view;
}

const char *toolbox_nearest(const struct toolbox *toolbox, const char *name)
{
    const char **names = xcalloc(toolbox->count, sizeof *names);
    for (size_t i = 0; i < toolbox->count; i++)
        names[i] = toolbox->tools[i]->name;
    const char *nearest = nearest_name(name, names, toolbox->count);
    free(names);
    return nearest;
}

void toolbox_names(const struct toolbox *toolbox, struct buf *out)
{
    for (size_t i = 0; i < toolbox->count; i++)
        buf_addf(out, "%s%s", i > 0 ? ", " : "", toolbox->tools[i]->name);
}

void toolbox_write(const struct toolbox *toolbox, struct json_writer *writer)
{
    json_field_int(writer, "revision", (int64_t)toolbox->revision);
    json_key(writer, "tools");
    write_tools(toolbox, writer);
}
