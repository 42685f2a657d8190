/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

static atomic_bool is_fake;
static _Atomic int64_t fake_ns;

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
    return is_fake ? fake_ns : read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ms(void)
{
    return (is_fake ? fake_ns : read_clock(CLOCK_REALTIME)) / NS_PER_MS;
}

void clock_format_utc(int64_t wall_ms, char out[CLOCK_TEXT_SIZE])
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    /* The moduli only tell the compiler what gmtime_r promises. */
    snprintf(out, CLOCK_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
             (unsigned)(tm.tm_year + 1900) % 10000U, (unsigned)(tm.tm_mon + 1) % 100U,
             (unsigned)tm.tm_mday % 100U, (unsigned)tm.tm_hour % 100U, (unsigned)tm.tm_min % 100U,
             (unsigned)tm.tm_sec % 100U, (unsigned)(wall_ms % 1000) % 1000U);
}

void uuid7_new(char out[UUID_TEXT_SIZE])
{
    unsigned char b[16];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        abort();
    uint64_t ms = (uint64_t)clock_wall_ms();
    for (int i = 0; i < 6; i++)
        b[i] = (unsigned char)(ms >> (40 - 8 * i));
    b[6] = (unsigned char)(0x70 | (b[6] & 0x0f)); /* version 7 */
    b[8] = (unsigned char)(0x80 | (b[8] & 0x3f)); /* variant 10 */
    char *p = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        p += snprintf(p, 3, "%02x", b[i]);
    }
}

void clock_set_fake(bool fake)
{
    is_fake = fake;
    fake_ns = 0;
}

void clock_fake_advance(int64_t ns)
{
    fake_ns += ns;
}
