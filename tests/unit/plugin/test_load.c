/* SPDX-License-Identifier: MIT */
#include "plugin/load.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/str.h"
#include "plugin/trust.h"
#include "sys/paths.h"
#include "unit.h"

static char *fixture(const char *name)
{
    CLEANUP(free_ptr) char *worker = paths_worker();
    return xasprintf("%.*s/tests/abi/%s.so", (int)(strrchr(worker, '/') - worker), worker, name);
}

static void test_load(void)
{
    CLEANUP(free_ptr) char *path = fixture("ordinary");
    const struct gudgeon_plugin *plugin = NULL, *again = NULL;
    CU_ASSERT_EQUAL_FATAL(plugin_load(path, &plugin, NULL), 0);
    CHECK_STR(plugin->name, "ordinary");
    CU_ASSERT_EQUAL(plugin_load(path, &again, NULL), 0);
    CU_ASSERT_PTR_EQUAL(plugin, again);
    CU_ASSERT_PTR_EQUAL(plugin_component(plugin, "tools/1", "ordinary"), plugin->components[0]);
    CU_ASSERT_PTR_NULL(plugin_component(plugin, "tools/2", "ordinary"));
    CU_ASSERT_PTR_NULL(plugin_component(plugin, "model/1", "ordinary"));
    CU_ASSERT_PTR_NULL(plugin_component(plugin, "tools/1", "other"));
}

/* What a worker has described can be another file by the time that the host loads it. */
static void test_load_checks(void)
{
    static const struct {
        const char *name;
        int code;
        const char *message;
    } rows[] = {
        {"wrong_major", ERR_PROTOCOL,
         "made for ABI 9.3, this host has 0.1; rebuild it with this host's headers"},
        {"no_ops", ERR_INVALID, "component \"no_ops\": has no ops: tools/1 needs a gudgeon_tools"},
        {"name_mismatch", ERR_INVALID,
         "calls itself \"another_name\", so its file must be another_name.so"},
        {"missing_library", ERR_NOT_FOUND, "needs libgudgeon_absent.so.1, which is not installed"},
        {"undefined_symbol", ERR_NOT_FOUND,
         "needs the symbol gudgeon_nobody_has_this, which nothing provides; link what has it"},
        {"no_symbol", ERR_INVALID, "exports no gudgeon_plugin: it is not a plugin"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *path = fixture(rows[i].name);
        const struct gudgeon_plugin *plugin = NULL;
        struct err err = {0};
        CU_ASSERT_EQUAL(plugin_load(path, &plugin, &err), rows[i].code);
        CHECK_STR(err.text, rows[i].message);
        CU_ASSERT_PTR_NULL(plugin);
    }
}

static int32_t take_name(const gudgeon_call *call, const void *result)
{
    const gudgeon_tool *tool = result;
    char *name = call->host_data;
    memcpy(name, tool->name.ptr, tool->name.len < 15 ? tool->name.len : 15);
    return 0;
}

/* Two plugins that export the same function each get their own. */
static void test_same_helper(void)
{
    static const char *const names[] = {"helper_a", "helper_b"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *path = fixture(names[i]);
        const struct gudgeon_plugin *plugin;
        CU_ASSERT_EQUAL_FATAL(plugin_load(path, &plugin, NULL), 0);
        const gudgeon_tools *tools = plugin->components[0]->ops;
        char name[16] = "";
        const gudgeon_call call = {.size = sizeof call, .host_data = name, .result = take_name};
        CU_ASSERT_EQUAL(tools->list(NULL, &call, &(gudgeon_list){.size = sizeof(gudgeon_list)}), 0);
        CHECK_STR(name, i == 0 ? "a" : "b");
    }
}

/* ---- path rules ------------------------------------------------------------------------------ */

/* A directory of this test's own, with one plugin file: below it everything may be spoilt. */
struct place {
    char root[64];
    char *file;    /* ROOT/a/b/ordinary.so */
    char *deep;    /* ROOT/a/b */
    char *shallow; /* ROOT/a */
};

static void place_init(struct place *place)
{
    snprintf(place->root, sizeof place->root, "/tmp/gudgeon-test-load-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place->root));
    place->shallow = xasprintf("%s/a", place->root);
    place->deep = xasprintf("%s/a/b", place->root);
    place->file = xasprintf("%s/a/b/ordinary.so", place->root);
    CU_ASSERT_EQUAL(mkdir(place->shallow, 0755), 0);
    CU_ASSERT_EQUAL(mkdir(place->deep, 0755), 0);
    CLEANUP(close_fd) int fd = open(place->file, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    CU_ASSERT(fd >= 0);
}

static void place_fini(struct place *place)
{
    unlink(place->file);
    rmdir(place->deep);
    rmdir(place->shallow);
    rmdir(place->root);
    free(place->file);
    free(place->deep);
    free(place->shallow);
}

enum { FILE_, DEEP, SHALLOW };

static void test_modes(void)
{
    static const struct {
        const char *name;
        int target;
        mode_t mode;
        uid_t uid;
        gid_t gid;
        const char *refused; /* after the path; NULL = fine */
    } rows[] = {
        {"as made", FILE_, 0644, 0, 0, NULL},
        {"not readable by others", FILE_, 0600, 0, 0, NULL},
        {"file others can write", FILE_, 0646, 0, 0, " can be written to by others; run: chmod"},
        {"own group can write", FILE_, 0664, 0, 0, NULL},
        {"another group can write", FILE_, 0664, 0, 50, " can be written to by others; run"},
        {"another group can read", FILE_, 0644, 0, 50, NULL},
        {"another user's file", FILE_, 0644, 12345, 12345,
         " belongs to user 12345, who is neither root nor you"},
        {"directory others can write", DEEP, 0777, 0, 0, " can be written to by others; run"},
        {"directory above it", SHALLOW, 0757, 0, 0, " can be written to by others; run"},
        {"sticky directory", DEEP, 01777, 0, 0, NULL},
        {"another user's directory", SHALLOW, 0755, 12345, 12345, " belongs to user 12345"},
        {"another group's directory", DEEP, 0775, 0, 50, " can be written to by others; run"},
    };
    for (size_t i = 0; i < COUNT_OF(rows) && geteuid() == 0; i++) {
        CLEANUP(place_fini) struct place place;
        place_init(&place);
        const char *target = rows[i].target == FILE_  ? place.file
                             : rows[i].target == DEEP ? place.deep
                                                      : place.shallow;
        CU_ASSERT_EQUAL(chown(target, rows[i].uid, rows[i].gid), 0);
        CU_ASSERT_EQUAL(chmod(target, rows[i].mode), 0);
        struct err err = {0};
        int status = plugin_check_path(place.file, &err);
        CLEANUP(free_ptr)
        char *wanted =
            rows[i].refused != NULL ? xasprintf("%s%s", target, rows[i].refused) : xstrdup("");
        bool ok =
            status == (rows[i].refused != NULL ? ERR_REFUSED : 0) && starts_with(err.text, wanted);
        CU_ASSERT(ok);
        if (!ok)
            printf("#   %s: %d %s\n", rows[i].name, status, err.text);
    }
    if (geteuid() != 0)
        printf("# owners and modes: only root can make these files; passed over\n");
}

static void test_links(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    CLEANUP(free_ptr) char *link = xasprintf("%s/linked.so", place.root);
    CLEANUP(free_ptr) char *versioned = xasprintf("%s/ordinary.so.1.2", place.deep);
    CU_ASSERT_EQUAL(rename(place.file, versioned), 0);
    struct err err = {0};

    /* The name is the link's, the rules are the target's. */
    CU_ASSERT_EQUAL(symlink(versioned, link), 0);
    CU_ASSERT_EQUAL(plugin_check_path(link, &err), 0);
    CU_ASSERT_EQUAL(chmod(place.deep, 0777), 0);
    CU_ASSERT_EQUAL(plugin_check_path(link, &err), ERR_REFUSED);
    CU_ASSERT(starts_with(err.text, place.deep));
    CU_ASSERT_EQUAL(chmod(place.deep, 0755), 0);
    CU_ASSERT_EQUAL(chmod(versioned, 0666), 0);
    CU_ASSERT_EQUAL(plugin_check_path(link, &err), ERR_REFUSED);
    CU_ASSERT(starts_with(err.text, versioned));
    CU_ASSERT_EQUAL(unlink(versioned), 0);
    CU_ASSERT_EQUAL(plugin_check_path(link, &err), ERR_IO);
    CLEANUP(free_ptr) char *dangling = xasprintf("link %s: No such file or directory", link);
    CHECK_STR(err.text, dangling);
    unlink(link);
}

static void test_no_files(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    CLEANUP(free_ptr) char *directory = xasprintf("%s/dir.so", place.root);
    CLEANUP(free_ptr) char *fifo = xasprintf("%s/fifo.so", place.root);
    CU_ASSERT_EQUAL(mkdir(directory, 0755), 0);
    CU_ASSERT_EQUAL(mkfifo(fifo, 0644), 0);
    const struct {
        const char *path;
        int code;
        const char *message; /* after the path */
    } rows[] = {
        {directory, ERR_REFUSED, " is not a regular file"},
        {fifo, ERR_REFUSED, " is not a regular file"},
        {"/no/such/place.so", ERR_IO, NULL},
        {"/tmp/no-such-plugin.so", ERR_IO, ": No such file or directory"},
        {"/etc/passwd", ERR_REFUSED, NULL},
        {"/tmp/Upper.so", ERR_REFUSED, NULL},
        {"/tmp/.so", ERR_REFUSED, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        CU_ASSERT_EQUAL(plugin_check_path(rows[i].path, &err), rows[i].code);
        CLEANUP(free_ptr)
        char *wanted =
            xasprintf("%s%s", rows[i].path, rows[i].message != NULL ? rows[i].message : "");
        if (rows[i].message != NULL)
            CHECK_STR(err.text, wanted);
    }
    rmdir(directory);
    unlink(fifo);
}

static void test_names(void)
{
    char *name = NULL;
    CU_ASSERT_EQUAL(trust_name("/a/b/open-ai_2.so", &name, NULL), 0);
    CHECK_STR(name, "open-ai_2");
    free(name);
    CU_ASSERT_EQUAL(trust_name("x.so", &name, NULL), 0);
    CHECK_STR(name, "x");
    free(name);
    struct err err = {0};
    CU_ASSERT_EQUAL(trust_name("/tmp/Upper.so", &name, &err), ERR_REFUSED);
    CHECK_STR(err.text, "\"Upper.so\" is no plugin's file name: it must be NAME.so, NAME of a-z, "
                        "0-9, _ and -");
}

int main(void)
{
    UNIT_MAIN("load", {"a plugin", test_load}, {"checks at load", test_load_checks},
              {"the same helper in two", test_same_helper}, {"owners and modes", test_modes},
              {"links", test_links}, {"no files", test_no_files}, {"names", test_names});
}
