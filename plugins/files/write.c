/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <unistd.h>

#include <gudgeon/args.h>
#include <gudgeon/util.h>

#include "files.h"
#include "path.h"
#include "replace.h"

static int32_t write_content(struct files *files, const gudgeon_call *call, const struct path *path,
                             const gudgeon_buf *content)
{
    struct reason why;
    struct target target = {.path = path->text};
    target.parent_fd = path_open_parent(files, path, true, &target.name, &why);
    if (target.parent_fd < 0)
        return reply_reason(call, &why);
    int status = target_look(&target, &why);
    if (status == 0)
        status = target_replace(&target, gudgeon_buf_str(content), &why);
    close(target.parent_fd);
    if (status < 0)
        return reply_reason(call, &why);
    if (target.exists)
        return gudgeon_replyf(call, 0, "wrote %zu bytes to '%.300s', which had %lld bytes before",
                              content->len, path->text, (long long)target.old.st_size);
    return gudgeon_replyf(call, 0, "wrote %zu bytes to the new file '%.300s'", content->len,
                          path->text);
}

int32_t files_write(struct files *files, const gudgeon_call *call, gudgeon_str arguments)
{
    struct path path;
    struct reason why;
    gudgeon_buf content = {.max = files->max_bytes};
    int32_t status = gudgeon_arg_bytes(arguments, "content", &content);
    if (status == GUDGEON_LIMIT)
        status = gudgeon_replyf(call, GUDGEON_IS_ERROR,
                                "the content is over the limit of %" PRIu64
                                " bytes for one file: nothing was written",
                                files->max_bytes);
    else if (status != GUDGEON_OK)
        status = gudgeon_replyf(call, GUDGEON_IS_ERROR, "content is missing");
    else if (path_argument(files, arguments, &path, &why) < 0)
        status = reply_reason(call, &why);
    else if ((status = call_state(call)) != GUDGEON_OK)
        status = fail_state(call, status);
    else {
        pthread_mutex_lock(&files->writing);
        status = write_content(files, call, &path, &content);
        pthread_mutex_unlock(&files->writing);
    }
    gudgeon_buf_free(&content);
    return status;
}
