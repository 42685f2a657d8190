/* SPDX-License-Identifier: MIT */
#include "assembly.h"

/*
 * Which call a piece belongs to.
 *
 * The rule of the protocol: each piece has the call's `index`, the first also its id and name.
 * What servers do besides: leave `index` out, or send 0 for every call; repeat id and name in
 * every piece, or send them empty; make up another id for every piece; use one id for two calls.
 * So a piece continues a call of the same index, by preference one of the same id, unless it
 * shows that another has begun. Only a piece with a name can: when it brings arguments although the
 * call before has all of its own, when its id is another, or when pieces stand side by side in one
 * chunk with nothing else to tell them apart.
 */

struct piece {
    gudgeon_str id;        /* raw; empty = absent */
    gudgeon_str name;      /* raw; empty = absent */
    gudgeon_str arguments; /* raw; empty = absent */
    uint64_t index;
    int has_index;
};

enum { DELTA_ID, DELTA_INDEX, DELTA_FUNCTION, DELTA_CUSTOM, DELTA_FIELDS };

static const char *const delta_fields[DELTA_FIELDS] = {
    [DELTA_ID] = "id",
    [DELTA_INDEX] = "index",
    [DELTA_FUNCTION] = "function",
    [DELTA_CUSTOM] = "custom",
};

/* Where name and arguments stand: a level deeper, except in the oldest form. */
static gudgeon_str body_of(gudgeon_str delta, const gudgeon_str *fields)
{
    if (gudgeon_json_kind(fields[DELTA_CUSTOM]) == '{')
        return fields[DELTA_CUSTOM];
    return gudgeon_json_kind(fields[DELTA_FUNCTION]) == '{' ? fields[DELTA_FUNCTION] : delta;
}

static struct piece read_piece(gudgeon_str delta, gudgeon_buf *quoted)
{
    gudgeon_str fields[DELTA_FIELDS];
    gudgeon_json_pick(delta, delta_fields, DELTA_FIELDS, fields);
    gudgeon_str body = body_of(delta, fields);
    gudgeon_str arguments = gudgeon_json_get(body, "arguments");
    if (arguments.ptr == NULL)
        arguments = gudgeon_json_get(body, "input");
    struct piece piece = {
        .id = gudgeon_json_inner(fields[DELTA_ID]),
        .name = gudgeon_json_inner(gudgeon_json_get(body, "name")),
        .arguments = gudgeon_json_inner(arguments),
    };
    piece.has_index = gudgeon_json_u64(fields[DELTA_INDEX], &piece.index);
    if (gudgeon_json_kind(arguments) == '{') { /* an object where its text is due */
        gudgeon_buf_escape(quoted, arguments);
        piece.arguments = gudgeon_buf_str(quoted);
    }
    return piece;
}

static int same(const gudgeon_buf *buf, gudgeon_str text)
{
    return buf->len == text.len && (text.len == 0 || memcmp(buf->ptr, text.ptr, text.len) == 0);
}

static int is_blank(gudgeon_str raw)
{
    uint64_t i = 0;
    while (i < raw.len) {
        if (raw.ptr[i] == ' ')
            i++;
        else if (raw.ptr[i] == '\\' && i + 1 < raw.len && strchr("nrt", raw.ptr[i + 1]) != NULL)
            i += 2;
        else
            return 0;
    }
    return 1;
}

/* Whether the arguments are one whole object. */
static int has_all_arguments(const struct assembled_call *call)
{
    gudgeon_buf text = {0};
    gudgeon_json_decode(gudgeon_buf_str(&call->arguments.raw), &text);
    gudgeon_str decoded = gudgeon_buf_str(&text);
    int all = gudgeon_json_scan(decoded, GUDGEON_JSON_LAX) == GUDGEON_JSON_SOUND &&
              gudgeon_json_kind(gudgeon_json_root(decoded)) == '{';
    gudgeon_buf_free(&text);
    return all;
}

static int begins_another(const struct assembled_call *call, const struct piece *piece,
                          size_t position)
{
    if (piece->name.len == 0)
        return 0;
    if (!is_blank(piece->arguments) && has_all_arguments(call))
        return 1;
    if (piece->id.len > 0 && call->id.len > 0)
        return !same(&call->id, piece->id);
    return position > 0 && piece->id.len == 0 && !piece->has_index;
}

static struct assembled_call *find_call(struct assembly *assembly, const struct piece *piece,
                                        size_t position)
{
    struct assembled_call *newest = NULL;
    for (size_t i = assembly->call_count; i > 0; i--) {
        struct assembled_call *call = &assembly->calls[i - 1];
        if (piece->has_index && call->has_index && piece->index != call->index)
            continue;
        int is_same = piece->id.len > 0 && same(&call->id, piece->id);
        if (newest == NULL || is_same)
            newest = call;
        if (is_same)
            break;
    }
    return newest != NULL && begins_another(newest, piece, position) ? NULL : newest;
}

static struct assembled_call *new_call(struct assembly *assembly)
{
    size_t size = (assembly->call_count + 1) * sizeof *assembly->calls;
    struct assembled_call *grown = NULL;
    if (assembly->call_count < ASSEMBLY_MAX_CALLS)
        grown = realloc(assembly->calls, size);
    if (grown == NULL) {
        assembly->failed = 1;
        return NULL;
    }
    assembly->calls = grown;
    struct assembled_call *call = &grown[assembly->call_count++];
    memset(call, 0, sizeof *call);
    return call;
}

/* A name comes whole, perhaps after the arguments; or again; or longer each time; or, before the
 * arguments, in pieces. */
static void take_name(struct assembled_call *call, gudgeon_str name)
{
    if (name.len == 0 || same(&call->name, name))
        return;
    int longer = name.len > call->name.len && call->name.len > 0 &&
                 memcmp(name.ptr, call->name.ptr, call->name.len) == 0;
    if (longer)
        gudgeon_buf_reset(&call->name);
    if (longer || call->name.len == 0 || call->arguments.raw.len == 0)
        gudgeon_buf_put(&call->name, name);
}

/* Listeners hear of a call once its name is known. */
static void show_call(struct assembly *assembly, struct assembled_call *call)
{
    if (assembly->listener == NULL || call->name.len == 0)
        return;
    gudgeon_buf name = {0};
    gudgeon_delta delta = {.size = sizeof delta, .channel = GUDGEON_ARGUMENTS};
    delta.index = (uint32_t)(call - assembly->calls);
    if (!call->announced) {
        gudgeon_json_decode(gudgeon_buf_str(&call->name), &name);
        delta.name = gudgeon_buf_str(&name);
    }
    call->announced = 1;
    assembly_show(assembly, &call->arguments, &delta, 0);
    gudgeon_buf_free(&name);
}

void assembly_add_call(struct assembly *assembly, gudgeon_str delta, size_t position)
{
    gudgeon_buf quoted = {0};
    struct piece piece = read_piece(delta, &quoted);
    struct assembled_call *call = find_call(assembly, &piece, position);
    if (call == NULL)
        call = new_call(assembly);
    if (call != NULL) {
        if (piece.has_index && !call->has_index) {
            call->index = piece.index;
            call->has_index = 1;
        }
        if (call->id.len == 0)
            gudgeon_buf_put(&call->id, piece.id);
        take_name(call, piece.name);
        assembly_gather(&call->arguments, piece.arguments);
        assembly->failed |= call->arguments.raw.failed | call->name.failed | call->id.failed;
        show_call(assembly, call);
    }
    gudgeon_buf_free(&quoted);
}
