/* SPDX-License-Identifier: MIT */
#include "cli/crash.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "plugin/mark.h"

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { HAS_SANITIZER = 1 };
#else
enum { HAS_SANITIZER = 0 };
#endif

static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
    {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"},
};

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written; /* there is nobody else to tell */
}

static const char *name_of(int number)
{
    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        if (crashes[i].number == number)
            return crashes[i].name;
    return "a signal";
}

/* The action is the default one again by now (SA_RESETHAND). */
static void on_crash(int number)
{
    struct mark mark = mark_current();
    if (mark.plugin != NULL) {
        say("gudgeon: the plugin ");
        say(mark.plugin);
        say(" crashed in its ");
        say(mark.op);
        say(" with ");
        say(name_of(number));
        say("\n");
    }
    raise(number);
}

void crash_start(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_RESETHAND};
    for (size_t i = 0; i < COUNT_OF(crashes) && !HAS_SANITIZER; i++)
        sigaction(crashes[i].number, &action, NULL);
}
