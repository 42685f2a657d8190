/* SPDX-License-Identifier: MIT */
/* Its constructor crashes when it can write, beside itself or where everybody can. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    static const char *const paths[] = {"/tmp/gudgeon-ctor-write", "/dev/shm/gudgeon-ctor-write",
                                        "/gudgeon-ctor-write"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        if (open(paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0 || mkdir(paths[i], 0700) == 0)
            abort();
    if (chmod("/tmp/gudgeon-ctor-write", 0600) == 0 || rename("/tmp", "/tmp-gone") == 0)
        abort();
}

FIXTURE_ORDINARY("ctor_write");
