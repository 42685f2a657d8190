/* SPDX-License-Identifier: MIT */
/*
 * The SSE parser against itself: the same bytes in one slice and in slices whose sizes the input
 * chooses must give the same events, none over the cap, and each with its NUL.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sys/sse.h"

enum { CAP = 64 };

static void require(int truth)
{
    if (!truth)
        abort();
}

static void add_text(struct buf *out, gudgeon_str text)
{
    buf_addf(out, "%zu:", (size_t)text.len);
    buf_add(out, text.ptr, text.len);
}

/* 0, or ERR_LIMIT when an event passed the cap. */
static int push(struct sse *sse, struct buf *out, const uint8_t *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1); /* of exactly this size, for the sanitizer */
    require(copy != NULL);
    if (len > 0)
        memcpy(copy, bytes, len);
    struct sse_event event;
    int status;
    sse_push(sse, copy, len);
    while ((status = sse_next(sse, &event)) == 1) {
        require(event.data.len <= CAP && event.data.ptr[event.data.len] == '\0');
        add_text(out, event.type);
        add_text(out, event.id);
        add_text(out, event.data);
    }
    free(copy);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    struct sse whole, sliced;
    struct buf want = BUF_INIT(BUF_MAX_ANY), have = BUF_INIT(BUF_MAX_ANY);
    sse_init(&whole, CAP);
    sse_init(&sliced, CAP);
    size_t slice = (size_t)bytes[0] % 16 + 1;
    int want_status = push(&whole, &want, bytes + 1, len - 1);
    int status = 0;
    for (size_t at = 1; at < len && status == 0; at += slice)
        status = push(&sliced, &have, bytes + at, len - at < slice ? len - at : slice);
    require(status == want_status);
    require(want.len == have.len && memcmp(want.data, have.data, want.len) == 0);
    buf_fini(&want);
    buf_fini(&have);
    sse_fini(&whole);
    sse_fini(&sliced);
    return 0;
}
