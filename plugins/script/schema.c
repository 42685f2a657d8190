/* SPDX-License-Identifier: MIT */
#include "script.h"

#define TEXT(description) "{\"type\":\"string\",\"description\":\"" description "\"}"
#define COUNT(least, description)                                                                  \
    "{\"type\":\"integer\",\"minimum\":" least ",\"description\":\"" description "\"}"
#define ONE_OF(values, description)                                                                \
    "{\"type\":\"string\",\"enum\":[" values "],\"description\":\"" description "\"}"
#define OBJECT(description, properties)                                                            \
    "{\"type\":\"object\",\"additionalProperties\":false,\"description\":\"" description           \
    "\",\"properties\":{" properties "}"

/* clang-format off */
#define WHEN OBJECT("All of these must hold; left out: always.", \
    "\"last\":" ONE_OF("\"system\",\"user\",\"assistant\",\"tool\"", "Role of the last message.") "," \
    "\"contains\":" TEXT("The last message, or a result, holds this text.") "," \
    "\"matches\":" TEXT("It matches this pattern (Perl syntax).") "," \
    "\"tool\":" TEXT("A result of this tool came last.") "," \
    "\"is_error\":{\"type\":\"boolean\",\"description\":\"That result is an error, or is none.\"}," \
    "\"turn\":" COUNT("1", "Which reply of the conversation is due.") "," \
    "\"step\":" COUNT("1", "Which reply since the last user message is due.")) "}"

#define CALL OBJECT("A tool call.", \
    "\"tool\":" TEXT("Its name.") "," \
    "\"arguments\":{\"type\":[\"object\",\"string\"]," \
        "\"description\":\"An object, or any text as a model might write it.\"}") \
    ",\"required\":[\"tool\"]}"

#define ERROR OBJECT("Fails, after what it says.", \
    "\"class\":" ONE_OF("\"retry\",\"unavailable\",\"overflow\",\"quota\",\"auth\",\"refused\"," \
        "\"invalid\",\"limit\",\"cancelled\",\"timeout\",\"protocol\"", "Default: retry.") "," \
    "\"status\":" COUNT("0", "HTTP status.") "," \
    "\"message\":" TEXT("One line.") "," \
    "\"code\":" TEXT("The provider's code.") "," \
    "\"retry_after_ms\":" COUNT("0", "When to come back.")) "}"

#define ANSWER \
    "\"think\":" TEXT("Reasoning.") "," \
    "\"say\":" TEXT("Text.") "," \
    "\"refuse\":" TEXT("A refusal.") "," \
    "\"calls\":{\"type\":\"array\",\"items\":" CALL "}," \
    "\"finish\":" ONE_OF("\"stop\",\"calls\",\"length\",\"refusal\",\"other\"", \
        "Default: by what there is.") "," \
    "\"delay_ms\":" COUNT("0", "Before the reply begins.") "," \
    "\"chunk\":" COUNT("1", "Bytes in one delta; default: all in one.") "," \
    "\"pace_ms\":" COUNT("0", "Between two deltas.") "," \
    "\"error\":" ERROR

const char config_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"rules\"],\"properties\":{"
    "\"rules\":{\"type\":\"array\",\"description\":\"The first that fits answers.\",\"items\":"
    OBJECT("When, and what then. Texts may hold {{0}} to {{9}}, {{NAME}}, {{last}}, {{user}}, {{task}}.",
        "\"when\":" WHEN ","
        "\"times\":" COUNT("1", "How often it may answer; default: always.") ","
        "\"once\":{\"type\":\"boolean\",\"description\":\"The same as times: 1.\"},"
        ANSWER) "}},"
    "\"default\":" OBJECT("The answer where no rule fits; left out: a failure.", ANSWER) "}"
    "}}";
/* clang-format on */
