/* SPDX-License-Identifier: MIT */
#include "mock_place.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit.h"

bool place_has_openat2 = true;

char *place_path(const struct place *place, const char *name)
{
    return xasprintf("%s/%s", place->base, name);
}

void place_put_bytes(const struct place *place, const char *name, const char *bytes, size_t len)
{
    CLEANUP(free_ptr) char *path = place_path(place, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    close(fd);
}

void place_put(const struct place *place, const char *name, const char *text)
{
    place_put_bytes(place, name, text, strlen(text));
}

void place_put_directory(const struct place *place, const char *name)
{
    CLEANUP(free_ptr) char *path = place_path(place, name);
    if (mkdir(path, 0755) != 0)
        abort();
}

void place_put_link(const struct place *place, const char *name, const char *to)
{
    CLEANUP(free_ptr) char *path = place_path(place, name);
    if (symlink(to, path) != 0)
        abort();
}

const char *place_get(const struct place *place, const char *name)
{
    static char text[1 << 20];
    CLEANUP(free_ptr) char *path = place_path(place, name);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return "(none)";
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = '\0';
    return text;
}

void place_init(struct place *place)
{
    char template[] = "/tmp/gudgeon-files-XXXXXX";
    if (mkdtemp(template) == NULL)
        abort();
    place->base = xstrdup(template);
    place_put_directory(place, "root");
    place_put_directory(place, "outside");
    place_put(place, "outside/secret", "classified\n");
}

/* Opens the plugin; `config` and `grant` may hold %s for BASE/root. */
int32_t place_open_with(struct place *place, const char *config, const char *grant,
                        struct answer *answer)
{
    char texts[2][PATH_MAX];
    const char *const formats[] = {config, grant};
    for (size_t i = 0; i < 2; i++) {
        const char *hole = strstr(formats[i], "%s");
        if (hole == NULL)
            snprintf(texts[i], sizeof texts[i], "%s", formats[i]);
        else
            snprintf(texts[i], sizeof texts[i], "%.*s%s/root%s", (int)(hole - formats[i]),
                     formats[i], place->base, hole + 2);
    }
    return mock_open(&place->mock, "files", texts[0], texts[1], answer);
}

void place_open(struct place *place)
{
    struct answer answer;
    place_init(place);
    CU_ASSERT_EQUAL_FATAL(
        place_open_with(place, "{\"root\":\"%s\"}", "{\"write\":[\"%s\"]}", &answer), GUDGEON_OK);
    answer_fini(&answer);
}

static int remove_one(const char *path, const struct stat *found, int type, struct FTW *where)
{
    (void)found;
    (void)type;
    (void)where;
    return remove(path);
}

void place_fini(struct place *place)
{
    mock_close(&place->mock);
    CHECK_STR(place_get(place, "outside/secret"), "classified\n");
    CU_ASSERT_EQUAL(nftw(place->base, remove_one, 200, FTW_DEPTH | FTW_PHYS), 0);
    free(place->base);
}

void place_check(struct place *place, const char *tool, const char *arguments, bool want_error,
                 const char *want)
{
    struct answer answer;
    int32_t class = mock_call(&place->mock, tool, arguments, NULL, &answer);
    const char *have = answer_shown(&answer);
    size_t len = strlen(want), dots = strlen("…");
    bool is_within = strncmp(want, "…", dots) == 0;
    bool is_start = !is_within && len > dots && strcmp(want + len - dots, "…") == 0;
    bool same = is_within  ? strstr(have, want + dots) != NULL
                : is_start ? strncmp(have, want, len - dots) == 0
                           : strcmp(have, want) == 0;
    bool is_error = (answer.flags & GUDGEON_IS_ERROR) != 0;
    if (class != GUDGEON_OK || !same || is_error != want_error)
        printf("#   %s %.200s: class %d%s\n#   have: %.600s\n#   want: %.600s\n", tool, arguments,
               class, is_error ? ", an error" : "", have, want);
    CU_ASSERT_EQUAL(class, GUDGEON_OK);
    CU_ASSERT_EQUAL(is_error, want_error);
    CU_ASSERT(same);
    answer_fini(&answer);
}

/* ---- a kernel without openat2 ---------------------------------------------------------------- */

static void forbid_openat2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = COUNT_OF(code), .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
}

const char *place_main(int argc, char **argv, const char *name)
{
    static char lacking[128];
    if (argc < 2 || strcmp(argv[1], "--no-openat2") != 0)
        return name;
    forbid_openat2();
    place_has_openat2 = false;
    snprintf(lacking, sizeof lacking, "%s without openat2", name);
    return lacking;
}
