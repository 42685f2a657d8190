/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "request.h"

#include <stdio.h>

/* Neighbours that become one message: user messages that stand side by side (some servers refuse
 * two in a row), images that belong to the results before them, several system messages. */
struct group {
    const char *open; /* of the message they become; NULL = the group is empty */
    struct message_entry *entries;
    size_t count;
    size_t cap;
    int parts; /* one of them has parts, so all must */
};

static const char open_user[] = ",{\"role\":\"user\",\"content\":";
static const char *const open_system[] = {
    [ROLE_SYSTEM] = ",{\"role\":\"system\",\"content\":",
    [ROLE_DEVELOPER] = ",{\"role\":\"developer\",\"content\":",
    [ROLE_USER] = open_user,
};

static void add_as_parts(const struct group *group, struct body *body)
{
    body_puts(body, "[");
    for (size_t i = 0; i < group->count; i++) {
        gudgeon_str parts = group->entries[i].parts, text = group->entries[i].text;
        if (parts.ptr != NULL) {
            size_t comma = i == 0 && parts.len > 0;
            body_add(body, (gudgeon_str){parts.ptr + comma, parts.len - comma});
        } else {
            body_puts(body, &",{\"type\":\"text\",\"text\":\""[i == 0]);
            body_add(body, text);
            body_puts(body, "\"}");
        }
    }
    body_puts(body, "]}");
}

static void add_as_text(const struct group *group, struct body *body)
{
    for (size_t i = 0; i < group->count; i++) {
        body_puts(body, i == 0 ? "\"" : "\\n\\n");
        body_add(body, group->entries[i].text);
    }
    body_puts(body, "\"}");
}

static void flush(struct group *group, struct body *body)
{
    if (group->count == 0)
        return;
    body_puts(body, group->open);
    if (group->parts)
        add_as_parts(group, body);
    else
        add_as_text(group, body);
    group->count = 0;
    group->parts = 0;
}

static void gather(struct group *group, const char *open, struct message_entry entry,
                   struct body *body)
{
    if (group->open != open)
        flush(group, body);
    group->open = open;
    if (group->count == group->cap) {
        size_t cap = group->cap * 2 + 4;
        struct message_entry *grown = realloc(group->entries, cap * sizeof *grown);
        if (grown == NULL) {
            body->failed = 1;
            return;
        }
        group->entries = grown;
        group->cap = cap;
    }
    group->parts |= entry.parts.ptr != NULL;
    group->entries[group->count++] = entry;
}

/* How one request's messages are encoded, and what the memo calls that. */
struct encoding {
    const struct request *request;
    struct message_style style; /* but for `own`, which differs from message to message */
    char variant[CONFIG_VARIANT_SIZE + 32];
    size_t variant_len; /* without the "o" at its end, which is for own messages */
};

static void init_encoding(struct encoding *encoding, const struct request *request)
{
    struct message_style style = {.dialect = &request->config->dialect,
                                  .as_text = request->as_text};
    char tools[24] = "";
    if (style.dialect->unlisted_calls == UNLISTED_TEXT && !style.as_text) {
        style.listed = request->generate;
        snprintf(tools, sizeof tools, "u%llu",
                 (unsigned long long)request->generate->tools_revision);
    }
    encoding->request = request;
    encoding->style = style;
    snprintf(encoding->variant, sizeof encoding->variant, "%s%s%so", request->config->variant,
             style.as_text ? "t" : "", tools);
    encoding->variant_len = strlen(encoding->variant) - 1;
}

static struct message_entry entry_of(struct encoding *encoding, const gudgeon_msg *msg,
                                     struct body *body)
{
    const struct request *request = encoding->request;
    encoding->style.own = msg->origin.len == request->origin.len &&
                          memcmp(msg->origin.ptr, request->origin.ptr, msg->origin.len) == 0;
    gudgeon_str variant = {encoding->variant, encoding->variant_len + (encoding->style.own != 0)};
    gudgeon_str entry = request_recall(request, GUDGEON_MEMO_MESSAGE, msg->id, variant);
    if (entry.ptr == NULL) {
        gudgeon_buf encoded = {0};
        message_encode(msg, &encoding->style, &encoded);
        entry = request_keep(request, body, GUDGEON_MEMO_MESSAGE, msg->id, variant, &encoded);
    }
    return message_split(entry);
}

static void add_message(struct encoding *encoding, const gudgeon_msg *msg, struct group *group,
                        struct body *body)
{
    struct message_entry entry = entry_of(encoding, msg, body);
    /* Images wait in the group until the last result of the turn has passed. */
    int is_result = gudgeon_is(msg->role, "tool");
    if (entry.message.ptr != NULL) {
        if (!is_result)
            flush(group, body);
        body_add(body, entry.message);
    }
    if (entry.text.ptr == NULL && entry.parts.ptr == NULL)
        return;
    int is_system = gudgeon_is(msg->role, "system");
    gather(group, is_system ? open_system[encoding->style.dialect->system_role] : open_user, entry,
           body);
}

void request_add_messages(const struct request *request, struct body *body)
{
    const gudgeon_generate *generate = request->generate;
    struct encoding encoding;
    struct group group = {0};
    size_t first = body->count;
    init_encoding(&encoding, request);
    for (uint64_t i = 0; i < generate->msg_count; i++)
        add_message(&encoding, generate->msgs[i], &group, body);
    flush(&group, body);
    free(group.entries);
    if (body->count > first) { /* the first message's comma */
        body->parts[first].ptr++;
        body->parts[first].len--;
    }
}
