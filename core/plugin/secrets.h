/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_SECRETS_H
#define GUDGEON_PLUGIN_SECRETS_H

/*
 * The secrets of one run: found once, kept in memory, never written anywhere.
 *
 * `{secret:NAME}`, NAME being [A-Za-z0-9_.-]{1,64} with no dot in front, is looked up in
 * $CREDENTIALS_DIRECTORY/NAME (systemd), then in the secrets directory ($GUDGEON_SECRETS_DIR, else
 * $XDG_CONFIG_HOME/gudgeon/secrets, else ~/.config/gudgeon/secrets; files of mode 0600 or less),
 * then in the environment as GUDGEON_SECRET_NAME (upper case, '-' and '.' as '_') and as
 * NAME_API_KEY. A trailing newline is cut; an empty value, or one with a NUL, is an error. Values
 * are wiped when freed. Thread-safe.
 */

#include <stdbool.h>

#include <gudgeon/plugin.h>

struct buf;
struct err;
struct secrets;

struct secrets *secrets_new(void);
void secrets_free(struct secrets *secrets);
/* The value (borrowed), looked up on first use. ERR_AUTH says where it was looked for; a file that
 * others can read is refused with the chmod to run. */
int secrets_get(struct secrets *secrets, const char *name, const char **ret, struct err *err);
/* Adds `text` with each {secret:NAME} replaced. Any other brace is text. The buffer grows at most
 * once, before a value is added, so that growing leaves no value behind in freed memory; who owns
 * it wipes it (secrets_wipe). */
int secrets_expand(struct secrets *secrets, gudgeon_str text, struct buf *out, struct err *err);
/* Calls `each` for every value found so far: what intake has to mask. */
void secrets_each(struct secrets *secrets, void (*each)(void *payload, const char *value),
                  void *payload);

/* Finds the next {secret:NAME} in `text` at or after *at; *at is then its first byte, *ret_len its
 * length with the braces, *ret_name its name. False when there is none. */
bool secrets_next(gudgeon_str text, size_t *at, size_t *ret_len, gudgeon_str *ret_name);
/* Overwrites what the buffer holds and frees it. */
void secrets_wipe(struct buf *buf);

#endif
