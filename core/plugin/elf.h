/* SPDX-License-Identifier: MIT */
#ifndef GUDGEON_PLUGIN_ELF_H
#define GUDGEON_PLUGIN_ELF_H

/*
 * What the dynamic loader does not say well.
 *
 * dlopen maps a file that is cut short and the process dies by SIGBUS; it calls a library of
 * another machine "not found"; and for a misspelt symbol it has no suggestion. elf_check reads
 * headers from the file and trusts nothing in them. elf_near_symbol reads tables of an object that
 * is loaded and so already trusted with everything.
 */

struct err;

/* Whether the file is a whole ELF shared object for this machine. ERR_INVALID says what it is
 * instead, ERR_IO that it cannot be read. */
int elf_check(const char *path, struct err *err);
/* The exported symbol of a dlopen handle that is most like `name`, borrowed from the object, or
 * NULL. */
const char *elf_near_symbol(void *handle, const char *name);

#endif
