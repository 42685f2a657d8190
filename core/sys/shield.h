/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_SYS_SHIELD_H
#define GUDGEON_SYS_SHIELD_H

/*
 * Closes this process to the other processes of its user.
 *
 * A program that a tool starts runs as the same user, and could read keys out of /proc/PID/environ
 * or the memory of the host. After shield_process it cannot, unless it is privileged; nor is there
 * a core dump with keys in it. Programs that are started are open again as usual. Left out in
 * builds with a sanitiser, and when GUDGEON_CORE_DUMPS is set, for whoever hunts a crash.
 */

void shield_process(void);

#endif
