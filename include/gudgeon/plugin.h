/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_H
#define GUDGEON_PLUGIN_H

/*
 * The gudgeon plugin ABI, version 0.1.
 *
 * A plugin is a shared object that exports exactly one symbol, the const data object
 * `gudgeon_plugin`. It resolves no symbol of the host: what it may use arrives in tables. This
 * header depends on nothing; it compiles alone as C11, C17 and C++11.
 *
 *     const struct gudgeon_plugin gudgeon_plugin = {
 *         GUDGEON_PLUGIN_PREFIX, "name", "1.0.0", "MIT", components, 0};
 *
 * Build with:  cc -shared -fPIC -fvisibility=hidden -Wl,-z,defs -o name.so name.c
 *
 * WORDS
 *   plugin     one .so; holds components
 *   component  one thing that a plugin offers: a kind and a name
 *   instance   a component opened with a configuration; what create() gives
 *   tool       one callable function that an instance of kind "tools/1" lists
 *   call       one invocation of an op; the object through which it answers
 *
 * SHAPES
 *   Every struct that crosses begins with `size`, set by whoever made it to sizeof of the struct
 *   as its maker knows it; except gudgeon_plugin, which begins with its magic, and gudgeon_str.
 *   Fields are only ever appended, signatures never change. Read a field that is newer than 0.1
 *   only through GUDGEON_HAS(p, field). `reserved` fields are zero. 0 or NULL means absent.
 *   Sized structs are never embedded or put into arrays; arrays hold pointers.
 *   Text is UTF-8. Text from the host also has a NUL at ptr[len]; text from a plugin need not.
 *   "JSON" means UTF-8 JSON text with a length, strict RFC 8259. Numbers keep their digits.
 *
 * OWNERSHIP
 *   Nothing is ever freed by the other side. Arguments are borrowed until the op returns; output
 *   goes through the call object, which copies before it returns. Strings and tables that hang
 *   off `gudgeon_plugin` live for ever and are never written. A file descriptor from the host is
 *   the host's: never close it.
 *
 * THREADS
 *   [call]  only on the thread that the op was called on, and only before the op returns
 *   [any]   on any thread, at any time between create and destroy
 *   No thread affinity is promised, except that an executor instance is always called from one
 *   thread. Ops of one instance never overlap unless the component has GUDGEON_CONCURRENT. Stacks
 *   have at least 256 KiB. Ops must not block signals, change the locale, call setenv, fork, or
 *   change the working directory. No exception may leave an op.
 *
 * RETURN VALUES
 *   Every op returns 0 (GUDGEON_OK) or one of the classes below. A class is about infrastructure
 *   and goes to the host's policy; a tool that ran properly and failed returns 0 with
 *   GUDGEON_IS_ERROR in its result, which goes to the model. A value that is no class is a
 *   protocol fault.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_ABI_MAJOR 0
#define GUDGEON_ABI_MINOR 1
/* "gudgeon" and a NUL, as the bytes of a little-endian number. */
#define GUDGEON_MAGIC UINT64_C(0x006e6f6567647567)

#if defined(__GNUC__)
#define GUDGEON_VISIBLE __attribute__((visibility("default")))
#else
#define GUDGEON_VISIBLE
#endif

/* Whether the sized struct at `p` is large enough to hold `field`. */
#define GUDGEON_HAS(p, field)                                                                      \
    ((size_t)(p)->size >=                                                                          \
     (size_t)((const char *)&(p)->field - (const char *)(p)) + sizeof((p)->field))

/* Text that is borrowed. {NULL, 0} is absent; an empty text has a non-NULL pointer. Frozen. */
typedef struct gudgeon_str {
    const char *ptr;
    uint64_t len; /* bytes */
} gudgeon_str;

/* ---- classes: what an op returns, and what the host does about it -------------------------- */

#define GUDGEON_OK          0  /* done; the owed result was given */
#define GUDGEON_RETRY       1  /* transient; the host asks again later (error.retry_after_ms) */
#define GUDGEON_UNAVAILABLE 2  /* this instance cannot serve now; the host fails over */
#define GUDGEON_OVERFLOW    3  /* the context is too long for the model; the host compacts */
#define GUDGEON_QUOTA       4  /* money or allowance used up: fails over, else the run fails */
#define GUDGEON_AUTH        5  /* key missing or refused: the run fails, resumable when mended */
#define GUDGEON_REFUSED     6  /* a grant or a policy forbids it: said to operator and model */
#define GUDGEON_INVALID     7  /* the request makes no sense to this component: never retried */
#define GUDGEON_LIMIT       8  /* a cap was hit (output, memory, files) */
#define GUDGEON_CANCELLED   9  /* stopped because the call was cancelled */
#define GUDGEON_TIMEOUT     10 /* stopped because a deadline passed */
#define GUDGEON_PROTOCOL    11 /* the other side (a server, a child) broke its protocol */
#define GUDGEON_CLASS_COUNT 12 /* newer classes are treated as GUDGEON_INVALID by older hosts */

/* ---- the call object ------------------------------------------------------------------------ */

/* Delta channels. TEXT, REASONING and ARGUMENTS belong to generate; the rest to call and exec.
 * STDOUT and STDERR are the output of a tool or a code block: reliable, ordered, capped by the
 * host, kept when the call is cut short. The other channels are for listeners and may be dropped
 * under load; a delta may split a character. */
#define GUDGEON_TEXT      1
#define GUDGEON_REASONING 2
#define GUDGEON_ARGUMENTS 3 /* of the tool call number `index` of this reply */
#define GUDGEON_STDOUT    4
#define GUDGEON_STDERR    5
#define GUDGEON_PROGRESS  6 /* one line for people */

typedef struct gudgeon_delta {
    uint32_t size;
    uint32_t channel;
    uint32_t index; /* ARGUMENTS: which tool call of the reply, from 0 */
    uint32_t reserved;
    gudgeon_str name; /* ARGUMENTS: the tool's name, in the first delta of an index */
    gudgeon_str bytes;
} gudgeon_delta;

/* Detail for the class that the op is about to return. */
typedef struct gudgeon_error {
    uint32_t size;
    uint32_t http_status;      /* 0 = none */
    uint64_t retry_after_ms;   /* 0 = unsaid */
    gudgeon_str message;       /* one line for people */
    gudgeon_str provider_code; /* the far side's own code */
    gudgeon_str grant;         /* REFUSED: JSON of the grant to add, e.g. {"network":true} */
} gudgeon_error;

typedef struct gudgeon_call gudgeon_call;
struct gudgeon_call {
    uint32_t size;
    uint32_t reserved;
    void *host_data; /* the host's; never touch */
    /* "RUN/CALL": the same for every attempt at the same call, so it can serve as an idempotency
     * key. Absent for create, list and destroy. */
    gudgeon_str id;
    /* [any until the op returns] When to be finished, in CLOCK_MONOTONIC nanoseconds; INT64_MAX =
     * no deadline. Ask again after waiting: the host may move it. */
    int64_t (*deadline_ns)(const gudgeon_call *call);
    /* [any until the op returns] 1 once the call is cancelled. */
    int32_t (*cancelled)(const gudgeon_call *call);
    /* [any until the op returns] A descriptor that polls readable once cancelled. Do not read,
     * do not close. -1 when the call cannot be cancelled. */
    int32_t (*cancel_fd)(const gudgeon_call *call);
    /* [call] Streams a part. Non-zero = stop working and return; what was given is kept. */
    int32_t (*delta)(const gudgeon_call *call, const gudgeon_delta *delta);
    /* [call] Gives a result; the struct is the one that the op's comment names. 0, or a class:
     * INVALID (a second answer where one is owed, or malformed), LIMIT (too large). */
    int32_t (*result)(const gudgeon_call *call, const void *result);
    /* [call] Adds detail to the class that is about to be returned; the last one counts. */
    void (*error)(const gudgeon_call *call, const gudgeon_error *error);
};

/* ---- the host ------------------------------------------------------------------------------- */

#define GUDGEON_LOG_ERROR 1
#define GUDGEON_LOG_WARN  2
#define GUDGEON_LOG_INFO  3
#define GUDGEON_LOG_DEBUG 4

/* Lives as long as the instance that it was given to. */
typedef struct gudgeon_host gudgeon_host;
struct gudgeon_host {
    uint32_t size;
    uint32_t abi_minor;  /* the host's GUDGEON_ABI_MINOR */
    void *host_data;     /* the host's; never touch */
    gudgeon_str version; /* the host's own version */
    /* [any] The service's table (see gudgeon/ext), or NULL when this host has none of that id or
     * this kind of component may not have it. The same pointer for the instance's whole life. */
    const void *(*service)(const gudgeon_host *host, const char *id);
    /* [any] A diagnostic for the operator; masked and rate-limited by the host. */
    void (*log)(const gudgeon_host *host, uint32_t level, gudgeon_str message);
    /* [any] The list of tools has changed: the host lists again between two steps. */
    void (*tools_changed)(const gudgeon_host *host);
};

/* ---- content blocks ------------------------------------------------------------------------- */

/*
 * Messages, replies and tool results hold content as a JSON array of blocks, each an object with
 * a "type". Their schema is gudgeon/blocks.schema.json beside this header:
 *   {"type":"text","text":…}
 *   {"type":"reasoning","text":…}
 *   {"type":"tool_call","id":…,"wire_id":…,"name":…,"arguments":TEXT}
 *   {"type":"tool_result","id":…,"name":…,"content":[blocks],"is_error":bool}
 *   {"type":"image","media_type":…,"data":BASE64 | "url":…}
 *   {"type":"resource","uri":…,"media_type":…,"text":… | "data":BASE64}
 *   {"type":"refusal","text":…}
 *   {"type":"opaque","kind":…,"data":TEXT}   provider data that must come back byte for byte
 * "arguments" and "data" are JSON strings even where they hold JSON. Unknown types and members
 * are to be passed over by receivers.
 */

/* ---- lifecycle, for every kind --------------------------------------------------------------- */

/* Component flags. */
#define GUDGEON_CONCURRENT 0x1u  /* ops of one instance may overlap */
#define GUDGEON_REPLICABLE 0x2u  /* the host may open several instances for one definition entry */
#define GUDGEON_STATEFUL   0x4u  /* keeps state between calls that belongs to one run */
#define GUDGEON_REPLAYABLE 0x8u  /* executor: same code, answers, `now` and `seed` give the same */
#define GUDGEON_RELAYED    0x10u /* its tools' flags come from elsewhere; they only make stricter */

typedef struct gudgeon_create {
    uint32_t size;
    uint32_t reserved;
    const gudgeon_host *host; /* lives until destroy returns */
    gudgeon_str name;         /* the instance's name in the definition */
    /* JSON object: validated against the component's schema, defaults filled in. Relative paths
     * are already absolute where the schema says "format": "path". */
    gudgeon_str config;
    /* JSON object: what the instance may reach, its paths absolute. Services keep to it; what a
     * component does without them it must keep to by itself: around an instance in the host's own
     * process there is no sandbox. */
    gudgeon_str grant;
} gudgeon_create;

/* destroy, flush: what they are asked. */
typedef struct gudgeon_stop {
    uint32_t size;
    uint32_t reserved;
} gudgeon_stop;

/* One kind with its version, one name. A plugin may offer one component for each of two versions
 * of a kind. Unknown kinds are skipped with a warning. */
typedef struct gudgeon_component {
    uint32_t size;
    uint32_t flags;
    const char *kind;    /* "model/1", "tools/1", "executor/1", "sink/1" */
    const char *name;    /* [a-z0-9_-]+, as written after `use:` */
    const char *summary; /* one line */
    /* JSON Schema (2020-12) of an object; NULL = takes no configuration. For models, a property
     * with "x-request": true belongs to each request (temperature and its like) and is passed in
     * generate's `parameters`, not in the configuration. "format": "path" makes a relative path
     * absolute (against the definition's directory). "writeOnly": true marks a secret: the host
     * refuses any value but ${secret:NAME}, which arrives as {secret:NAME}. */
    const char *config_schema;
    /* JSON of the grant that it must *always* have, e.g. {"exec":true}; NULL = none. What depends
     * on the configuration, create refuses with REFUSED and error.grant. */
    const char *needs;
    /* Opens an instance: sets *self (NULL is fine). After a failure destroy is not called. Owes no
     * result. The host may call it on any thread, but never twice at once for one instance name. */
    int32_t (*create)(void **self, const gudgeon_call *call, const gudgeon_create *request);
    /* Closes it; no op is running and none follows. Its class is logged. Owes no result. */
    int32_t (*destroy)(void *self, const gudgeon_call *call, const gudgeon_stop *request);
    const void *ops; /* gudgeon_model, gudgeon_tools, gudgeon_executor or gudgeon_sink */
} gudgeon_component;

/* ---- kind "model/1" -------------------------------------------------------------------------- */

/* One message. Immutable: the same id never has other content within the process, so an encoding
 * of it may be kept (gudgeon.memo/1). */
typedef struct gudgeon_msg {
    uint32_t size;
    uint32_t reserved;
    uint64_t id;
    gudgeon_str role;    /* "system", "user", "assistant", "tool" */
    gudgeon_str content; /* JSON array of blocks; a "tool" message holds one tool_result */
    /* assistant: the origin that the backend gave with the reply. The receiver drops opaque
     * blocks of an origin other than its own. */
    gudgeon_str origin;
} gudgeon_msg;

/* Tool flags. Without one of the first two, a tool is taken to write. */
#define GUDGEON_TOOL_READ        0x1u /* changes nothing: may run beside others, may be repeated */
#define GUDGEON_TOOL_IDEMPOTENT  0x2u /* repeating it with the same call id changes nothing more */
#define GUDGEON_TOOL_DESTRUCTIVE 0x4u /* may lose data: what `approve: destructive` asks about */

typedef struct gudgeon_tool {
    uint32_t size;
    uint32_t flags;
    gudgeon_str name; /* [a-zA-Z0-9_-]{1,64} where a model sees it; a plugin may list others, the
                         host maps them */
    gudgeon_str description;
    gudgeon_str parameters; /* JSON Schema (2020-12) of an object; absent = takes no arguments */
} gudgeon_tool;

#define GUDGEON_CHOICE_AUTO     0
#define GUDGEON_CHOICE_NONE     1 /* tools stay listed, none may be called */
#define GUDGEON_CHOICE_REQUIRED 2
#define GUDGEON_CHOICE_NAMED    3 /* `choice_name` must be called */

typedef struct gudgeon_generate {
    uint32_t size;
    uint32_t tool_choice;
    gudgeon_str model;           /* the model's name at its provider */
    gudgeon_str conversation_id; /* stable for a session: for provider-side caches */
    const gudgeon_msg *const *msgs;
    uint64_t msg_count;
    const gudgeon_tool *const *tools;
    uint64_t tool_count;
    uint64_t tools_revision; /* the same number = the same tools, within the process */
    gudgeon_str choice_name;
    gudgeon_str parameters;     /* JSON object: the configuration's "x-request" properties */
    gudgeon_str extra;          /* JSON object, to be merged into the request as it is */
    gudgeon_str output_schema;  /* JSON Schema the answer must follow; absent = free text */
    uint64_t max_output_tokens; /* 0 = unsaid */
    uint32_t stream;            /* 1 = deltas are wanted */
    uint32_t reserved;
} gudgeon_generate;

#define GUDGEON_FINISH_STOP    1
#define GUDGEON_FINISH_CALLS   2 /* the reply holds tool calls; their presence decides anyway */
#define GUDGEON_FINISH_LENGTH  3 /* cut by the output limit: its calls must not run */
#define GUDGEON_FINISH_REFUSAL 4 /* the model declined, or a filter cut it */
#define GUDGEON_FINISH_OTHER   5

/* Bits of `usage_known`. */
#define GUDGEON_USAGE_INPUT       0x1u
#define GUDGEON_USAGE_OUTPUT      0x2u
#define GUDGEON_USAGE_CACHED      0x4u
#define GUDGEON_USAGE_CACHE_WRITE 0x8u
#define GUDGEON_USAGE_REASONING   0x10u

/* generate's result. */
typedef struct gudgeon_reply {
    uint32_t size;
    uint32_t finish;
    gudgeon_str finish_raw; /* the provider's own word */
    gudgeon_str content;    /* JSON array of text, reasoning, tool_call, refusal, opaque */
    gudgeon_str response_id;
    gudgeon_str model_served;
    gudgeon_str origin;   /* names dialect, endpoint and model: who can read its opaque blocks */
    uint32_t usage_known; /* which of the counts below are known */
    uint32_t reserved;
    uint64_t input_tokens;  /* all of the input, cached parts included */
    uint64_t output_tokens; /* all of the output, reasoning included */
    uint64_t cached_tokens;
    uint64_t cache_write_tokens;
    uint64_t reasoning_tokens;
} gudgeon_reply;

typedef struct gudgeon_capabilities_request {
    uint32_t size;
    uint32_t reserved;
    gudgeon_str model;
} gudgeon_capabilities_request;

/* Bits of `can`. */
#define GUDGEON_CAN_STREAM      0x1u
#define GUDGEON_CAN_TOOLS       0x2u
#define GUDGEON_CAN_SCHEMA      0x4u /* honours output_schema natively */
#define GUDGEON_CAN_IMAGES      0x8u
#define GUDGEON_CAN_CHOICE_NONE 0x10u
#define GUDGEON_IS_SCRIPTED     0x20u /* no language model answers: the host says so to people */

/* capabilities' result. */
typedef struct gudgeon_capabilities {
    uint32_t size;
    uint32_t can;
    uint64_t window_tokens; /* 0 = unknown */
    uint64_t max_output_tokens;
} gudgeon_capabilities;

typedef struct gudgeon_model {
    uint32_t size;
    uint32_t reserved;
    /* One reply to the messages. Owes one gudgeon_reply. Never retries: it classifies. A reply
     * that the far side cut off is RETRY, not a result. */
    int32_t (*generate)(void *self, const gudgeon_call *call, const gudgeon_generate *request);
    /* Optional. Owes one gudgeon_capabilities. Must not reach the network. */
    int32_t (*capabilities)(void *self, const gudgeon_call *call,
                            const gudgeon_capabilities_request *request);
} gudgeon_model;

/* ---- kind "tools/1" ---------------------------------------------------------------------------
 */

typedef struct gudgeon_list {
    uint32_t size;
    uint32_t reserved;
} gudgeon_list;

typedef struct gudgeon_tool_call {
    uint32_t size;
    uint32_t reserved;
    gudgeon_str tool; /* a name that list gave */
    gudgeon_str
        arguments; /* JSON object, validated against the tool's parameters, defaults filled */
} gudgeon_tool_call;

#define GUDGEON_IS_ERROR 0x1u /* the tool ran and failed: the model is told */

/* call's result. What the model sees is `content`, else `text`, else what was streamed on STDOUT
 * and STDERR, else "(no output)". */
typedef struct gudgeon_tool_result {
    uint32_t size;
    uint32_t flags;
    gudgeon_str text;    /* plain text; bytes that are no UTF-8 are replaced by the host */
    gudgeon_str content; /* JSON array of text, image, resource blocks */
    gudgeon_str data;    /* JSON of any type: the result for programs */
} gudgeon_tool_result;

typedef struct gudgeon_tools {
    uint32_t size;
    uint32_t reserved;
    /* Gives a gudgeon_tool through call->result for each tool, in a stable order. May be called
     * again at any time; owes no minimum. */
    int32_t (*list)(void *self, const gudgeon_call *call, const gudgeon_list *request);
    /* Runs one tool. Owes one gudgeon_tool_result when it returns 0. */
    int32_t (*call)(void *self, const gudgeon_call *call, const gudgeon_tool_call *request);
} gudgeon_tools;

/* ---- kind "executor/1" ------------------------------------------------------------------------
 */

typedef struct gudgeon_exec {
    uint32_t size;
    uint32_t block; /* number of this code block within the run, from 1 */
    gudgeon_str code;
    gudgeon_str variables;            /* JSON object: set before block 1 */
    const gudgeon_tool *const *tools; /* callable through gudgeon.tools/1 */
    uint64_t tool_count;
    uint64_t tools_revision;
    int64_t now_ms; /* wall clock for the code, Unix epoch; gudgeon.tools/1 advances it */
    uint64_t seed;  /* for the code's random numbers */
} gudgeon_exec;

#define GUDGEON_EXEC_FINAL 0x1u /* final_answer was called: `value` is the answer */
#define GUDGEON_EXEC_ERROR 0x2u /* the code failed: message and line say where */

/* exec's result. Printed text goes to STDOUT deltas. */
typedef struct gudgeon_exec_result {
    uint32_t size;
    uint32_t flags;
    gudgeon_str value;   /* JSON of the last value or the final answer; absent = none */
    gudgeon_str message; /* the error's text */
    uint32_t line;       /* the error's line in `code`, from 1; 0 = unknown */
    uint32_t reserved;
} gudgeon_exec_result;

typedef struct gudgeon_executor {
    uint32_t size;
    uint32_t reserved;
    /* Runs model-written code; state is kept between calls. Owes one gudgeon_exec_result. */
    int32_t (*exec)(void *self, const gudgeon_call *call, const gudgeon_exec *request);
} gudgeon_executor;

/* ---- kind "sink/1" -----------------------------------------------------------------------------
 */

typedef struct gudgeon_event {
    uint32_t size;
    uint32_t reserved;
    gudgeon_str run;  /* the run's id */
    gudgeon_str type; /* "step.started", … */
    gudgeon_str json; /* the journal record, one JSON object */
} gudgeon_event;

typedef struct gudgeon_sink {
    uint32_t size;
    uint32_t reserved;
    /* Takes one event. Called on the host's thread for this sink, in order. A class other than
     * RETRY disables the sink for the run, which the host says once. Owes no result. */
    int32_t (*event)(void *self, const gudgeon_call *call, const gudgeon_event *request);
    /* Optional. Returns once all that was taken is delivered or given up. Owes no result. */
    int32_t (*flush)(void *self, const gudgeon_call *call, const gudgeon_stop *request);
} gudgeon_sink;

/* ---- the descriptor ----------------------------------------------------------------------------
 */

struct gudgeon_plugin {
    /* The prefix: frozen for good. Every host can read it, whatever the version. */
    uint64_t magic;
    uint32_t abi_major; /* 0: major and minor must be the host's; from 1 on the major only */
    uint32_t abi_minor;
    uint32_t size; /* of this struct */
    uint32_t reserved;
    const char *name; /* [a-z0-9_-]+, also the file's name without .so */
    const char *version;
    const char *licence;                        /* SPDX expression */
    const gudgeon_component *const *components; /* ends with NULL */
    uint64_t minimum_host_minor; /* the oldest host ABI minor that it can work with */
};

#define GUDGEON_PLUGIN_PREFIX                                                                      \
    GUDGEON_MAGIC, GUDGEON_ABI_MAJOR, GUDGEON_ABI_MINOR, (uint32_t)sizeof(struct gudgeon_plugin), 0

/* The one symbol, to be defined by the plugin. This declaration makes it visible. */
GUDGEON_VISIBLE extern const struct gudgeon_plugin gudgeon_plugin;

#ifdef __cplusplus
}
#endif
#endif
