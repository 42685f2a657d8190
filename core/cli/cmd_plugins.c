/* SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include <gudgeon/plugin.h>

#include "agent/state.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/terminal.h"
#include "data/json.h"
#include "data/schema.h"
#include "plugin/call.h"
#include "plugin/instance.h"
#include "plugin/registry.h"
#include "plugin/secrets.h"
#include "plugin/services.h"

enum { PROPERTY_DEPTH = 6 };

struct options {
    struct option_list plugin_path;
};

static const struct option_row rows[] = {
    PLUGIN_PATH_OPTION(struct options, plugin_path),
};

/* "model openai, tools files" */
static void print_components(const struct plugin_info *plugin)
{
    for (size_t i = 0; i < plugin->component_count; i++)
        printf("%s%s %s", i > 0 ? ", " : "", kind_name(plugin->components[i].kind),
               plugin->components[i].name);
}

static void print_list(const struct registry *registry)
{
    struct terminal terminal = terminal_on(stdout);
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct plugin_info *plugin = registry_plugin(registry, i);
        terminal_style(&terminal, plugin->refused ? STYLE_BAD : STYLE_BOLD);
        printf("%-12s", plugin->name);
        terminal_style(&terminal, STYLE_PLAIN);
        printf(" %-9s ", plugin->version != NULL ? plugin->version : "-");
        if (plugin->refused == NULL)
            print_components(plugin);
        else
            printf("refused");
        terminal_style(&terminal, STYLE_DIM);
        printf("\n    ");
        terminal_line(&terminal, str_of(plugin->path), SIZE_MAX);
        printf("\n");
        terminal_style(&terminal, STYLE_PLAIN);
        if (plugin->refused != NULL)
            printf("    %s\n", plugin->refused);
        if (plugin->warning != NULL)
            printf("    note: %s\n", plugin->warning);
    }
}

/* Adds the items of a list of texts or other values, "a, b or c". */
static void add_words(struct buf *out, struct json_object *list)
{
    size_t count = json_object_array_length(list);
    for (size_t i = 0; i < count; i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        buf_add_str(out, i == 0 ? "" : i + 1 < count ? ", " : " or ");
        if (json_object_is_type(item, json_type_string))
            buf_add(out, json_str(item).ptr, json_str(item).len);
        else
            json_write(out, item);
    }
}

/* "string", "integer or string", "list of string" */
static void add_type(struct buf *out, struct json_object *schema)
{
    struct json_object *type = json_get(schema, "type");
    if (str_is(json_str(type), "array")) {
        buf_add_str(out, "list");
        if (json_get(json_get(schema, "items"), "type") != NULL) {
            buf_add_str(out, " of ");
            add_type(out, json_get(schema, "items"));
        }
    } else if (json_object_is_type(type, json_type_string)) {
        buf_add(out, json_str(type).ptr, json_str(type).len);
    } else if (json_object_is_type(type, json_type_array)) {
        add_words(out, type);
    }
}

/* What a property is for, may be, and whether it has to be given. */
static void add_purpose(struct buf *out, struct json_object *property, bool required)
{
    struct json_object *fallback = json_get(property, "default");
    struct json_object *values = json_get(property, "enum");
    gudgeon_str own = json_get_str(property, "description");
    gudgeon_str of_items = json_get_str(json_get(property, "items"), "description");
    buf_addf(out, " %.*s", STR_ARG(own));
    buf_addf(out, "%s%.*s", of_items.len > 0 ? " " : "", STR_ARG(of_items));
    if (json_object_is_type(values, json_type_array)) {
        buf_add_str(out, " One of ");
        add_words(out, values);
        buf_add_char(out, '.');
    }
    if (required) {
        buf_add_str(out, " (required)");
    } else if (fallback != NULL) {
        buf_add_str(out, " (default ");
        json_write(out, fallback);
        buf_add_char(out, ')');
    }
}

static bool is_required(struct json_object *schema, const char *name)
{
    struct json_object *required = json_get(schema, "required");
    size_t count =
        json_object_is_type(required, json_type_array) ? json_object_array_length(required) : 0;
    for (size_t i = 0; i < count; i++)
        if (str_is(json_str(json_object_array_get_idx(required, i)), name))
            return true;
    return false;
}

/* The properties of an object, or of the objects in a list, one a line: name, type, what it is for.
 * Those of a property that is an object stand below it. */
static void print_properties(struct json_object *schema, int depth)
{
    struct json_object *properties = json_get(schema, "properties");
    if (properties == NULL)
        properties = json_get(schema = json_get(schema, "items"), "properties");
    if (!json_object_is_type(properties, json_type_object) || depth >= PROPERTY_DEPTH)
        return;
    struct terminal terminal = terminal_on(stdout);
    int indent = 4 + 2 * depth;
    json_object_object_foreach(properties, name, property)
    {
        CLEANUP(buf_fini) struct buf type = BUF_INIT(BUF_MAX_ANY);
        CLEANUP(buf_fini) struct buf line = BUF_INIT(BUF_MAX_ANY);
        add_type(&type, property);
        buf_addf(&line, "%-*s %-8s", 26 - indent, name, type.data);
        add_purpose(&line, property, is_required(schema, name));
        printf("%*s", indent, "");
        terminal_text(&terminal, (gudgeon_str){line.data, line.len});
        printf("\n");
        print_properties(property, depth + 1);
    }
}

static void print_configuration(const struct component_info *component)
{
    CLEANUP(json_cleanup) struct json_object *schema = NULL;
    if (component->config_schema == NULL ||
        json_read_object(str_of(component->config_schema), &schema, NULL) < 0) {
        printf("  configuration: none\n");
        return;
    }
    printf("  configuration:\n");
    print_properties(schema, 0);
}

/* A run leaves out a tool whose schema cannot be used; its author looks here. */
static void print_parameters_fault(const gudgeon_tool *tool)
{
    struct schema *schema = NULL;
    struct err err = {0};
    CLEANUP(free_ptr) char *parameters = str_dup(tool->parameters);
    if (tool->parameters.len > 0 && schema_compile_text(parameters, &schema, &err) < 0)
        printf("      left out: its parameters: %s\n", err.text);
    schema_free(schema);
}

static void print_tool(void *payload, const gudgeon_tool *tool)
{
    struct terminal *terminal = payload;
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {{GUDGEON_TOOL_READ, "reads"},
                 {GUDGEON_TOOL_IDEMPOTENT, "idempotent"},
                 {GUDGEON_TOOL_DESTRUCTIVE, "destructive"}};
    printf("    %-22.*s ", STR_ARG(tool->name));
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (tool->flags & words[i].flag)
            printf("[%s] ", words[i].word);
    terminal_line(terminal, tool->description, 200);
    printf("\n");
    print_parameters_fault(tool);
}

/* The tools of an instance with no configuration; many components need one, and say so. */
static void print_tools(const struct component_info *component)
{
    struct err err = {0};
    struct terminal terminal = terminal_on(stdout);
    struct instance *instance = NULL;
    struct services *services = services_new();
    struct secrets *secrets = secrets_new();
    struct instance_options options = {.name = component->name,
                                       .isolation = ISOLATION_WORKER,
                                       .config = str_of("{}"),
                                       .grant = str_of(component->needs),
                                       .services = services,
                                       .secrets = secrets};
    if (instance_open(component, &options, &instance, &err) < 0) {
        printf("  tools: not listed; opened without a configuration it says: %s\n", err.text);
    } else {
        struct call *call =
            call_new(&(struct call_options){.deadline_ns = clock_monotonic_ns() + 10 * NS_PER_S});
        printf("  tools:\n");
        if (instance_list(instance, call, print_tool, &terminal) < 0)
            printf("    (the list failed: %s)\n", call_error(call)->message);
        call_free(call);
    }
    instance_close(instance);
    secrets_free(secrets);
    services_free(services);
}

static void print_component(const struct component_info *component)
{
    static const struct {
        unsigned flag;
        const char *word;
    } flags[] = {{GUDGEON_CONCURRENT, "concurrent"},
                 {GUDGEON_REPLICABLE, "replicable"},
                 {GUDGEON_STATEFUL, "stateful"},
                 {GUDGEON_REPLAYABLE, "replayable"},
                 {GUDGEON_RELAYED, "relayed"}};
    printf("\n%s %s: %s\n", kind_name(component->kind), component->name, component->summary);
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (component->flags & flags[i].flag)
            printf("  %s\n", flags[i].word);
    printf("  needs: %s\n", component->needs != NULL ? component->needs : "nothing");
    print_configuration(component);
    if (component->kind == KIND_TOOLS)
        print_tools(component);
}

static int print_plugin(const struct plugin_info *plugin)
{
    printf("%s %s\n  file: %s\n", plugin->name, plugin->version ? plugin->version : "",
           plugin->path);
    if (plugin->licence != NULL)
        printf("  licence: %s\n  abi: %u.%u\n", plugin->licence, plugin->abi_major,
               plugin->abi_minor);
    if (plugin->warning != NULL)
        printf("  note: %s\n", plugin->warning);
    if (plugin->refused != NULL) {
        printf("  refused: %s\n", plugin->refused);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < plugin->component_count; i++)
        print_component(&plugin->components[i]);
    return 0;
}

static int print_named(const struct registry *registry, const char *name)
{
    const char *names[256];
    size_t count = 0;
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct plugin_info *plugin = registry_plugin(registry, i);
        if (strcmp(plugin->name, name) == 0)
            return print_plugin(plugin);
        if (count < COUNT_OF(names))
            names[count++] = plugin->name;
    }
    return command_unknown("plugin", name, names, count, "gudgeon plugins");
}

static int run(const void *given, int argc, char **argv)
{
    const struct options *options = given;
    struct registry *registry = NULL;
    int code = setup_registry(&options->plugin_path, &registry);
    if (code != 0)
        return code;
    if (argc == 0)
        print_list(registry);
    else
        code = print_named(registry, argv[0]);
    registry_free(registry);
    return command_finish_output(code);
}

const struct command command_plugins = {
    .name = "plugins",
    .arguments = "[NAME]",
    .summary = "List the plugins, or show one: its configuration, tools and needs",
    .details = "A plugin that is refused is listed with the reason.",
    .options = rows,
    .option_count = COUNT_OF(rows),
    .options_size = sizeof(struct options),
    .maximum = 1,
    .run = run,
};
