/* SPDX-License-Identifier: MIT */
#include "plugin/secrets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "sys/paths.h"

enum {
    NAME_MAX_LEN = 64,
    VALUE_MAX = 64 << 10,
};

struct secret {
    char *name;
    char *value;
    struct secret *next;
};

/* Found values stay in the list, unmoved, until the end: callers borrow them. */
struct secrets {
    pthread_mutex_t lock;
    struct secret *found;
};

struct secrets *secrets_new(void)
{
    struct secrets *secrets = xcalloc(1, sizeof *secrets);
    pthread_mutex_init(&secrets->lock, NULL);
    return secrets;
}

static void wipe_text(char **text)
{
    if (*text != NULL)
        explicit_bzero(*text, strlen(*text));
    free(*text);
    *text = NULL;
}

void secrets_wipe(struct buf *buf)
{
    if (buf->cap > 0)
        explicit_bzero(buf->data, buf->cap);
    buf_fini(buf);
}

void secrets_free(struct secrets *secrets)
{
    if (secrets == NULL)
        return;
    while (secrets->found != NULL) {
        struct secret *secret = secrets->found;
        secrets->found = secret->next;
        wipe_text(&secret->value);
        free(secret->name);
        free(secret);
    }
    pthread_mutex_destroy(&secrets->lock);
    free(secrets);
}

/* ---- where a value can be -------------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > NAME_MAX_LEN || name[0] == '.')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_name_char(name[i]))
            return false;
    return true;
}

/* A secret that is there and cannot be read is a fault of access, not of the machine. */
static int unreadable(const char *path, int errnum, struct err *err)
{
    err_set_errno(err, errnum, "cannot read the secret %s", path);
    if (err != NULL)
        err->code = ERR_AUTH;
    return ERR_AUTH;
}

/* The file's bytes, wiped by the caller. */
static int read_value(int fd, const char *path, struct buf *out, struct err *err)
{
    if (buf_reserve(out, VALUE_MAX) < 0)
        return ERR_LIMIT;
    while (out->len < VALUE_MAX) {
        ssize_t got = read(fd, out->data + out->len, VALUE_MAX - out->len);
        if (got == 0)
            return 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return unreadable(path, errno, err);
        out->len += (size_t)got;
        out->data[out->len] = '\0';
    }
    return err_set(err, ERR_LIMIT, "the secret %s is 64 KiB or more", path);
}

static int check_file(int fd, const char *path, bool is_private, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) < 0)
        return unreadable(path, errno, err);
    if (!S_ISREG(info.st_mode))
        return err_set(err, ERR_AUTH, "the secret %s is no regular file", path);
    if (is_private && (info.st_mode & 077) != 0)
        return err_set(err, ERR_AUTH, "others can read the secret %s; run: chmod 600 %s", path,
                       path);
    return 0;
}

/* Cuts one line end and refuses what can be no value. */
static int tidy_value(struct buf *value, const char *where, struct err *err)
{
    if (value->len > 0 && value->data[value->len - 1] == '\n')
        buf_truncate(value, value->len - 1);
    if (value->len > 0 && value->data[value->len - 1] == '\r')
        buf_truncate(value, value->len - 1);
    if (value->len == 0)
        return err_set(err, ERR_AUTH, "the secret %s is empty", where);
    if (strlen(value->data) != value->len)
        return err_set(err, ERR_AUTH, "the secret %s holds a NUL byte", where);
    return 0;
}

/* 0 with *ret, 0 with *ret NULL when there is no such file, or an error. */
static int from_file(const char *directory, const char *name, bool is_private, char **ret,
                     struct err *err)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, name);
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    /* A directory that this user may not enter (a service's HOME) is as good as none. */
    if (fd < 0 && errno == EACCES && access(directory, X_OK) < 0)
        return 0;
    if (fd < 0)
        return unreadable(path, errno, err);
    CLEANUP(secrets_wipe) struct buf value = BUF_INIT(VALUE_MAX);
    int status = check_file(fd, path, is_private, err);
    if (status == 0)
        status = read_value(fd, path, &value, err);
    if (status == 0)
        status = tidy_value(&value, path, err);
    if (status == 0)
        *ret = xstrdup(value.data);
    return status;
}

static char *secrets_directory(void)
{
    const char *own = getenv("GUDGEON_SECRETS_DIR");
    if (own != NULL && own[0] != '\0')
        return xstrdup(own);
    const char *xdg = getenv("XDG_CONFIG_HOME");
    if (xdg != NULL && xdg[0] == '/')
        return xasprintf("%s/gudgeon/secrets", xdg);
    return paths_absolute("", "~/.config/gudgeon/secrets");
}

/* `format` with the name in upper case, as a variable's name. */
static char *variable_name(const char *before, const char *name, const char *after)
{
    char *variable = xasprintf("%s%s%s", before, name, after);
    for (char *p = variable; *p != '\0'; p++)
        *p = *p == '-' || *p == '.' ? '_' : (char)toupper((unsigned char)*p);
    return variable;
}

static bool from_environment(const char *variable, char **ret)
{
    const char *value = getenv(variable);
    if (value == NULL || value[0] == '\0')
        return false;
    *ret = xstrdup(value);
    return true;
}

static int look_up(const char *name, char **ret, struct err *err)
{
    const char *credentials = getenv("CREDENTIALS_DIRECTORY");
    CLEANUP(free_ptr) char *directory = secrets_directory();
    CLEANUP(free_ptr) char *own = variable_name("GUDGEON_SECRET_", name, "");
    CLEANUP(free_ptr) char *key = variable_name("", name, "_API_KEY");
    *ret = NULL;
    int status = 0;
    /* The service manager guards its directory; modes there do not say who can read. */
    if (credentials != NULL && credentials[0] == '/')
        status = from_file(credentials, name, false, ret, err);
    if (status == 0 && *ret == NULL)
        status = from_file(directory, name, true, ret, err);
    if (status < 0 || *ret != NULL)
        return status;
    if (from_environment(own, ret) || from_environment(key, ret))
        return 0;
    return err_set(err, ERR_AUTH, "no secret \"%s\": put it into %s/%s (mode 600) or set %s or %s",
                   name, directory, name, own, key);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static struct secret *find(struct secrets *secrets, const char *name)
{
    struct secret *secret = secrets->found;
    while (secret != NULL && strcmp(secret->name, name) != 0)
        secret = secret->next;
    return secret;
}

static int find_or_look_up(struct secrets *secrets, const char *name, struct secret **ret,
                           struct err *err)
{
    *ret = find(secrets, name);
    if (*ret != NULL)
        return 0;
    char *value = NULL;
    int status = look_up(name, &value, err);
    if (status < 0)
        return status;
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct secret){.name = xstrdup(name), .value = value, .next = secrets->found};
    secrets->found = *ret;
    return 0;
}

int secrets_get(struct secrets *secrets, const char *name, const char **ret, struct err *err)
{
    if (!is_name(name))
        return err_set(err, ERR_AUTH, "\"%.80s\" is no name of a secret: use [A-Za-z0-9_.-]", name);
    struct secret *secret = NULL;
    pthread_mutex_lock(&secrets->lock);
    int status = find_or_look_up(secrets, name, &secret, err);
    pthread_mutex_unlock(&secrets->lock);
    if (status == 0)
        *ret = secret->value;
    return status;
}

void secrets_each(struct secrets *secrets, void (*each)(void *payload, const char *value),
                  void *payload)
{
    pthread_mutex_lock(&secrets->lock);
    for (struct secret *secret = secrets->found; secret != NULL; secret = secret->next)
        each(payload, secret->value);
    pthread_mutex_unlock(&secrets->lock);
}

/* ---- references ------------------------------------------------------------------------------ */

bool secrets_next(gudgeon_str text, size_t *at, size_t *ret_len, gudgeon_str *ret_name)
{
    static const char opening[] = "{secret:";
    const size_t opening_len = sizeof opening - 1;
    for (size_t start = *at; start + opening_len < text.len; start++) {
        if (text.ptr[start] != '{' || memcmp(text.ptr + start, opening, opening_len) != 0)
            continue;
        size_t name = start + opening_len, end = name;
        while (end < text.len && end - name <= NAME_MAX_LEN && is_name_char(text.ptr[end]))
            end++;
        if (end == name || end - name > NAME_MAX_LEN || text.ptr[name] == '.' || end == text.len ||
            text.ptr[end] != '}')
            continue;
        *at = start;
        *ret_len = end + 1 - start;
        *ret_name = (gudgeon_str){text.ptr + name, end - name};
        return true;
    }
    return false;
}

static int value_of(struct secrets *secrets, gudgeon_str name, gudgeon_str *ret, struct err *err)
{
    CLEANUP(free_ptr) char *name_text = str_dup(name);
    const char *value = NULL;
    int status = secrets_get(secrets, name_text, &value, err);
    if (status == 0)
        *ret = str_of(value);
    return status;
}

/* How long the text is with the values filled in. */
static int expanded_len(struct secrets *secrets, gudgeon_str text, size_t *ret, struct err *err)
{
    size_t at = 0, len = 0, total = text.len;
    gudgeon_str name, value;
    for (; secrets_next(text, &at, &len, &name); at += len) {
        int status = value_of(secrets, name, &value, err);
        if (status < 0)
            return status;
        total = total - len + value.len;
    }
    *ret = total;
    return 0;
}

int secrets_expand(struct secrets *secrets, gudgeon_str text, struct buf *out, struct err *err)
{
    size_t total = 0, at = 0, len = 0, done = 0;
    gudgeon_str name, value;
    int status = expanded_len(secrets, text, &total, err);
    if (status < 0)
        return status;
    if (buf_reserve(out, total) < 0)
        return err_set(err, ERR_LIMIT, "a text is too long once its secrets are filled in");
    for (; secrets_next(text, &at, &len, &name); at += len, done = at) {
        buf_add(out, text.ptr + done, at - done);
        if (value_of(secrets, name, &value, err) == 0)
            buf_add(out, value.ptr, value.len);
    }
    buf_add(out, text.ptr + done, text.len - done);
    return 0;
}
