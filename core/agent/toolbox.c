/* SPDX-License-Identifier: MIT */
#include "agent/toolbox.h"

#include <stdlib.h>
#include <string.h>

#include "agent/entry.h"
#include "agent/shelf.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/json.h"
#include "event/intake.h"
#include "plugin/instance.h"
#include "plugin/secrets.h"

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

const struct tool *toolbox_find(const struct toolbox *toolbox, gudgeon_str name)
{
    for (size_t i = 0; i < toolbox->count; i++)
        if (str_is(name, toolbox->tools[i]->name))
            return toolbox->tools[i];
    return NULL;
}

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
        status = shelf_put(&toolbox->shelves[0], tool, err);
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

struct place {
    const struct toolbox *toolbox;
    const struct shelf *shelf;
};

static bool is_taken_elsewhere(void *payload, const char *name)
{
    const struct place *place = payload;
    const struct toolbox *toolbox = place->toolbox;
    for (size_t i = 0; i < toolbox->shelf_count; i++)
        if (&toolbox->shelves[i] != place->shelf && shelf_has(&toolbox->shelves[i], name))
            return true;
    return false;
}

/* Lists the tools of a shelf's instance; what stood on the shelf stays when that fails. */
static int fill(struct toolbox *toolbox, struct shelf *shelf, struct err *ret_clash,
                struct err *err)
{
    struct place place = {.toolbox = toolbox, .shelf = shelf};
    struct shelf_options options = {.shared = &toolbox->shared,
                                    .intake = toolbox->intake,
                                    .is_taken = is_taken_elsewhere,
                                    .payload = &place};
    struct shelf fresh;
    int status = shelf_fill(shelf, &options, &fresh, ret_clash, err);
    if (status < 0)
        return status;
    shelf_fini(shelf);
    *shelf = fresh;
    return 0;
}

/* Opens an entry's instance and fills its shelf. */
static int open_shelf(struct toolbox *toolbox, const struct tools_entry *entry, struct err *err)
{
    struct instance_options options;
    struct shelf *shelf = &toolbox->shelves[toolbox->shelf_count];
    int status = entry_options(&entry->entry, &toolbox->shared, &options, err);
    if (status < 0)
        return status;
    options.isolation = entry->isolation;
    secrets_each(toolbox->shared.secrets, learn_secret, toolbox->intake);
    status = instance_open(entry->entry.component, &options, &shelf->instance, err);
    if (status < 0)
        return status;
    shelf->entry = entry;
    toolbox->shelf_count++;
    struct err clash = {0};
    status = fill(toolbox, shelf, &clash, err);
    return status == 0 && clash.code != 0 ? err_set(err, clash.code, "%s", clash.text) : status;
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
        shelf_fini(&toolbox->shelves[i]);
        instance_close(toolbox->shelves[i].instance);
    }
    free(toolbox->shelves);
    free(toolbox->tools);
    free(toolbox->view);
    free(toolbox);
}

static void refill(struct toolbox *toolbox, struct shelf *shelf)
{
    const struct instance_options *shared = &toolbox->shared;
    struct err err = {0}, clash = {0};
    if (fill(toolbox, shelf, &clash, &err) < 0 && shared->on_log != NULL)
        shared->on_log(shared->payload, shelf->entry->entry.name, GUDGEON_LOG_WARN, err.text);
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
