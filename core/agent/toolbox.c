/* SPDX-License-Identifier: MIT */
#include "agent/toolbox.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "agent/entry.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/json.h"
#include "data/schema.h"
#include "event/intake.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"

enum {
    NAME_BYTES_MAX = 64, /* the strictest provider's limit on a tool's name */
    HASH_CHARS = 8,
    LIST_TIME_S = 30,
    TOOLS_MAX = 4096, /* of one instance */
};

static const char no_parameters[] = "{\"type\":\"object\",\"properties\":{}}";

/* The tools of one instance; entry and instance are NULL for the built-in ones. */
struct shelf {
    const struct tools_entry *entry;
    struct instance *instance;
    struct tool **tools;
    size_t count;
};

struct toolbox {
    const struct definition *definition;
    struct instance_options shared;
    struct intake *intake;
    struct shelf *shelves; /* the built-in tools, then one for each entry of the definition */
    size_t shelf_count;
    struct tool **tools; /* what stands on all shelves, in order */
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

/* ---- listing one instance -------------------------------------------------------------------- */

/* A shelf that is being filled, to stand in the place of another one. */
struct listing {
    struct toolbox *toolbox;
    const struct shelf *replaces;
    struct shelf fresh;
    struct text_list names; /* of all its tools, as the plugin gives them */
    struct err err;         /* the first tool whose name another instance has taken */
};

static void warn(const struct listing *listing, const char *text)
{
    const struct instance_options *shared = &listing->toolbox->shared;
    if (shared->on_log != NULL)
        shared->on_log(shared->payload, listing->fresh.entry->entry.name, GUDGEON_LOG_WARN, text);
}

static void log_left_out(const struct listing *listing, const char *tool, const char *why)
{
    CLEANUP(free_ptr) char *text = xasprintf("tool \"%s\" is left out: %s", tool, why);
    warn(listing, text);
}

static bool stands_on(const struct shelf *shelf, const char *name)
{
    for (size_t i = 0; i < shelf->count; i++)
        if (strcmp(shelf->tools[i]->name, name) == 0)
            return true;
    return false;
}

static bool is_taken_elsewhere(const struct listing *listing, const char *name)
{
    const struct toolbox *toolbox = listing->toolbox;
    for (size_t i = 0; i < toolbox->shelf_count; i++)
        if (&toolbox->shelves[i] != listing->replaces && stands_on(&toolbox->shelves[i], name))
            return true;
    return false;
}

static bool is_taken(const struct listing *listing, const char *name)
{
    return stands_on(&listing->fresh, name) || is_taken_elsewhere(listing, name);
}

/* A name that every dialect takes. What had to be changed for that ends in a hash when the changed
 * name is taken; what is too long always does. */
static char *legal_name(const struct listing *listing, const char *plugin_name)
{
    const struct tools_entry *entry = listing->fresh.entry;
    CLEANUP(free_ptr)
    char *full =
        entry->prefixed ? xasprintf("%s_%s", entry->entry.name, plugin_name) : xstrdup(plugin_name);
    size_t len = strlen(full);
    bool changed = false;
    char *name = xmalloc(len + 1 + HASH_CHARS + 1);
    for (size_t i = 0; i <= len; i++) {
        bool legal =
            full[i] == '\0' || isalnum((unsigned char)full[i]) || full[i] == '_' || full[i] == '-';
        name[i] = legal ? full[i] : '_';
        changed |= !legal;
    }
    if (len > NAME_BYTES_MAX || (changed && is_taken(listing, name)))
        end_in_hash(name, full);
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

static void shelf_clear(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        tool_free(shelf->tools[i]);
    free(shelf->tools);
    shelf->tools = NULL;
    shelf->count = 0;
}

/* Finishes a tool whose texts are set, and puts it on the shelf. */
static int put_on(struct shelf *shelf, struct tool *take_tool, struct err *err)
{
    struct tool *tool = take_tool;
    int status = schema_compile_text(tool->parameters, &tool->schema, err);
    if (status < 0) {
        tool_free(tool);
        return status;
    }
    tool->abi = (gudgeon_tool){
        .size = sizeof tool->abi,
        .name = str_of(tool->name),
        .description = str_of(tool->description),
        .parameters = str_of(tool->parameters),
    };
    shelf->tools = xreallocarray(shelf->tools, shelf->count + 1, sizeof *shelf->tools);
    shelf->tools[shelf->count++] = tool;
    return 0;
}

static bool is_wanted(const struct tools_entry *entry, const char *plugin_name)
{
    return (entry->allow.count == 0 || matches_any(&entry->allow, plugin_name)) &&
           !matches_any(&entry->deny, plugin_name);
}

/* Whether the tool can be listed under this name; if not, that is said. */
static bool has_place(struct listing *listing, const char *name, const char *plugin_name)
{
    bool clashes = is_taken_elsewhere(listing, name);
    const char *why = NULL;
    if (listing->fresh.count == TOOLS_MAX)
        why = "there are too many";
    else if (stands_on(&listing->fresh, name))
        why = "it is listed twice";
    else if (clashes)
        why = "another entry's tool has its name";
    if (why != NULL)
        log_left_out(listing, plugin_name, why);
    if (clashes && listing->err.code == 0)
        err_set(&listing->err, ERR_INVALID,
                "tools \"%s\": there is a tool \"%s\" already; give this entry a `name:`, "
                "which goes before its tools' names",
                listing->fresh.entry->entry.name, plugin_name);
    return why == NULL;
}

static void remember_name(struct text_list *names, const char *name)
{
    if (names->count == TOOLS_MAX)
        return;
    names->items = xreallocarray(names->items, names->count + 1, sizeof *names->items);
    names->items[names->count++] = xstrdup(name);
}

/* A description may hold the address that the plugin was given, with its password. */
static char *safe_text(const struct toolbox *toolbox, gudgeon_str text)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(toolbox->intake, text, &safe);
    return buf_take(&safe);
}

/* The same of a schema, which stays as it was written unless there is something to hide. */
static char *safe_parameters(const struct toolbox *toolbox, gudgeon_str parameters)
{
    if (parameters.len == 0)
        return xstrdup(no_parameters);
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(toolbox->intake, parameters, &safe);
    if (str_same((gudgeon_str){safe.data, safe.len}, parameters))
        return str_dup(parameters);
    buf_reset(&safe);
    if (intake_json(toolbox->intake, parameters, &safe, NULL) < 0)
        return xstrdup(no_parameters);
    return buf_take(&safe);
}

static void take_listed(void *payload, const gudgeon_tool *listed)
{
    struct listing *listing = payload;
    const struct tools_entry *entry = listing->fresh.entry;
    CLEANUP(free_ptr) char *plugin_name = str_dup(listed->name);
    remember_name(&listing->names, plugin_name);
    if (!is_wanted(entry, plugin_name))
        return;
    CLEANUP(free_ptr) char *name = legal_name(listing, plugin_name);
    if (!has_place(listing, name, plugin_name))
        return;
    struct tool *tool = xcalloc(1, sizeof *tool);
    tool->name = TAKE(name);
    tool->plugin_name = xstrdup(plugin_name);
    tool->description = safe_text(listing->toolbox, listed->description);
    tool->parameters = safe_parameters(listing->toolbox, listed->parameters);
    tool->effect = effect_of(entry, plugin_name, listed->flags);
    tool->needs_approval = approval_of(entry, listed->flags);
    tool->instance = listing->fresh.instance;
    tool->entry = entry;
    struct err err = {0};
    if (put_on(&listing->fresh, tool, &err) < 0)
        log_left_out(listing, plugin_name, err.text);
}

/* A misspelt name under `deny` would leave the model the tool that it was to take away. */
static void warn_of_unmatched(const struct listing *listing, const char *key,
                              const struct text_list *globs)
{
    const struct text_list *names = &listing->names;
    for (size_t i = 0; i < globs->count; i++) {
        bool matches = false;
        for (size_t j = 0; j < names->count; j++)
            matches |= fnmatch(globs->items[i], names->items[j], 0) == 0;
        if (matches)
            continue;
        const char *near =
            nearest_name(globs->items[i], (const char *const *)names->items, names->count);
        CLEANUP(free_ptr)
        char *text = xasprintf("%s: no tool is called \"%s\"%s%s%s", key, globs->items[i],
                               near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                               near != NULL ? "\"?" : "");
        warn(listing, text);
    }
}

/* Fills a new shelf; listing->fresh is the caller's, also after a failure. */
static int list_instance(struct listing *listing, struct err *err)
{
    struct call *call = call_new(&(struct call_options){
        .parent = listing->toolbox->shared.cancel,
        .deadline_ns = clock_monotonic_ns() + LIST_TIME_S * NS_PER_S,
    });
    int status = instance_list(listing->fresh.instance, call, take_listed, listing);
    const char *message = call_error(call)->message;
    if (status < 0)
        err_set(err, status, "tools \"%s\": cannot list its tools: %s",
                listing->fresh.entry->entry.name, message[0] != '\0' ? message : err_name(status));
    call_free(call);
    if (status == 0) {
        const struct tools_entry *entry = listing->fresh.entry;
        warn_of_unmatched(listing, "allow", &entry->allow);
        warn_of_unmatched(listing, "deny", &entry->deny);
        warn_of_unmatched(listing, "idempotent", &entry->idempotent);
    }
    text_list_fini(&listing->names);
    return status;
}

static struct listing listing_for(struct toolbox *toolbox, const struct shelf *shelf)
{
    return (struct listing){.toolbox = toolbox,
                            .replaces = shelf,
                            .fresh = {.entry = shelf->entry, .instance = shelf->instance}};
}

/* ---- the whole list -------------------------------------------------------------------------- */

static int add_builtins(struct toolbox *toolbox, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(builtins) && status == 0; i++) {
        if (!builtins[i].wanted(toolbox->definition))
            continue;
        struct tool *tool = xcalloc(1, sizeof *tool);
        tool->name = xstrdup(builtins[i].name);
        tool->plugin_name = xstrdup(builtins[i].name);
        tool->description = xstrdup(builtins[i].description);
        tool->parameters = xstrdup(builtins[i].parameters);
        tool->effect = EFFECT_READ;
        tool->builtin = builtins[i].id;
        status = put_on(&toolbox->shelves[0], tool, err);
    }
    return status;
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

/* Lays the shelves out as one list; true when it is another one than before. */
static bool lay_out(struct toolbox *toolbox)
{
    size_t count = 0;
    for (size_t i = 0; i < toolbox->shelf_count; i++)
        count += toolbox->shelves[i].count;
    toolbox->tools = xreallocarray(toolbox->tools, count, sizeof *toolbox->tools);
    toolbox->view = xreallocarray(toolbox->view, count, sizeof *toolbox->view);
    toolbox->count = 0;
    for (size_t i = 0; i < toolbox->shelf_count; i++)
        for (size_t j = 0; j < toolbox->shelves[i].count; j++) {
            struct tool *tool = toolbox->shelves[i].tools[j];
            toolbox->view[toolbox->count] = &tool->abi;
            toolbox->tools[toolbox->count++] = tool;
        }
    char digest[65];
    digest_tools(toolbox, digest);
    bool changed = strcmp(digest, toolbox->digest) != 0;
    memcpy(toolbox->digest, digest, sizeof digest);
    toolbox->revision += changed;
    return changed;
}

static void learn_secret(void *intake, const char *value)
{
    intake_add_secret(intake, value);
}

/* Opens an entry's instance and fills its shelf. */
static int open_shelf(struct toolbox *toolbox, const struct tools_entry *entry, struct err *err)
{
    struct instance_options options;
    struct shelf *shelf = &toolbox->shelves[toolbox->shelf_count];
    int status = entry_options(&entry->entry, &toolbox->shared, &options, err);
    options.isolation = entry->isolation;
    secrets_each(toolbox->shared.secrets, learn_secret, toolbox->intake);
    if (status == 0)
        status = instance_open(entry->entry.component, &options, &shelf->instance, err);
    if (status < 0)
        return status;
    shelf->entry = entry;
    toolbox->shelf_count++;
    struct listing listing = listing_for(toolbox, shelf);
    status = list_instance(&listing, err);
    if (status == 0 && listing.err.code != 0)
        status = err_set(err, listing.err.code, "%s", listing.err.text);
    *shelf = listing.fresh;
    return status;
}

int toolbox_open(const struct definition *definition, const struct instance_options *shared,
                 struct intake *intake, struct toolbox **ret, struct err *err)
{
    struct toolbox *toolbox = xcalloc(1, sizeof *toolbox);
    toolbox->definition = definition;
    toolbox->shared = *shared;
    toolbox->intake = intake;
    toolbox->shelves = xcalloc(1 + definition->tools_count, sizeof *toolbox->shelves);
    toolbox->shelf_count = 1;
    int status = add_builtins(toolbox, err);
    for (size_t i = 0; i < definition->tools_count && status == 0; i++)
        status = open_shelf(toolbox, &definition->tools[i], err);
    if (status < 0) {
        toolbox_free(toolbox);
        return status;
    }
    lay_out(toolbox);
    *ret = toolbox;
    return 0;
}

void toolbox_free(struct toolbox *toolbox)
{
    if (toolbox == NULL)
        return;
    for (size_t i = 0; i < toolbox->shelf_count; i++) {
        shelf_clear(&toolbox->shelves[i]);
        instance_close(toolbox->shelves[i].instance);
    }
    free(toolbox->shelves);
    free(toolbox->tools);
    free(toolbox->view);
    free(toolbox);
}

static void refill(struct toolbox *toolbox, struct shelf *shelf)
{
    struct err err = {0};
    struct listing listing = listing_for(toolbox, shelf);
    if (list_instance(&listing, &err) < 0) {
        shelf_clear(&listing.fresh);
        if (toolbox->shared.on_log != NULL)
            toolbox->shared.on_log(toolbox->shared.payload, shelf->entry->entry.name,
                                   GUDGEON_LOG_WARN, err.text);
        return;
    }
    shelf_clear(shelf);
    *shelf = listing.fresh;
}

bool toolbox_refresh(struct toolbox *toolbox)
{
    bool refilled = false;
    for (size_t i = 1; i < toolbox->shelf_count; i++)
        if (instance_tools_changed(toolbox->shelves[i].instance)) {
            refill(toolbox, &toolbox->shelves[i]);
            refilled = true;
        }
    return refilled && lay_out(toolbox);
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
