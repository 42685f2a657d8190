/* SPDX-License-Identifier: MIT */
#include "agent/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "data/digest.h"
#include "data/json.h"
#include "event/event.h"

/* One message, or the place of a result that has not come yet. */
struct message {
    gudgeon_msg abi; /* its strings point into the fields below */
    const char *role;
    char *content; /* JSON array of blocks; NULL = an open place */
    char *origin;
    char *call_id; /* tool messages: which call, and the name it was called by */
    char *call_name;
    int64_t tokens; /* estimate */
};

struct memory {
    struct message **messages;
    const gudgeon_msg **view; /* the same, as memory_messages gives it; rebuilt when asked */
    size_t count, capacity;
    size_t open_calls;
    int64_t tokens;
    bool shows_reply;     /* the open model request is one whose reply belongs here */
    struct digest digest; /* over messages[0..digested): never one that may still merge */
    size_t digested;
};

struct memory *memory_new(void)
{
    struct memory *memory = xcalloc(1, sizeof *memory);
    digest_init(&memory->digest);
    return memory;
}

static void message_free(struct message *message)
{
    free(message->content);
    free(message->origin);
    free(message->call_id);
    free(message->call_name);
    free(message);
}

void memory_free(struct memory *memory)
{
    if (memory == NULL)
        return;
    for (size_t i = 0; i < memory->count; i++)
        message_free(memory->messages[i]);
    free(memory->messages);
    free(memory->view);
    free(memory);
}

/* Four bytes of ASCII to a token; other scripts come near one token a character. */
static int64_t estimate_tokens(const char *text, size_t len)
{
    int64_t ascii = 0, other = 0;
    for (size_t i = 0; i < len; i++) {
        ascii += (unsigned char)text[i] < 0x80;
        other += (unsigned char)text[i] >= 0xc0;
    }
    return ascii / 4 + other + 4; /* 4: what a message costs by itself */
}

/* Gives the message its content (taken over) and its id. */
static void settle(struct memory *memory, struct message *message, int64_t seq, char *take_content)
{
    free(message->content);
    message->content = take_content;
    size_t len = strlen(take_content);
    memory->tokens -= message->tokens;
    message->tokens = estimate_tokens(take_content, len);
    memory->tokens += message->tokens;
    message->abi = (gudgeon_msg){
        .size = sizeof message->abi,
        .id = (uint64_t)seq,
        .role = str_of(message->role),
        .content = {message->content, len},
        .origin = str_of(message->origin),
    };
}

static struct message *append(struct memory *memory, const char *role)
{
    if (memory->count == memory->capacity) {
        memory->capacity = memory->capacity ? 2 * memory->capacity : 32;
        memory->messages =
            xreallocarray(memory->messages, memory->capacity, sizeof *memory->messages);
        memory->view = xreallocarray(memory->view, memory->capacity, sizeof *memory->view);
    }
    struct message *message = xcalloc(1, sizeof *message);
    message->role = role;
    memory->messages[memory->count++] = message;
    return message;
}

static char *to_text(struct json_object *value)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_write(&text, value);
    return buf_take(&text);
}

static char *text_block(gudgeon_str text)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_array(&writer);
    json_begin_object(&writer);
    json_field_text(&writer, "type", "text");
    json_field_str(&writer, "text", text);
    json_end_object(&writer);
    json_end_array(&writer);
    return buf_take(&out);
}

/* "[a]" and "[b]" make "[a,b]". */
static char *join_arrays(const char *a, const char *b)
{
    if (strcmp(a, "[]") == 0)
        return xstrdup(b);
    if (strcmp(b, "[]") == 0)
        return xstrdup(a);
    return xasprintf("%.*s,%s", (int)strlen(a) - 1, a, b + 1);
}

static void add_user(struct memory *memory, int64_t seq, char *take_content)
{
    struct message *last = memory->count > 0 ? memory->messages[memory->count - 1] : NULL;
    if (last == NULL || strcmp(last->role, "user") != 0) {
        settle(memory, append(memory, "user"), seq, take_content);
        return;
    }
    char *joined = join_arrays(last->content, take_content);
    free(take_content);
    settle(memory, last, seq, joined);
}

static void add_system(struct memory *memory, int64_t seq, char *take_content)
{
    if (memory->count == 0 || strcmp(memory->messages[0]->role, "system") != 0) {
        struct message *message = append(memory, "system");
        memmove(memory->messages + 1, memory->messages,
                (memory->count - 1) * sizeof *memory->messages);
        memory->messages[0] = message;
    }
    settle(memory, memory->messages[0], seq, take_content);
    digest_init(&memory->digest);
    memory->digested = 0;
}

static int apply_run_started(struct memory *memory, const struct event *event, struct err *err)
{
    (void)err;
    gudgeon_str task = json_get_str(event->fields, "task");
    add_user(memory, event->record.seq, text_block(task));
    return 0;
}

/* What a message may consist of: no other content may ever be sent. */
static int check_blocks(const struct event *event, const char *key, struct err *err)
{
    if (json_object_is_type(json_get(event->fields, key), json_type_array))
        return 0;
    return err_set(err, ERR_INVALID, "%s has no %s", event->type_name, key);
}

static int apply_message_added(struct memory *memory, const struct event *event, struct err *err)
{
    gudgeon_str role = json_get_str(event->fields, "role");
    if (check_blocks(event, "blocks", err) < 0)
        return ERR_INVALID;
    char *content = to_text(json_get(event->fields, "blocks"));
    if (str_is(role, "system")) {
        add_system(memory, event->record.seq, content);
    } else if (str_is(role, "user")) {
        add_user(memory, event->record.seq, content);
    } else {
        free(content);
        return err_set(err, ERR_INVALID, "message.added has role \"%.*s\"", STR_ARG(role));
    }
    return 0;
}

static int apply_model_requested(struct memory *memory, const struct event *event, struct err *err)
{
    (void)err;
    gudgeon_str purpose = json_get_str(event->fields, "purpose");
    memory->shows_reply = str_is(purpose, "action") || str_is(purpose, "final");
    return 0;
}

static int apply_model_replied(struct memory *memory, const struct event *event, struct err *err)
{
    if (!memory->shows_reply)
        return 0;
    if (memory->open_calls > 0)
        return err_set(err, ERR_INVALID, "a reply came while a call had no result");
    if (check_blocks(event, "blocks", err) < 0)
        return ERR_INVALID;
    struct json_object *blocks = json_get(event->fields, "blocks");
    struct message *message = append(memory, "assistant");
    gudgeon_str origin = json_get_str(event->fields, "origin");
    if (origin.ptr != NULL)
        message->origin = str_dup(origin);
    settle(memory, message, event->record.seq, to_text(blocks));
    for (size_t i = 0; i < json_object_array_length(blocks); i++) {
        struct json_object *block = json_object_array_get_idx(blocks, i);
        if (!str_is(json_get_str(block, "type"), "tool_call"))
            continue;
        struct message *place = append(memory, "tool");
        place->call_id = str_dup(json_get_str(block, "id"));
        place->call_name = str_dup(json_get_str(block, "name"));
        memory->open_calls++;
    }
    return 0;
}

static char *result_block(const struct message *place, const struct event *event)
{
    struct buf out = BUF_INIT(BUF_MAX_ANY);
    struct json_writer writer = JSON_WRITER_INIT(&out);
    json_begin_array(&writer);
    json_begin_object(&writer);
    json_field_text(&writer, "type", "tool_result");
    json_field_text(&writer, "id", place->call_id);
    json_field_text(&writer, "name", place->call_name);
    json_key(&writer, "content");
    json_add_value(&writer, json_get(event->fields, "result"));
    json_field_bool(&writer, "is_error", json_get_bool(event->fields, "is_error", false));
    json_end_object(&writer);
    json_end_array(&writer);
    return buf_take(&out);
}

/* Nested calls have no place: their results belong to the code that made them. */
static int apply_call_finished(struct memory *memory, const struct event *event, struct err *err)
{
    gudgeon_str id = json_get_str(event->fields, "id");
    if (check_blocks(event, "result", err) < 0)
        return ERR_INVALID;
    for (size_t i = memory->count; i > 0 && strcmp(memory->messages[i - 1]->role, "assistant") != 0;
         i--) {
        struct message *place = memory->messages[i - 1];
        if (place->content != NULL || !str_is(id, place->call_id))
            continue;
        settle(memory, place, event->record.seq, result_block(place, event));
        memory->open_calls--;
        break;
    }
    return 0;
}

typedef int apply_fn(struct memory *memory, const struct event *event, struct err *err);

static apply_fn *const folds[EVENT_TYPE_COUNT] = {
    [EVENT_RUN_STARTED] = apply_run_started,         [EVENT_MESSAGE_ADDED] = apply_message_added,
    [EVENT_MODEL_REQUESTED] = apply_model_requested, [EVENT_MODEL_REPLIED] = apply_model_replied,
    [EVENT_CALL_FINISHED] = apply_call_finished,
};

bool memory_folds(enum event_type type)
{
    return type >= 0 && type < EVENT_TYPE_COUNT && folds[type] != NULL;
}

int memory_apply(struct memory *memory, const struct event *event, struct err *err)
{
    enum event_type type = event->record.type;
    return memory_folds(type) ? folds[type](memory, event, err) : 0;
}

int memory_messages(struct memory *memory, const gudgeon_msg *const **ret, size_t *ret_count,
                    struct err *err)
{
    if (memory->open_calls > 0)
        return err_set(err, ERR_INVALID, "%zu call(s) have no result yet", memory->open_calls);
    if (memory->count == 0 || strcmp(memory->messages[memory->count - 1]->role, "assistant") == 0)
        return err_set(err, ERR_INVALID, "the last message is the model's own");
    for (size_t i = 0; i < memory->count; i++)
        memory->view[i] = &memory->messages[i]->abi;
    *ret = memory->view;
    *ret_count = memory->count;
    return 0;
}

static void digest_message(struct digest *digest, const struct message *message)
{
    static const char head[] = "{\"role\":\"", middle[] = "\",\"content\":", tail[] = "}\n";
    digest_update(digest, head, sizeof head - 1);
    digest_update(digest, message->role, strlen(message->role));
    digest_update(digest, middle, sizeof middle - 1);
    digest_update(digest, message->content, message->abi.content.len);
    digest_update(digest, tail, sizeof tail - 1);
}

void memory_digest(struct memory *memory, char ret[65])
{
    assert(memory->open_calls == 0 && memory->count > 0);
    const struct message *last = memory->messages[memory->count - 1];
    bool may_merge = strcmp(last->role, "user") == 0;
    for (; memory->digested < memory->count - may_merge; memory->digested++)
        digest_message(&memory->digest, memory->messages[memory->digested]);
    struct digest whole = memory->digest;
    if (may_merge)
        digest_message(&whole, last);
    digest_hex(&whole, ret);
}

int64_t memory_estimate(const struct memory *memory)
{
    return memory->tokens;
}

size_t memory_open_calls(const struct memory *memory)
{
    return memory->open_calls;
}
