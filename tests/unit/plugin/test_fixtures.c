/* SPDX-License-Identifier: MIT */

/*
 * Every fixture plugin of tests/abi, described by the real worker: a row each, with the exact
 * words of its refusal. Files that no compiler makes are made here.
 */

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/json.h"
#include "plugin/describe.h"
#include "plugin/description.h"
#include "plugin/registry.h"
#include "sys/paths.h"

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif

/* A sanitiser catches SIGSEGV before the host sees it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BAD_POINTER "reading its descriptor ended the process; it said: *"
#else
#define BAD_POINTER "reading its descriptor crashed with SIGSEGV"
#endif

struct row {
    const char *name;
    const char *refused; /* NULL = accepted; ends in '*' = the rest does not matter */
    const char *warning;
    bool transient;      /* may not be cached */
    int64_t deadline_ms; /* 0 = long */
};

#define NO_NAME ", must be of a-z, 0-9, _ and -"

static const struct row rows[] = {
    {.name = "ordinary"},
    {.name = "misbehave"},
    {.name = "awkward"},
    {.name = "helper_a"},
    {.name = "helper_b"},
    {.name = "plus_plus"},
    {.name = "odd_words"},
    {.name = "unknown_kind",
     .warning = "component \"future\" is passed over: kind \"gizmo/1\" is not known to this host; "
                "component \"newer\" is passed over: kind \"tools/2\" is not known to this host"},

    {.name = "older_minor",
     .refused = "made for ABI 1.0, this host has 0.1; rebuild it with this host's headers"},
    {.name = "future_minor",
     .refused = "made for ABI 1.7, this host has 0.1; rebuild it with this host's headers"},
    {.name = "future_minimum",
     .refused = "made for ABI 1.7, this host has 0.1; rebuild it with this host's headers"},
    {.name = "wrong_major",
     .refused = "made for ABI 9.3, this host has 0.1; rebuild it with this host's headers"},
    {.name = "wrong_minor",
     .refused = "made for ABI 0.2, this host has 0.1; rebuild it with this host's headers"},
    {.name = "bad_magic",
     .refused = "its gudgeon_plugin does not begin with the magic number; begin it with "
                "GUDGEON_PLUGIN_PREFIX"},
    {.name = "short_descriptor", .refused = "its gudgeon_plugin says that it has only 24 bytes"},

    {.name = "no_symbol", .refused = "exports no gudgeon_plugin: it is not a plugin"},
    {.name = "near_symbol",
     .refused = "exports no gudgeon_plugin; is \"gudgeon_plugins\" meant to be it?"},
    {.name = "undefined_symbol",
     .refused =
         "needs the symbol gudgeon_nobody_has_this, which nothing provides; link what has it",
     .transient = true},
    {.name = "missing_library",
     .refused = "needs libgudgeon_absent.so.1, which is not installed",
     .transient = true},

    {.name = "ctor_abort",
     .refused = "constructor crashed with SIGABRT; it said: wheel came off",
     .transient = true},
    {.name = "ctor_exit", .refused = "constructor exited with status 0", .transient = true},
    {.name = "ctor_hang",
     .refused = "did not answer within 1 s",
     .transient = true,
     .deadline_ms = 1000},
    {.name = "ctor_spin",
     .refused = "did not answer within 250 ms",
     .transient = true,
     .deadline_ms = 250},
    {.name = "ctor_stdout", .refused = "constructor writes to standard output"},
    {.name = "ctor_close_stdout", .refused = "constructor closes standard output"},
    {.name = "ctor_close",
     .refused = "constructor closed descriptors that are not its own",
     .transient = true},
    {.name = "ctor_flood", .refused = "constructor prints without end", .transient = true},
    {.name = "ctor_forge",
     .refused = "not a description of a plugin: no name, version or licence",
     .transient = true},
    {.name = "ctor_memory", .refused = "constructor crashed with SIGABRT", .transient = true},
    {.name = "ctor_escape"},
    {.name = "ctor_surroundings"},
    {.name = "ctor_read"},
    {.name = "ctor_write"},
    {.name = "ctor_connect"},
    {.name = "ctor_exec"},

    {.name = "name_mismatch",
     .refused = "calls itself \"another_name\", so its file must be another_name.so"},
    {.name = "bad_name", .refused = "its name is \"Bad Name\"" NO_NAME},
    {.name = "no_version", .refused = "its version is missing"},
    {.name = "no_components", .refused = "offers no component"},
    {.name = "repeated", .refused = "component \"again\": is listed twice with this kind and name"},
    {.name = "bad_component", .refused = "component 1: name is \"Bad Component\"" NO_NAME},
    {.name = "bad_kind",
     .refused = "component \"bad_kind\": kind is \"tools\", must be like \"tools/1\""},
    {.name = "short_component",
     .refused = "component \"x\": its size is 40; set it to sizeof (gudgeon_component)"},
    {.name = "no_create", .refused = "component \"no_create\": has no create"},
    {.name = "no_destroy", .refused = "component \"no_destroy\": has no destroy"},
    {.name = "near_kind",
     .warning =
         "component \"near_kind\" is passed over: kind \"tool/1\" is not known to this host; "
         "is it meant to be tools/1?"},
    {.name = "short_ops",
     .refused = "component \"short_ops\": the size of its ops is 0; set it to sizeof "
                "(gudgeon_tools)"},
    {.name = "no_ops",
     .refused = "component \"no_ops\": has no ops: tools/1 needs a gudgeon_tools"},
    {.name = "no_call",
     .refused =
         "component \"no_call\": the size of its ops is 16; set it to sizeof (gudgeon_tools)"},
    {.name = "bad_schema",
     .refused = "component \"bad_schema\": config_schema: line 1, column 10: *"},
    {.name = "odd_schema", .refused = "component \"odd_schema\": config_schema: /type: *"},
    {.name = "bad_needs", .refused = "component \"bad_needs\": needs: must be an object*"},
    {.name = "bad_pointer", .refused = BAD_POINTER, .transient = true},
};

/* Made from the first bytes of an ordinary plugin, changed. */
static const struct made_row {
    struct row row;
    size_t keep;  /* bytes of the file; 0 = all */
    size_t patch; /* offset of a byte that is changed to `value`; 0 = none */
    char value;
    const char *text; /* the content instead */
} made_rows[] = {
    {.row = {.name = "empty", .refused = "the file is empty"}, .text = ""},
    {.row = {.name = "text", .refused = "the file is not a shared object"},
     .text = "not a plugin\n"},
    {.row = {.name = "stub", .refused = "the file is cut short: 20 bytes"}, .keep = 20},
    {.row = {.name = "headless", .refused = "the file is cut short: 64 bytes"}, .keep = 64},
    {.row = {.name = "truncated", .refused = "the file is cut short: 4096 bytes"}, .keep = 4096},
    {.row = {.name = "other_machine",
             .refused = "built for another machine (ELF 64-bit, machine 2; *"},
     .patch = offsetof(Elf64_Ehdr, e_machine),
     .value = EM_SPARC},
    {.row = {.name = "narrow", .refused = "built for another machine (ELF 32-bit, *"},
     .patch = EI_CLASS,
     .value = ELFCLASS32},
    {.row = {.name = "object",
             .refused = "an ELF file, but not a shared object; link it with -shared"},
     .patch = offsetof(Elf64_Ehdr, e_type),
     .value = ET_REL},
    {.row = {.name = "damaged", .refused = "its ELF header is damaged"},
     .patch = offsetof(Elf64_Ehdr, e_phentsize),
     .value = 1},
};

static bool matches(const char *text, const char *wanted)
{
    if (text == NULL || wanted == NULL)
        return text == wanted;
    size_t len = strlen(wanted);
    if (len > 0 && wanted[len - 1] == '*')
        return strncmp(text, wanted, len - 1) == 0;
    return strcmp(text, wanted) == 0;
}

/* What the host would see: an info, refused also when there was no description. */
static void describe(const char *worker, const char *path, int64_t deadline_ms,
                     struct plugin_info *info, bool *lasting)
{
    CLEANUP(json_cleanup) struct json_object *object = NULL;
    struct err err = {0};
    int status = describe_file(worker, path, deadline_ms, &object, &err);
    if (status == 0)
        status = description_read(object, info, &err);
    *lasting = status == 0 && json_get_bool(object, "lasting", true);
    if (status < 0)
        *info = (struct plugin_info){.refused = xstrdup(err.text)};
}

static int failures;

static void check(const char *worker, const char *path, const struct row *row)
{
    struct plugin_info info;
    bool lasting;
    describe(worker, path, row->deadline_ms != 0 ? row->deadline_ms : 60 * 1000, &info, &lasting);
    bool ok = matches(info.refused, row->refused) && matches(info.warning, row->warning) &&
              lasting == !row->transient;
    printf("%s fixtures: %s: %s\n", ok ? "ok" : "not ok", row->name,
           info.refused != NULL ? info.refused : "accepted");
    if (!ok)
        printf("#   want: %s, %s\n#   warning: %s\n#   lasting: %d\n",
               row->refused != NULL ? row->refused : "accepted",
               row->warning != NULL ? row->warning : "no warning",
               info.warning != NULL ? info.warning : "none", lasting);
    fflush(stdout);
    failures += !ok;
    plugin_info_fini(&info);
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "re");
    char *bytes = xmalloc(1 << 20);
    *ret_len = file != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) < 0)
        failures++;
}

static void check_made(const char *worker, const char *ordinary)
{
    char directory[] = "/tmp/gudgeon-test-fixtures-XXXXXX";
    size_t len;
    CLEANUP(free_ptr) char *bytes = read_file(ordinary, &len);
    if (mkdtemp(directory) == NULL || len == 0) {
        printf("not ok fixtures: made files\n");
        failures++;
        return;
    }
    for (size_t i = 0; i < COUNT_OF(made_rows); i++) {
        const struct made_row *made = &made_rows[i];
        CLEANUP(free_ptr) char *path = xasprintf("%s/%s.so", directory, made->row.name);
        char before = bytes[made->patch];
        if (made->patch != 0)
            bytes[made->patch] = made->value;
        if (made->text != NULL)
            write_file(path, made->text, strlen(made->text));
        else
            write_file(path, bytes, made->keep != 0 ? made->keep : len);
        bytes[made->patch] = before;
        check(worker, path, &made->row);
        unlink(path);
    }
    rmdir(directory);
}

int main(void)
{
    setenv("GUDGEON_SECRET_KEY", "not for plugins", 1);
    CLEANUP(free_ptr) char *worker = paths_worker();
    CLEANUP(free_ptr) char *root = xstrndup(worker, (size_t)(strrchr(worker, '/') - worker));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(free_ptr) char *path = xasprintf("%s/tests/abi/%s.so", root, rows[i].name);
        check(worker, path, &rows[i]);
    }
    CLEANUP(free_ptr) char *ordinary = xasprintf("%s/tests/abi/ordinary.so", root);
    check_made(worker, ordinary);
    return failures != 0;
}
