/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EXT_MEMO_H
#define GUDGEON_EXT_MEMO_H

/*
 * gudgeon.memo/1: keeps encodings of messages and tool lists, so that each request encodes only
 * what is new. For model components.
 *
 * An entry is keyed by the component, a subject and a variant, and dies with its subject. The
 * variant says everything else that the encoding depends on (neighbours, dialect switches).
 * Always be ready to encode anew: the host may decline or forget.
 */

#include <gudgeon/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GUDGEON_MEMO_ID "gudgeon.memo/1"

#define GUDGEON_MEMO_MESSAGE 1 /* subject = gudgeon_msg.id */
#define GUDGEON_MEMO_TOOLS   2 /* subject = gudgeon_generate.tools_revision */

typedef struct gudgeon_memo {
    uint32_t size;
    uint32_t reserved;
    /* [call] The entry, borrowed until the op returns, or the absent string. */
    gudgeon_str (*get)(const gudgeon_call *call, uint32_t kind, uint64_t subject,
                       gudgeon_str variant);
    /* [call] Keeps a copy of `bytes` and gives it back, borrowed until the op returns; the absent
     * string when the host declines. An entry that stands is replaced. */
    gudgeon_str (*put)(const gudgeon_call *call, uint32_t kind, uint64_t subject,
                       gudgeon_str variant, gudgeon_str bytes);
} gudgeon_memo;

#ifdef __cplusplus
}
#endif
#endif
