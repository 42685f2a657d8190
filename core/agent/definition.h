/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_DEFINITION_H
#define GUDGEON_AGENT_DEFINITION_H

/*
 * An agent definition: the YAML file as structs, checked.
 *
 * definition_table (definition_table.c) has one row for each key; the loader,
 * `config/agent.schema.json` and the resolved definition in the journal are all made from it. Keys
 * of an entry under `model`, `tools` and `sinks` that the table does not know are the component's
 * configuration: typed, checked and filled in by the component's own schema, faults reported at
 * their place in the file (definition_config.c). Variables are expanded, relative paths made
 * absolute (against the file's directory), secrets kept as `{secret:NAME}`. Immutable once loaded;
 * everything is owned by the definition.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "data/fields.h"
#include "plugin/isolation.h"

struct buf;
struct component_info;
struct diags;
struct err;
struct json_object;
struct registry;

enum action_mode { ACTION_TOOLS };
enum finish_mode { FINISH_ANSWER, FINISH_TOOL };
enum approve { APPROVE_NEVER, APPROVE_ALWAYS, APPROVE_DESTRUCTIVE };

/* One `use:` entry, of any kind. */
struct use_entry {
    char *use;
    char *name;   /* instance name; defaults to `use` (models: see model_entry) */
    char *config; /* JSON object text for create */
    char *grant;  /* JSON object text; of models NULL: they are trusted with network and keys */
    const struct component_info *component; /* NULL when loaded without a registry */
};

struct model_entry {
    struct use_entry entry;    /* entry.name: "openai", "openai-2", … */
    char *model;               /* key `name`: the model's name at its provider; "" = none */
    bool stream;               /* key `stream`, default true */
    int64_t max_output_tokens; /* 0 = unsaid */
    char *extra;               /* JSON object text, "{}" when absent */
    char *parameters;          /* JSON object text: the keys that the schema marks x-request */
};

struct tools_entry {
    struct use_entry entry;
    char *prefix;  /* key `name`; NULL = not given */
    bool prefixed; /* `name` was given: its tools are NAME_tool */
    enum isolation isolation;
    enum approve approve;
    struct text_list allow; /* globs on tool names; empty = all */
    struct text_list deny;
    struct text_list idempotent;
    int64_t time_ms;      /* limits.time, 0 = the agent's tool_time */
    int64_t output_bytes; /* limits.output, 0 = context.tool_result_limit */
};

struct input_entry {
    char *name;
    char *type; /* string, integer, number, boolean, array, object */
    char *description;
    char *fallback; /* JSON text of the default; NULL = must be given */
};

struct limits {
    int64_t steps;          /* action steps (20) */
    int64_t time_ms;        /* the whole run, waiting not counted (0 = none) */
    int64_t step_time_ms;   /* one step (0 = none) */
    int64_t tool_time_ms;   /* one call (60 s) */
    int64_t tokens;         /* input + output, whole run (0 = none) */
    int64_t parallel_tools; /* (4) */
    int64_t repeats;        /* same call, same result, in a row (3) */
    int64_t recoveries;     /* bounded nudges and repairs in a row (3) */
    int64_t retries;        /* attempts after the first at one model before failing over (4) */
};

struct definition {
    char *path;      /* absolute; "-" = standard input */
    char *directory; /* what relative paths are relative to */
    char *agent;
    char *description;
    char *instructions;
    struct model_entry *models;
    size_t model_count;
    struct tools_entry *tools;
    size_t tools_count;
    struct use_entry *sinks;
    size_t sink_count;
    struct input_entry *inputs;
    size_t input_count;
    enum action_mode action;
    enum finish_mode finish;
    struct limits limits;
    int64_t tool_result_limit; /* context.tool_result_limit, bytes (32 KiB) */
    int journal_sync;          /* enum journal_sync, default step */
};

struct definition_options {
    /* Outlives the definition. NULL = components are not looked up and their configuration is
     * taken as it is. */
    const struct registry *registry;
    /* "limits.steps=5": dotted path = value, applied before checking (see yaml_set). */
    const char *const *set;
    size_t set_count;
};

/* Loads a file ("-" = standard input). All faults go to `diags`; 0, or ERR_INVALID when there were
 * any, ERR_NOT_FOUND/ERR_IO/ERR_LIMIT (also in diags) when it cannot be read. */
int definition_load(const char *path, const struct definition_options *options,
                    struct definition **ret, struct diags *diags);
/* The same for text that is there already; `path` is what it is called, and says what directory
 * relative paths are relative to. */
int definition_load_text(gudgeon_str text, const char *path,
                         const struct definition_options *options, struct definition **ret,
                         struct diags *diags);
/* The same for what definition_write_json has written (a journal's run.started): "${" is text.
 * `path` is the file that it once came from. */
int definition_load_json(struct json_object *resolved, const char *path,
                         const struct definition_options *options, struct definition **ret,
                         struct diags *diags);
void definition_free(struct definition *definition);
/* Adds the resolved definition as one JSON object, as run.started holds it. */
int definition_write_json(const struct definition *definition, struct buf *out);
/* Adds config/agent.schema.json. */
int definition_write_schema(struct buf *out);
/* An input's value as one writes it on a command line, as JSON by the input's type: the text
 * itself for a string, else what YAML makes of it. ERR_INVALID when it is not of that type. */
int definition_read_input(const struct input_entry *input, const char *text, char **ret_json,
                          struct err *err);

#endif
