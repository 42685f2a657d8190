/* SPDX-License-Identifier: MIT */
#include "agent/definition_table.h"

#include "agent/definition.h"
#include "base/alloc.h"
#include "event/journal.h"

#define LOWER   "abcdefghijklmnopqrstuvwxyz"
#define LETTERS LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"
#define MINUTES (INT64_C(60) * 1000)
#define DAYS    (INT64_C(24) * 60 * MINUTES)
#define KIB     (INT64_C(1) << 10)
#define MIB     (INT64_C(1) << 20)
#define GIB     (INT64_C(1) << 30)

/* ---- names ----------------------------------------------------------------------------------- */

static const struct field_pattern agent_name = {
    .characters = LOWER DIGITS "-",
    .max_len = 64,
    .regex = "[a-z0-9-]{1,64}",
    .words = "a-z, 0-9 and \"-\", 64 at most",
};
static const struct field_pattern component_name = {
    .characters = LOWER DIGITS "_-",
    .max_len = 64,
    .regex = "[a-z0-9_-]{1,64}",
    .words = "a-z, 0-9, \"_\" and \"-\", 64 at most",
};
/* Short, because it stands before a tool's name, and models take 64 characters in all. */
static const struct field_pattern instance_name = {
    .characters = LETTERS DIGITS "_-",
    .max_len = 32,
    .regex = "[a-zA-Z0-9_-]{1,32}",
    .words = "letters, digits, \"_\" and \"-\", 32 at most",
};
static const struct field_pattern variable_name = {
    .characters = LETTERS DIGITS "_",
    .first = LETTERS "_",
    .max_len = 64,
    .regex = "[a-zA-Z_][a-zA-Z0-9_]{0,63}",
    .words = "letters, digits and \"_\", no digit first, 64 at most",
};

/* ---- grant ----------------------------------------------------------------------------------- */

/* Kept as JSON text in use_entry.grant; the struct lives only while that is made. */
struct grant_entry {
    struct text_list read, write, env;
    char *network, *exec;
    int64_t memory, cpu, processes;
};

#define AT(member) .offset = offsetof(struct grant_entry, member)
static const struct field grant_fields[] = {
    {.key = "read",
     .type = FIELD_TEXTS,
     AT(read),
     .path = FIELD_PATH,
     .doc = "Files and directories that it may read."},
    {.key = "write",
     .type = FIELD_TEXTS,
     AT(write),
     .path = FIELD_PATH,
     .doc = "Files and directories that it may change."},
    {.key = "network",
     .type = FIELD_FLAG_OR_TEXTS,
     AT(network),
     .doc = "Hosts (HOST or HOST:PORT) that it may reach by HTTP; true: any, and sockets."},
    {.key = "exec",
     .type = FIELD_FLAG_OR_TEXTS,
     AT(exec),
     .path = FIELD_PROGRAM,
     .doc = "Programs that it may start; true: any."},
    {.key = "env",
     .type = FIELD_TEXTS,
     AT(env),
     .pattern = &variable_name,
     .doc = "Environment variables that it and its programs get."},
    {.key = "memory",
     .type = FIELD_SIZE,
     AT(memory),
     .min = MIB,
     .max = 1024 * GIB,
     .doc = "Memory that it may use, as in 512MiB."},
    {.key = "cpu",
     .type = FIELD_DURATION,
     AT(cpu),
     .min = 1000,
     .max = 365 * DAYS,
     .doc = "Processor time that it may use, as in 10m."},
    {.key = "processes",
     .type = FIELD_INT,
     AT(processes),
     .min = 1,
     .max = 100000,
     .doc = "Processes that it may have at one time."},
};
#undef AT

static const struct field_table grant_table = {
    .fields = grant_fields,
    .count = COUNT_OF(grant_fields),
    .size = sizeof(struct grant_entry),
};

#define GRANT_ROW                                                                                  \
    .key = "grant", .type = FIELD_OBJECT_JSON, .table = &grant_table, .fallback = "{}",            \
    .doc = "What it may reach beside system libraries and a temporary directory of its own."

/* ---- model ----------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct model_entry, member)
static const struct field model_fields[] = {
    {.key = "use",
     .type = FIELD_TEXT,
     AT(entry.use),
     .required = true,
     .pattern = &component_name,
     .doc = "The model component, as `gudgeon plugins` lists them."},
    {.key = "name",
     .type = FIELD_TEXT,
     AT(model),
     .fallback = "",
     .doc = "The model's name at its provider."},
    {.key = "stream",
     .type = FIELD_BOOL,
     AT(stream),
     .fallback = "true",
     .doc = "Whether answers are shown while they are made."},
    {.key = "max_output_tokens",
     .type = FIELD_INT,
     AT(max_output_tokens),
     .min = 1,
     .max = 10000000,
     .doc = "Tokens of one reply at most."},
    {.key = "extra",
     .type = FIELD_JSON_OBJECT,
     AT(extra),
     .fallback = "{}",
     .doc = "Put into each request to the provider as it is."},
};
static const size_t model_rest[] = {offsetof(struct model_entry, entry.config),
                                    offsetof(struct model_entry, parameters)};
#undef AT

const struct field_table definition_model_table = {
    .fields = model_fields,
    .count = COUNT_OF(model_fields),
    .size = sizeof(struct model_entry),
    .has_rest = true,
    .rest_offsets = model_rest,
    .rest_count = COUNT_OF(model_rest),
};

/* ---- tools ----------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct tools_entry, member)
static const struct field tools_limit_fields[] = {
    {.key = "time",
     .type = FIELD_DURATION,
     AT(time_ms),
     .min = 1,
     .max = 365 * DAYS,
     .doc = "Time that one call may take; limits.tool_time when not given."},
    {.key = "output",
     .type = FIELD_SIZE,
     AT(output_bytes),
     .min = KIB,
     .max = 16 * MIB,
     .doc = "Size of one result for the model; context.tool_result_limit when not given."},
};
static const struct field_table tools_limit_table = {
    .fields = tools_limit_fields,
    .count = COUNT_OF(tools_limit_fields),
    .size = sizeof(struct tools_entry),
};

static const struct field_word approve_words[] = {
    {"never", APPROVE_NEVER},
    {"always", APPROVE_ALWAYS},
    {"destructive", APPROVE_DESTRUCTIVE},
    {NULL, 0},
};

static const struct field_word isolation_words[] = {
    {"worker", ISOLATION_WORKER},
    {"none", ISOLATION_NONE},
    {NULL, 0},
};

static const struct field tools_fields[] = {
    {.key = "use",
     .type = FIELD_TEXT,
     AT(entry.use),
     .required = true,
     .pattern = &component_name,
     .doc = "The tools component, as `gudgeon plugins` lists them."},
    {.key = "name",
     .type = FIELD_TEXT,
     AT(prefix),
     .pattern = &instance_name,
     .doc = "Put before the names of its tools; needed when a component is used twice."},
    {AT(entry.grant), GRANT_ROW},
    {.key = "isolation",
     .type = FIELD_ENUM,
     AT(isolation),
     .words = isolation_words,
     .fallback = "worker",
     .doc = "Where its plugin runs: a worker process, or none: in the host, which it can crash."},
    {.key = "approve",
     .type = FIELD_ENUM,
     AT(approve),
     .words = approve_words,
     .fallback = "never",
     .doc = "Which calls a person is asked about first."},
    {.key = "allow",
     .type = FIELD_TEXTS,
     AT(allow),
     .doc = "Its tools that the model gets, by name or pattern (read_*); all when not given."},
    {.key = "deny",
     .type = FIELD_TEXTS,
     AT(deny),
     .doc = "Its tools that the model does not get, by name or pattern."},
    {.key = "idempotent",
     .type = FIELD_TEXTS,
     AT(idempotent),
     .doc = "Its tools that may run again after a crash, by name or pattern: your word for it."},
    {.key = "limits",
     .type = FIELD_OBJECT,
     .offset = 0,
     .table = &tools_limit_table,
     .doc = "Limits of one call."},
};
static const size_t tools_rest[] = {offsetof(struct tools_entry, entry.config)};
#undef AT

const struct field_table definition_tools_table = {
    .fields = tools_fields,
    .count = COUNT_OF(tools_fields),
    .size = sizeof(struct tools_entry),
    .has_rest = true,
    .rest_offsets = tools_rest,
    .rest_count = COUNT_OF(tools_rest),
};

/* ---- sinks ----------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct use_entry, member)
static const struct field sink_fields[] = {
    {.key = "use",
     .type = FIELD_TEXT,
     AT(use),
     .required = true,
     .pattern = &component_name,
     .doc = "The sink component, as `gudgeon plugins` lists them."},
    {.key = "name",
     .type = FIELD_TEXT,
     AT(name),
     .pattern = &instance_name,
     .doc = "What it is called in messages; needed when a component is used twice."},
    {AT(grant), GRANT_ROW},
};
static const size_t sink_rest[] = {offsetof(struct use_entry, config)};
#undef AT

const struct field_table definition_sink_table = {
    .fields = sink_fields,
    .count = COUNT_OF(sink_fields),
    .size = sizeof(struct use_entry),
    .has_rest = true,
    .rest_offsets = sink_rest,
    .rest_count = COUNT_OF(sink_rest),
};

/* ---- inputs ---------------------------------------------------------------------------------- */

static const struct field_word input_types[] = {
    {"string", 0}, {"integer", 0}, {"number", 0}, {"boolean", 0},
    {"array", 0},  {"object", 0},  {NULL, 0},
};

#define AT(member) .offset = offsetof(struct input_entry, member)
static const struct field input_fields[] = {
    {.key = "type",
     .type = FIELD_WORD,
     AT(type),
     .words = input_types,
     .fallback = "string",
     .doc = "The type of its value."},
    {.key = "description",
     .type = FIELD_TEXT,
     AT(description),
     .fallback = "",
     .doc = "What it is, for the model and for people."},
    {.key = "default",
     .type = FIELD_JSON_LATER,
     AT(fallback),
     .doc = "Its value when a task brings none; without it a task must."},
};
#undef AT

static const struct field_table input_table = {
    .fields = input_fields,
    .count = COUNT_OF(input_fields),
    .size = sizeof(struct input_entry),
    .name_offset = offsetof(struct input_entry, name),
};

/* ---- limits ---------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct limits, member)
static const struct field limit_fields[] = {
    {.key = "steps",
     .type = FIELD_INT,
     AT(steps),
     .fallback = "20",
     .min = 1,
     .max = 1000000,
     .doc = "Action steps of a run."},
    {.key = "time",
     .type = FIELD_DURATION,
     AT(time_ms),
     .min = 1,
     .max = 365 * DAYS,
     .doc = "Time of a run, waiting not counted."},
    {.key = "step_time",
     .type = FIELD_DURATION,
     AT(step_time_ms),
     .min = 1,
     .max = 365 * DAYS,
     .doc = "Time of a step."},
    {.key = "tool_time",
     .type = FIELD_DURATION,
     AT(tool_time_ms),
     .fallback = "60s",
     .min = 1,
     .max = 365 * DAYS,
     .doc = "Time of a tool call."},
    {.key = "tokens",
     .type = FIELD_INT,
     AT(tokens),
     .min = 1,
     .doc = "Tokens of a run, input and output."},
    {.key = "parallel_tools",
     .type = FIELD_INT,
     AT(parallel_tools),
     .fallback = "4",
     .min = 1,
     .max = 64,
     .doc = "Tool calls that run at one time."},
    {.key = "repeats",
     .type = FIELD_INT,
     AT(repeats),
     .fallback = "3",
     .min = 2,
     .max = 1000,
     .doc = "How often in a row the same call may have the same result before the run is stuck."},
    {.key = "recoveries",
     .type = FIELD_INT,
     AT(recoveries),
     .fallback = "3",
     .min = 0,
     .max = 1000,
     .doc = "How often in a row the model is helped out before the run is stuck."},
    {.key = "retries",
     .type = FIELD_INT,
     AT(retries),
     .fallback = "4",
     .min = 0,
     .max = 100,
     .doc = "How often a model is asked again after a passing fault, before the next one is."},
};
#undef AT

static const struct field_table limit_table = {
    .fields = limit_fields,
    .count = COUNT_OF(limit_fields),
    .size = sizeof(struct limits),
};

/* ---- the definition -------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(struct definition, member)
static const struct field context_fields[] = {
    {.key = "tool_result_limit",
     .type = FIELD_SIZE,
     AT(tool_result_limit),
     .fallback = "32KiB",
     .min = KIB,
     .max = 16 * MIB,
     .doc = "Size of one tool result for the model; what is cut off is kept in a file."},
};
static const struct field_table context_table = {
    .fields = context_fields,
    .count = COUNT_OF(context_fields),
    .size = sizeof(struct definition),
};

static const struct field_word sync_words[] = {
    {"never", JOURNAL_SYNC_NEVER},
    {"step", JOURNAL_SYNC_STEP},
    {"always", JOURNAL_SYNC_ALWAYS},
    {NULL, 0},
};
static const struct field journal_fields[] = {
    {.key = "sync",
     .type = FIELD_ENUM,
     AT(journal_sync),
     .words = sync_words,
     .fallback = "step",
     .doc = "When the journal is made durable: at steps' ends and before side effects, at every "
            "record, or never."},
};
static const struct field_table journal_table = {
    .fields = journal_fields,
    .count = COUNT_OF(journal_fields),
    .size = sizeof(struct definition),
};

static const struct field_word action_words[] = {{"tools", ACTION_TOOLS}, {NULL, 0}};
static const struct field_word finish_words[] = {
    {"answer", FINISH_ANSWER},
    {"tool", FINISH_TOOL},
    {NULL, 0},
};

static const struct field definition_fields[] = {
    {.key = "agent",
     .type = FIELD_TEXT,
     AT(agent),
     .required = true,
     .pattern = &agent_name,
     .doc = "The agent's name."},
    {.key = "description",
     .type = FIELD_TEXT,
     AT(description),
     .fallback = "",
     .doc = "What the agent is for, in a sentence."},
    {.key = "instructions",
     .type = FIELD_TEXT,
     AT(instructions),
     .fallback = "",
     .doc = "What the model is told before the task."},
    {.key = "model",
     .type = FIELD_ONE_OR_LIST,
     AT(models),
     .count_offset = offsetof(struct definition, model_count),
     .required = true,
     .min = 1,
     .table = &definition_model_table,
     .doc = "The model that answers, or several, tried in order."},
    {.key = "tools",
     .type = FIELD_LIST,
     AT(tools),
     .count_offset = offsetof(struct definition, tools_count),
     .table = &definition_tools_table,
     .doc = "Where the agent's tools come from."},
    {.key = "sinks",
     .type = FIELD_LIST,
     AT(sinks),
     .count_offset = offsetof(struct definition, sink_count),
     .table = &definition_sink_table,
     .doc = "Who else is told of every event."},
    {.key = "inputs",
     .type = FIELD_MAP,
     AT(inputs),
     .count_offset = offsetof(struct definition, input_count),
     .pattern = &variable_name,
     .table = &input_table,
     .doc = "Values and files that a task may bring."},
    {.key = "action",
     .type = FIELD_ENUM,
     AT(action),
     .words = action_words,
     .fallback = "tools",
     .doc = "How the agent acts: by tool calls."},
    {.key = "finish",
     .type = FIELD_ENUM,
     AT(finish),
     .words = finish_words,
     .fallback = "answer",
     .doc = "What ends a run: a reply without tool calls, or the tool final_answer alone."},
    {.key = "context",
     .type = FIELD_OBJECT,
     .offset = 0,
     .table = &context_table,
     .doc = "What the model is sent."},
    {.key = "limits",
     .type = FIELD_OBJECT,
     AT(limits),
     .table = &limit_table,
     .doc = "Where a run stops."},
    {.key = "journal",
     .type = FIELD_OBJECT,
     .offset = 0,
     .table = &journal_table,
     .doc = "How the run is recorded."},
};
#undef AT

const struct field_table definition_table = {
    .fields = definition_fields,
    .count = COUNT_OF(definition_fields),
    .size = sizeof(struct definition),
};
