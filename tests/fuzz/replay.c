/* SPDX-License-Identifier: MIT */
/*
 * main for a fuzz target without libFuzzer: runs every file that is named, and every file in a
 * directory that is named, through the target. Prints how many; a fault ends the process.
 *
 *     NAME FILE_OR_DIRECTORY...
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return 0;
    long len = ftell(file);
    rewind(file);
    /* Of exactly the file's size, so that a sanitizer sees the first byte read beyond it. */
    uint8_t *bytes = xmalloc((size_t)len);
    size_t got = fread(bytes, 1, (size_t)len, file);
    fclose(file);
    if (got == (size_t)len)
        LLVMFuzzerTestOneInput(bytes, got);
    free(bytes);
    return got == (size_t)len;
}

static int replay(const char *path)
{
    struct stat found;
    if (stat(path, &found) < 0 || !S_ISDIR(found.st_mode))
        return replay_file(path);
    DIR *directory = opendir(path);
    int count = 0;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        CLEANUP(free_ptr) char *inside = xasprintf("%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            count += replay_file(inside);
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++)
        count += replay(argv[i]);
    printf("%d inputs replayed\n", count);
    return count == 0;
}
