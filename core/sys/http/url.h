/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_HTTP_URL_H
#define GUDGEON_SYS_HTTP_URL_H

/*
 * A URL as far as the client has to understand it: who is asked, whether that is this machine,
 * and where a redirect leads. Parsed by libcurl, so that both always mean the same host.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct err;

struct url {
    char *text;      /* as it is requested, credentials included */
    char *shown;     /* without credentials and fragment: what head.url says */
    char *authority; /* HOST:PORT, for messages; HOST alone with the scheme's own port */
    char *port;
    bool is_https;
    bool is_loopback;
};

/* ERR_INVALID: not an http or https URL. The message shows neither credentials nor the query. */
int url_parse(const char *text, struct url *ret, struct err *err);
void url_fini(struct url *url);
/* Where `location`, relative or not, leads from `from`. ERR_PROTOCOL: it is no URL; ERR_REFUSED:
 * from https to http, or to another scheme. */
int url_follow(const struct url *from, const char *location, struct url *ret, struct err *err);
bool url_same_origin(const struct url *a, const struct url *b);

#endif
