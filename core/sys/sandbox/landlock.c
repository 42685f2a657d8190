/* SPDX-License-Identifier: MIT */

/*
 * Landlock: the file system by an allow-list, and what later kernels add. The constants are our
 * own, because the kernel's header may be older than the kernel; names and values are those of
 * linux/landlock.h. "ABI n" in the comments is the first that has a right.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "sys/sandbox.h"
#include "sys/sandbox/parts.h"

enum {
    CREATE_VERSION = 1 << 0, /* landlock_create_ruleset: only say the ABI */
    RULE_PATH_BENEATH = 1,
};

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_CHAR = 1 << 6,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    MAKE_SOCK = 1 << 9,
    MAKE_FIFO = 1 << 10,
    MAKE_BLOCK = 1 << 11,
    MAKE_SYM = 1 << 12,
    REFER = 1 << 13,     /* ABI 2; before it nothing moves between directories */
    TRUNCATE = 1 << 14,  /* ABI 3 */
    IOCTL_DEV = 1 << 15, /* ABI 5 */

    ACCESS_ABI_1 = (1 << 13) - 1,
    OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV,

    READ = READ_FILE | READ_DIR,
    WRITE = READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG |
            MAKE_SOCK | MAKE_FIFO | MAKE_SYM | REFER,
    DEVICE = READ_FILE | WRITE_FILE,
};

enum {
    BIND_TCP = 1 << 0, /* ABI 4, both */
    CONNECT_TCP = 1 << 1,
    SCOPE_ABSTRACT_UNIX = 1 << 0, /* ABI 6, both */
    SCOPE_SIGNAL = 1 << 1,
};

/* The kernel takes it from an older caller and, with zeros at the end, from a newer one. */
struct ruleset {
    uint64_t access_fs;
    uint64_t access_net;
    uint64_t scoped;
};

struct path_beneath {
    uint64_t access;
    int32_t fd;
} __attribute__((packed));

struct grant {
    const char *path;
    unsigned access;
};

/* Where libraries, their data and their odds and ends are. Absent ones are passed over. */
static const struct grant system_grants[] = {
    {"/usr", READ},           {"/lib", READ},
    {"/lib32", READ},         {"/lib64", READ},
    {"/libx32", READ},        {"/etc/ld.so.cache", READ},
    {"/etc/localtime", READ}, {"/usr/share/zoneinfo", READ}, /* can be a link out of /usr */
    {"/dev/null", DEVICE},    {"/dev/zero", DEVICE},
    {"/dev/full", DEVICE},    {"/dev/random", READ},
    {"/dev/urandom", READ},
};

/* What finding a host by its name and trusting it takes. */
static const struct grant network_grants[] = {
    {"/etc/resolv.conf", READ},
    {"/run/systemd/resolve", READ}, /* what that is a link to is replaced now and then */
    {"/etc/hosts", READ},
    {"/etc/host.conf", READ},
    {"/etc/nsswitch.conf", READ},
    {"/etc/gai.conf", READ},
    {"/etc/services", READ},
    {"/etc/protocols", READ},
    {"/etc/ssl", READ},
    {"/etc/pki", READ},
    {"/etc/ca-certificates", READ},
};

struct landlock {
    int ruleset;
    uint64_t access_fs; /* what this ABI knows */
};

/* ---- rules -----------------------------------------------------------------------------------
 */

static int add(const struct landlock *landlock, int fd, unsigned access)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    if (!S_ISDIR(st.st_mode))
        access &= OF_FILES;
    struct path_beneath rule = {.access = access & landlock->access_fs, .fd = fd};
    if (rule.access == 0)
        return 0;
    return (int)syscall(SYS_landlock_add_rule, landlock->ruleset, RULE_PATH_BENEATH, &rule, 0);
}

static int allow(const struct landlock *landlock, struct grant grant, struct err *err)
{
    CLEANUP(close_fd) int fd = open(grant.path, O_PATH | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, ERR_NOT_FOUND, "cannot grant \"%s\": it does not exist", grant.path);
    if (fd < 0 || add(landlock, fd, grant.access) < 0)
        return err_set_errno(err, errno, "cannot grant \"%s\"", grant.path);
    return 0;
}

/* What is not there, or not for us, cannot be read anyway. */
static void allow_known(const struct landlock *landlock, const struct grant *grants, size_t count)
{
    for (size_t i = 0; i < count; i++)
        allow(landlock, grants[i], NULL);
}

static int allow_all(const struct landlock *landlock, const char *const *paths, unsigned access,
                     struct err *err)
{
    int status = 0;
    for (; paths != NULL && *paths != NULL && status == 0; paths++)
        status = allow(landlock, (struct grant){*paths, access}, err);
    return status;
}

/* The dynamic loader as this program names it. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *ret)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_INTERP)
            *(const char **)ret = (const char *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    return 1; /* the program itself comes first */
}

static int allow_programs(const struct landlock *landlock, const struct sandbox_policy *policy,
                          struct err *err)
{
    const char *loader = NULL;
    if (policy->exec == SANDBOX_EXEC_NONE)
        return 0;
    if (policy->exec == SANDBOX_EXEC_ALL)
        return allow(landlock, (struct grant){"/", EXECUTE}, err);
    dl_iterate_phdr(find_loader, &loader);
    if (loader != NULL)
        allow(landlock, (struct grant){loader, EXECUTE | READ_FILE}, NULL);
    return allow_all(landlock, policy->programs, EXECUTE | READ_FILE, err);
}

static int allow_policy(const struct landlock *landlock, const struct sandbox_policy *policy,
                        struct err *err)
{
    const char *const tmp[] = {policy->tmp, NULL};
    allow_known(landlock, system_grants, COUNT_OF(system_grants));
    if (is_sanitised)
        allow(landlock, (struct grant){"/proc/self", READ}, NULL);
    if (policy->network == SANDBOX_NETWORK_FULL)
        allow_known(landlock, network_grants, COUNT_OF(network_grants));
    int status = allow_all(landlock, policy->read, READ, err);
    if (status == 0)
        status = allow_all(landlock, policy->write, WRITE, err);
    if (status == 0)
        status = allow_all(landlock, tmp, WRITE, err);
    return status == 0 ? allow_programs(landlock, policy, err) : status;
}

/* ---- the ruleset ------------------------------------------------------------------------------
 */

/* What an ABI can hold back. */
static struct ruleset ruleset_of(int abi, const struct sandbox_policy *policy)
{
    struct ruleset rules = {.access_fs = ACCESS_ABI_1};
    rules.access_fs |= abi >= 2 ? REFER : 0;
    rules.access_fs |= abi >= 3 ? TRUNCATE : 0;
    rules.access_fs |= abi >= 5 ? IOCTL_DEV : 0;
    if (abi >= 4 && policy->network != SANDBOX_NETWORK_FULL)
        rules.access_net = BIND_TCP | CONNECT_TCP;
    if (abi >= 6)
        rules.scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL;
    return rules;
}

/* A kernel without it, with it turned off, or a filter around us that does not let it through. */
static bool is_absent(int errnum)
{
    return errnum == ENOSYS || errnum == EOPNOTSUPP || errnum == EPERM || errnum == EACCES;
}

static int find_abi(const struct sandbox_policy *policy)
{
    int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_VERSION);
    return policy->landlock_max > 0 && abi > policy->landlock_max ? policy->landlock_max : abi;
}

int landlock_apply(const struct sandbox_policy *policy, int *ret_abi, struct err *err)
{
    int abi = find_abi(policy);
    *ret_abi = 0;
    if (abi <= 0)
        return 0;
    struct ruleset rules = ruleset_of(abi, policy);
    CLEANUP(close_fd)
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    struct landlock landlock = {.ruleset = fd, .access_fs = rules.access_fs};
    if (fd < 0)
        return is_absent(errno) ? 0 : err_set_errno(err, errno, "cannot create a ruleset");
    int status = allow_policy(&landlock, policy, err);
    if (status < 0)
        return status;
    if (syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        return is_absent(errno) ? 0 : err_set_errno(err, errno, "cannot enter the sandbox");
    *ret_abi = abi;
    return 0;
}
