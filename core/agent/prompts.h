/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_AGENT_PROMPTS_H
#define GUDGEON_AGENT_PROMPTS_H

/*
 * The host's own words to a model: the text files of config/prompts/, compiled in.
 *
 * A prompt is text with {{name}} placeholders. A placeholder without a value, or a name that no
 * file has, is a bug of ours and an assertion.
 */

#include <stddef.h>

struct prompt_value {
    const char *name;
    const char *text;
};

/* The filled-in text without its last newline, freed by the caller. `values` ends with a row whose
 * name is NULL; NULL = none. */
char *prompt_render(const char *name, const struct prompt_value *values);

#endif
