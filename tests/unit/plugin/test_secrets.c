/* SPDX-License-Identifier: MIT */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "plugin/secrets.h"
#include "sys/tmpdir.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory;

static void put(const char *name, const char *value, size_t len, mode_t mode)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, name);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL_FATAL(write(fd, value, len), (ssize_t)len);
    CU_ASSERT_EQUAL(fchmod(fd, mode), 0);
}

static void put_text(const char *name, const char *value, mode_t mode)
{
    put(name, value, strlen(value), mode);
}

static void test_places(void)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        {"in-file", "from file"},        {"crlf", "v"},        {"two-lines", "a\nb"},
        {"in-env.ironment", "from env"}, {"provider", "sk-1"}, {"credential", "cred"},
    };
    put_text("in-file", "from file\n", 0600);
    put_text("crlf", "v\r\n", 0400);
    put_text("two-lines", "a\nb", 0600);
    put_text("credential", "file loses", 0600);
    CLEANUP(free_ptr) char *credentials = xasprintf("%s/credentials", directory);
    mkdir(credentials, 0700);
    put_text("credentials/credential", "cred\n", 0440); /* the service manager's own rights */
    setenv("CREDENTIALS_DIRECTORY", credentials, 1);
    setenv("GUDGEON_SECRET_IN_ENV_IRONMENT", "from env", 1);
    setenv("PROVIDER_API_KEY", "sk-1", 1);
    struct secrets *secrets = secrets_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *value = NULL;
        struct err err = {0};
        CU_ASSERT_EQUAL(secrets_get(secrets, rows[i].name, &value, &err), 0);
        CHECK_STR(value, rows[i].value);
    }
    secrets_free(secrets);
    unsetenv("CREDENTIALS_DIRECTORY");
}

static void test_refused(void)
{
    static const struct {
        const char *name, *says;
    } rows[] = {
        {"open", "run: chmod 600 "},
        {"nowhere", "or set GUDGEON_SECRET_NOWHERE or NOWHERE_API_KEY"},
        {"empty", "is empty"},
        {"nul", "NUL byte"},
        {"../x", "is no name"},
        {".hidden", "is no name"},
        {"", "is no name"},
        {"directory", "no regular file"},
        {"huge", "64 KiB or more"},
    };
    put_text("open", "x", 0640);
    put_text("empty", "\n", 0600);
    put("nul", "a\0b", 3, 0600);
    CLEANUP(free_ptr) char *path = xasprintf("%s/directory", directory);
    mkdir(path, 0700);
    CLEANUP(free_ptr) char *huge = xcalloc(1, 70000);
    memset(huge, 'x', 70000);
    put("huge", huge, 70000, 0600);
    struct secrets *secrets = secrets_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *value = "untouched";
        struct err err = {0};
        CU_ASSERT(secrets_get(secrets, rows[i].name, &value, &err) < 0);
        CHECK_STR(value, "untouched");
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, rows[i].says));
        if (strstr(err.text, rows[i].says) == NULL)
            printf("#   %s: %s\n", rows[i].name, err.text);
    }
    secrets_free(secrets);
}

/* Root may enter everything: as another user the row shows its point. */
static void test_closed_directory(void)
{
    CLEANUP(free_ptr) char *closed = xasprintf("%s/closed", directory);
    mkdir(closed, 0700);
    put_text("closed/shut", "file", 0600);
    CU_ASSERT_EQUAL(chmod(closed, 0), 0);
    setenv("GUDGEON_SECRETS_DIR", closed, 1);
    setenv("GUDGEON_SECRET_SHUT", "variable", 1);
    struct secrets *secrets = secrets_new();
    const char *value = NULL;
    CU_ASSERT_EQUAL(secrets_get(secrets, "shut", &value, NULL), 0);
    CHECK_STR(value, geteuid() == 0 ? "file" : "variable");
    secrets_free(secrets);
    setenv("GUDGEON_SECRETS_DIR", directory, 1);
}

static void test_later(void)
{
    struct secrets *secrets = secrets_new();
    const char *value = NULL;
    CU_ASSERT_EQUAL(secrets_get(secrets, "later", &value, NULL), ERR_AUTH);
    put_text("later", "now", 0600);
    CU_ASSERT_EQUAL(secrets_get(secrets, "later", &value, NULL), 0);
    put_text("later", "changed", 0600);
    const char *again = NULL;
    CU_ASSERT_EQUAL(secrets_get(secrets, "later", &again, NULL), 0);
    CU_ASSERT_PTR_EQUAL(value, again);
    secrets_free(secrets);
}

static void test_expand(void)
{
    static const struct {
        const char *from, *to;
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"{secret:k}", "KEY"},
        {"Bearer {secret:k}!", "Bearer KEY!"},
        {"{secret:k}{secret:long}{secret:k}", "KEYa much longer valueKEY"},
        {"{{secret:k}}", "{KEY}"},
        {"{secret:}", "{secret:}"},
        {"{secret:k", "{secret:k"},
        {"{secret: k}", "{secret: k}"},
        {"{secret:../k}", "{secret:../k}"},
        {"{secret:{secret:k}}", "{secret:KEY}"},
        {"{Secret:k} {x} }{", "{Secret:k} {x} }{"},
    };
    put_text("k", "KEY", 0600);
    put_text("long", "a much longer value", 0600);
    struct secrets *secrets = secrets_new();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = BUF_INIT(BUF_MAX_ANY);
        CU_ASSERT_EQUAL(secrets_expand(secrets, str_of(rows[i].from), &out, NULL), 0);
        CHECK_STR(out.data, rows[i].to);
        secrets_wipe(&out);
    }
    struct buf small = BUF_INIT(5);
    CU_ASSERT_EQUAL(secrets_expand(secrets, str_of("{secret:long}"), &small, NULL), ERR_LIMIT);
    CU_ASSERT_EQUAL(secrets_expand(secrets, str_of("a {secret:gone}"), &small, NULL), ERR_AUTH);
    CU_ASSERT_EQUAL(small.len, 0);
    buf_fini(&small);
    secrets_free(secrets);
}

/* A value must not be moved once it is in the buffer. */
static void test_expand_in_place(void)
{
    put_text("k", "KEY", 0600);
    struct secrets *secrets = secrets_new();
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    buf_add_str(&text, "{secret:k}");
    for (int i = 0; i < 500; i++)
        buf_add_str(&text, "filler {secret:k} ");
    buf_reserve(&out, 2 * text.len);
    const char *before = out.data;
    CU_ASSERT_EQUAL(secrets_expand(secrets, (gudgeon_str){text.data, text.len}, &out, NULL), 0);
    CU_ASSERT_PTR_EQUAL(out.data, before);
    size_t len = out.len;
    CU_ASSERT_EQUAL(len, 3 + 500 * strlen("filler KEY "));
    secrets_wipe(&out);
    CU_ASSERT_EQUAL(out.len, 0);
    buf_fini(&text);
    secrets_free(secrets);
}

static void count(void *payload, const char *value)
{
    CU_ASSERT_PTR_NOT_NULL(strstr("KEY|a much longer value", value));
    ++*(int *)payload;
}

static void test_each(void)
{
    put_text("k", "KEY", 0600);
    put_text("long", "a much longer value", 0600);
    struct secrets *secrets = secrets_new();
    int found = 0;
    const char *value;
    secrets_each(secrets, count, &found);
    CU_ASSERT_EQUAL(found, 0);
    secrets_get(secrets, "k", &value, NULL);
    secrets_get(secrets, "k", &value, NULL);
    secrets_get(secrets, "long", &value, NULL);
    secrets_get(secrets, "missing", &value, NULL);
    secrets_each(secrets, count, &found);
    CU_ASSERT_EQUAL(found, 2);
    secrets_free(secrets);
    secrets_free(NULL);
}

static void test_cleanup(void)
{
    tmpdir_remove(directory);
}

int main(void)
{
    if (tmpdir_new(&directory, NULL) < 0)
        return 2;
    setenv("GUDGEON_SECRETS_DIR", directory, 1);
    UNIT_MAIN("secrets", {"each place where a value can be", test_places},
              {"what is refused, and what it says", test_refused},
              {"a directory that may not be entered", test_closed_directory},
              {"a miss is looked up again, a hit is kept", test_later},
              {"references are filled in", test_expand},
              {"a buffer with room is not moved", test_expand_in_place},
              {"each found value is told once", test_each}, {"(the directory goes)", test_cleanup});
}
