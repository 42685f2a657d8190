/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_SERVICES_H
#define GUDGEON_PLUGIN_SERVICES_H

/*
 * The host services, gudgeon.*: one file each in core/plugin/service_*.c, one row each in the
 * table of services.c (id, which kinds may have it, its ABI table).
 *
 * `struct services` holds what all instances share: the HTTP client, made on first use. It must
 * outlive the instances.
 */

struct services;

struct services *services_new(void);
void services_free(struct services *services);

#endif
