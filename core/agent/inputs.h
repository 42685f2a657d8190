/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_INPUTS_H
#define GUDGEON_AGENT_INPUTS_H

/*
 * The inputs that a task brings: what the caller gave, by the types of the definition's `inputs`.
 */

#include <stddef.h>

struct definition;
struct err;

/* Turns "key=value" texts into one JSON object with defaults filled in. A value of type string is
 * taken as it is; other types are read as in a definition. Of a key that is given twice the last
 * value counts. ERR_INVALID names the input: unknown (did you mean), missing, wrong type. *ret is
 * freed by the caller. */
int inputs_resolve(const struct definition *definition, const char *const *given, size_t count,
                   char **ret, struct err *err);

#endif
