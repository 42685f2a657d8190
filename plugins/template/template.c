/* SPDX-License-Identifier: MIT */

/*
 * A plugin to start from: copy this directory, rename, replace the two tools. README.md beside this
 * file walks through it; every rule that it follows stands in <gudgeon/plugin.h>.
 *
 * A plugin is read from its end: `gudgeon_plugin` names components, a component names the functions
 * that open it and its table of operations, and the operations list and call tools.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gudgeon/args.h>   /* members of a JSON object as C values */
#include <gudgeon/plugin.h> /* the contract: the only header that is needed */
#include <gudgeon/util.h>   /* answers and errors in one line */

/* ---- the configuration ------------------------------------------------------------------------
 *
 * What an agent's YAML may say beside `use: template`. The host checks it against this schema
 * before the plugin sees it, so wrong types, unknown keys and missing values are told with file and
 * line, and defaults are filled in. Descriptions show up in `gudgeon plugins template`.
 */
static const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"greeting\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60,\"default\":\"Hello\","
    "\"description\":\"How greet addresses people.\"}}}";

/* One open instance: what create makes and every operation gets as `self`. Never keep state in
 * static variables: an agent may open the same component twice, with two configurations. */
struct template
{
    char greeting[256];
};

/* ---- the tools --------------------------------------------------------------------------------
 */

/* What a model reads to decide whether and how to call a tool. Say what it does, in plain words.
 * The arguments that a model writes are checked against the schema before the tool is called. */
static const char count_parameters[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"text\"],\"properties\":{"
    "\"text\":{\"type\":\"string\",\"description\":\"The text to count.\"}}}";

static const char greet_parameters[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\"],\"properties\":{"
    "\"name\":{\"type\":\"string\",\"description\":\"Who is greeted.\"},"
    "\"times\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9,\"default\":1,"
    "\"description\":\"How often.\"}}}";

/* A tool without side effects that needs nothing but its arguments. */
static int32_t count_words(const struct template *template, const gudgeon_call *call,
                           gudgeon_str arguments)
{
    gudgeon_buf text = {0}; /* grows up to 64 MiB; longer text would set `failed` */
    size_t words = 0, lines = 0;
    (void)template;
    if (gudgeon_arg_bytes(arguments, "text", &text) != GUDGEON_OK) {
        gudgeon_buf_free(&text);
        /* The tool could not do its work: an error that the model reads, and may mend. */
        return gudgeon_reply_text(call, GUDGEON_IS_ERROR, "text is missing or too long");
    }
    for (size_t i = 0; i < text.len; i++) {
        int is_space = strchr(" \t\r\n", text.ptr[i]) != NULL;
        int was_space = i == 0 || strchr(" \t\r\n", text.ptr[i - 1]) != NULL;
        words += !is_space && was_space;
        lines += text.ptr[i] == '\n';
    }
    int32_t class =
        gudgeon_replyf(call, 0, "%zu words, %zu lines, %zu bytes", words, lines, text.len);
    gudgeon_buf_free(&text);
    return class;
}

/* A tool that uses the configuration. */
static int32_t greet(const struct template *template, const gudgeon_call *call,
                     gudgeon_str arguments)
{
    char name[256];
    int64_t times = 1; /* kept when the argument is absent */
    gudgeon_arg_int(arguments, "times", &times);
    if (gudgeon_arg_text(arguments, "name", name, sizeof name) != GUDGEON_OK)
        return gudgeon_replyf(call, GUDGEON_IS_ERROR, "name: give a text of at most %zu bytes",
                              sizeof name - 1);
    for (int64_t i = 0; i < times; i++) {
        char line[600];
        int len = snprintf(line, sizeof line, "%s, %s!\n", template->greeting, name);
        /* What is streamed is the tool's output, shown to people as it comes. A tool that works for
         * long also looks at call->cancelled(call) now and then, and at the deadline. */
        if (gudgeon_stream(call, GUDGEON_STDOUT, line, (size_t)len) != 0)
            return gudgeon_fail(call, GUDGEON_LIMIT, "stopped: the output is full");
    }
    /* A result without a text of its own stands for what was streamed. */
    gudgeon_tool_result result = {.size = sizeof result};
    return call->result(call, &result);
}

/* The tools in one table: a new tool is one row and one function. The flags tell what calling it
 * does: without GUDGEON_TOOL_READ a tool is taken to change something, and calls of it are neither
 * run side by side nor repeated after a crash. */
static const struct {
    const char *name, *description, *parameters;
    uint32_t flags;
    int32_t (*run)(const struct template *template, const gudgeon_call *call,
                   gudgeon_str arguments);
} tools[] = {
    {"count_words", "Counts the words, lines and bytes of a text.", count_parameters,
     GUDGEON_TOOL_READ, count_words},
    {"greet", "Greets somebody by name.", greet_parameters, GUDGEON_TOOL_READ, greet},
};

/* ---- operations: what the host calls --------------------------------------------------------- */

/* Gives each tool to the host, which copies what it gets. May be called again at any time. */
static int32_t list(void *self, const gudgeon_call *call, const gudgeon_list *request)
{
    (void)self;
    (void)request;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++) {
        gudgeon_tool tool = {
            .size = sizeof tool,
            .flags = tools[i].flags,
            .name = gudgeon_text(tools[i].name),
            .description = gudgeon_text(tools[i].description),
            .parameters = gudgeon_text(tools[i].parameters),
        };
        int32_t class = call->result(call, &tool);
        if (class != GUDGEON_OK)
            return class;
    }
    return GUDGEON_OK;
}

/* Runs one tool. Returning GUDGEON_OK promises that exactly one result was given. */
static int32_t call_tool(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
{
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (gudgeon_is(request->tool, tools[i].name))
            return tools[i].run(self, call, request->arguments);
    /* A class other than GUDGEON_OK is about the plugin, not about the tool's work. */
    return gudgeon_fail(call, GUDGEON_INVALID, "template has no such tool");
}

/* Opens an instance. What the request points to is borrowed until this returns, so it is copied. */
static int32_t create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    struct template *template = calloc(1, sizeof *template);
    if (template == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "out of memory");
    memcpy(template->greeting, "Hello", sizeof "Hello");
    gudgeon_arg_text(request->config, "greeting", template->greeting, sizeof template->greeting);
    *self = template;
    return GUDGEON_OK;
}

/* Closes it. Not called after a create that failed. */
static int32_t destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    free(self);
    return GUDGEON_OK;
}

/* ---- the tables that the host reads: they live for ever and are never written ---------------- */

static const gudgeon_tools ops = {.size = sizeof ops, .list = list, .call = call_tool};

static const gudgeon_component component = {
    .size = sizeof component,
    /* This instance never changes after create, so its calls may overlap. */
    .flags = GUDGEON_CONCURRENT | GUDGEON_REPLICABLE,
    .kind = "tools/1",
    .name = "template", /* what an agent's YAML says after `use:` */
    .summary = "Counts words and greets people: a plugin to start from.",
    .config_schema = config_schema,
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};

static const gudgeon_component *const components[] = {&component, NULL};

/* The one symbol that a plugin exports. Its name is the file's name: template.so. */
const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "template", "0.1.0", "MIT", components, 0};
