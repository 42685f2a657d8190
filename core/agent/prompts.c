/* SPDX-License-Identifier: MIT */
#include "agent/prompts.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static const struct {
    const char *name;
    const char *text;
} prompts[] = {
#include "prompts.inc"
};

static const char *find_prompt(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(prompts); i++)
        if (strcmp(prompts[i].name, name) == 0)
            return prompts[i].text;
    assert(!"a prompt that config/prompts does not have");
    return NULL;
}

static const char *find_value(const struct prompt_value *values, const char *name, size_t len)
{
    for (; values != NULL && values->name != NULL; values++)
        if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
            return values->text;
    assert(!"a placeholder without a value");
    return NULL;
}

char *prompt_render(const char *name, const struct prompt_value *values)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    const char *text = find_prompt(name);
    const char *open;
    while ((open = strstr(text, "{{")) != NULL) {
        const char *close = strstr(open, "}}");
        assert(close != NULL);
        buf_add(&out, text, (size_t)(open - text));
        buf_add_str(&out, find_value(values, open + 2, (size_t)(close - open - 2)));
        text = close + 2;
    }
    buf_add_str(&out, text);
    while (out.len > 0 && out.data[out.len - 1] == '\n')
        buf_truncate(&out, out.len - 1);
    return buf_take(&out);
}
