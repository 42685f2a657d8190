/* SPDX-License-Identifier: MIT */
#include "sys/http/fault.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "sys/http/stream.h"

enum detail {
    DETAIL_NONE,
    DETAIL_CURL,  /* libcurl's own words */
    DETAIL_ERRNO, /* the system's reason, else libcurl's words */
};

/* `before` HOST `after`: detail. */
static const struct fault {
    CURLcode curl;
    int code;
    enum detail detail;
    const char *before, *after;
} faults[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERR_RETRY, DETAIL_NONE, "the name of ", " cannot be found"},
    {CURLE_COULDNT_RESOLVE_PROXY, ERR_RETRY, DETAIL_CURL, "the proxy for ", " cannot be found"},
    {CURLE_COULDNT_CONNECT, ERR_RETRY, DETAIL_ERRNO, "cannot connect to ", ""},
    {CURLE_OPERATION_TIMEDOUT, ERR_TIMEOUT, DETAIL_NONE, "no connection to ", " in time"},
    {CURLE_PROXY, ERR_RETRY, DETAIL_CURL, "the proxy for ", " failed"},
    {CURLE_SSL_CONNECT_ERROR, ERR_RETRY, DETAIL_CURL, "the TLS handshake with ", " failed"},
    {CURLE_PEER_FAILED_VERIFICATION, ERR_UNAVAILABLE, DETAIL_CURL, "the certificate of ",
     " is not trusted"},
    {CURLE_SSL_ISSUER_ERROR, ERR_UNAVAILABLE, DETAIL_CURL, "the certificate of ",
     " is not trusted"},
    {CURLE_SSL_CACERT_BADFILE, ERR_INVALID, DETAIL_CURL, "the CA file for ", " is unusable"},
    {CURLE_SSL_CERTPROBLEM, ERR_UNAVAILABLE, DETAIL_CURL, "", " wants a client certificate"},
    {CURLE_SEND_ERROR, ERR_RETRY, DETAIL_ERRNO, "", " closed the connection before it answered"},
    {CURLE_GOT_NOTHING, ERR_RETRY, DETAIL_NONE, "", " closed the connection before it answered"},
    {CURLE_RECV_ERROR, ERR_RETRY, DETAIL_ERRNO, "the reply of ", " was cut short"},
    {CURLE_PARTIAL_FILE, ERR_RETRY, DETAIL_NONE, "the reply of ", " was cut short"},
    {CURLE_HTTP2, ERR_RETRY, DETAIL_CURL, "the HTTP/2 connection to ", " failed"},
    {CURLE_HTTP2_STREAM, ERR_RETRY, DETAIL_CURL, "the reply of ", " was cut short"},
    {CURLE_BAD_CONTENT_ENCODING, ERR_PROTOCOL, DETAIL_CURL, "the reply of ", " cannot be decoded"},
    {CURLE_WRITE_ERROR, ERR_PROTOCOL, DETAIL_CURL, "the reply of ", " cannot be decoded"},
    {CURLE_WEIRD_SERVER_REPLY, ERR_PROTOCOL, DETAIL_CURL, "", " does not answer in HTTP"},
    {CURLE_UNSUPPORTED_PROTOCOL, ERR_PROTOCOL, DETAIL_CURL, "", " does not answer in HTTP"},
    {CURLE_URL_MALFORMAT, ERR_INVALID, DETAIL_NONE, "the URL of ", " is malformed"},
};

static const struct fault *find_fault(CURLcode code)
{
    static const struct fault unknown = {.code = ERR_UNAVAILABLE,
                                         .detail = DETAIL_CURL,
                                         .before = "the exchange with ",
                                         .after = " failed"};
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        if (faults[i].curl == code)
            return &faults[i];
    return &unknown;
}

/* libcurl's words without their usual heads. */
static const char *curl_words(const struct http_stream *stream, CURLcode code)
{
    static const char *const heads[] = {
        "SSL certificate problem: ", "SSL: ", "Error while processing content unencoding: "};
    const char *words = stream->curl_error;
    if (words[0] == '\0')
        return curl_easy_strerror(code);
    for (size_t i = 0; i < COUNT_OF(heads); i++)
        if (strncmp(words, heads[i], strlen(heads[i])) == 0)
            return words + strlen(heads[i]);
    return words;
}

static const char *system_reason(const struct http_stream *stream, char *out, size_t size)
{
    long number = 0;
    curl_easy_getinfo(stream->easy, CURLINFO_OS_ERRNO, &number);
    return number != 0 ? strerror_r((int)number, out, size) : NULL;
}

/* The address that was tried, where it says more than the host does: a name's, or a proxy's. */
static void format_address(const struct http_stream *stream, char *out, size_t size)
{
    const char *tried = stream->tried_address, *host = stream->url.authority;
    out[0] = '\0';
    if (tried == NULL || strncmp(tried, host, strlen(host)) == 0)
        return;
    const char *colon = strrchr(tried, ':');
    bool is_proxy = colon != NULL && strcmp(colon + 1, stream->url.port) != 0;
    snprintf(out, size, is_proxy ? " through the proxy %s" : " (%s)", tried);
}

/* A cut is another thing within the reply than before it. */
static CURLcode refine(const struct http_stream *stream, CURLcode code)
{
    if (code != CURLE_RECV_ERROR || stream->phase == STREAM_RECEIVING)
        return code;
    /* Before the request can be sent only a proxy's answer is received. */
    return stream->phase == STREAM_CONNECTING ? CURLE_PROXY : CURLE_SEND_ERROR;
}

static const char *advice(const struct http_stream *stream, CURLcode code)
{
    bool is_unknown_ca =
        code == CURLE_PEER_FAILED_VERIFICATION &&
        strncmp(stream->curl_error, "SSL certificate", strlen("SSL certificate")) == 0;
    return is_unknown_ca ? "; name its CA's PEM file in ca_file or SSL_CERT_FILE" : "";
}

void fault_describe(struct http_stream *stream, CURLcode code)
{
    const struct fault *fault = find_fault(refine(stream, code));
    char reason[128], address[128] = "";
    const char *detail = NULL;
    if (fault->detail == DETAIL_ERRNO)
        detail = system_reason(stream, reason, sizeof reason);
    if (detail == NULL && fault->detail != DETAIL_NONE)
        detail = curl_words(stream, code);
    if (code == CURLE_COULDNT_CONNECT)
        format_address(stream, address, sizeof address);
    stream_set_failure(stream, fault->code, "%s%s%s%s%s%s%s", fault->before, stream->url.authority,
                       fault->after, address, detail != NULL ? ": " : "",
                       detail != NULL ? detail : "", advice(stream, code));
}

void fault_format_ms(int64_t ms, char out[32])
{
    if (ms % 1000 == 0)
        snprintf(out, 32, "%" PRId64 " s", ms / 1000);
    else
        snprintf(out, 32, "%" PRId64 " ms", ms);
}
