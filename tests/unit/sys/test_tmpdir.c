/* SPDX-License-Identifier: MIT */
#include "sys/tmpdir.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void touch(int directory, const char *name)
{
    CLEANUP(close_fd) int fd = openat(directory, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT(fd >= 0);
}

static char *new_directory(void)
{
    char *path = NULL;
    CU_ASSERT_EQUAL_FATAL(tmpdir_new(&path, NULL), 0);
    return path;
}

static void test_private(void)
{
    char *path = new_directory();
    struct stat info;
    CU_ASSERT_EQUAL(stat(path, &info), 0);
    CU_ASSERT_EQUAL(info.st_mode & 07777, 0700);
    CLEANUP(free_ptr) char *name = xstrdup(path);
    tmpdir_remove(path);
    CU_ASSERT_EQUAL(access(name, F_OK), -1);
    tmpdir_remove(NULL);
}

/* Deeper than any path can name, and than a recursion or one descriptor a level would bear. */
static void test_deep(void)
{
    char *path = new_directory();
    CLEANUP(free_ptr) char *name = xstrdup(path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < 3000; i++) {
        CU_ASSERT_EQUAL_FATAL(mkdirat(fd, "level", 0700), 0);
        if (i % 100 == 0)
            touch(fd, "file");
        int next = openat(fd, "level", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(fd);
        fd = next;
    }
    close(fd);
    tmpdir_remove(path);
    CU_ASSERT_EQUAL(access(name, F_OK), -1);
}

static void test_links_and_rights(void)
{
    char *outside = new_directory(), *path = new_directory();
    CLEANUP(free_ptr) char *kept = xasprintf("%s/kept", outside);
    CLEANUP(free_ptr) char *name = xstrdup(path);
    touch(AT_FDCWD, kept);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CU_ASSERT_EQUAL(symlinkat(outside, fd, "link"), 0);
    mkdirat(fd, "closed", 0700);
    CU_ASSERT_EQUAL(symlinkat(outside, fd, "closed/link"), 0);
    mkdirat(fd, "closed/inner", 0700);
    touch(fd, "closed/inner/file");
    CU_ASSERT_EQUAL(fchmodat(fd, "closed/inner", 0, 0), 0);
    CU_ASSERT_EQUAL(fchmodat(fd, "closed", 0, 0), 0);
    close(fd);
    tmpdir_remove(path);
    CU_ASSERT_EQUAL(access(name, F_OK), -1);
    CU_ASSERT_EQUAL(access(kept, F_OK), 0);
    tmpdir_remove(outside);
}

int main(void)
{
    UNIT_MAIN("tmpdir", {"private, and gone when removed", test_private},
              {"a very deep tree", test_deep},
              {"links are not followed, rights are no obstacle", test_links_and_rights});
}
