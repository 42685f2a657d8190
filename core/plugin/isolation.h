/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_ISOLATION_H
#define GUDGEON_PLUGIN_ISOLATION_H

/* Where the plugin of an instance runs. A definition says it, an instance is opened with it. */
enum isolation {
    ISOLATION_NONE,   /* in this process */
    ISOLATION_WORKER, /* in a process of its own; for kind tools */
};

#endif
