/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "unit.h"

static char directory[] = "/tmp/gudgeon-file-XXXXXX";

static void check(const char *name, size_t max, int want_status, const char *want)
{
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(free_ptr) char *path = xasprintf("%s/%s", directory, name);
    struct err err = {0};
    buf_add_str(&out, "+");
    CU_ASSERT_EQUAL(file_read(path, max, &out, &err), want_status);
    CHECK_STR(want_status == 0 ? out.data : err.text, want);
}

static void test_read(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/text", directory);
    CLEANUP(free_ptr) char *fifo = xasprintf("%s/fifo", directory);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_EQUAL(write(fd, "12345", 5), 5);
    CU_ASSERT_EQUAL(mkfifo(fifo, 0600), 0);
    check("text", 5, 0, "+12345");
    check("text", 4, ERR_LIMIT, "is too large (4 bytes at most)");
    check("none", 5, ERR_NOT_FOUND, "no such file");
    check("text/none", 5, ERR_NOT_FOUND, "no such file");
    check(".", 5, ERR_IO, "is no regular file");
    check("fifo", 5, ERR_IO, "is no regular file"); /* and nobody waits for a writer */
    unlink(path);
    unlink(fifo);
}

static void test_open(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("%s/made", directory);
    CLEANUP(free_ptr) char *link = xasprintf("%s/link", directory);
    struct err err = {0};
    int fd = -1;
    CU_ASSERT_EQUAL(file_open(path, O_RDWR | O_CREAT, &fd, &err), 0);
    CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close_fd(&fd);
    CU_ASSERT_EQUAL(symlink(path, link), 0);
    CU_ASSERT_EQUAL(file_open(link, O_RDONLY | O_NOFOLLOW, &fd, &err), ERR_IO);
    CHECK_STR(err.text, "cannot be opened: Too many levels of symbolic links");
    CU_ASSERT_EQUAL(file_open(link, O_RDONLY, &fd, &err), 0);
    close_fd(&fd);
    CU_ASSERT_EQUAL(file_open("/dev/zero", O_RDONLY, &fd, &err), ERR_IO);
    CU_ASSERT_EQUAL(fd, -1);
    unlink(link);
    unlink(path);
}

static void test_descriptor(void)
{
    int ends[2];
    CLEANUP(buf_fini) struct buf out = BUF_INIT(BUF_MAX_ANY);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    CU_ASSERT_EQUAL(file_read_fd(ends[0], 100, &out, NULL), 0);
    CHECK_STR(out.data, "piped");
    close(ends[0]);
    CU_ASSERT_EQUAL(file_read_fd(-1, 100, &out, NULL), ERR_IO);
}

int main(void)
{
    if (mkdtemp(directory) == NULL)
        return 2;
    static const struct unit_row rows[] = {
        {"by name", test_read}, {"opened", test_open}, {"by descriptor", test_descriptor}};
    int status = unit_run("file", rows, COUNT_OF(rows));
    rmdir(directory);
    return status;
}
