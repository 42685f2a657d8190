/* SPDX-License-Identifier: MIT */
/* TLS and proxies: what the environment says, and what the options say. */
#include "http_rig.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { MAX_VARIABLES = 4 };

/* In a path and in a value, $PORT, $TLS, $DEAD and $CA stand for the server's. */
struct trust_row {
    const char *name;
    const char *environment[MAX_VARIABLES]; /* NAME=VALUE */
    const char *client_ca, *request_ca;
    const char *path;
    const char *want;
};

static const char untrusted[] =
    "unavailable: the certificate of 127.0.0.1:TLS is not trusted: unable to get local issuer "
    "certificate; name its CA's PEM file in ca_file or SSL_CERT_FILE";

static const struct trust_row tls[] = {
    {.name = "a private CA that nobody named",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = untrusted},
    {.name = "named by the client",
     .client_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "named by the request",
     .request_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "named by SSL_CERT_FILE",
     .environment = {"SSL_CERT_FILE=$CA"},
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "an empty SSL_CERT_FILE is none",
     .environment = {"SSL_CERT_FILE="},
     .path = "https://127.0.0.1:$TLS/ok",
     .want = untrusted},
    {.name = "named by both",
     .environment = {"SSL_CERT_FILE=$CA"},
     .request_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "the request's file adds to SSL_CERT_FILE",
     .environment = {"SSL_CERT_FILE=$CA"},
     .request_ca = "/etc/ssl/certs/ca-certificates.crt",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "another name than the certificate's",
     .client_ca = "$CA",
     .path = "https://other.localhost:$TLS/ok",
     .want = "unavailable: the certificate of other.localhost:TLS is not trusted: no alternative "
             "certificate subject name matches target host name 'other.localhost'"},
    {.name = "no such file",
     .request_ca = "/nowhere/ca.pem",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "invalid: the CA file \"/nowhere/ca.pem\" cannot be read: No such file or directory"},
    {.name = "no such file in the environment",
     .environment = {"SSL_CERT_FILE=/nowhere"},
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "invalid: SSL_CERT_FILE \"/nowhere\" cannot be read: No such file or directory"},
    {.name = "a directory",
     .client_ca = "/etc",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "invalid: the CA file \"/etc\" cannot be read"},
    {.name = "a bad file is no matter for http",
     .environment = {"SSL_CERT_FILE=/nowhere"},
     .path = "http://127.0.0.1:$PORT/ok",
     .want = "200 [ok] end"},
    {.name = "https to a server of plain http",
     .path = "https://127.0.0.1:$PORT/ok",
     .want = "retry: the TLS handshake with HOST failed: "},
    {.name = "cut over TLS without a close",
     .client_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/torn-chunks",
     .want = "200 [data: first\n\n] retry: the reply of 127.0.0.1:TLS was cut short"},
    {.name = "no way from https down to http",
     .client_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/redirect-to?to=http://127.0.0.1:$PORT/ok",
     .want = "refused: 127.0.0.1:TLS redirects from https to http, which is not followed"},
};

static const struct trust_row proxies[] = {
    {.name = "loopback goes past a dead proxy",
     .environment = {"http_proxy=http://127.0.0.1:$DEAD"},
     .path = "http://127.0.0.1:$PORT/ok",
     .want = "200 [ok] end"},
    {.name = "all of 127.0.0.0/8",
     .environment = {"http_proxy=http://127.0.0.1:$DEAD"},
     .path = "http://127.9.8.7:$PORT/ok",
     .want = "retry: cannot connect to 127.9.8.7:PORT: Connection refused"},
    {.name = "short forms too",
     .environment = {"http_proxy=http://127.0.0.1:$DEAD"},
     .path = "http://127.1:$PORT/ok",
     .want = "200 [ok] end"},
    {.name = "localhost",
     .environment = {"ALL_PROXY=http://127.0.0.1:$DEAD"},
     .path = "http://localhost:$PORT/ok",
     .want = "200 [ok] end"},
    {.name = "names below localhost",
     .environment = {"ALL_PROXY=http://127.0.0.1:$DEAD"},
     .path = "http://model.LocalHost:$PORT/ok",
     .want = "200 [ok] end"},
    {.name = "::1",
     .environment = {"http_proxy=http://127.0.0.1:$DEAD"},
     .path = "http://[::1]:$DEAD/ok",
     .want = "retry: cannot connect to [::1]:DEAD: "},
    {.name = "https to loopback",
     .environment = {"https_proxy=http://127.0.0.1:$DEAD"},
     .client_ca = "$CA",
     .path = "https://127.0.0.1:$TLS/ok",
     .want = "200 [ok] end"},
    {.name = "others go through it, and the message says so",
     .environment = {"http_proxy=http://127.0.0.1:$DEAD"},
     .path = "http://model.example/ok?key=sk-1",
     .want = "retry: cannot connect to model.example through the proxy 127.0.0.1:DEAD: Connection "
             "refused"},
    {.name = "https as well",
     .environment = {"HTTPS_PROXY=http://127.0.0.1:$DEAD"},
     .path = "https://model.example/ok",
     .want = "retry: cannot connect to model.example through the proxy 127.0.0.1:DEAD: Connection "
             "refused"},
    {.name = "a live proxy",
     .environment = {"http_proxy=http://127.0.0.1:$PORT"},
     .path = "http://model.example/ok",
     .want = "200 [ok] end"},
    {.name = "a proxy that refuses tunnels",
     .environment = {"https_proxy=http://127.0.0.1:$PORT"},
     .path = "https://model.example/ok",
     .want = "retry: the proxy for model.example failed: CONNECT tunnel failed, response 404"},
    {.name = "NO_PROXY by name",
     .environment = {"http_proxy=http://127.0.0.1:$PORT", "NO_PROXY=nobody.invalid"},
     .path = "http://nobody.invalid/ok",
     .want = "retry: the name of nobody.invalid cannot be found"},
    {.name = "NO_PROXY by network",
     .environment = {"http_proxy=http://127.0.0.1:$PORT", "NO_PROXY=192.0.2.0/24"},
     .path = "http://192.0.2.1:$PORT/ok",
     .want = NULL /* not the proxy's answer */},
    {.name = "not in that network",
     .environment = {"http_proxy=http://127.0.0.1:$PORT", "NO_PROXY=192.0.2.0/24"},
     .path = "http://198.51.100.1:$PORT/ok",
     .want = "200 [ok] end"},
};

static char *expand(const char *text)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    char number[16];
    if (text == NULL)
        return NULL;
    buf_add_str(&out, text);
    snprintf(number, sizeof number, "%d", rig.port);
    rig_replace(&out, "$PORT", number);
    snprintf(number, sizeof number, "%d", rig.tls_port);
    rig_replace(&out, "$TLS", number);
    snprintf(number, sizeof number, "%d", rig.dead_port);
    rig_replace(&out, "$DEAD", number);
    rig_replace(&out, "$CA", rig.ca_file);
    return buf_take(&out);
}

static void set_environment(const struct trust_row *row, bool set)
{
    for (size_t i = 0; i < MAX_VARIABLES && row->environment[i] != NULL; i++) {
        CLEANUP(free_ptr) char *variable = expand(row->environment[i]);
        char *value = strchr(variable, '=');
        *value++ = '\0';
        if (set)
            setenv(variable, value, 1);
        else
            unsetenv(variable);
    }
}

static void check_row(const struct trust_row *row)
{
    CLEANUP(free_ptr) char *client_ca = expand(row->client_ca);
    CLEANUP(free_ptr) char *request_ca = expand(row->request_ca);
    CLEANUP(free_ptr) char *path = expand(row->path);
    struct rig_row exchange = ROW(row->name, path, RIG_BYTES, row->want,
                                  .request = {.ca_file = request_ca, .connect_ms = 300});
    set_environment(row, true);
    struct http_client *client = rig_client(client_ca);
    struct buf have = BUF_INIT(BUF_MAX_ANY);
    char port[16];
    for (int again = 0; again < 2; again++) { /* a new connection, then a kept one */
        CLEANUP(free_ptr) char *text = rig_exchange(client, &exchange);
        buf_reset(&have);
        buf_add_str(&have, text);
        snprintf(port, sizeof port, ":%d", rig.port);
        rig_replace(&have, port, ":PORT");
        if (row->want == NULL) {
            CU_ASSERT_STRING_NOT_EQUAL(have.data, "200 [ok] end");
            continue;
        }
        /* What follows a colon at the end is a library's. */
        size_t len = strlen(row->want);
        if (strcmp(row->want + len - 2, ": ") == 0 && have.len > len)
            buf_truncate(&have, len);
        if (strcmp(have.data, row->want) != 0)
            printf("#   row: %s\n", row->name);
        CHECK_STR(have.data, row->want);
    }
    buf_fini(&have);
    rig.http->client_free(client);
    set_environment(row, false);
}

static void test_tls(void)
{
    for (size_t i = 0; i < COUNT_OF(tls); i++)
        check_row(&tls[i]);
}

static void test_proxies(void)
{
    for (size_t i = 0; i < COUNT_OF(proxies); i++)
        check_row(&proxies[i]);
}

static void copy_file(const char *from, const char *to)
{
    struct buf text = BUF_INIT(1 << 20);
    char block[4096];
    CLEANUP(close_fd) int in = open(from, O_RDONLY | O_CLOEXEC);
    CLEANUP(close_fd) int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (ssize_t len; (len = read(in, block, sizeof block)) > 0;)
        buf_add(&text, block, (size_t)len);
    CU_ASSERT_EQUAL(write(out, text.data, text.len), (ssize_t)text.len);
    buf_fini(&text);
}

/* A CA file that is mended while the client lives is read anew. */
static void test_ca_file_changes(void)
{
    char path[] = "/tmp/gudgeon-ca-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    CLEANUP(free_ptr) char *url = expand("https://127.0.0.1:$TLS/ok");
    struct http_client *client = rig_client(path);
    struct rig_row row = ROW("empty", url, RIG_ALL, untrusted);
    rig_check(client, &row);
    copy_file(rig.ca_file, path);
    row = (struct rig_row)ROW("mended", url, RIG_ALL, "200 [ok] end");
    rig_check(client, &row);
    rig.http->client_free(client);
    unlink(path);
}

static int run(void)
{
    UNIT_MAIN("http trust", {"certificates", test_tls}, {"proxies", test_proxies},
              {"a CA file that changes", test_ca_file_changes});
}

int main(void)
{
    static const char *const variables[] = {"SSL_CERT_FILE", "http_proxy", "https_proxy",
                                            "HTTPS_PROXY",   "ALL_PROXY",  "all_proxy",
                                            "no_proxy",      "NO_PROXY",   NULL};
    for (size_t i = 0; variables[i] != NULL; i++)
        unsetenv(variables[i]);
    rig_start();
    int status = run();
    rig_stop();
    return status;
}
