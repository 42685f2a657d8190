/* SPDX-License-Identifier: MIT */
#include "sys/http/url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

static void free_handle(CURLU **handle)
{
    curl_url_cleanup(*handle);
}

static char *get_part(CURLU *handle, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl_url_get(handle, part, &text, flags) != CURLUE_OK)
        return NULL;
    char *copy = xstrdup(text);
    curl_free(text);
    return copy;
}

/* ---- loopback ------------------------------------------------------------------------------ */

static bool is_loopback_v4(uint32_t address)
{
    return address >> 24 == 127 || address == 0; /* 0.0.0.0 reaches this machine as well */
}

static bool is_loopback_v6(const struct in6_addr *address)
{
    if (IN6_IS_ADDR_V4MAPPED(address)) {
        uint32_t mapped;
        memcpy(&mapped, address->s6_addr + 12, sizeof mapped);
        return is_loopback_v4(ntohl(mapped));
    }
    return IN6_IS_ADDR_LOOPBACK(address) || IN6_IS_ADDR_UNSPECIFIED(address);
}

/* `host` is as libcurl gives it: lower case not promised, IPv6 in brackets. */
static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    size_t len = strlen(host);
    if (host[0] == '[') {
        CLEANUP(free_ptr) char *bare = xstrndup(host + 1, len - 2);
        return inet_pton(AF_INET6, bare, &v6) == 1 && is_loopback_v6(&v6);
    }
    if (inet_pton(AF_INET, host, &v4) == 1)
        return is_loopback_v4(ntohl(v4.s_addr));
    CLEANUP(free_ptr) char *name = xstrndup(host, len > 0 && host[len - 1] == '.' ? len - 1 : len);
    size_t name_len = strlen(name);
    static const char suffix[] = ".localhost";
    return strcasecmp(name, "localhost") == 0 ||
           (name_len >= sizeof suffix &&
            strcasecmp(name + name_len - (sizeof suffix - 1), suffix) == 0);
}

/* ---- parsing ------------------------------------------------------------------------------- */

/* The URL up to its path, without credentials: what a message about a bad URL may show. */
static char *showable(const char *text)
{
    size_t len = strcspn(text, "?#");
    CLEANUP(free_ptr) char *head = xstrndup(text, len);
    char *start = strstr(head, "://");
    char *host = start != NULL ? start + 3 : head;
    char *at = NULL;
    for (char *p = host; *p != '\0' && *p != '/'; p++)
        if (*p == '@')
            at = p;
    if (at == NULL)
        return TAKE(head);
    return xasprintf("%.*s%s", (int)(host - head), head, at + 1);
}

/* Fills `ret` from a parsed URL; false when it lacks a part. */
static bool fill(CURLU *handle, struct url *ret)
{
    struct url url = {.text = get_part(handle, CURLUPART_URL, 0)};
    CLEANUP(free_ptr) char *scheme = get_part(handle, CURLUPART_SCHEME, 0);
    CLEANUP(free_ptr) char *host = get_part(handle, CURLUPART_HOST, 0);
    CLEANUP(free_ptr) char *own_port = get_part(handle, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
    url.port = get_part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    curl_url_set(handle, CURLUPART_USER, NULL, 0);
    curl_url_set(handle, CURLUPART_PASSWORD, NULL, 0);
    curl_url_set(handle, CURLUPART_FRAGMENT, NULL, 0);
    url.shown = get_part(handle, CURLUPART_URL, 0);
    if (url.text == NULL || scheme == NULL || host == NULL || host[0] == '\0' || url.port == NULL ||
        url.shown == NULL) {
        url_fini(&url);
        return false;
    }
    url.is_https = strcmp(scheme, "https") == 0;
    url.is_loopback = is_loopback(host);
    url.authority = own_port != NULL ? xasprintf("%s:%s", host, own_port) : xstrdup(host);
    *ret = url;
    return true;
}

static bool is_http(CURLU *handle)
{
    CLEANUP(free_ptr) char *scheme = get_part(handle, CURLUPART_SCHEME, 0);
    return scheme != NULL && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
}

int url_parse(const char *text, struct url *ret, struct err *err)
{
    CLEANUP(free_ptr) char *shown = showable(text);
    CLEANUP(free_handle) CURLU *handle = curl_url();
    CURLUcode code = curl_url_set(handle, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code != CURLUE_OK)
        return err_set(err, ERR_INVALID, "bad URL \"%s\": %s", shown, curl_url_strerror(code));
    if (!is_http(handle) || !fill(handle, ret))
        return err_set(err, ERR_INVALID, "bad URL \"%s\": must begin with http:// or https://",
                       shown);
    return 0;
}

int url_follow(const struct url *from, const char *location, struct url *ret, struct err *err)
{
    CLEANUP(free_handle) CURLU *handle = curl_url();
    if (curl_url_set(handle, CURLUPART_URL, from->text, 0) != CURLUE_OK ||
        curl_url_set(handle, CURLUPART_URL, location, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        return err_set(err, ERR_PROTOCOL, "%s redirects to something that is no URL",
                       from->authority);
    CLEANUP(free_ptr) char *scheme = get_part(handle, CURLUPART_SCHEME, 0);
    struct url to;
    if (!is_http(handle) || !fill(handle, &to))
        return err_set(err, ERR_REFUSED, "%s redirects to the scheme \"%s\"", from->authority,
                       scheme != NULL ? scheme : "");
    if (from->is_https && !to.is_https) {
        url_fini(&to);
        return err_set(err, ERR_REFUSED, "%s redirects from https to http, which is not followed",
                       from->authority);
    }
    *ret = to;
    return 0;
}

bool url_same_origin(const struct url *a, const struct url *b)
{
    return a->is_https == b->is_https && strcasecmp(a->authority, b->authority) == 0;
}

void url_fini(struct url *url)
{
    free(url->text);
    free(url->shown);
    free(url->authority);
    free(url->port);
    *url = (struct url){.text = NULL};
}
