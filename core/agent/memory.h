/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_MEMORY_H
#define GUDGEON_AGENT_MEMORY_H

/*
 * What the model is shown: a fold over the events of a run's journal, and nothing else.
 *
 * memory_apply takes every event, live or read back, in order, and renders no text of its own:
 * whatever a model is sent stands literally in an event.
 *   run.started    → a user message: the task
 *   message.added  → a message of its role; "system" goes to the front
 *   model.replied  → (purpose action, final) an assistant message, and one place for each call
 *   call.finished  → a tool message in the place of its call, in call order, whenever it comes
 * Adjacent user messages merge. A message's id is the seq of the event that it came from (of the
 * last one when merged), so the same id always has the same content. Messages are immutable.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gudgeon/plugin.h>

#include "event/types.h"

struct err;
struct event;
struct memory;

struct memory *memory_new(void);
void memory_free(struct memory *memory);

/* Whether memory_apply looks into events of that type; the others may be kept from it. */
bool memory_folds(enum event_type type);
/* ERR_INVALID: the event makes no sense here (a reply while a call is open, a damaged journal). */
int memory_apply(struct memory *memory, const struct event *event, struct err *err);

/* The messages in sending order; borrowed until the next apply. Every call has its result and the
 * last message is not the assistant's, or ERR_INVALID: nothing else may ever be sent. */
int memory_messages(struct memory *memory, const gudgeon_msg *const **ret, size_t *ret_count,
                    struct err *err);
/* SHA-256, in hex, over what memory_messages gives, as JSON lines {"role","content"}. */
void memory_digest(struct memory *memory, char ret[65]);
/* A rough count of the tokens in it. */
int64_t memory_estimate(const struct memory *memory);
/* Calls of the newest assistant message that have no result yet. */
size_t memory_open_calls(const struct memory *memory);

#endif
