/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_TRUST_H
#define GUDGEON_SYS_HTTP_TRUST_H

/*
 * Which certificates are trusted: the system's, and beside them those of the client's CA file
 * ($SSL_CERT_FILE where none is given) and of a request's own.
 *
 * libcurl replaces the system's store by what it is given; so the files are joined into one, in
 * memory, under a path in /proc that lives as long as the client. A path and not bytes, because
 * libcurl keeps the parsed store of a path for its next connections. A file that has changed is
 * joined anew. Used under the client's lock.
 */

struct err;
struct trust;

struct trust *trust_new(const char *ca_file); /* NULL = $SSL_CERT_FILE, if set */
void trust_free(struct trust *trust);
/* What to give libcurl as its CA file for a request with `ca_file` (may be NULL): a path that the
 * trust owns, or NULL for libcurl's own. ERR_INVALID: a file that cannot be read. */
int trust_path(struct trust *trust, const char *ca_file, const char **ret, struct err *err);
/* The system's bundle that libcurl was built with, or NULL when there is no such file. */
const char *trust_system_bundle(const struct trust *trust);

#endif
