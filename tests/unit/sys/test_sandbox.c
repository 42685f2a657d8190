/* SPDX-License-Identifier: MIT */

/* Escape attempts by files and sockets. */
#include "sandboxed.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- attempts: files --------------------------------------------------------------------------
 */

static int read_shadow(void)
{
    return try_open("/etc/shadow", O_RDONLY);
}

static int read_passwd(void)
{
    return try_open("/etc/passwd", O_RDONLY);
}

static int list_home(void)
{
    return try_open("/home", O_RDONLY | O_DIRECTORY);
}

static int read_process(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/cmdline", (int)victim);
    return try_open(path, O_RDONLY);
}

static int read_outside(void)
{
    return try_in("outside", "secret", O_RDONLY);
}

static int read_by_dots(void)
{
    return try_in("inside/../outside", "secret", O_RDONLY);
}

static int read_by_root_link(void)
{
    CLEANUP(free_ptr) char *path = xasprintf("/proc/self/root%s/outside/secret", place);
    return try_open(path, O_RDONLY);
}

static int read_inside(void)
{
    return try_in("inside", "file", O_RDONLY);
}

static int read_library(void)
{
    return try_open("/usr/bin/env", O_RDONLY);
}

static int write_null(void)
{
    return try_open("/dev/null", O_WRONLY);
}

static int write_outside(void)
{
    return try_in("outside", "data", O_WRONLY);
}

static int make_outside(void)
{
    return try_in("outside", "new", O_WRONLY | O_CREAT);
}

static int truncate_outside(void)
{
    CLEANUP(free_ptr) char *path = in("outside", "data");
    return errno_of(truncate(path, 0));
}

static int truncate_by_reading(void)
{
    return try_in("inside", "file", O_RDONLY | O_TRUNC);
}

static int chmod_outside(void)
{
    CLEANUP(free_ptr) char *path = in("outside", "new");
    return errno_of(chmod(path, 0600)); /* absent: only the filter says EPERM */
}

static int set_owner_bit(void)
{
    CLEANUP(free_ptr) char *path = in("inside", "file");
    return errno_of(chmod(path, 04755));
}

static int set_mode(void)
{
    CLEANUP(free_ptr) char *path = in("inside", "nothing");
    return errno_of(chmod(path, 0644));
}

static int write_inside(void)
{
    int result = try_in("inside", "written", O_RDWR | O_CREAT | O_TRUNC);
    CLEANUP(free_ptr) char *from = in("inside", "written"), *to = in("inside", "moved");
    if (result == 0)
        result = errno_of(rename(from, to));
    return result == 0 ? errno_of(unlink(to)) : result;
}

static int rename_out(void)
{
    CLEANUP(free_ptr) char *from = in("inside", "file"), *to = in("outside", "new");
    return errno_of(rename(from, to));
}

static int link_in(void)
{
    CLEANUP(free_ptr) char *from = in("outside", "secret"), *to = in("inside", "linked");
    return errno_of(link(from, to));
}

static int read_by_link(void)
{
    CLEANUP(free_ptr) char *to = in("outside", "secret"), *link = in("inside", "link");
    unlink(link);
    return symlink(to, link) < 0 ? -1 : try_open(link, O_RDONLY);
}

static atomic_bool race_over;

static void *flip(void *data)
{
    CLEANUP(free_ptr) char *link = in("inside", "race"), *next = in("inside", "next");
    CLEANUP(free_ptr) char *out = in("outside", "secret"), *home = in("inside", "file");
    (void)data;
    for (bool is_out = false; !race_over; is_out = !is_out) {
        if (symlink(is_out ? out : home, next) == 0)
            rename(next, link);
    }
    return NULL;
}

/* 0 when it got the secret even once; it has met both ends of the link otherwise. */
static int race_links(void)
{
    enum { ENOUGH = 50, TRIES = 2000000 };
    CLEANUP(free_ptr) char *link = in("inside", "race");
    pthread_t thread;
    int opened = 0, refused = 0, got = 0;
    if (pthread_create(&thread, NULL, flip, NULL) != 0)
        return -1;
    for (int i = 0; i < TRIES && (opened < ENOUGH || refused < ENOUGH) && !got; i++) {
        char text[8] = "";
        CLEANUP(close_fd) int fd = open(link, O_RDONLY | O_CLOEXEC);
        refused += fd < 0 && errno == EACCES;
        opened += fd >= 0 && read(fd, text, sizeof text - 1) > 0;
        got = memcmp(text, "secret", 6) == 0;
    }
    race_over = true;
    pthread_join(thread, NULL);
    if (got)
        return 0;
    return opened >= ENOUGH && refused >= ENOUGH ? EACCES : -1;
}

/* ---- attempts: the network --------------------------------------------------------------------
 */

static int try_connect(int type)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)server_port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    CLEANUP(close_fd) int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : errno_of(connect(fd, (struct sockaddr *)&address, sizeof address));
}

static int connect_tcp(void)
{
    return try_connect(SOCK_STREAM);
}

static int connect_udp(void)
{
    return try_connect(SOCK_DGRAM);
}

static int try_socket(int family, int type)
{
    CLEANUP(close_fd) int fd = socket(family, type | SOCK_CLOEXEC, 0);
    return errno_of(fd);
}

static int raw_socket(void)
{
    return try_socket(AF_INET, SOCK_RAW);
}

static int packet_socket(void)
{
    return try_socket(AF_PACKET, SOCK_DGRAM);
}

static int unix_socket(void)
{
    return try_socket(AF_UNIX, SOCK_STREAM);
}

static int netlink_socket(void)
{
    return try_socket(AF_NETLINK, SOCK_RAW);
}

static int vsock_socket(void)
{
    return try_socket(AF_VSOCK, SOCK_STREAM);
}

static int pair_of(int type)
{
    int pair[2];
    return errno_of(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair));
}

static int stream_pair(void)
{
    return pair_of(SOCK_STREAM) != 0 ? errno : pair_of(SOCK_SEQPACKET);
}

static int datagram_pair(void)
{
    return pair_of(SOCK_DGRAM);
}

static int datagram_pair_as_raw(void)
{
    return pair_of(SOCK_RAW);
}

/* ---- the rows ---------------------------------------------------------------------------------
 */

static const struct sandbox_policy nothing = {.network = SANDBOX_NETWORK_NONE},
                                   reading = {.read = inside_list},
                                   writing = {.write = inside_list,
                                              .network = SANDBOX_NETWORK_HOSTS},
                                   online = {.network = SANDBOX_NETWORK_FULL};

static const struct row rows[] = {
    {"read /etc/shadow", read_shadow, &reading, DENIED, CONTROL | ROOT},
    {"read /etc/passwd", read_passwd, &reading, DENIED, CONTROL},
    {"list /home", list_home, &reading, DENIED, CONTROL},
    {"read another process's file", read_process, &reading, DENIED, CONTROL},
    {"read outside", read_outside, &writing, DENIED, CONTROL},
    {"read outside by dots", read_by_dots, &writing, DENIED, CONTROL},
    {"read outside by /proc/self/root", read_by_root_link, &writing, DENIED, CONTROL},
    {"read outside by a link", read_by_link, &writing, DENIED, CONTROL},
    {"read outside by a race", race_links, &writing, DENIED, CONTROL},
    {"read inside", read_inside, &reading, 0, 0},
    {"read inside without the grant", read_inside, &nothing, DENIED, CONTROL},
    {"read a system file", read_library, &nothing, 0, 0},
    {"write to /dev/null", write_null, &nothing, 0, 0},
    {"write outside", write_outside, &writing, DENIED, CONTROL},
    {"create outside", make_outside, &writing, DENIED, 0},
    {"truncate outside", truncate_outside, &reading, DENIED, 0},
    {"truncate what may be read", truncate_by_reading, &reading, DENIED, 0},
    {"change a mode", chmod_outside, &reading, DENIED, 0},
    {"write inside", write_inside, &writing, 0, 0},
    {"set a mode inside", set_mode, &writing, ENOENT, 0},
    {"set the bit of the owner's rights", set_owner_bit, &writing, DENIED, ROOT},
    {"write inside when reading is granted", write_inside, &reading, DENIED, CONTROL},
    {"rename to the outside", rename_out, &writing, DENIED, 0},
    {"link from the outside", link_in, &writing, DENIED, 0},

    {"connect, TCP", connect_tcp, &writing, DENIED, CONTROL},
    {"connect, UDP", connect_udp, &nothing, DENIED, CONTROL},
    {"raw socket", raw_socket, &nothing, DENIED, CONTROL | ROOT},
    {"packet socket", packet_socket, &nothing, DENIED, 0},
    {"unix socket", unix_socket, &nothing, DENIED, CONTROL},
    {"netlink socket", netlink_socket, &nothing, DENIED, CONTROL},
    {"pair of streams", stream_pair, &nothing, 0, 0},
    {"pair of datagram sockets", datagram_pair, &nothing, DENIED, CONTROL},
    {"pair of datagram sockets, raw", datagram_pair_as_raw, &nothing, DENIED, CONTROL},
    {"online: connect, TCP", connect_tcp, &online, 0, 0},
    {"online: connect, UDP", connect_udp, &online, 0, 0},
    {"online: raw socket", raw_socket, &online, DENIED, CONTROL | ROOT},
    {"online: packet socket", packet_socket, &online, DENIED, 0},
    {"online: unix socket", unix_socket, &online, DENIED, CONTROL},
    {"online: netlink socket", netlink_socket, &online, DENIED, CONTROL},
    {"online: vsock socket", vsock_socket, &online, DENIED, 0},
};

static void check(const struct setting *setting)
{
    check_rows(setting, rows, COUNT_OF(rows));
}

static void test_attempts(void)
{
    for_users(check);
}

int main(void)
{
    SANDBOXED_MAIN("sandbox", {"files and sockets", test_attempts});
}
