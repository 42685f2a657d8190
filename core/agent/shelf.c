/* SPDX-License-Identifier: MIT */
#include "agent/shelf.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "agent/toolbox.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/schema.h"
#include "event/intake.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"

enum {
    NAME_BYTES_MAX = 64, /* the strictest provider's limit on a tool's name */
    HASH_CHARS = 8,
    LIST_TIME_S = 30,
    TOOLS_MAX = 4096, /* of one instance */
};

static const char no_parameters[] = "{\"type\":\"object\",\"properties\":{}}";

/* ---- the shelf ------------------------------------------------------------------------------- */

static void tool_free(struct tool *tool)
{
    free(tool->name);
    free(tool->plugin_name);
    free(tool->description);
    free(tool->parameters);
    schema_free(tool->schema);
    free(tool);
}

void shelf_fini(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->count; i++)
        tool_free(shelf->tools[i]);
    free(shelf->tools);
    shelf->tools = NULL;
    shelf->count = 0;
}

bool shelf_has(const struct shelf *shelf, const char *name)
{
    for (size_t i = 0; i < shelf->count; i++)
        if (strcmp(shelf->tools[i]->name, name) == 0)
            return true;
    return false;
}

int shelf_put(struct shelf *shelf, struct tool *take_tool, struct err *err)
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

/* ---- what the entry makes of a tool ---------------------------------------------------------- */

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

/* ---- listing --------------------------------------------------------------------------------- */

/* A list on its way. */
struct listing {
    const struct shelf_options *options;
    struct shelf shelf;
    struct text_list names; /* of all its tools, as the plugin gives them */
    struct err clash;
};

static void warn(const struct listing *listing, const char *text)
{
    const struct instance_options *shared = listing->options->shared;
    if (shared->on_log != NULL)
        shared->on_log(shared->payload, listing->shelf.entry->entry.name, GUDGEON_LOG_WARN, text);
}

static void log_left_out(const struct listing *listing, const char *tool, const char *why)
{
    CLEANUP(free_ptr) char *text = xasprintf("tool \"%s\" is left out: %s", tool, why);
    warn(listing, text);
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

static bool is_taken(const struct listing *listing, const char *name)
{
    return listing->options->is_taken(listing->options->payload, name);
}

/* A name that every dialect takes. What had to be changed for that ends in a hash when the changed
 * name is taken; what is too long always does. */
static char *legal_name(const struct listing *listing, const char *plugin_name)
{
    const struct tools_entry *entry = listing->shelf.entry;
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
    if (len > NAME_BYTES_MAX ||
        (changed && (shelf_has(&listing->shelf, name) || is_taken(listing, name))))
        end_in_hash(name, full);
    return name;
}

static bool is_wanted(const struct tools_entry *entry, const char *plugin_name)
{
    return (entry->allow.count == 0 || matches_any(&entry->allow, plugin_name)) &&
           !matches_any(&entry->deny, plugin_name);
}

/* Whether the tool can be listed under this name; if not, that is said. */
static bool has_place(struct listing *listing, const char *name, const char *plugin_name)
{
    bool clashes = is_taken(listing, name);
    const char *why = NULL;
    if (listing->shelf.count == TOOLS_MAX)
        why = "there are too many";
    else if (shelf_has(&listing->shelf, name))
        why = "it is listed twice";
    else if (clashes)
        why = "another entry's tool has its name";
    if (why != NULL)
        log_left_out(listing, plugin_name, why);
    if (clashes && listing->clash.code == 0)
        err_set(&listing->clash, ERR_INVALID,
                "tools \"%s\": there is a tool \"%s\" already; give this entry a `name:`, "
                "which goes before its tools' names",
                listing->shelf.entry->entry.name, plugin_name);
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
static char *safe_text(const struct intake *intake, gudgeon_str text)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(intake, text, &safe);
    return buf_take(&safe);
}

/* The same of a schema, which stays as it was written unless there is something to hide. */
static char *safe_parameters(const struct intake *intake, gudgeon_str parameters)
{
    if (parameters.len == 0)
        return xstrdup(no_parameters);
    CLEANUP(buf_fini) struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(intake, parameters, &safe);
    if (str_same((gudgeon_str){safe.data, safe.len}, parameters))
        return str_dup(parameters);
    buf_reset(&safe);
    if (intake_json(intake, parameters, &safe, NULL) < 0)
        return xstrdup(no_parameters);
    return buf_take(&safe);
}

static void take_listed(void *payload, const gudgeon_tool *listed)
{
    struct listing *listing = payload;
    const struct tools_entry *entry = listing->shelf.entry;
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
    tool->description = safe_text(listing->options->intake, listed->description);
    tool->parameters = safe_parameters(listing->options->intake, listed->parameters);
    tool->effect = effect_of(entry, plugin_name, listed->flags);
    tool->needs_approval = approval_of(entry, listed->flags);
    tool->instance = listing->shelf.instance;
    tool->entry = entry;
    struct err err = {0};
    if (shelf_put(&listing->shelf, tool, &err) < 0)
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

static void warn_of_all_unmatched(const struct listing *listing)
{
    const struct tools_entry *entry = listing->shelf.entry;
    warn_of_unmatched(listing, "allow", &entry->allow);
    warn_of_unmatched(listing, "deny", &entry->deny);
    warn_of_unmatched(listing, "idempotent", &entry->idempotent);
}

int shelf_fill(const struct shelf *old, const struct shelf_options *options, struct shelf *ret,
               struct err *ret_clash, struct err *err)
{
    struct listing listing = {.options = options,
                              .shelf = {.entry = old->entry, .instance = old->instance}};
    struct call *call = call_new(&(struct call_options){
        .parent = options->shared->cancel,
        .deadline_ns = clock_monotonic_ns() + LIST_TIME_S * NS_PER_S,
    });
    int status = instance_list(old->instance, call, take_listed, &listing);
    const char *message = call_error(call)->message;
    if (status < 0) {
        err_set(err, status, "tools \"%s\": cannot list its tools: %s", old->entry->entry.name,
                message[0] != '\0' ? message : err_name(status));
        shelf_fini(&listing.shelf);
    } else {
        warn_of_all_unmatched(&listing);
        *ret = listing.shelf;
        *ret_clash = listing.clash;
    }
    call_free(call);
    text_list_fini(&listing.names);
    return status;
}
