/* SPDX-License-Identifier: MIT */
#ifndef OPENAI_ASSEMBLY_H
#define OPENAI_ASSEMBLY_H

/*
 * A reply put together from what a server sends: the chunks of a stream, or one whole message.
 *
 * Text is gathered as it stands in the JSON, escapes included, and only made sound when all of it
 * is there: a character that the server cut into two chunks, as bytes or as two escapes, joins
 * again, and a call's arguments reach the host as the very text that the model wrote. Listeners
 * get decoded deltas as the chunks come.
 *
 * Which call a chunk belongs to is decided in calls.c; OpenRouter's reasoning_details are merged
 * in details.c. Not thread-safe; knows nothing of HTTP.
 */

#include <gudgeon/json.h>

enum { ASSEMBLY_MAX_CALLS = 256 };

/* Text as it grows. */
struct gathered {
    gudgeon_buf raw; /* the inside of a JSON string, perhaps not sound yet */
    size_t shown;    /* bytes of `raw` that listeners had */
};

struct assembled_call {
    struct gathered arguments;
    gudgeon_buf name; /* raw, as above */
    gudgeon_buf id;
    uint64_t index; /* the server's number for it */
    int has_index;
    int announced; /* a listener knows its name */
};

struct detail {
    gudgeon_buf whole; /* the item as it came, when it came in one piece */
    size_t pieces;
    gudgeon_buf type;      /* a JSON value */
    gudgeon_buf text[3];   /* raw: what comes in pieces: text, summary, data */
    gudgeon_buf signature; /* a JSON value; the last one counts */
    gudgeon_buf others;    /* ,"key":value … */
    gudgeon_buf index;     /* a JSON number; empty = an item that is complete in itself */
};

struct assembly {
    const gudgeon_call *listener; /* gets deltas; NULL = nobody */
    struct gathered text;
    struct gathered reasoning;
    struct gathered refusal;
    struct assembled_call *calls;
    size_t call_count;
    struct detail *details;
    size_t detail_count;
    gudgeon_buf finish; /* the server's word, raw; empty = none yet */
    gudgeon_buf response_id;
    gudgeon_buf model;
    const char *reasoning_field; /* the name it came under; NULL = none came */
    uint32_t usage_known;        /* GUDGEON_USAGE_… */
    uint64_t usage[5];           /* by bit number */
    int stopped;                 /* a listener wants no more */
    int failed;                  /* too much of something */
};

void assembly_fini(struct assembly *assembly);

/* Takes one sound (lax) JSON object: a chunk of a stream or a whole response. */
void assembly_add(struct assembly *assembly, gudgeon_str object);
/* Shows listeners what was held back, and makes all texts sound. */
void assembly_settle(struct assembly *assembly);
/* Whether the server said that the reply is complete. */
int assembly_is_finished(const struct assembly *assembly);

/* For calls.c and details.c. */
void assembly_gather(struct gathered *gathered, gudgeon_str inner);
void assembly_show(struct assembly *assembly, struct gathered *gathered, gudgeon_delta *delta,
                   int all);
void assembly_add_call(struct assembly *assembly, gudgeon_str delta, size_t position);
void assembly_add_details(struct assembly *assembly, gudgeon_str items);
void assembly_write_details(const struct assembly *assembly, gudgeon_buf *out);
void assembly_free_details(struct assembly *assembly);

#endif
