/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum {
    SNIFFED = 8 << 10, /* bytes that are looked at */
    CHUNK = 64 << 10,
};

const char *content_kind(const char *bytes, size_t len)
{
    static const struct {
        const char *magic, *kind;
        size_t len;
    } kinds[] = {
        {"\x89PNG", "a PNG image", 4},
        {"\xff\xd8\xff", "a JPEG image", 3},
        {"GIF8", "a GIF image", 4},
        {"%PDF-", "a PDF document", 5},
        {"PK\x03\x04", "a ZIP archive (or an office document)", 4},
        {"\x1f\x8b", "gzip data", 2},
        {"\x28\xb5\x2f\xfd", "zstd data", 4},
        {"\xfd"
         "7zXZ",
         "xz data", 5},
        {"\x7f"
         "ELF",
         "a compiled program or library", 4},
        {"SQLite format 3", "an SQLite database", 15},
        {"\xff\xfe", "UTF-16 text", 2},
        {"\xfe\xff", "UTF-16 text", 2},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (len >= kinds[i].len && memcmp(bytes, kinds[i].magic, kinds[i].len) == 0)
            return kinds[i].kind;
    size_t sniffed = len < SNIFFED ? len : SNIFFED;
    return sniffed > 0 && memchr(bytes, '\0', sniffed) != NULL ? "binary data" : NULL;
}

size_t content_whole(const char *bytes, size_t len)
{
    for (size_t back = 1; back <= 4 && back <= len; back++)
        if ((bytes[len - back] & 0xC0) != 0x80)
            return gudgeon_utf8_len(bytes + len - back, bytes + len) == 0 ? len - back : len;
    return len;
}

int content_read(int fd, gudgeon_buf *out, size_t max)
{
    while (out->len < max) {
        size_t room = max - out->len < CHUNK ? max - out->len : CHUNK;
        if (gudgeon_buf_reserve(out, room) != 0) {
            errno = ENOMEM;
            return -1;
        }
        ssize_t got = read(fd, out->ptr + out->len, room);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        out->len += got > 0 ? (size_t)got : 0;
        out->ptr[out->len] = '\0';
    }
    return 0;
}
