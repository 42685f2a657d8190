/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EXT_SECRET_H
#define GUDGEON_EXT_SECRET_H

/*
 * gudgeon.secret/1: the secrets that this instance's configuration names.
 *
 * A configuration holds `{secret:NAME}` in place of the value. HTTP headers and the environments
 * of processes are filled in by the host; anything else asks here. Never put a secret into a
 * result, a delta or a log line (the host masks known values, but do not rely on it).
 */

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_SECRET_ID "gudgeon.secret/1"

typedef struct gudgeon_secret {
    uint32_t size;
    uint32_t reserved;
    /* [call] `text` with every {secret:NAME} replaced, in *value, borrowed until the op returns.
     * REFUSED: the configuration does not name it. AUTH: it is named but nowhere to be found. */
    int32_t (*expand)(const gudgeon_call *call, gudgeon_str text, gudgeon_str *value);
} gudgeon_secret;

#ifdef __cplusplus
}
#endif
#endif
