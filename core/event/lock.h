/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_EVENT_LOCK_H
#define GUDGEON_EVENT_LOCK_H

/*
 * The lock of a run: an OFD lock (fcntl(2)) on the file `lock` in its directory.
 *
 * It belongs to the open file, so it is gone when the descriptor is closed or its process ends,
 * however it ends, and it also keeps two openers within one process apart. The file itself stays.
 */

#include <stdbool.h>

struct err;

/* Makes the file when missing and locks it: a descriptor, whose close unlocks. ERR_BUSY, ERR_IO. */
int lock_take(const char *run_directory, int *ret_fd, struct err *err);
/* Whether somebody holds it now. False also when there is no lock file. */
bool lock_is_held(const char *run_directory);

#endif
