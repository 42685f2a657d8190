/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_WORKER_WORKER_H
#define GUDGEON_WORKER_WORKER_H

/*
 * The modes of gudgeon-worker: one file each, one row each in main.c. The host starts workers;
 * people only do to see what it sees. A mode gets the arguments after its name and returns the
 * exit status.
 */

/* FILE: prints the description of a plugin file as one JSON object. */
int worker_describe(int argc, char **argv);
/* Runs an instance for the host that started it and gave it its sockets. */
int worker_serve(int argc, char **argv);

#endif
