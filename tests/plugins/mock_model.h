/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_MOCK_MODEL_H
#define GUDGEON_TESTS_MOCK_MODEL_H

/*
 * A host small enough to drive one model backend from a unit test: gudgeon.http/1 from mock_http,
 * a gudgeon.memo/1 that counts, a call that keeps what it is given and notes broken rules in
 * `fault`. The plugin is loaded from the build tree. One thread.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "base/buf.h"
#include "mock_http.h"

enum { MOCK_MODEL_CALLS = 8 };

/* What a generate gave. Texts are "" where nothing came. */
struct mock_reply {
    int32_t class;
    int results;
    uint32_t finish;
    uint32_t usage_known;
    uint64_t input, output, cached, cache_write, reasoning_tokens;
    struct buf content, finish_raw, response_id, model_served, origin;
    struct buf text, reasoning; /* deltas, joined */
    struct buf call_names[MOCK_MODEL_CALLS], call_arguments[MOCK_MODEL_CALLS];
    size_t deltas;
    uint32_t http_status;
    uint64_t retry_after_ms;
    struct buf message, code;
    struct buf fault; /* rules of the ABI that were broken */
};

void mock_reply_init(struct mock_reply *reply);
void mock_reply_fini(struct mock_reply *reply);

struct mock_memo_entry {
    uint32_t kind;
    uint64_t subject;
    char *variant;
    struct buf bytes;
};

struct mock_model {
    gudgeon_host host; /* first: what the plugin gets a pointer to */
    const gudgeon_component *component;
    void *self; /* NULL = not open */
    struct mock_http http;
    struct buf log;
    /* The memo: `declines` = keeps nothing. */
    bool declines;
    struct mock_memo_entry *entries;
    size_t entry_count;
    size_t memo_hits, memo_puts;
    /* How the next calls behave. */
    int64_t deadline_ns; /* INT64_MAX = none */
    size_t stop_after;   /* deltas after which the plugin is told to stop; 0 = never */
    int cancel_fd;       /* an eventfd, or -1 */
    atomic_bool cancelled;
};

/* Loads build/plugins/FILE.so and opens its first component; returns create's class, and its
 * message in `reply` (may be NULL). mock_model_close is due whatever is returned. */
int32_t mock_model_open(struct mock_model *model, const char *file, const char *config,
                        struct mock_reply *reply);
void mock_model_close(struct mock_model *model);

/* Fills a fresh `reply`; returns the class. Fails the running test when a rule was broken. */
int32_t mock_model_generate(struct mock_model *model, const gudgeon_generate *request,
                            struct mock_reply *reply);
/* `text` with ' for " (JSON in C literals); to be freed. */
char *mock_json(const char *text);
uint32_t mock_model_can(struct mock_model *model, const char *name, uint64_t *window);

#endif
