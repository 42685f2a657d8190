/* SPDX-License-Identifier: MIT */
#include "config.h"

#define TEXT(description) "{\"type\":\"string\",\"description\":\"" description "\"}"
#define TIME(description)                                                                          \
    "{\"type\":\"string\",\"pattern\":\"^[0-9]+(ms|s|m|h)$\",\"description\":\"" description "\"}"
#define SWITCH(values, description)                                                                \
    "{\"type\":\"string\",\"enum\":[" values "],\"description\":\"" description "\"}"
#define FLAG(description) "{\"type\":\"boolean\",\"description\":\"" description "\"}"
#define REQUEST(type, rest, description)                                                           \
    "{" type ",\"x-request\":true" rest ",\"description\":\"" description "\"}"

/* clang-format off */
#define TIMEOUTS \
    "{\"type\":\"object\",\"additionalProperties\":false," \
    "\"description\":\"Each on its own: a reply that keeps coming is never cut.\"," \
    "\"properties\":{" \
    "\"connect\":" TIME("To a connection, TLS included (10s).") "," \
    "\"first_byte\":" TIME("From the request to the first byte of the reply (10m).") "," \
    "\"idle\":" TIME("Between two bytes of the reply (2m).") "}}"

#define DIALECT \
    "{\"type\":\"object\",\"additionalProperties\":false," \
    "\"description\":\"Habits of the server; what is left out follows from its host name.\"," \
    "\"properties\":{" \
    "\"max_tokens_field\":" SWITCH("\"max_tokens\",\"max_completion_tokens\"", \
        "The field that bounds the output.") "," \
    "\"tool_content\":" SWITCH("\"null\",\"empty\"", \
        "Content of a turn that only calls tools.") "," \
    "\"echo_reasoning\":" SWITCH("\"auto\",\"never\",\"tool_turns\",\"always\"", \
        "Which turns are sent back with their reasoning. auto: turns with calls, if this server " \
        "gave it.") "," \
    "\"reasoning_field\":" SWITCH("\"as_given\",\"reasoning_content\",\"reasoning\"", \
        "The field it is sent back in.") "," \
    "\"system_role\":" SWITCH("\"system\",\"developer\",\"user\"", \
        "Role of the system prompt. user: it opens the first user message.") "," \
    "\"tool_images\":" SWITCH("\"follow\",\"inline\",\"none\"", \
        "Where images of tool results go. follow: into a user message after the results.") "," \
    "\"choice_none\":" SWITCH("\"send\",\"text\"", \
        "How tools are forbidden. text: none are listed, earlier calls are told as text.") "," \
    "\"unlisted_calls\":" SWITCH("\"send\",\"text\"", \
        "How earlier calls of tools that are not listed now are sent.") "," \
    "\"output_format\":" SWITCH("\"json_schema\",\"strict_json_schema\",\"none\"", \
        "How a schema for the answer is sent. none: not at all.") "," \
    "\"include_usage\":" FLAG("Ask for token counts in streams.") "," \
    "\"cache_key\":" FLAG("Send prompt_cache_key.") "}}"

const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"base_url\":{\"type\":\"string\",\"pattern\":\"^https?://[^@/?#]+([/?#]|$)\","
        "\"default\":\"https://api.openai.com/v1\","
        "\"description\":\"What comes before /chat/completions, without user and password; a "
        "query is kept.\"},"
    "\"api_key\":{\"type\":\"string\",\"writeOnly\":true,"
        "\"description\":\"${secret:NAME}, sent as a bearer token; none is sent when absent.\"},"
    "\"headers\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
        "\"patternProperties\":{\"(?i)^((proxy-)?authorization|cookie|(x-)?api-key|x-goog-api-key|"
        "x-auth-token)$\":{\"type\":\"string\",\"writeOnly\":true}},"
        "\"description\":\"More headers, or other values for those sent anyway; a key as "
        "${secret:NAME}.\"},"
    "\"ca_file\":{\"type\":\"string\",\"format\":\"path\","
        "\"description\":\"PEM file of certificates trusted beside the system's.\"},"
    "\"timeouts\":" TIMEOUTS ","
    "\"dialect\":" DIALECT ","
    "\"temperature\":" REQUEST("\"type\":\"number\"", ",\"minimum\":0,\"maximum\":2",
        "How freely it chooses its words; some models take none.") ","
    "\"top_p\":" REQUEST("\"type\":\"number\"", ",\"minimum\":0,\"maximum\":1",
        "Only the likeliest words that together have this probability.") ","
    "\"seed\":" REQUEST("\"type\":\"integer\"", "",
        "For replies that can be repeated, as far as the server can.") ","
    "\"stop\":" REQUEST("\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}", "",
        "Texts at which the reply ends.") ","
    "\"presence_penalty\":" REQUEST("\"type\":\"number\"", ",\"minimum\":-2,\"maximum\":2",
        "Against words that were used.") ","
    "\"frequency_penalty\":" REQUEST("\"type\":\"number\"", ",\"minimum\":-2,\"maximum\":2",
        "Against words that were used often.") ","
    "\"reasoning_effort\":" REQUEST("\"type\":\"string\"", "",
        "How long a reasoning model thinks: low, medium, high, ….") ","
    "\"parallel_tool_calls\":" REQUEST("\"type\":\"boolean\"", "",
        "Whether one turn may hold several calls.")
    "}}";
/* clang-format on */
