/* SPDX-License-Identifier: MIT */
#include "event/tail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "event/journal.h"

enum { FIRST_WINDOW = 16 << 10 };

int tail_read(int fd, char *bytes, size_t len, int64_t offset, struct err *err)
{
    while (len > 0) {
        ssize_t n = pread(fd, bytes, len, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, "cannot read the journal");
        if (n == 0)
            return err_set(err, ERR_IO, "the journal became shorter while it was read");
        bytes += n;
        len -= (size_t)n;
        offset += n;
    }
    return 0;
}

/* Puts as much of the file before the text as there is text, at least FIRST_WINDOW. */
static int load(struct tail *tail, size_t *ret_loaded, struct err *err)
{
    size_t more = tail->left > FIRST_WINDOW ? tail->left : FIRST_WINDOW;
    if ((int64_t)more > tail->from)
        more = (size_t)tail->from;
    if (tail->left > JOURNAL_MAX_LINE)
        return err_set(err, ERR_LIMIT, "a line over %d MiB", JOURNAL_MAX_LINE >> 20);
    buf_truncate(&tail->text, tail->left);
    buf_reserve(&tail->text, more);
    memmove(tail->text.data + more, tail->text.data, tail->left);
    tail->text.len = more + tail->left;
    tail->text.data[tail->text.len] = '\0';
    tail->from -= (int64_t)more;
    tail->left += more;
    *ret_loaded = more;
    return tail_read(tail->fd, tail->text.data, more, tail->from, err);
}

int tail_init(struct tail *tail, int fd, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return err_set_errno(err, errno, "cannot read the journal");
    *tail = (struct tail){
        .fd = fd, .size = st.st_size, .from = st.st_size, .text = BUF_INIT(BUF_MAX_ANY)};
    return 0;
}

void tail_fini(struct tail *tail)
{
    buf_fini(&tail->text);
}

int tail_previous(struct tail *tail, gudgeon_str *ret, int64_t *ret_offset, struct err *err)
{
    if (tail->finished)
        return 0;
    size_t unsearched = tail->left;
    const char *newline;
    while ((newline = memrchr(tail->text.data, '\n', unsearched)) == NULL && tail->from > 0) {
        int status = load(tail, &unsearched, err);
        if (status < 0)
            return status;
    }
    size_t start = newline != NULL ? (size_t)(newline - tail->text.data) + 1 : 0;
    *ret = (gudgeon_str){tail->text.data + start, tail->left - start};
    *ret_offset = tail->from + (int64_t)start;
    tail->left = newline != NULL ? start - 1 : 0;
    tail->finished = newline == NULL;
    return 1;
}
