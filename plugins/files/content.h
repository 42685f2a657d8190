/* SPDX-License-Identifier: MIT */
#ifndef FILES_CONTENT_H
#define FILES_CONTENT_H

/*
 * What is in a file: reading all of it, and telling text from the rest.
 */

#include <stddef.h>

#include "files.h"

/* What a file that begins with these bytes is, when it is no text ("a PNG image", "binary data");
 * NULL for text. */
const char *content_kind(const char *bytes, size_t len);
/* `len`, or less by the beginning of a character that `len` cuts. */
size_t content_whole(const char *bytes, size_t len);
/* Reads on to the end of the file, or until `out` holds `max` bytes. 0, or -1 with errno. */
int content_read(int fd, gudgeon_buf *out, size_t max);

#endif
