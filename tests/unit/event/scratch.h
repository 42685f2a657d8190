/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_SCRATCH_H
#define GUDGEON_TESTS_SCRATCH_H

/*
 * A directory for one test, and whole files in it. Failure here ends the test program: nothing
 * after it would mean anything. Paths are printf formats.
 */

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "sys/tmpdir.h"

#define SCRATCH_NEED(condition)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            perror("not ok scratch: " #condition);                                                 \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

static inline char *scratch_make(void)
{
    char *path = NULL;
    SCRATCH_NEED(tmpdir_new(&path, NULL) == 0);
    return path;
}

static inline void scratch_free(char **path)
{
    tmpdir_remove(*path);
}

/* `SCRATCH(dir);` declares it and removes it at the end of the scope. */
#define SCRATCH(name) CLEANUP(scratch_free) char *name = scratch_make()

__attribute__((format(printf, 1, 2))) static inline struct buf scratch_read(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *path = xvasprintf(format, args);
    va_end(args);
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    SCRATCH_NEED(fd >= 0);
    char chunk[65536];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        buf_add(&text, chunk, (size_t)n);
    return text;
}

__attribute__((format(printf, 3, 4))) static inline void scratch_write(const void *bytes,
                                                                       size_t len,
                                                                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *path = xvasprintf(format, args);
    va_end(args);
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    SCRATCH_NEED(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
}

/* How many entries a directory has. */
__attribute__((format(printf, 1, 2))) static inline int scratch_count(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    CLEANUP(free_ptr) char *path = xvasprintf(format, args);
    va_end(args);
    DIR *dir = opendir(path);
    SCRATCH_NEED(dir != NULL);
    int count = 0;
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count - 2;
}

#endif
