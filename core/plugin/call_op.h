/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_CALL_OP_H
#define GUDGEON_PLUGIN_CALL_OP_H

/*
 * The inside of a call, for those who run ops (instances) and those who serve them (host services).
 *
 * call_begin opens the call for one op on the calling thread, call_end closes it and judges what
 * the op returned. Between the two the plugin may use call_abi. A service hangs what it hands out
 * onto the call as a resource; call_end releases what is still there, last one first, so no plugin
 * can leave anything open. call_own and call_find are for the call's thread; call_disown for any.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/result.h"

struct call;
struct err;
struct service_scope;

/* What the op owes, and who serves it. */
struct call_op {
    enum result_kind gives;      /* RESULT_TOOL: any number; else exactly one when it returns 0 */
    struct service_scope *scope; /* whose services; NULL = none */
    void (*on_tool)(void *payload, const gudgeon_tool *tool); /* RESULT_TOOL: gets each */
    void *payload;
};

void call_begin(struct call *call, const struct call_op *op);
/* The code of an op that returned `op_class`: 0 only when it kept the ABI's rules. */
int call_end(struct call *call, int32_t op_class);

const gudgeon_call *call_abi(struct call *call);
/* The host's call behind the plugin's, when the op is running and this is its thread; else NULL,
 * and the op ends as a protocol fault. */
struct call *call_of(const gudgeon_call *abi);
struct service_scope *call_scope(struct call *call);
int64_t call_deadline_ns(struct call *call);
size_t call_output_max(const struct call *call); /* bytes */

/* Puts a service's error into the call's detail and returns its class for the plugin (ERR_IO and
 * ERR_BUSY are UNAVAILABLE, ERR_NOT_FOUND is INVALID). Without effect on the detail when another
 * thread than the call's asks. */
int32_t call_take_err(struct call *call, const struct err *err);
/* The same, with the grant to add (JSON). */
int32_t call_take_refusal(struct call *call, const struct err *err, const char *grant);

struct call_resource {
    void (*release)(struct call_resource *resource); /* closes and frees it; must not disown */
    struct call_resource *next;
};

void call_own(struct call *call, struct call_resource *resource);
/* Takes it off the call again; false when the call is releasing it already. */
bool call_disown(struct call *call, struct call_resource *resource);
/* The resource with this release function, or NULL. */
struct call_resource *call_find(struct call *call, void (*release)(struct call_resource *));

#endif
