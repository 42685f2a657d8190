/* SPDX-License-Identifier: MIT */
/* A plugin in C++: the header is C there as well, and exceptions stay inside. */
#include <stdexcept>
#include <string>

#include <gudgeon/plugin.h>
#include <gudgeon/util.h>

namespace
{

struct Greeter {
    std::string greeting = "hello from C++";
};

int32_t create(void **self, const gudgeon_call *, const gudgeon_create *)
{
    *self = new Greeter;
    return GUDGEON_OK;
}

int32_t destroy(void *self, const gudgeon_call *, const gudgeon_stop *)
{
    delete static_cast<Greeter *>(self);
    return GUDGEON_OK;
}

int32_t list(void *, const gudgeon_call *call, const gudgeon_list *)
{
    gudgeon_tool tool = {};
    tool.size = sizeof tool;
    tool.name = gudgeon_text("greet");
    tool.description = gudgeon_text("Greets");
    return call->result(call, &tool);
}

int32_t run(void *self, const gudgeon_call *call, const gudgeon_tool_call *request)
try {
    if (!gudgeon_is(request->tool, "greet"))
        throw std::invalid_argument("no such tool");
    return gudgeon_reply_text(call, 0, static_cast<Greeter *>(self)->greeting.c_str());
} catch (const std::exception &error) {
    return gudgeon_fail(call, GUDGEON_INVALID, "%s", error.what());
}

const gudgeon_tools ops = {sizeof ops, 0, list, run};
const gudgeon_component component = {sizeof component, 0,       "tools/1", "plus_plus", "Greets",
                                     nullptr,          nullptr, create,    destroy,     &ops};
const gudgeon_component *const components[] = {&component, nullptr};

} // namespace

const struct gudgeon_plugin gudgeon_plugin = {
    GUDGEON_PLUGIN_PREFIX, "plus_plus", "1.0.0", "MIT", components, 0};
