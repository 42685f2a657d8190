/* SPDX-License-Identifier: MIT */

/*
 * openai: models behind a "chat completions" API, OpenAI's own or one of the many that speak it.
 *
 * A request goes config.c (what the definition says, and the server's habits) → request.c with
 * conversation.c and message.c (the body) → generate.c (the exchange) → assembly.c with calls.c
 * and details.c (the reply, piece by piece) → reply.c; what goes wrong is judged in fault.c.
 */

#include "config.h"
#include "generate.h"

#include <gudgeon/util.h>

/* What is known of OpenAI's own models by the beginning of their names. */
static const struct {
    const char *prefix;
    uint64_t window, output;
} known[] = {
    {"gpt-5", 400000, 128000},   {"gpt-4.1", 1047576, 32768}, {"gpt-4o", 128000, 16384},
    {"o4-mini", 200000, 100000}, {"o3", 200000, 100000},
};

static int32_t capabilities(void *self, const gudgeon_call *call,
                            const gudgeon_capabilities_request *request)
{
    const struct config *config = self;
    gudgeon_capabilities result = {
        .size = sizeof result,
        .can = GUDGEON_CAN_STREAM | GUDGEON_CAN_TOOLS | GUDGEON_CAN_IMAGES,
    };
    /* With choice_none: text none may be called either, it is only said otherwise. */
    result.can |= GUDGEON_CAN_CHOICE_NONE;
    if (config->dialect.output_format != FORMAT_NONE)
        result.can |= GUDGEON_CAN_SCHEMA;
    int own = gudgeon_is(gudgeon_text(config->server), "api.openai.com");
    for (size_t i = 0; own && i < sizeof known / sizeof known[0]; i++) {
        size_t len = strlen(known[i].prefix);
        if (request->model.len < len || memcmp(request->model.ptr, known[i].prefix, len) != 0)
            continue;
        result.window_tokens = known[i].window;
        result.max_output_tokens = known[i].output;
        break;
    }
    return call->result(call, &result);
}

static const gudgeon_model model_ops = {
    .size = sizeof model_ops,
    .generate = generate,
    .capabilities = capabilities,
};

static const gudgeon_component openai = {
    .size = sizeof openai,
    .flags = GUDGEON_CONCURRENT | GUDGEON_REPLICABLE,
    .kind = "model/1",
    .name = "openai",
    .summary = "Chat completions: OpenAI and every server that speaks its protocol",
    .config_schema = config_schema,
    .create = config_create,
    .destroy = config_destroy,
    .ops = &model_ops,
};

static const gudgeon_component *const components[] = {&openai, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "openai", "0.1.0", "MIT", components, 0};
