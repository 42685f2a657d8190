/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_WORKER_CONFINE_H
#define GUDGEON_WORKER_CONFINE_H

/*
 * What the grant of an instance means for the process that runs it.
 *
 * Granted paths, a temporary directory ($TMPDIR), system libraries and the plugin's own directory;
 * sockets only for `network: true`, since the host makes the requests to hosts that are listed; no
 * program and no process, since the host starts those that are granted; memory and time as granted.
 */

#include <gudgeon/plugin.h>

struct err;
struct sandbox_report;

/* Enters the sandbox for good. ERR_INVALID: the grant is malformed; ERR_NOT_FOUND: a granted path
 * is not there; ERR_IO. */
int confine(const char *plugin_path, gudgeon_str grant, struct sandbox_report *report,
            struct err *err);

#endif
