/* SPDX-License-Identifier: MIT */
/* Its constructor crashes when it can read what no plugin needs. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 || opendir("/home") != NULL ||
        opendir("/proc") != NULL || opendir("/") != NULL)
        abort();
}

FIXTURE_ORDINARY("ctor_read");
