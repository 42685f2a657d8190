/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_REPLY_H
#define GUDGEON_AGENT_REPLY_H

/*
 * A backend's reply, taken in: text made safe, calls given ids of ours, arguments read.
 *
 * This is what model.replied says and what the loop acts on. A reply that the output limit cut has
 * no calls to act on: they stand in `dropped`, as do those that are over REPLY_CALLS_MAX. A reply
 * with nothing in it gets one text block of the host's, marked "host", because no dialect takes an
 * empty turn back.
 */

#include <stdbool.h>
#include <stddef.h>

#include <gudgeon/plugin.h>

#include "agent/arguments.h"
#include "agent/usage.h"
#include "base/buf.h"

struct err;
struct intake;
struct json_writer;

enum { CALL_ID_SIZE = 10 }; /* nine of [a-z0-9], legal in every dialect, and NUL */
enum {
    REPLY_CALLS_MAX = 128,
    REPLY_BYTES_MAX = 24 << 20, /* as JSON: a record has to hold it */
};

struct reply_call {
    char id[CALL_ID_SIZE];
    char *name; /* as the model wrote it, made safe */
    struct arguments arguments;
};

struct reply {
    struct buf blocks;  /* JSON array: what memory holds */
    struct buf dropped; /* JSON array: calls that may not run; empty = none */
    size_t dropped_count;
    struct buf text;    /* all text blocks, one after another */
    struct buf refusal; /* the model's words when it declined */
    struct reply_call *calls;
    size_t call_count;
    unsigned finish; /* GUDGEON_FINISH_* */
    bool refused;
    bool empty; /* neither text nor calls */
    char *finish_raw, *response_id, *served, *origin;
    struct usage usage;
};

/* ERR_PROTOCOL: the content is no array of blocks. ERR_LIMIT: it is over REPLY_BYTES_MAX. */
int reply_read(const gudgeon_reply *raw, struct intake *intake, struct reply **ret,
               struct err *err);
void reply_free(struct reply *reply);
/* Writes the fields of model.replied that come from the reply. */
void reply_write(const struct reply *reply, struct json_writer *writer);

/* A fresh call id. */
void call_id_new(char ret[CALL_ID_SIZE]);

#endif
