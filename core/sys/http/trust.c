/* SPDX-License-Identifier: MIT */
#include "sys/http/trust.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"

enum {
    MAX_BUNDLE_BYTES = 16 << 20,
    MAX_SOURCES = 3, /* the system's, the client's, the request's */
};

/* A file as it was when it was read. */
struct source {
    char *path; /* NULL = none */
    struct stat stat;
};

/* One joined file. Never closed before the client: its path may be the key of libcurl's store. */
struct bundle {
    struct bundle *next;
    struct source sources[MAX_SOURCES];
    int fd;
    char *path;
};

struct trust {
    char *system_bundle;
    char *ca_file;
    const char *ca_file_origin; /* what messages call it */
    struct bundle *bundles;
};

static char *find_system_bundle(void)
{
    char *path = NULL;
    CURL *easy = curl_easy_init();
    if (easy != NULL)
        curl_easy_getinfo(easy, CURLINFO_CAINFO, &path);
    char *copy = path != NULL && access(path, R_OK) == 0 ? xstrdup(path) : NULL;
    curl_easy_cleanup(easy);
    return copy;
}

struct trust *trust_new(const char *ca_file)
{
    struct trust *trust = xcalloc(1, sizeof *trust);
    const char *from_environment = getenv("SSL_CERT_FILE");
    trust->system_bundle = find_system_bundle();
    trust->ca_file_origin = "the CA file";
    if (ca_file == NULL && from_environment != NULL && from_environment[0] != '\0') {
        ca_file = from_environment;
        trust->ca_file_origin = "SSL_CERT_FILE";
    }
    trust->ca_file = ca_file != NULL ? xstrdup(ca_file) : NULL;
    return trust;
}

static void free_bundle(struct bundle *bundle)
{
    for (size_t i = 0; i < MAX_SOURCES; i++)
        free(bundle->sources[i].path);
    close_fd(&bundle->fd);
    free(bundle->path);
    free(bundle);
}

void trust_free(struct trust *trust)
{
    for (struct bundle *next, *bundle = trust->bundles; bundle != NULL; bundle = next) {
        next = bundle->next;
        free_bundle(bundle);
    }
    free(trust->system_bundle);
    free(trust->ca_file);
    free(trust);
}

const char *trust_system_bundle(const struct trust *trust)
{
    return trust->system_bundle;
}

/* ---- sources ------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_source(const struct source *a, const struct source *b)
{
    if (a->path == NULL || b->path == NULL)
        return a->path == b->path;
    return strcmp(a->path, b->path) == 0 && same_file(&a->stat, &b->stat) &&
           a->stat.st_size == b->stat.st_size && a->stat.st_mtim.tv_sec == b->stat.st_mtim.tv_sec &&
           a->stat.st_mtim.tv_nsec == b->stat.st_mtim.tv_nsec;
}

/* Adds a file to the bundle's sources, unless it stands there already. */
static int add_source(struct bundle *bundle, const char *path, const char *origin, struct err *err)
{
    struct stat stat_now;
    if (path == NULL)
        return 0;
    if (stat(path, &stat_now) < 0) {
        err_set_errno(err, errno, "%s \"%s\" cannot be read", origin, path);
        if (err != NULL)
            err->code = ERR_INVALID;
        return ERR_INVALID;
    }
    size_t at = 0;
    for (; at < MAX_SOURCES && bundle->sources[at].path != NULL; at++)
        if (same_file(&bundle->sources[at].stat, &stat_now))
            return 0;
    bundle->sources[at] = (struct source){xstrdup(path), stat_now};
    return 0;
}

static int append_file(int to_fd, const char *path)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    char block[16384];
    ssize_t len = -1;
    off_t total = 0;
    while (fd >= 0 && (len = read(fd, block, sizeof block)) > 0)
        if ((total += len) > MAX_BUNDLE_BYTES || write(to_fd, block, (size_t)len) != len)
            return -1;
    /* A certificate file may lack its last line end. */
    return len < 0 || write(to_fd, "\n", 1) != 1 ? -1 : 0;
}

static int join(struct bundle *bundle, struct err *err)
{
    bundle->fd = memfd_create("gudgeon-ca", MFD_CLOEXEC);
    if (bundle->fd < 0)
        return err_set_errno(err, errno, "cannot join the CA files");
    for (size_t i = 0; i < MAX_SOURCES && bundle->sources[i].path != NULL; i++)
        if (append_file(bundle->fd, bundle->sources[i].path) < 0)
            return err_set(err, ERR_INVALID, "the CA file \"%s\" cannot be read",
                           bundle->sources[i].path);
    bundle->path = xasprintf("/proc/self/fd/%d", bundle->fd);
    return 0;
}

/* ---- bundles ------------------------------------------------------------------------------- */

static struct bundle *find_bundle(const struct trust *trust, const struct bundle *like)
{
    for (struct bundle *bundle = trust->bundles; bundle != NULL; bundle = bundle->next) {
        size_t same = 0;
        while (same < MAX_SOURCES && same_source(&bundle->sources[same], &like->sources[same]))
            same++;
        if (same == MAX_SOURCES)
            return bundle;
    }
    return NULL;
}

int trust_path(struct trust *trust, const char *ca_file, const char **ret, struct err *err)
{
    if (trust->ca_file == NULL && ca_file == NULL) {
        *ret = NULL;
        return 0;
    }
    struct bundle *bundle = xcalloc(1, sizeof *bundle);
    bundle->fd = -1;
    int status = add_source(bundle, trust->system_bundle, "the system's CA file", err);
    if (status == 0)
        status = add_source(bundle, trust->ca_file, trust->ca_file_origin, err);
    if (status == 0)
        status = add_source(bundle, ca_file, "the CA file", err);
    struct bundle *known = status == 0 ? find_bundle(trust, bundle) : NULL;
    if (status == 0 && known == NULL)
        status = join(bundle, err);
    if (status < 0 || known != NULL) {
        free_bundle(bundle);
    } else {
        bundle->next = trust->bundles;
        trust->bundles = known = bundle;
    }
    if (status == 0)
        *ret = known->path;
    return status;
}
