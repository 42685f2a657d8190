/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_MOCK_HOST_H
#define GUDGEON_TESTS_MOCK_HOST_H

/*
 * A host small enough to drive one plugin from a unit test.
 *
 * It loads build/plugins/FILE.so as the host would, opens one "tools/1" instance and calls it on
 * the caller's thread. Everything that the ABI promises a plugin is there (call object, deadline,
 * cancel descriptor, gudgeon.process/1), and what the ABI demands of it is checked: one result, on
 * the calling thread, before the return, with JSON where JSON is due. A broken rule stands in
 * `fault` and fails the running test. Neither schemas nor grants are enforced: tests pass what
 * they mean. An instance may be called on several threads if the plugin allows it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"

/* What a call gave back. */
struct answer {
    int32_t class;
    int results; /* how many times call->result was called */
    uint32_t flags;
    struct buf text, content, data;    /* of the last result */
    struct buf output, errors, merged; /* STDOUT, STDERR, both in the order they came */
    struct buf message, grant;         /* of the call's error */
    struct buf fault;                  /* rules of the ABI that the plugin broke */
};

void answer_init(struct answer *answer);
void answer_fini(struct answer *answer);
/* What a model would be shown; borrowed. */
const char *answer_shown(const struct answer *answer);

struct mock_tool {
    char *name;
    char *description;
    uint32_t flags;
};

struct mock {
    gudgeon_host host; /* first: what the plugin gets a pointer to */
    const struct gudgeon_plugin *plugin;
    const gudgeon_component *component;
    void *self; /* NULL = not open */
    struct mock_tool *tools;
    size_t tool_count;
    struct buf log;
    bool may_exec;      /* whether gudgeon.process/1 starts programs */
    int open_processes; /* atomic */
};

/* Loads the plugin and creates the instance; returns create's class. `answer` gets its error.
 * mock_close is due whatever is returned. */
int32_t mock_open(struct mock *mock, const char *file, const char *config, const char *grant,
                  struct answer *answer);
/* Destroys the instance; a process that is still open is a failure of the test. */
void mock_close(struct mock *mock);
/* NULL = not listed. */
const struct mock_tool *mock_tool(const struct mock *mock, const char *name);

/* How a call is made; all zero is an ordinary one. */
struct mock_call {
    int64_t timeout_ms;    /* 0 = no deadline */
    size_t output_max;     /* bytes of deltas after which the plugin is told to stop; 0 = 64 MiB */
    const char *cancel_at; /* cancelled once the output holds this; "" = before it starts */
    bool discard;          /* the output is counted, not kept */
    size_t output_bytes;   /* out */
    void (*on_output)(void *payload); /* called after each delta */
    void *payload;
};

/* Calls a tool and fills a fresh `answer`; `how` may be NULL. Returns the class. */
int32_t mock_call(struct mock *mock, const char *tool, const char *arguments, struct mock_call *how,
                  struct answer *answer);

/* The directory of the build tree that the running test stands in. */
const char *mock_build_directory(void);

/* gudgeon.process/1, in mock_process.c. */
extern const void *const mock_process_service;
/* The mock that a call belongs to. */
struct mock *mock_of_call(const gudgeon_call *call);

#endif
