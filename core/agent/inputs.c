/* SPDX-License-Identifier: MIT */
#include "agent/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "agent/definition.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"

static const char *given_value(const char *const *given, size_t count, const char *name)
{
    const char *value = NULL; /* the last one wins, as on every command line */
    size_t len = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(given[i], name, len) == 0 && given[i][len] == '=')
            value = given[i] + len + 1;
    return value;
}

static int check_names(const struct definition *definition, const char *const *given, size_t count,
                       struct err *err)
{
    const char **names = xcalloc(definition->input_count, sizeof *names);
    for (size_t i = 0; i < definition->input_count; i++)
        names[i] = definition->inputs[i].name;
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        size_t len = strcspn(given[i], "=");
        CLEANUP(free_ptr) char *name = xstrndup(given[i], len);
        bool known = false;
        for (size_t j = 0; j < definition->input_count; j++)
            known |= strcmp(names[j], name) == 0;
        const char *nearest = nearest_name(name, names, definition->input_count);
        if (given[i][len] == '\0')
            status =
                err_set(err, ERR_INVALID, "input \"%s\" has no value (write %s=VALUE)", name, name);
        else if (!known)
            status = err_set(err, ERR_INVALID, "this agent has no input \"%s\"%s%s%s", name,
                             nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                             nearest ? "\"?" : "");
    }
    free(names);
    return status;
}

static int add_input(struct json_writer *writer, const struct input_entry *input, const char *given,
                     struct err *err)
{
    if (given == NULL && input->fallback == NULL)
        return err_set(err, ERR_INVALID, "input \"%s\" is missing; give --input %s=VALUE",
                       input->name, input->name);
    if (given != NULL && !utf8_is_valid(given, strlen(given)))
        return err_set(err, ERR_INVALID, "input \"%s\" is no UTF-8 text", input->name);
    CLEANUP(free_ptr) char *json = NULL;
    int status = given != NULL ? definition_read_input(input, given, &json, err) : 0;
    if (status == 0)
        json_field_raw(writer, input->name, str_of(given != NULL ? json : input->fallback));
    return status;
}

int inputs_resolve(const struct definition *definition, const char *const *given, size_t count,
                   char **ret, struct err *err)
{
    if (check_names(definition, given, count, err) < 0)
        return ERR_INVALID;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    int status = 0;
    json_begin_object(&writer);
    for (size_t i = 0; i < definition->input_count && status == 0; i++) {
        const struct input_entry *input = &definition->inputs[i];
        status = add_input(&writer, input, given_value(given, count, input->name), err);
    }
    if (status == 0) {
        json_end_object(&writer);
        *ret = buf_take(&out);
    }
    buf_fini(&out);
    return status;
}
