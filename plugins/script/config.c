/* SPDX-License-Identifier: MIT */
#include "script.h"

/* ---- one rule ------------------------------------------------------------------------------ */

static int32_t compile(struct rule *rule, const char *where, const gudgeon_call *call)
{
    gudgeon_buf pattern = {0};
    int code = 0;
    PCRE2_SIZE offset = 0;
    gudgeon_str text = gudgeon_json_inner(gudgeon_json_get(rule->when, "matches"));
    if (text.ptr == NULL)
        return GUDGEON_OK;
    gudgeon_json_decode(text, &pattern);
    rule->matches = pcre2_compile((PCRE2_SPTR)gudgeon_buf_str(&pattern).ptr, pattern.len, PCRE2_UTF,
                                  &code, &offset, NULL);
    gudgeon_buf_free(&pattern);
    if (rule->matches != NULL)
        return GUDGEON_OK;
    char reason[128] = "";
    pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
    return gudgeon_fail(call, GUDGEON_INVALID, "script: %s.when.matches: %s at byte %zu", where,
                        reason, (size_t)offset);
}

static int32_t check_texts(const struct rule *rule, const char *where, const gudgeon_call *call)
{
    static const char *const keys[] = {"say", "think", "refuse", "calls", "error"};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        gudgeon_buf name = {0};
        gudgeon_str value = gudgeon_json_get(rule->answer, keys[i]);
        if (!template_find_unknown(value, rule->matches, &name))
            continue;
        int32_t error_class = gudgeon_fail(
            call, GUDGEON_INVALID,
            "script: %s.%s: {{%.*s}} is neither last, user or task nor a group of `matches`; write "
            "\\{{ for a literal {{",
            where, keys[i], (int)name.len, gudgeon_buf_str(&name).ptr);
        gudgeon_buf_free(&name);
        return error_class;
    }
    return GUDGEON_OK;
}

static int32_t read_rule(struct rule *rule, gudgeon_str object, const char *where,
                         const gudgeon_call *call)
{
    rule->answer = object;
    rule->when = gudgeon_json_get(object, "when");
    if (gudgeon_json_is_true(gudgeon_json_get(object, "once")))
        rule->times = 1;
    gudgeon_json_u64(gudgeon_json_get(object, "times"), &rule->times);
    int32_t error_class = compile(rule, where, call);
    return error_class == GUDGEON_OK ? check_texts(rule, where, call) : error_class;
}

/* ---- all of them --------------------------------------------------------------------------- */

static void free_script(struct script *script)
{
    for (size_t i = 0; i < script->rule_count; i++)
        pcre2_code_free(script->rules[i].matches);
    free(script->rules);
    free(script->config);
    free(script);
}

static size_t count_items(gudgeon_str array)
{
    gudgeon_json_iter iter = gudgeon_json_each(array);
    gudgeon_str item;
    size_t count = 0;
    while (gudgeon_json_next(&iter, NULL, &item))
        count++;
    return count;
}

static int32_t read_rules(struct script *script, gudgeon_str root, const gudgeon_call *call)
{
    gudgeon_str array = gudgeon_json_get(root, "rules"), object;
    gudgeon_json_iter iter = gudgeon_json_each(array);
    int32_t error_class = GUDGEON_OK;
    char where[32];
    script->rules = calloc(count_items(array) + 1, sizeof *script->rules);
    if (script->rules == NULL)
        return gudgeon_fail(call, GUDGEON_LIMIT, "script: out of memory");
    while (error_class == GUDGEON_OK && gudgeon_json_next(&iter, NULL, &object)) {
        snprintf(where, sizeof where, "rules[%zu]", script->rule_count);
        error_class = read_rule(&script->rules[script->rule_count++], object, where, call);
    }
    object = gudgeon_json_get(root, "default");
    if (error_class == GUDGEON_OK && gudgeon_json_kind(object) == '{')
        error_class = read_rule(&script->rules[script->rule_count++], object, "default", call);
    return error_class;
}

int32_t script_create(void **self, const gudgeon_call *call, const gudgeon_create *request)
{
    struct script *script = calloc(1, sizeof *script);
    char *config = malloc(request->config.len + 1);
    if (script == NULL || config == NULL) {
        free(script);
        free(config);
        return gudgeon_fail(call, GUDGEON_LIMIT, "script: out of memory");
    }
    memcpy(config, request->config.ptr, request->config.len);
    script->config = config;
    gudgeon_str root = gudgeon_json_root((gudgeon_str){config, request->config.len});
    int32_t error_class = read_rules(script, root, call);
    if (error_class != GUDGEON_OK) {
        free_script(script);
        return error_class;
    }
    *self = script;
    return GUDGEON_OK;
}

int32_t script_destroy(void *self, const gudgeon_call *call, const gudgeon_stop *request)
{
    (void)call;
    (void)request;
    free_script(self);
    return GUDGEON_OK;
}
