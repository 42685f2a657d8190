/* SPDX-License-Identifier: MIT */
/*
 * The floor that `make bench` measures gudgeon against: a bare libcurl program that makes the same
 * exchanges. It posts the bodies that it is given as files, one after another on one connection,
 * reads each reply to its end, and does nothing else.
 *
 * usage: floor URL BODY…
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t discard(char *data, size_t size, size_t count, void *payload)
{
    (void)data;
    *(size_t *)payload += size * count;
    return size * count;
}

static char *read_file(const char *path, long *ret_len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    *ret_len = ftell(file);
    rewind(file);
    char *text = malloc((size_t)*ret_len + 1);
    if (text != NULL && fread(text, 1, (size_t)*ret_len, file) != (size_t)*ret_len) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, "Accept: text/event-stream");
    headers = curl_slist_append(headers, "Expect:");
    size_t received = 0;
    curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &received);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    int code = 0;
    for (int i = 2; i < argc && code == 0; i++) {
        long len = 0;
        char *body = read_file(argv[i], &len);
        if (body == NULL)
            return 2;
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        code = curl_easy_perform(curl) != CURLE_OK;
        free(body);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    curl_global_cleanup();
    return code || received == 0;
}
