/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_CALL_H
#define GUDGEON_PLUGIN_CALL_H

/*
 * One invocation of an op, seen from the host.
 *
 * It holds the ABI's gudgeon_call that the plugin gets, takes what the plugin answers (copied,
 * checked, capped) and keeps it until call_free. One call serves one op. The plugin-facing
 * functions are safe against a plugin that breaks the rules: a second result, a delta after the
 * end or from another thread, or bad JSON becomes a protocol fault, not a crash. `delta` listeners
 * run on the plugin's thread.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

struct cancel;
struct err;
struct call;
struct instance;

/* Non-zero stops the call. `delta` is borrowed. */
typedef int call_delta_fn(void *payload, const gudgeon_delta *delta);

/* Cancel and deadline of a call that another process moves; it outlives the call. */
struct call_control {
    int cancel_fd; /* polls readable once cancelled */
    const _Atomic(int64_t) *deadline_ns;
    const _Atomic(uint32_t) *is_cancelled;
};

struct call_options {
    const char *id;          /* "RUN/CALL", NULL = none */
    struct cancel *parent;   /* NULL = cannot be cancelled from outside */
    int64_t deadline_ns;     /* monotonic; 0 or INT64_MAX = none */
    size_t output_max;       /* bytes of STDOUT + STDERR kept; 0 = 1 MiB; past it: told to stop */
    call_delta_fn *on_delta; /* NULL = nobody listens */
    void *payload;
    const struct call_control *control; /* NULL = the call's own cancel and deadline */
};

struct call *call_new(const struct call_options *options);
void call_free(struct call *call);
struct cancel *call_cancel(struct call *call);
/* Moves the deadline while the op runs, on any thread. */
void call_set_deadline(struct call *call, int64_t deadline_ns);

/* What the plugin said beside its class; texts are "" when unsaid. Valid until call_free. */
struct call_error {
    unsigned http_status;
    uint64_t retry_after_ms;
    const char *message;
    const char *provider_code;
    const char *grant;
};
const struct call_error *call_error(const struct call *call);

/* The result that was given, deep-copied, or NULL; always NULL when the op failed. JSON in it has
 * been checked; reply->content is "[]" when it was absent. Valid until call_free. */
const gudgeon_reply *call_reply(const struct call *call);
const gudgeon_capabilities *call_capabilities(const struct call *call);
const gudgeon_tool_result *call_tool_result(const struct call *call);
const gudgeon_exec_result *call_exec_result(const struct call *call);
/* STDOUT and STDERR deltas in the order they came. */
gudgeon_str call_output(const struct call *call);
/* Whether there was more of it than output_max. */
bool call_output_is_cut(const struct call *call);
/* Whether deltas of TEXT, REASONING or ARGUMENTS were given (a retry must retract them). */
bool call_has_shown(const struct call *call);

#endif
