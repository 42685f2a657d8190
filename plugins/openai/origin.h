/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_ORIGIN_H
#define OPENAI_ORIGIN_H

/*
 * Whose reply it was: dialect, server and model as one text that the host keeps with the message.
 * Opaque blocks go back only to the origin that they came from.
 */

#include "config.h"

#include <gudgeon/json.h>

/* Kinds of opaque blocks. FIELD: the name of the field in which reasoning came, where that must be
 * known to send it back. DETAILS: OpenRouter's reasoning_details, a JSON array. */
#define OPAQUE_FIELD   "chat.reasoning_field"
#define OPAQUE_DETAILS "chat.reasoning_details"

/* Adds the origin of replies that `model` of this server gives. */
static inline void origin_add(gudgeon_buf *out, const struct config *config, gudgeon_str model)
{
    gudgeon_buf_puts(out, "chat ");
    gudgeon_buf_puts(out, config->place);
    gudgeon_buf_puts(out, " ");
    gudgeon_buf_put(out, model);
}

#endif
