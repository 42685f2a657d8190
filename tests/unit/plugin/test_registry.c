/* SPDX-License-Identifier: MIT */
#include "plugin/registry.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "sys/paths.h"
#include "unit.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* Two plugin directories and a cache of the test's own. */
struct place {
    char root[64];
    char *one, *two, *cache, *cache_file;
};

static void place_init(struct place *place)
{
    snprintf(place->root, sizeof place->root, "/tmp/gudgeon-test-registry-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(place->root));
    place->one = xasprintf("%s/one", place->root);
    place->two = xasprintf("%s/two", place->root);
    place->cache = xasprintf("%s/cache", place->root);
    place->cache_file = xasprintf("%s/cache/plugins.json", place->root);
    CU_ASSERT_EQUAL(mkdir(place->one, 0755), 0);
    CU_ASSERT_EQUAL(mkdir(place->two, 0755), 0);
    setenv("GUDGEON_CACHE_DIR", place->cache, 1);
    unsetenv("GUDGEON_PLUGIN_PATH");
}

static void empty_directory(const char *directory)
{
    static const char *const names[] = {
        "ordinary.so",        "unknown_kind.so", "misbehave.so",  "no_ops.so",   "near_kind.so",
        "missing_library.so", "odd_words.so",    "plus_plus.so",  "Bad Name.so", "plugins.json",
        ".hidden.so",         "notes.txt",       "odd_schema.so",
    };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

static void place_fini(struct place *place)
{
    empty_directory(place->one);
    empty_directory(place->two);
    empty_directory(place->cache);
    CU_ASSERT_EQUAL(rmdir(place->root), 0);
    free(place->one);
    free(place->two);
    free(place->cache);
    free(place->cache_file);
}

static char *read_text(const char *path)
{
    struct buf text = BUF_INIT(1 << 20);
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char chunk[4096];
    for (ssize_t got; fd >= 0 && (got = read(fd, chunk, sizeof chunk)) > 0;)
        buf_add(&text, chunk, (size_t)got);
    char *bytes = buf_take(&text);
    return bytes;
}

static void write_bytes(const char *path, const void *bytes, size_t len)
{
    CLEANUP(close_fd) int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    CU_ASSERT_EQUAL(write(fd, bytes, len), (ssize_t)len);
}

/* Copies a fixture into a directory. */
static void install(const char *directory, const char *name)
{
    CLEANUP(free_ptr) char *worker = paths_worker();
    CLEANUP(free_ptr)
    char *from =
        xasprintf("%.*s/tests/abi/%s.so", (int)(strrchr(worker, '/') - worker), worker, name);
    CLEANUP(free_ptr) char *to = xasprintf("%s/%s.so", directory, name);
    CLEANUP(close_fd) int in = open(from, O_RDONLY | O_CLOEXEC);
    CLEANUP(close_fd) int out = open(to, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    CU_ASSERT_FATAL(in >= 0 && out >= 0);
    char chunk[16384];
    for (ssize_t got; (got = read(in, chunk, sizeof chunk)) > 0;)
        CU_ASSERT_EQUAL(write(out, chunk, (size_t)got), got);
}

static struct registry *open_with(const struct registry_options *options)
{
    struct registry *registry = NULL;
    struct err err = {0};
    int status = registry_open(options, &registry, &err);
    CHECK_STR(err.text, "");
    CU_ASSERT_EQUAL_FATAL(status, 0);
    return registry;
}

static struct registry *open_place(const struct place *place)
{
    const char *const paths[] = {place->one, place->two};
    return open_with(&(struct registry_options){.paths = paths, .path_count = COUNT_OF(paths)});
}

static void close_registry(struct registry **registry)
{
    registry_free(*registry);
}

#define REGISTRY CLEANUP(close_registry) struct registry *

static const struct plugin_info *find_plugin(const struct registry *registry, const char *directory,
                                             const char *file)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, file);
    const struct plugin_info *found = NULL;
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct plugin_info *plugin = registry_plugin(registry, i);
        if (strcmp(plugin->path, path) == 0) {
            CU_ASSERT_PTR_NULL(found);
            found = plugin;
        }
    }
    return found;
}

/* Texts as if NULL were "none". */
#define CHECK_MAYBE(actual, expected) CHECK_STR((actual) != NULL ? (actual) : "none", expected)

/* ---- what is listed -------------------------------------------------------------------------- */

static void test_info(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "misbehave");
    install(place.one, "odd_words");
    for (int round = 0; round < 2; round++) { /* from the worker, then from the cache */
        REGISTRY registry = open_place(&place);
        const struct plugin_info *plugin = find_plugin(registry, place.one, "misbehave.so");
        CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
        CHECK_MAYBE(plugin->refused, "none");
        CHECK_MAYBE(plugin->warning, "none");
        CHECK_STR(plugin->name, "misbehave");
        CHECK_STR(plugin->version, "1.0.0");
        CHECK_STR(plugin->licence, "MIT");
        CU_ASSERT_EQUAL(plugin->abi_major, GUDGEON_ABI_MAJOR);
        CU_ASSERT_EQUAL(plugin->abi_minor, GUDGEON_ABI_MINOR);
        CU_ASSERT_EQUAL_FATAL(plugin->component_count, 2);
        const struct component_info *component = &plugin->components[1];
        CU_ASSERT_PTR_EQUAL(component->plugin, plugin);
        CHECK_STR(component->name, "misbehave-concurrent");
        CHECK_STR(component->summary, "The same, overlapping");
        CU_ASSERT_EQUAL(component->kind, KIND_TOOLS);
        CU_ASSERT_EQUAL(component->kind_version, 1);
        CU_ASSERT_EQUAL(component->flags, GUDGEON_CONCURRENT);
        CU_ASSERT(starts_with(component->config_schema, "{\"type\":\"object\""));
        CHECK_MAYBE(component->needs, "none");

        plugin = find_plugin(registry, place.one, "odd_words.so");
        CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
        CHECK_STR(plugin->version, "1.0 \xef\xbf\xbd");
        CHECK_STR(plugin->components[0].summary, "two lines  [31m \xef\xbf\xbd");
        CHECK_STR(plugin->components[0].needs, "{\"exec\":true}");
        CU_ASSERT_PTR_NULL(plugin->components[0].config_schema);
    }
}

static void test_refused(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    install(place.one, "no_ops");
    install(place.two, "ordinary");
    CLEANUP(free_ptr) char *bad = xasprintf("%s/Bad Name.so", place.two);
    CLEANUP(free_ptr) char *hidden = xasprintf("%s/.hidden.so", place.two);
    CLEANUP(free_ptr) char *notes = xasprintf("%s/notes.txt", place.two);
    CLEANUP(free_ptr) char *shadowed = xasprintf("shadowed by %s/ordinary.so", place.one);
    write_bytes(bad, "", 0);
    write_bytes(hidden, "", 0);
    write_bytes(notes, "", 0);
    REGISTRY registry = open_place(&place);
    const struct {
        const char *directory, *file, *refused;
    } rows[] = {
        {place.one, "ordinary.so", "none"},
        {place.one, "no_ops.so", "component \"no_ops\": has no ops: tools/1 needs a gudgeon_tools"},
        {place.two, "ordinary.so", shadowed},
        {place.two, "Bad Name.so",
         "\"Bad Name.so\" is no plugin's file name: it must be NAME.so, "
         "NAME of a-z, 0-9, _ and -"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct plugin_info *plugin = find_plugin(registry, rows[i].directory, rows[i].file);
        CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
        CHECK_MAYBE(plugin->refused, rows[i].refused);
    }
    CU_ASSERT_PTR_NULL(find_plugin(registry, place.two, ".hidden.so"));
    CU_ASSERT_PTR_NULL(find_plugin(registry, place.two, "notes.txt"));
    CHECK_STR(find_plugin(registry, place.two, "Bad Name.so")->name, "Bad Name");
}

static void test_untrusted_directory(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    CU_ASSERT_EQUAL(chmod(place.one, 0777), 0);
    REGISTRY registry = open_place(&place);
    const struct plugin_info *plugin = find_plugin(registry, place.one, "ordinary.so");
    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    CLEANUP(free_ptr)
    char *refused =
        xasprintf("%s can be written to by others; run: chmod go-w %s", place.one, place.one);
    CHECK_MAYBE(plugin->refused, refused);
    CHECK_STR(plugin->name, "ordinary");
}

static void test_hidden_component(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "unknown_kind");
    install(place.two, "ordinary"); /* unknown_kind has tools "ordinary" as well */
    REGISTRY registry = open_place(&place);
    CLEANUP(free_ptr)
    char *warning =
        xasprintf("tools \"ordinary\" is hidden by that of %s/unknown_kind.so", place.one);
    CHECK_MAYBE(find_plugin(registry, place.two, "ordinary.so")->warning, warning);
    const struct component_info *found = registry_find(registry, KIND_TOOLS, "ordinary", NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    CHECK_STR(found->plugin->name, "unknown_kind");
    CHECK_STR(found->plugin->warning,
              "component \"future\" is passed over: kind \"gizmo/1\" is not known to this host; "
              "component \"newer\" is passed over: kind \"tools/2\" is not known to this host");
}

static void test_search_path(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    install(place.two, "ordinary");
    install(place.two, "plus_plus");
    CLEANUP(free_ptr)
    char *list = xasprintf(":%s/missing::%s:%s/../two", place.root, place.two, place.one);
    setenv("GUDGEON_PLUGIN_PATH", list, 1);
    const char *const paths[] = {"one"};
    CLEANUP(free_ptr) char *cwd = getcwd(NULL, 0);
    CU_ASSERT_EQUAL(chdir(place.root), 0);
    REGISTRY registry =
        open_with(&(struct registry_options){.paths = paths, .path_count = COUNT_OF(paths)});
    CU_ASSERT_EQUAL(chdir(cwd), 0);
    unsetenv("GUDGEON_PLUGIN_PATH");
    /* The options come first; a directory that is named twice is read once. */
    CHECK_MAYBE(find_plugin(registry, place.one, "ordinary.so")->refused, "none");
    CU_ASSERT(starts_with(find_plugin(registry, place.two, "ordinary.so")->refused, "shadowed"));
    CHECK_MAYBE(find_plugin(registry, place.two, "plus_plus.so")->refused, "none");
    CLEANUP(free_ptr)
    char *warning = xasprintf("%s/missing: No such file or directory", place.root);
    CHECK_MAYBE(registry_warning(registry), warning);
}

static void test_find(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "misbehave");
    install(place.one, "no_ops");
    install(place.one, "near_kind");
    REGISTRY registry = open_place(&place);
    CLEANUP(free_ptr)
    char *passed_over =
        xasprintf("no tools \"near_kind\": %s/near_kind.so: component \"near_kind\" "
                  "is passed over: kind \"tool/1\" is not known to this host; is it "
                  "meant to be tools/1?",
                  place.one);
    CLEANUP(free_ptr)
    char *refused =
        xasprintf("no model \"no_ops\": %s/no_ops.so is refused: component \"no_ops\": has no "
                  "ops: tools/1 needs a gudgeon_tools",
                  place.one);
    CLEANUP(free_ptr)
    char *other =
        xasprintf("no sink \"misbehave\": the one in %s/misbehave.so is of kind tools", place.one);
    const struct {
        enum kind kind;
        const char *name;
        const char *message; /* NULL = found */
        int code;
    } rows[] = {
        {KIND_TOOLS, "misbehave", NULL, 0},
        {KIND_TOOLS, "misbehave-concurrent", NULL, 0},
        {KIND_TOOLS, "misbehav", "no tools \"misbehav\"; did you mean \"misbehave\"?",
         ERR_NOT_FOUND},
        {KIND_TOOLS, "something", "no tools \"something\"; `gudgeon plugins` lists what there is",
         ERR_NOT_FOUND},
        {KIND_MODEL, "no_ops", refused, ERR_REFUSED},
        {KIND_SINK, "misbehave", other, ERR_NOT_FOUND},
        {KIND_TOOLS, "near_kind", passed_over, ERR_NOT_FOUND},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        const struct component_info *found =
            registry_find(registry, rows[i].kind, rows[i].name, &err);
        CU_ASSERT_EQUAL(err.code, rows[i].code);
        CU_ASSERT_EQUAL(found != NULL, rows[i].message == NULL);
        if (found != NULL)
            CHECK_STR(found->name, rows[i].name);
        else
            CHECK_STR(err.text, rows[i].message);
    }
}

/* ---- the cache ------------------------------------------------------------------------------- */

static bool file_has(const char *path, const char *what)
{
    CLEANUP(free_ptr) char *text = read_text(path);
    return strstr(text, what) != NULL;
}

/* Puts another version into the cache's file, which shows where an answer came from. */
static void forge(const struct place *place)
{
    CLEANUP(free_ptr) char *text = read_text(place->cache_file);
    char *version = strstr(text, "\"1.0.0\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(version);
    version[1] = '7';
    write_bytes(place->cache_file, text, strlen(text));
}

static void check_version(const struct place *place, const char *version)
{
    REGISTRY registry = open_place(place);
    const struct plugin_info *plugin = find_plugin(registry, place->one, "ordinary.so");
    CU_ASSERT_PTR_NOT_NULL_FATAL(plugin);
    CHECK_MAYBE(plugin->version, version);
}

static void test_cache_hit(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    check_version(&place, "1.0.0");
    struct stat st;
    CU_ASSERT_EQUAL(stat(place.cache_file, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
    forge(&place);
    check_version(&place, "7.0.0");
    /* Another file under this name, of the same size and time. */
    CLEANUP(free_ptr) char *path = xasprintf("%s/ordinary.so", place.one);
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(unlink(path), 0);
    install(place.one, "ordinary");
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, (struct timespec[]){st.st_atim, st.st_mtim}, 0), 0);
    check_version(&place, "1.0.0");
    forge(&place);
    check_version(&place, "7.0.0");
    /* The same file, touched. */
    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, (struct timespec[]){{1, 0}, {1, 0}}, 0), 0);
    check_version(&place, "1.0.0");
}

static void test_cache_damaged(void)
{
    static const char *const contents[] = {
        "", "{", "[]", "{\"format\":1,\"plugins\":[]}", "{\"format\":2,\"plugins\":{}}", "\xff",
    };
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    CU_ASSERT_EQUAL(mkdir(place.cache, 0700), 0);
    for (size_t i = 0; i < COUNT_OF(contents); i++) {
        write_bytes(place.cache_file, contents[i], strlen(contents[i]));
        check_version(&place, "1.0.0");
        CU_ASSERT(file_has(place.cache_file, "\"1.0.0\""));
    }
    /* An entry that is no description is asked for again. */
    CLEANUP(free_ptr) char *text = read_text(place.cache_file);
    char *name = strstr(text, "\"version\"");
    CU_ASSERT_PTR_NOT_NULL_FATAL(name);
    memcpy(name, "\"verzion\"", 9);
    write_bytes(place.cache_file, text, strlen(text));
    check_version(&place, "1.0.0");
    CU_ASSERT_FALSE(file_has(place.cache_file, "verzion"));
    /* Nor is one believed that others could have written. */
    forge(&place);
    CU_ASSERT_EQUAL(chmod(place.cache_file, 0666), 0);
    check_version(&place, "1.0.0");
    /* A cache that cannot be written hinders nobody. */
    unlink(place.cache_file);
    rmdir(place.cache);
    write_bytes(place.cache, "", 0);
    check_version(&place, "1.0.0");
    unlink(place.cache);
}

static void test_cache_not_asked(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    const char *const paths[] = {place.one};
    REGISTRY registry =
        open_with(&(struct registry_options){.paths = paths, .path_count = 1, .no_cache = true});
    CU_ASSERT_PTR_NOT_NULL(find_plugin(registry, place.one, "ordinary.so"));
    CU_ASSERT_EQUAL(access(place.cache_file, F_OK), -1);
}

/* A refusal is kept when it is in the file, not when the system may be mended; what is gone from
 * the disk goes from the cache. */
static void test_cache_refusals(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "no_ops");
    install(place.one, "missing_library");
    install(place.one, "ordinary");
    for (int round = 0; round < 2; round++) {
        REGISTRY registry = open_place(&place);
        CHECK_MAYBE(find_plugin(registry, place.one, "missing_library.so")->refused,
                    "needs libgudgeon_absent.so.1, which is not installed");
        CHECK_MAYBE(find_plugin(registry, place.one, "no_ops.so")->refused,
                    "component \"no_ops\": has no ops: tools/1 needs a gudgeon_tools");
    }
    CU_ASSERT(file_has(place.cache_file, "/no_ops.so\":"));
    CU_ASSERT(file_has(place.cache_file, "/ordinary.so\":"));
    CU_ASSERT_FALSE(file_has(place.cache_file, "missing_library"));
    CLEANUP(free_ptr) char *path = xasprintf("%s/no_ops.so", place.one);
    unlink(path);
    install(place.two, "plus_plus");
    REGISTRY registry = open_place(&place);
    CU_ASSERT_PTR_NULL(find_plugin(registry, place.one, "no_ops.so"));
    CU_ASSERT_FALSE(file_has(place.cache_file, "no_ops"));
    CU_ASSERT(file_has(place.cache_file, "/ordinary.so\":"));
    CU_ASSERT(file_has(place.cache_file, "/plus_plus.so\":"));
}

static void *open_and_check(void *data)
{
    REGISTRY registry = open_place(data);
    return registry_find(registry, KIND_TOOLS, "plus_plus", NULL) != NULL ? data : NULL;
}

/* Hosts that fill the cache at the same time. */
static void test_cache_race(void)
{
    CLEANUP(place_fini) struct place place;
    place_init(&place);
    install(place.one, "ordinary");
    install(place.one, "plus_plus");
    pthread_t threads[4];
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        pthread_create(&threads[i], NULL, open_and_check, &place);
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        CU_ASSERT_PTR_EQUAL(result, &place);
    }
    forge(&place);
    CLEANUP(free_ptr) char *before = read_text(place.cache_file);
    CU_ASSERT_PTR_NOT_NULL(open_and_check(&place));
    CLEANUP(free_ptr) char *after = read_text(place.cache_file);
    CHECK_STR(after, before);
}

int main(void)
{
    UNIT_MAIN("registry", {"what is known of a plugin", test_info},
              {"what is refused", test_refused},
              {"directory that others can write", test_untrusted_directory},
              {"two of one component", test_hidden_component}, {"search path", test_search_path},
              {"find", test_find}, {"cache: hits and misses", test_cache_hit},
              {"cache: damaged", test_cache_damaged}, {"cache: not wanted", test_cache_not_asked},
              {"cache: refusals", test_cache_refusals}, {"cache: race", test_cache_race});
}
