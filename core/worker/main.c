/* SPDX-License-Identifier: MIT */

/*
 * gudgeon-worker: the process in which foreign code runs, so that the host survives it.
 */

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "worker/worker.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} modes[] = {
    {"--describe", worker_describe},
    {"--serve", worker_serve},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT_OF(modes) && argc > 1; i++)
        if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argc - 2, argv + 2);
    fputs("gudgeon-worker " GUDGEON_VERSION " is started by gudgeon; it has one use by hand:\n"
          "    gudgeon-worker --describe FILE\n",
          stderr);
    return 2;
}
