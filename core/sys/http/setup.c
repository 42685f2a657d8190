/* SPDX-License-Identifier: MIT */
#include "sys/http/setup.h"

#include <limits.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "sys/http/client.h"
#include "sys/http/receive.h"
#include "sys/http/stream.h"
#include "sys/http/trust.h"

/* Up to this size libcurl sends head and body in one piece; the body is joined for it. */
enum { SMALL_BODY_BYTES = 60 * 1024 };

/* ---- sockets ------------------------------------------------------------------------------- */

static void note_address(struct http_stream *stream, const struct curl_sockaddr *address)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    free_ptr(&stream->tried_address);
    if (getnameinfo(&address->addr, address->addrlen, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    stream->tried_address = address->family == AF_INET6 ? xasprintf("[%s]:%s", host, port)
                                                        : xasprintf("%s:%s", host, port);
}

static curl_socket_t open_socket(void *payload, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)purpose;
    struct http_stream *stream = payload;
    note_address(stream, address);
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    client_opened_socket(stream->client, fd);
    return fd;
}

static int close_socket(void *payload, curl_socket_t fd)
{
    client_closes_socket(payload, fd);
    return close(fd);
}

/* ---- what all streams share ---------------------------------------------------------------- */

static void set_callbacks(CURL *easy, struct http_client *client)
{
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
    /* A connection outlives its stream. */
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, client);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, receive_connected);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, receive_body_wanted);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, receive_body_rewind);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive_bytes);
}

void setup_handle(CURL *easy, struct http_client *client)
{
    set_callbacks(easy, client);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, client->user_agent);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* all that libcurl can decode */
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    /* A peer that is gone is noticed in a long wait, and routers keep the connection in mind. */
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    /* A name look-up cannot be stopped: a cancel leaves its thread behind. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    /* libcurl keeps the parsed store for later connections only when there is no directory. */
    if (trust_system_bundle(client->trust) != NULL) {
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, NULL);
    }
}

/* ---- headers ------------------------------------------------------------------------------- */

static const char *const client_headers[] = {"content-length", "transfer-encoding", "expect"};
/* What may follow a redirect to another origin; anything else could be a key. */
static const char *const harmless_headers[] = {"accept", "accept-language", "user-agent"};

static bool is_one_of(gudgeon_str name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (name.len == strlen(names[i]) && strncasecmp(name.ptr, names[i], name.len) == 0)
            return true;
    return false;
}

/* RFC 9110 §5.6.2: what methods and header names are made of. */
static bool is_token(gudgeon_str text)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_alnum && (c == '\0' || strchr(others, c) == NULL))
            return false;
    }
    return text.len > 0;
}

static bool is_field_value(gudgeon_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\r' || text.ptr[i] == '\n' || text.ptr[i] == '\0')
            return false;
    return true;
}

static void add_line(struct http_stream *stream, const char *line)
{
    struct curl_slist *longer = curl_slist_append(stream->headers, line);
    if (longer == NULL)
        abort(); /* out of memory */
    stream->headers = longer;
}

static int add_header(struct http_stream *stream, const gudgeon_http_header *header,
                      struct err *err)
{
    gudgeon_str name = header->name, value = header->value;
    if (!is_token(name))
        return err_set(err, ERR_INVALID, "bad header name \"%.*s\"", STR_ARG(name));
    if (!is_field_value(value))
        return err_set(err, ERR_INVALID, "the value of the header \"%.*s\" holds a line end or NUL",
                       STR_ARG(name));
    if (is_one_of(name, client_headers, COUNT_OF(client_headers)))
        return err_set(err, ERR_INVALID, "the header \"%.*s\" is set by the client itself",
                       STR_ARG(name));
    /* To libcurl "Name:" means to leave the header out; "Name;" means without a value. */
    CLEANUP(free_ptr)
    char *line = value.len > 0 ? xasprintf("%.*s: %.*s", STR_ARG(name), STR_ARG(value))
                               : xasprintf("%.*s;", STR_ARG(name));
    add_line(stream, line);
    return 0;
}

static int set_headers(struct http_stream *stream, const struct http_request *request,
                       bool is_foreign, struct err *err)
{
    bool has_type = false;
    curl_slist_free_all(stream->headers);
    stream->headers = NULL;
    add_line(stream, "Expect:"); /* else bodies over 1 MB wait a second for "100 Continue" */
    for (size_t i = 0; i < request->header_count; i++) {
        const gudgeon_http_header *header = &request->headers[i];
        if (is_foreign && !is_one_of(header->name, harmless_headers, COUNT_OF(harmless_headers)))
            continue;
        has_type = has_type || is_one_of(header->name, (const char *[]){"content-type"}, 1);
        if (add_header(stream, header, err) < 0)
            return ERR_INVALID;
    }
    if (!has_type)
        add_line(stream, "Content-Type:"); /* else libcurl says it is a form */
    curl_easy_setopt(stream->easy, CURLOPT_HTTPHEADER, stream->headers);
    return 0;
}

/* ---- method and body ----------------------------------------------------------------------- */

static size_t body_size(const struct stream_body *body)
{
    size_t size = 0;
    for (size_t i = 0; i < body->count; i++)
        size += body->parts[i].len;
    return size;
}

/* The body as POSTFIELDS when it is small, else by receive_body_wanted. */
static void set_body(struct http_stream *stream)
{
    struct stream_body *body = &stream->body;
    size_t size = body_size(body);
    const char *fields = NULL;
    body->at = body->at_offset = 0;
    if (size <= SMALL_BODY_BYTES) {
        buf_reset(&body->joined);
        for (size_t i = 0; i < body->count; i++)
            buf_add(&body->joined, body->parts[i].ptr, body->parts[i].len);
        fields = body->joined.data;
        body->at = body->count;
    }
    curl_easy_setopt(stream->easy, CURLOPT_POST, 1L);
    curl_easy_setopt(stream->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    curl_easy_setopt(stream->easy, CURLOPT_POSTFIELDS, fields);
}

/* RFC 9110 §9.2.2 */
static const char *const idempotent[] = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};

static int set_method(struct http_stream *stream, const struct http_request *request,
                      struct err *err)
{
    CURL *easy = stream->easy;
    bool has_body = request->body_count > 0;
    const char *method = request->method != NULL ? request->method : has_body ? "POST" : "GET";
    if (!is_token(str_of(method)))
        return err_set(err, ERR_INVALID, "bad method \"%s\"", method);
    stream->is_idempotent = is_one_of(str_of(method), idempotent, COUNT_OF(idempotent));
    bool is_get = strcmp(method, "GET") == 0, is_head = strcmp(method, "HEAD") == 0;
    if (has_body || (!is_get && !is_head)) {
        set_body(stream);
    } else {
        stream->body.at = stream->body.count;
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        if (is_head)
            curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    }
    bool is_plain = is_head || strcmp(method, has_body ? "POST" : "GET") == 0;
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, is_plain ? NULL : method);
    return 0;
}

/* ---- the rest of a request ----------------------------------------------------------------- */

static int set_trust(struct http_stream *stream, const struct http_request *request,
                     struct err *err)
{
    const char *path = NULL;
    if (!stream->url.is_https)
        return 0;
    if (trust_path(stream->client->trust, request->ca_file, &path, err) < 0)
        return ERR_INVALID;
    if (path == NULL)
        path = trust_system_bundle(stream->client->trust);
    curl_easy_setopt(stream->easy, CURLOPT_CAINFO, path);
    curl_easy_setopt(stream->easy, CURLOPT_PROXY_CAINFO, path);
    return 0;
}

/* The stream's own limit ends the wait; libcurl shares this one out among the addresses of a name,
 * so it must be of the same size. */
static long curl_connect_ms(int64_t connect_ms)
{
    enum { MARGIN_MS = 1000 };
    return connect_ms < INT_MAX - MARGIN_MS ? (long)connect_ms + MARGIN_MS : INT_MAX;
}

int setup_request(struct http_stream *stream, const struct http_request *request, bool is_foreign,
                  struct err *err)
{
    CURL *easy = stream->easy;
    if (set_headers(stream, request, is_foreign, err) < 0 || set_method(stream, request, err) < 0 ||
        set_trust(stream, request, err) < 0)
        return ERR_INVALID;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, stream);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, stream);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, stream);
    curl_easy_setopt(easy, CURLOPT_READDATA, stream);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, stream);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, stream);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, stream);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, stream->curl_error);
    curl_easy_setopt(easy, CURLOPT_URL, stream->url.text);
    /* Loopback never goes through a proxy; NULL leaves it to the environment, as curl reads it. */
    curl_easy_setopt(easy, CURLOPT_PROXY, stream->url.is_loopback ? "" : NULL);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, curl_connect_ms(stream->connect_ms));
    return 0;
}
