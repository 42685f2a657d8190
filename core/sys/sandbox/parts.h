/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_SANDBOX_PARTS_H
#define GUDGEON_SYS_SANDBOX_PARTS_H

/*
 * The parts of sandbox_apply, in the order in which it calls them; see sys/sandbox.h. Each says
 * what the kernel let it do and knows nothing of the others, except that the filter also closes
 * what an old Landlock leaves open.
 */

#include <stdbool.h>

struct err;
struct sandbox_policy;

/* A sanitiser reserves terabytes of address space, and reads /proc to report. */
extern const bool is_sanitised;

int limits_apply(const struct sandbox_policy *policy, struct err *err);
/* *ret_abi: 0 when the kernel has no Landlock or does not let us use it. */
int landlock_apply(const struct sandbox_policy *policy, int *ret_abi, struct err *err);
/* Keeps what opens and owns files, for root; drops what reaches beyond them. */
int capabilities_apply(struct err *err);
/* *ret: whether the kernel took the filter. */
int seccomp_apply(const struct sandbox_policy *policy, int landlock_abi, bool *ret,
                  struct err *err);

#endif
