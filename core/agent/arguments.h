/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_ARGUMENTS_H
#define GUDGEON_AGENT_ARGUMENTS_H

/*
 * What a model wrote as a call's arguments, and what the tool is given.
 *
 * Nothing, blank text and null mean {}. Strict JSON first: what is a valid object is kept to the
 * digit. Only what is invalid is repaired, in bounded ways: one level of double encoding, the
 * first complete object before trailing prose, Python's quotes and constants. Anything else is
 * refused with a message for the model. Then the tool's schema: values of the wrong type are
 * coerced on a copy where the schema leaves no doubt, defaults are filled in, and the rest is
 * checked.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct schema;

struct arguments {
    char *object; /* JSON object as text: as written, repaired, or "{}" when hopeless */
    bool valid;   /* whether `object` is what the model meant */
    char *fault;  /* why not, one line for the model; NULL when valid */
};

/* Reads what the model wrote (any bytes). */
void arguments_read(gudgeon_str raw, struct arguments *ret);
void arguments_fini(struct arguments *arguments);

/* Brings a valid object nearer to the schema and checks it. Returns the input for the tool, or
 * NULL with the faults in *ret_fault. Both are freed by the caller. schema may be NULL. */
char *arguments_check(const char *object, const struct schema *schema, char **ret_fault);

#endif
