/* SPDX-License-Identifier: MIT */
#include "script.h"

static int32_t capabilities(void *self, const gudgeon_call *call,
                            const gudgeon_capabilities_request *request)
{
    (void)self;
    (void)request;
    const gudgeon_capabilities result = {
        .size = sizeof result,
        .can = GUDGEON_CAN_STREAM | GUDGEON_CAN_TOOLS | GUDGEON_CAN_SCHEMA |
               GUDGEON_CAN_CHOICE_NONE | GUDGEON_IS_SCRIPTED,
    };
    return call->result(call, &result);
}

static const gudgeon_model model_ops = {
    .size = sizeof model_ops,
    .generate = script_generate,
    .capabilities = capabilities,
};

static const gudgeon_component script = {
    .size = sizeof script,
    .flags = GUDGEON_CONCURRENT,
    .kind = "model/1",
    .name = "script",
    .summary = "Answers by rules: no language model, no network, no key",
    .config_schema = config_schema,
    .create = script_create,
    .destroy = script_destroy,
    .ops = &model_ops,
};

static const gudgeon_component *const components[] = {&script, NULL};

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "script", "0.1.0", "MIT", components, 0};
