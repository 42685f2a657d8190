/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_BASE_SANITISER_H
#define GUDGEON_BASE_SANITISER_H

/*
 * Whether a sanitiser is built in: BUILT_SANITISED is 1 or 0. Sanitizers reserve terabytes of
 * address space, and their leak checker attaches to the process; limits that are in their way are
 * left out then.
 */

#ifndef __has_feature /* clang's */
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define BUILT_SANITISED 1
#else
#define BUILT_SANITISED 0
#endif

#endif
