/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_CONFIG_H
#define OPENAI_CONFIG_H

/*
 * One instance's configuration, read once at create and never changed, so that requests may
 * overlap.
 *
 * "Chat completions" is spoken by many servers, each with habits of its own. A habit is a switch
 * in `struct dialect`: its default comes from the server's host name, the definition's `dialect:`
 * object overrides it. Two instances with equal switches encode messages alike; `variant` names
 * the switches that matter for that.
 */

#include <gudgeon/ext/http.h>
#include <gudgeon/ext/memo.h>
#include <gudgeon/plugin.h>

enum max_tokens_field { MAX_TOKENS, MAX_COMPLETION_TOKENS };
enum tool_content { TOOL_CONTENT_NULL, TOOL_CONTENT_EMPTY };
enum echo_reasoning {
    ECHO_AUTO,       /* on turns with calls, what this server itself gave */
    ECHO_NEVER,      /* nothing */
    ECHO_TOOL_TURNS, /* on turns with calls, whoever gave it; empty where there is none */
    ECHO_ALWAYS,     /* the same, and on other turns that have some */
};
enum reasoning_field { REASONING_AS_GIVEN, REASONING_CONTENT, REASONING };
enum system_role { ROLE_SYSTEM, ROLE_DEVELOPER, ROLE_USER };
enum tool_images {
    IMAGES_FOLLOW, /* in a user message after the results */
    IMAGES_INLINE, /* in the tool message */
    IMAGES_NONE,   /* only said to be there */
};
enum choice_none {
    NONE_SEND, /* tool_choice "none" */
    NONE_TEXT, /* no tools at all; earlier calls and results are told as text */
};
enum unlisted_calls {
    UNLISTED_SEND, /* earlier calls of tools that are not listed now, as they were */
    UNLISTED_TEXT, /* told as text: some servers refuse names that are not listed */
};
enum output_format { FORMAT_JSON_SCHEMA, FORMAT_STRICT_JSON_SCHEMA, FORMAT_NONE };

/* Each is one of the enums above, or 0 and 1 for false and true. */
struct dialect {
    uint8_t max_tokens_field;
    uint8_t tool_content;
    uint8_t echo_reasoning;
    uint8_t reasoning_field;
    uint8_t system_role;
    uint8_t tool_images;
    uint8_t choice_none;
    uint8_t unlisted_calls;
    uint8_t output_format;
    uint8_t include_usage; /* ask for a usage chunk in streams */
    uint8_t cache_key;     /* send the conversation as prompt_cache_key */
};

enum { CONFIG_VARIANT_SIZE = 24 };

struct config {
    const gudgeon_host *host;
    const gudgeon_http *http;
    const gudgeon_memo *memo; /* NULL = the host has none */
    char *url;                /* of chat completions */
    char *server;             /* its host name, for messages to people */
    char *place; /* base URL without user, query and trailing slash: part of the origin */
    char *ca_file;
    gudgeon_http_header *headers; /* beside content-type and accept; texts are owned */
    size_t header_count;
    uint64_t connect_ms, first_byte_ms, idle_ms; /* 0 = the host's default */
    struct dialect dialect;
    char variant[CONFIG_VARIANT_SIZE];
};

extern const char config_schema[];

int32_t config_create(void **self, const gudgeon_call *call, const gudgeon_create *request);
int32_t config_destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request);

#endif
