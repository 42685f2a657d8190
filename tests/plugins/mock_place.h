/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_TESTS_MOCK_PLACE_H
#define GUDGEON_TESTS_MOCK_PLACE_H

/*
 * A temporary directory for the tests of the files plugin.
 *
 * BASE/root is the root of the instance; BASE/outside/secret must stay unseen and as it is, which
 * place_fini checks. Names that are given here are relative to BASE. With `--no-openat2` as the
 * program's argument (place_main) the kernel lacks openat2: a seccomp filter plays it, and the
 * same tests hold, but for those that follow a symbolic link within the root.
 */

#include <stdbool.h>
#include <stddef.h>

#include "mock_host.h"

struct place {
    char *base;
    struct mock mock;
};

extern bool place_has_openat2;
/* Looks at the program's arguments; returns the suite's name, `name` or one that says what is
 * different. */
const char *place_main(int argc, char **argv, const char *name);

void place_init(struct place *place);
/* The same, and an instance that may write. */
void place_open(struct place *place);
/* Opens an instance in a place; `config` and `grant` may each hold one %s, for BASE/root. Returns
 * create's class. */
int32_t place_open_with(struct place *place, const char *config, const char *grant,
                        struct answer *answer);
void place_fini(struct place *place);

char *place_path(const struct place *place, const char *name); /* freed by the caller */
void place_put(const struct place *place, const char *name, const char *text);
void place_put_bytes(const struct place *place, const char *name, const char *bytes, size_t len);
void place_put_directory(const struct place *place, const char *name);
void place_put_link(const struct place *place, const char *name, const char *to);
/* What a file holds; "(none)" when there is none. Borrowed until the next call. */
const char *place_get(const struct place *place, const char *name);

/* One call that must return GUDGEON_OK, judged by the text that the model sees and by whether it
 * is an error. A `want` that ends in "…" says how the text begins, one that begins with it what
 * stands somewhere in it. */
void place_check(struct place *place, const char *tool, const char *arguments, bool want_error,
                 const char *want);

#endif
