/* SPDX-License-Identifier: MIT */
#include "data/vars.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/yaml.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

enum { FILE_MAX_BYTES = 1 << 20 };

struct expansion {
    const char *directory;
    vars_path_fn *absolute;
    struct diags *diags;
    size_t total; /* bytes of the scalars that are done */
};

/* ---- one variable: each kind is one function ------------------------------------------------- */

/* Adds the value of `${KIND:body}`. Messages begin with the variable itself. */
typedef int expand_fn(const struct expansion *expansion, const char *body, struct buf *out,
                      struct err *err);

static bool is_name(const char *text, size_t len, const char *characters)
{
    return len > 0 && strspn(text, characters) >= len;
}

static int add_value(const char *value, size_t len, const char *what, struct buf *out,
                     struct err *err)
{
    if (!utf8_is_valid(value, len) || memchr(value, '\0', len) != NULL)
        return err_set(err, ERR_INVALID, "%s is no UTF-8 text", what);
    if (buf_add(out, value, len) < 0)
        return err_set(err, ERR_LIMIT, "%s is too large", what);
    return 0;
}

static int expand_env(const struct expansion *expansion, const char *body, struct buf *out,
                      struct err *err)
{
    (void)expansion;
    const char *fallback = strstr(body, ":-");
    size_t len = fallback != NULL ? (size_t)(fallback - body) : strlen(body);
    if (!is_name(body, len, LETTERS DIGITS "_"))
        return err_set(err, ERR_INVALID, "\"%.*s\" is no name of a variable", (int)len, body);
    CLEANUP(free_ptr) char *name = xstrndup(body, len);
    const char *value = getenv(name);
    if (fallback != NULL && (value == NULL || value[0] == '\0'))
        value = fallback + strlen(":-");
    if (value == NULL)
        return err_set(err, ERR_NOT_FOUND, "%s is not set; set it, or write ${env:%s:-default}",
                       name, name);
    return add_value(value, strlen(value), "the value", out, err);
}

static int expand_secret(const struct expansion *expansion, const char *body, struct buf *out,
                         struct err *err)
{
    (void)expansion;
    if (!is_name(body, strlen(body), LETTERS DIGITS "._-"))
        return err_set(err, ERR_INVALID,
                       "\"%s\" is no name of a secret (letters, digits, \".\", \"_\" and \"-\")",
                       body);
    return buf_addf(out, "{secret:%s}", body);
}

static int expand_file(const struct expansion *expansion, const char *body, struct buf *out,
                       struct err *err)
{
    if (body[0] == '\0')
        return err_set(err, ERR_INVALID, "no file is named");
    CLEANUP(free_ptr) char *path = expansion->absolute(expansion->directory, body);
    CLEANUP(buf_fini) struct buf content = BUF_INIT(BUF_MAX_ANY);
    if (file_read(path, FILE_MAX_BYTES, &content, err) < 0)
        return err_prefix(err, "%s", path);
    size_t len = content.len;
    if (len > 0 && content.data[len - 1] == '\n')
        len -= len > 1 && content.data[len - 2] == '\r' ? 2 : 1;
    return add_value(content.data, len, path, out, err);
}

static const struct {
    const char *name;
    expand_fn *expand;
} kinds[] = {
    {"env", expand_env},
    {"secret", expand_secret},
    {"file", expand_file},
};

static int unknown_kind(const char *inner, struct err *err)
{
    const char *names[COUNT_OF(kinds)];
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        names[i] = kinds[i].name;
    CLEANUP(free_ptr) char *kind = xstrndup(inner, strcspn(inner, ":"));
    const char *rest = inner + strlen(kind);
    const char *near = rest[0] == ':' ? nearest_name(kind, names, COUNT_OF(names)) : NULL;
    if (near != NULL)
        return err_set(err, ERR_INVALID, "there is no such variable; did you mean ${%s%s}?", near,
                       rest);
    return err_set(err, ERR_INVALID,
                   "there is no such variable; write ${env:NAME}, ${secret:NAME} or ${file:PATH}, "
                   "or $${ for the text \"${\"");
}

/* `inner` is what stands between the braces. */
static int expand_one(const struct expansion *expansion, const char *inner, struct buf *out,
                      struct err *err)
{
    if (strstr(inner, "${") != NULL)
        return err_set(err, ERR_INVALID, "a variable cannot hold another");
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        size_t len = strlen(kinds[i].name);
        if (strncmp(inner, kinds[i].name, len) == 0 && inner[len] == ':')
            return kinds[i].expand(expansion, inner + len + 1, out, err);
    }
    return unknown_kind(inner, err);
}

/* ---- one scalar ------------------------------------------------------------------------------ */

/* Expands the variable that `*at` points at and moves on behind it. */
static int expand_next(const struct expansion *expansion, struct yaml_node *scalar, const char **at,
                       struct buf *out, struct err *err)
{
    const char *inner = *at + strlen("${"), *end = strchr(inner, '}');
    if (end == NULL)
        return err_set(err, ERR_INVALID, "\"${\" has no \"}\"; write $${ for the text \"${\"");
    CLEANUP(free_ptr) char *text = xstrndup(inner, (size_t)(end - inner));
    *at = end + 1;
    scalar->is_expanded = true;
    scalar->has_secret |= starts_with(text, "secret:");
    int status = expand_one(expansion, text, out, err);
    return status < 0 ? err_prefix(err, "${%.100s}", text) : 0;
}

static int expand_text(const struct expansion *expansion, struct yaml_node *scalar, struct buf *out,
                       struct err *err)
{
    const char *at = scalar->value, *end = at + scalar->len;
    while (at < end) {
        const char *dollar = memchr(at, '$', (size_t)(end - at));
        if (dollar == NULL)
            dollar = end;
        int status = buf_add(out, at, (size_t)(dollar - at));
        at = dollar;
        if (status == 0 && dollar < end && dollar[1] == '{') {
            status = expand_next(expansion, scalar, &at, out, err);
        } else if (status == 0 && dollar < end) {
            at += dollar[1] == '$' ? 2 : 1;
            status = buf_add_char(out, '$');
        }
        if (status < 0)
            return err != NULL && err->code == 0 ? err_set(err, status, "the text gets too large")
                                                 : status;
    }
    return 0;
}

static void expand_scalar(struct expansion *expansion, struct yaml_node *scalar)
{
    if (memchr(scalar->value, '$', scalar->len) == NULL)
        return;
    CLEANUP(buf_fini) struct buf out = BUF_INIT(VARS_MAX_BYTES - expansion->total);
    struct err err = {0};
    if (expand_text(expansion, scalar, &out, &err) < 0) {
        yaml_fault(expansion->diags, scalar, "%s", err.text);
        return;
    }
    expansion->total += out.len;
    free(scalar->value);
    scalar->len = out.len;
    scalar->value = buf_take(&out);
    scalar->is_plain &= scalar->len > 0;
}

static void expand_node(struct expansion *expansion, struct yaml_node *node)
{
    if (node->kind == YAML_SCALAR)
        expand_scalar(expansion, node);
    for (size_t i = 0; i < node->count; i++)
        expand_node(expansion, node->items[i]);
}

void vars_expand(struct yaml_node *root, const char *directory, vars_path_fn *absolute,
                 struct diags *diags)
{
    struct expansion expansion = {.directory = directory, .absolute = absolute, .diags = diags};
    expand_node(&expansion, root);
}
