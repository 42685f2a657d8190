/* SPDX-License-Identifier: MIT */
#include "agent/reply.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "base/utf8.h"
#include "data/json.h"
#include "event/intake.h"

enum {
    RAW_KEPT_BYTES = 2048,  /* of arguments that are no JSON, for whoever reads the journal */
    NAME_KEPT_BYTES = 64,   /* of a call's name in the history: what dialects take */
    NAME_MAX_BYTES = 256,   /* of the same as the model wrote it */
    LABEL_MAX_BYTES = 1024, /* of the provider's words about the reply */
};

void call_id_new(char ret[CALL_ID_SIZE])
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    unsigned char random[4 * CALL_ID_SIZE];
    size_t made = 0;
    while (made < CALL_ID_SIZE - 1) {
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
            abort();
        for (size_t i = 0; i < sizeof random && made < CALL_ID_SIZE - 1; i++)
            if (random[i] < 252) /* 7 × 36: no letter is likelier than another */
                ret[made++] = alphabet[random[i] % 36];
    }
    ret[made] = '\0';
}

/* What reading one reply needs at hand. */
struct reading {
    struct reply *reply;
    struct intake *intake;
    struct json_writer blocks;
    struct json_writer dropped;
    bool cut;
};

static bool is_blank(const struct buf *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (!isspace((unsigned char)text->data[i]))
            return false;
    return true;
}

static void write_text(struct json_writer *writer, const char *type, const struct buf *text)
{
    json_begin_object(writer);
    json_field_text(writer, "type", type);
    json_field_str(writer, "text", (gudgeon_str){text->data, text->len});
    json_end_object(writer);
}

static void read_text(struct reading *reading, struct json_object *block)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(reading->intake, json_get_str(block, "text"), &safe);
    if (!is_blank(&safe)) {
        write_text(&reading->blocks, "text", &safe);
        buf_add(&reading->reply->text, safe.data, safe.len);
    }
    buf_fini(&safe);
}

/* Reasoning of a cut reply is left out: half a thought may not be sent back. */
static void read_reasoning(struct reading *reading, struct json_object *block)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(reading->intake, json_get_str(block, "text"), &safe);
    if (!reading->cut && !is_blank(&safe))
        write_text(&reading->blocks, "reasoning", &safe);
    buf_fini(&safe);
}

static void read_refusal(struct reading *reading, struct json_object *block)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(reading->intake, json_get_str(block, "text"), &safe);
    write_text(&reading->blocks, "refusal", &safe);
    buf_add(&reading->reply->refusal, safe.data, safe.len);
    buf_fini(&safe);
    reading->reply->refused = true;
}

/* Provider data goes through untouched, byte for byte, or not at all: not of a cut reply, and not
 * with a secret in it. */
static void read_opaque(struct reading *reading, struct json_object *block)
{
    struct buf text = BUF_INIT(BUF_MAX_ANY);
    json_write(&text, block);
    bool has_secret = intake_finds_secret(reading->intake, json_get_str(block, "data")) ||
                      intake_finds_secret(reading->intake, (gudgeon_str){text.data, text.len});
    if (!reading->cut && !has_secret)
        json_add_value(&reading->blocks, block);
    buf_fini(&text);
}

/* A name that may stand in a history: every dialect refuses others. */
static char *legal_name(const char *name)
{
    char *legal = xstrndup(name, strnlen(name, NAME_KEPT_BYTES));
    for (char *p = legal; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
            *p = '_';
    if (legal[0] == '\0') {
        free(legal);
        legal = xstrdup("unnamed");
    }
    return legal;
}

static void write_call(struct json_writer *writer, const struct reply_call *call,
                       gudgeon_str wire_id, const struct buf *raw)
{
    CLEANUP(free_ptr) char *name = legal_name(call->name);
    json_begin_object(writer);
    json_field_text(writer, "type", "tool_call");
    json_field_text(writer, "id", call->id);
    json_field_str(writer, "wire_id", wire_id);
    json_field_text(writer, "name", name);
    if (strcmp(name, call->name) != 0)
        json_field_text(writer, "raw_name", call->name);
    json_field_text(writer, "arguments", call->arguments.object);
    if (!call->arguments.valid || strcmp(call->arguments.object, raw->data) != 0) {
        size_t kept = raw->len > RAW_KEPT_BYTES ? RAW_KEPT_BYTES : raw->len;
        json_field_str(writer, "raw", (gudgeon_str){raw->data, utf8_cut(raw->data, kept)});
    }
    json_end_object(writer);
}

static void read_call(struct reading *reading, struct json_object *block)
{
    struct reply *reply = reading->reply;
    struct buf name = BUF_INIT(BUF_MAX_ANY), raw = BUF_INIT(BUF_MAX_ANY),
               wire_id = BUF_INIT(BUF_MAX_ANY);
    intake_text(reading->intake, json_get_str(block, "name"), &name);
    intake_text(reading->intake, json_get_str(block, "arguments"), &raw);
    intake_text(reading->intake, json_get_str(block, "wire_id"), &wire_id);

    buf_truncate(&name, utf8_cut(name.data, name.len < NAME_MAX_BYTES ? name.len : NAME_MAX_BYTES));
    struct reply_call call = {.name = buf_take(&name)};
    call_id_new(call.id);
    arguments_read((gudgeon_str){raw.data, raw.len}, &call.arguments);
    gudgeon_str wire = {wire_id.len > 0 ? wire_id.data : NULL, wire_id.len};
    bool drop = reading->cut || reply->call_count == REPLY_CALLS_MAX;
    write_call(drop ? &reading->dropped : &reading->blocks, &call, wire, &raw);
    if (drop) {
        reply->dropped_count++;
        free(call.name);
        arguments_fini(&call.arguments);
    } else {
        reply->calls = xreallocarray(reply->calls, reply->call_count + 1, sizeof *reply->calls);
        reply->calls[reply->call_count++] = call;
    }
    buf_fini(&raw);
    buf_fini(&wire_id);
}

static const struct {
    const char *type;
    void (*read)(struct reading *reading, struct json_object *block);
} readers[] = {
    {"text", read_text},       {"reasoning", read_reasoning}, {"tool_call", read_call},
    {"refusal", read_refusal}, {"opaque", read_opaque},
};

static void read_block(struct reading *reading, struct json_object *block)
{
    gudgeon_str type = json_get_str(block, "type");
    for (size_t i = 0; i < COUNT_OF(readers); i++)
        if (str_is(type, readers[i].type))
            readers[i].read(reading, block);
}

/* No dialect takes an empty assistant turn back. */
static void fill_empty(struct reading *reading)
{
    json_begin_object(&reading->blocks);
    json_field_text(&reading->blocks, "type", "text");
    json_field_text(&reading->blocks, "text", reading->cut ? "(cut off)" : "(empty reply)");
    json_field_bool(&reading->blocks, "host", true);
    json_end_object(&reading->blocks);
}

static char *safe_copy(struct intake *intake, gudgeon_str text)
{
    struct buf safe = BUF_INIT(BUF_MAX_ANY);
    intake_text(intake, text, &safe);
    return buf_take(&safe);
}

static char *safe_label(struct intake *intake, gudgeon_str text)
{
    char *label = safe_copy(intake, text);
    label[utf8_cut(label, strnlen(label, LABEL_MAX_BYTES))] = '\0';
    return label;
}

static struct reply *reply_new(const gudgeon_reply *raw, struct intake *intake)
{
    struct reply *reply = xcalloc(1, sizeof *reply);
    buf_init(&reply->blocks, BUF_MAX_ANY);
    buf_init(&reply->dropped, BUF_MAX_ANY);
    buf_init(&reply->text, BUF_MAX_ANY);
    buf_init(&reply->refusal, BUF_MAX_ANY);
    reply->finish = raw->finish;
    reply->refused = raw->finish == GUDGEON_FINISH_REFUSAL;
    reply->finish_raw = safe_label(intake, raw->finish_raw);
    reply->response_id = safe_label(intake, raw->response_id);
    reply->served = safe_label(intake, raw->model_served);
    reply->origin = safe_copy(intake, raw->origin);
    reply->usage = usage_of_reply(raw);
    return reply;
}

int reply_read(const gudgeon_reply *raw, struct intake *intake, struct reply **ret, struct err *err)
{
    CLEANUP(json_cleanup) struct json_object *content = NULL;
    if (json_read(raw->content, &content, err) < 0 ||
        !json_object_is_type(content, json_type_array))
        return err_set(err, ERR_PROTOCOL, "the backend's reply is no array of blocks");

    struct reply *reply = reply_new(raw, intake);
    struct reading reading = {
        .reply = reply,
        .intake = intake,
        .blocks = JSON_WRITER_INIT(&reply->blocks),
        .dropped = JSON_WRITER_INIT(&reply->dropped),
        .cut = raw->finish == GUDGEON_FINISH_LENGTH,
    };
    json_begin_array(&reading.blocks);
    json_begin_array(&reading.dropped);
    for (size_t i = 0; i < json_object_array_length(content); i++)
        read_block(&reading, json_object_array_get_idx(content, i));
    reply->empty = reply->text.len == 0 && reply->call_count == 0;
    if (reply->empty && reply->refusal.len == 0)
        fill_empty(&reading);
    json_end_array(&reading.blocks);
    json_end_array(&reading.dropped);
    if (reply->dropped_count == 0)
        buf_reset(&reply->dropped);
    if (reply->blocks.len + reply->dropped.len + strlen(reply->origin) > REPLY_BYTES_MAX) {
        reply_free(reply);
        return err_set(err, ERR_LIMIT, "the reply is over %d MiB", REPLY_BYTES_MAX >> 20);
    }
    *ret = reply;
    return 0;
}

void reply_free(struct reply *reply)
{
    if (reply == NULL)
        return;
    for (size_t i = 0; i < reply->call_count; i++) {
        free(reply->calls[i].name);
        arguments_fini(&reply->calls[i].arguments);
    }
    free(reply->calls);
    buf_fini(&reply->blocks);
    buf_fini(&reply->dropped);
    buf_fini(&reply->text);
    buf_fini(&reply->refusal);
    free(reply->finish_raw);
    free(reply->response_id);
    free(reply->served);
    free(reply->origin);
    free(reply);
}

static void field_unless_empty(struct json_writer *writer, const char *key, const char *text)
{
    if (text[0] != '\0')
        json_field_text(writer, key, text);
}

void reply_write(const struct reply *reply, struct json_writer *writer)
{
    static const char *const finishes[] = {
        [GUDGEON_FINISH_STOP] = "stop",     [GUDGEON_FINISH_CALLS] = "calls",
        [GUDGEON_FINISH_LENGTH] = "length", [GUDGEON_FINISH_REFUSAL] = "refusal",
        [GUDGEON_FINISH_OTHER] = "other",
    };
    bool known = reply->finish > 0 && reply->finish < COUNT_OF(finishes);
    json_field_raw(writer, "blocks", (gudgeon_str){reply->blocks.data, reply->blocks.len});
    json_field_text(writer, "finish", known ? finishes[reply->finish] : "other");
    field_unless_empty(writer, "finish_raw", reply->finish_raw);
    field_unless_empty(writer, "origin", reply->origin);
    field_unless_empty(writer, "served", reply->served);
    field_unless_empty(writer, "response_id", reply->response_id);
    usage_write(writer, "usage", &reply->usage);
    if (reply->dropped.len > 0)
        json_field_raw(writer, "dropped", (gudgeon_str){reply->dropped.data, reply->dropped.len});
}
