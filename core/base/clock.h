/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_CLOCK_H
#define GUDGEON_BASE_CLOCK_H

/*
 * Time, in one place, so that tests can hold it still.
 *
 * Wall time is for people (always UTC, always with Z); monotonic time is for everything else.
 * clock_set_fake(true) makes both return what clock_fake_advance has added up to; only tests call
 * it, before threads start.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

int64_t clock_monotonic_ns(void);
int64_t clock_wall_ms(void); /* since the Unix epoch */

enum { CLOCK_TEXT_SIZE = sizeof "2026-11-30T12:00:00.000Z" };
/* Writes RFC 3339 UTC with milliseconds. */
void clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE]);

enum { UUID_TEXT_SIZE = 37 };
/* A new UUIDv7 (RFC 9562 §5.7), lower case, with NUL. Sorts by creation time. */
void uuid7_new(char out[UUID_TEXT_SIZE]);

void clock_set_fake(bool fake);
void clock_fake_advance(int64_t ns);

#endif
