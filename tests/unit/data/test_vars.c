/* SPDX-License-Identifier: MIT */
#include "data/vars.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "data/diag.h"
#include "data/json.h"
#include "data/yaml.h"
#include "unit.h"

static char directory[] = "/tmp/gudgeon-vars-XXXXXX";

static char *join(const char *base, const char *path)
{
    return path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", base, path);
}

static void write_file(const char *name, const char *content, size_t len)
{
    CLEANUP(free_ptr) char *path = join(directory, name);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL(write(fd, content, len), (ssize_t)len);
}

static void remove_file(const char *name)
{
    CLEANUP(free_ptr) char *path = join(directory, name);
    unlink(path);
}

/* The expanded text as JSON, or all its faults with the directory's name as DIR. */
static char *outcome(const char *text)
{
    struct diags diags = DIAGS_INIT;
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct yaml_node *root = NULL;
    CU_ASSERT_EQUAL_FATAL(yaml_parse(str_of(text), "f", &root, &diags), 0);
    vars_expand(root, directory, join, &diags);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    yaml_to_json(root, NULL, &writer, &diags);
    if (diags.count > 0)
        buf_reset(&out);
    for (size_t i = 0; i < diags.kept; i++) {
        const char *line = diags.lines[i], *found = strstr(line, directory);
        int head = found != NULL ? (int)(found - line) : (int)strlen(line);
        buf_addf(&out, "%s%.*s%s%s", i > 0 ? "\n" : "", head, line, found ? "DIR" : "",
                 found ? found + strlen(directory) : "");
    }
    yaml_free(root);
    diags_fini(&diags);
    return buf_take(&out);
}

struct row {
    const char *text;
    const char *want;
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(free_ptr) char *have = outcome(rows[i].text);
        CHECK_STR(have, rows[i].want);
    }
}

static void test_values(void)
{
    static const struct row rows[] = {
        {"a: ${env:V_WORD}", "{\"a\":\"word\"}"},
        {"a: <${env:V_WORD}${env:V_WORD}>", "{\"a\":\"<wordword>\"}"},
        {"a: ${env:V_NONE:-x y}\nb: ${env:V_EMPTY:-z}\nc: ${env:V_WORD:-z}",
         "{\"a\":\"x y\",\"b\":\"z\",\"c\":\"word\"}"},
        {"a: ${env:V_NONE:-}\nb: ${env:V_EMPTY}", "{\"a\":\"\",\"b\":\"\"}"},
        {"a: ${env:V_NONE:-http://h:1/p?q=-}", "{\"a\":\"http://h:1/p?q=-\"}"},
        {"a: ${secret:open-ai}\nb: '{secret:x}'",
         "{\"a\":\"{secret:open-ai}\",\"b\":\"{secret:x}\"}"},
        {"a: $$\nb: $${env:V_WORD}\nc: $5 $ $$5\nd: $$${env:V_WORD}",
         "{\"a\":\"$\",\"b\":\"${env:V_WORD}\",\"c\":\"$5 $ $5\",\"d\":\"$word\"}"},
        {"- |\n  one ${env:V_WORD}\n  two\n", "[\"one word\\ntwo\\n\"]"},
        {"# ${env:V_NONE}\n${env:V_WORD}: 1", "{\"${env:V_WORD}\":1}"},
        {"a: ${env:V_NUMBER}\nb: \"${env:V_NUMBER}\"", "{\"a\":42,\"b\":\"42\"}"},
        {"&x a: ${env:V_ONCE}\nb: &y ${env:V_ONCE}\nc: *y",
         "{\"a\":\"$$ ${env:V_WORD}\",\"b\":\"$$ ${env:V_WORD}\",\"c\":\"$$ ${env:V_WORD}\"}"},
    };
    check_rows(rows, COUNT_OF(rows));
}

/* What a value holds changes no structure and is not expanded again. */
static void test_hostile_value(void)
{
    CLEANUP(free_ptr) char *have = outcome("key: ${env:V_HOSTILE}\nnext: 1");
    CHECK_STR(have, "{\"key\":\"!a: #b ${X}\\n- [\",\"next\":1}");
}

static void test_files(void)
{
    write_file("text", "one\ntwo\n\n", 9);
    write_file("crlf", "one\r\n", 5);
    write_file("empty", "", 0);
    write_file("bytes", "a\xff", 2);
    write_file("nul", "a\0b", 3);
    static const struct row rows[] = {
        {"a: ${file:text}\nb: ${file:crlf}\nc: ${file:empty}",
         "{\"a\":\"one\\ntwo\\n\",\"b\":\"one\",\"c\":\"\"}"},
        {"a: ${file:none}", "f:1:4: ${file:none}: DIR/none: no such file"},
        {"a: ${file:bytes}", "f:1:4: ${file:bytes}: DIR/bytes is no UTF-8 text"},
        {"a: ${file:nul}", "f:1:4: ${file:nul}: DIR/nul is no UTF-8 text"},
        {"a: ${file:.}", "f:1:4: ${file:.}: DIR/.: is no regular file"},
        {"a: ${file:/dev/zero}", "f:1:4: ${file:/dev/zero}: /dev/zero: is no regular file"},
        {"a: ${file:}", "f:1:4: ${file:}: no file is named"},
    };
    check_rows(rows, COUNT_OF(rows));
    static char large[(1 << 20) + 1];
    memset(large, 'a', sizeof large);
    write_file("large", large, sizeof large);
    CLEANUP(free_ptr) char *have = outcome("${file:large}");
    CHECK_STR(have, "f:1:1: ${file:large}: DIR/large: is too large (1048576 bytes at most)");
    write_file("allowed", large, sizeof large - 1);
    CLEANUP(free_ptr)
    char *many = outcome("a: &a ['${file:allowed}${file:allowed}${file:allowed}${file:allowed}']\n"
                         "b: [*a, *a, *a]\nc: ${file:allowed}");
    CHECK_STR(many, "f:3:4: ${file:allowed}: DIR/allowed is too large");
    static const char *const names[] = {"text", "crlf",  "empty",  "bytes",
                                        "nul",  "large", "allowed"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        remove_file(names[i]);
}

static void test_faults(void)
{
    static const struct row rows[] = {
        {"a:\n  - x\n  - ${env:V_NONE}",
         "f:3:5: ${env:V_NONE}: V_NONE is not set; set it, or write ${env:V_NONE:-default}"},
        {"a: ${env:}", "f:1:4: ${env:}: \"\" is no name of a variable"},
        {"a: ${env:A B}", "f:1:4: ${env:A B}: \"A B\" is no name of a variable"},
        {"a: ${secret:a/b}", "f:1:4: ${secret:a/b}: \"a/b\" is no name of a secret (letters, "
                             "digits, \".\", \"_\" and \"-\")"},
        {"a: ${enf:X}", "f:1:4: ${enf:X}: there is no such variable; did you mean ${env:X}?"},
        {"a: ${HOME}", "f:1:4: ${HOME}: there is no such variable; write ${env:NAME}, "
                       "${secret:NAME} or ${file:PATH}, or $${ for the text \"${\""},
        {"a: ${env:X", "f:1:4: \"${\" has no \"}\"; write $${ for the text \"${\""},
        {"a: ${env:X:-${env:V_WORD}}",
         "f:1:4: ${env:X:-${env:V_WORD}: a variable cannot hold another"},
        {"a: ${env:V_BYTES}", "f:1:4: ${env:V_BYTES}: the value is no UTF-8 text"},
        {"a: ${env:V_NONE}\nb: ${env:V_NONE}",
         "f:1:4: ${env:V_NONE}: V_NONE is not set; set it, or write ${env:V_NONE:-default}\n"
         "f:2:4: ${env:V_NONE}: V_NONE is not set; set it, or write ${env:V_NONE:-default}"},
    };
    check_rows(rows, COUNT_OF(rows));
}

int main(void)
{
    setenv("V_WORD", "word", 1);
    setenv("V_EMPTY", "", 1);
    setenv("V_NUMBER", "42", 1);
    setenv("V_ONCE", "$$ ${env:V_WORD}", 1);
    setenv("V_HOSTILE", "!a: #b ${X}\n- [", 1);
    setenv("V_BYTES", "\xff", 1);
    unsetenv("V_NONE");
    if (mkdtemp(directory) == NULL)
        return 2;
    static const struct unit_row rows[] = {
        {"each kind", test_values},
        {"a value is text, whatever it holds", test_hostile_value},
        {"files", test_files},
        {"each fault in one line with its place", test_faults},
    };
    int status = unit_run("vars", rows, COUNT_OF(rows));
    rmdir(directory);
    return status;
}
