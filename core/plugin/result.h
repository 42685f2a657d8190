/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_RESULT_H
#define GUDGEON_PLUGIN_RESULT_H

/*
 * What a plugin answers, checked and copied.
 *
 * One table says for each kind of result how large its struct is in ABI 0.1 and what each text in
 * it has to be. Fields that are newer than this host are not looked at; flags and finish reasons
 * that it does not know are dropped or mapped. JSON is checked to be JSON of the right shape;
 * plain text that is output (a tool's text) is kept byte for byte, other text is made UTF-8. The
 * copy owns its memory. Not thread-safe.
 */

#include <stddef.h>

#include <gudgeon/plugin.h>

enum result_kind {
    RESULT_NONE, /* the op gives nothing */
    RESULT_REPLY,
    RESULT_CAPABILITIES,
    RESULT_TOOL_RESULT,
    RESULT_EXEC,
    RESULT_TOOL,
    RESULT_KIND_COUNT
};

enum {
    RESULT_MAX_BYTES = 64 << 20, /* all text of one result */
    RESULT_TEXT_COUNT = 6,       /* the most texts that a result has */
};

struct result {
    enum result_kind kind; /* RESULT_NONE = nothing is held */
    union {
        gudgeon_reply reply;
        gudgeon_capabilities capabilities;
        gudgeon_tool_result tool_result;
        gudgeon_exec_result exec;
        gudgeon_tool tool;
    } as;
    char *texts[RESULT_TEXT_COUNT]; /* what the copy's strings point at */
};

/* Copies `from`, a plugin's struct of that kind, into *ret, which holds nothing before. ERR_LIMIT:
 * too large; ERR_PROTOCOL: malformed. *ret_fault says what is wrong and lives for ever. */
int result_copy(enum result_kind kind, const void *from, struct result *ret,
                const char **ret_fault);
void result_fini(struct result *result);

#endif
