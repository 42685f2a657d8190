/* SPDX-License-Identifier: MIT */
/* Its constructor crashes when it gets a socket that leads anywhere. */
#include <stdlib.h>
#include <sys/socket.h>

#include "fixture.h"

static __attribute__((constructor)) void start(void)
{
    static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK};
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (socket(families[i], SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 ||
            socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0)
            abort();
}

FIXTURE_ORDINARY("ctor_connect");
