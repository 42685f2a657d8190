/* SPDX-License-Identifier: MIT */
#include "plugin/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"

/* ---- the file ------------------------------------------------------------------------------- */

/* Our own header, which the linker gives us: what a file for this machine looks like. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

enum { PROGRAM_HEADERS_MAX = 256 };

static int check_header(const ElfW(Ehdr) * header, size_t len, struct err *err)
{
    const unsigned char *ident = header->e_ident;
    if (len == 0)
        return err_set(err, ERR_INVALID, "the file is empty");
    if (len < SELFMAG || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return err_set(err, ERR_INVALID, "the file is not a shared object");
    if (len < sizeof *header)
        return err_set(err, ERR_INVALID, "the file is cut short: %zu bytes", len);
    if (ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
        ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
        header->e_machine != __ehdr_start.e_machine)
        return err_set(err, ERR_INVALID,
                       "built for another machine (ELF %u-bit, machine %u; this one is %u)",
                       ident[EI_CLASS] == ELFCLASS32 ? 32U : 64U, (unsigned)header->e_machine,
                       (unsigned)__ehdr_start.e_machine);
    if (header->e_type != ET_DYN)
        return err_set(err, ERR_INVALID,
                       "an ELF file, but not a shared object; link it with "
                       "-shared");
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
        header->e_phnum > PROGRAM_HEADERS_MAX)
        return err_set(err, ERR_INVALID, "its ELF header is damaged");
    return 0;
}

/* Whether everything that the loader will map is in the file. */
static int check_segments(int fd, const ElfW(Ehdr) * header, uint64_t file_size, struct err *err)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        off_t at = (off_t)(header->e_phoff + i * sizeof segment);
        if (at < 0 || pread(fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment)
            return err_set(err, ERR_INVALID, "the file is cut short: %llu bytes",
                           (unsigned long long)file_size);
        bool is_mapped = segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC;
        if (is_mapped &&
            (segment.p_offset > file_size || segment.p_filesz > file_size - segment.p_offset))
            return err_set(err, ERR_INVALID, "the file is cut short: %llu bytes",
                           (unsigned long long)file_size);
    }
    return 0;
}

int elf_check(const char *path, struct err *err)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set_errno(err, errno, "cannot read %s", path);
    ElfW(Ehdr) header = {.e_type = ET_NONE};
    ssize_t len = pread(fd, &header, sizeof header, 0);
    if (len < 0)
        return err_set_errno(err, errno, "cannot read %s", path);
    int status = check_header(&header, (size_t)len, err);
    return status < 0 ? status : check_segments(fd, &header, (uint64_t)st.st_size, err);
}

/* ---- the loaded object ---------------------------------------------------------------------- */

enum { SYMBOLS_MAX = 1024 };

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
};

/* Some machines leave the addresses in the dynamic section as they are in the file. */
static const void *address(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static struct tables find_tables(const struct link_map *map)
{
    struct tables tables = {NULL, NULL, NULL, NULL};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_SYMTAB)
            tables.symbols = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            tables.strings = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_GNU_HASH)
            tables.gnu_hash = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            tables.hash = address(map, entry->d_un.d_ptr);
    }
    return tables;
}

/* The symbol table has no length: its hash table knows. GNU hash: the chain of the highest bucket
 * ends with the last symbol. */
static uint32_t symbol_count(const struct tables *tables)
{
    if (tables->hash != NULL)
        return tables->hash[1];
    if (tables->gnu_hash == NULL)
        return 0;
    uint32_t bucket_count = tables->gnu_hash[0], first = tables->gnu_hash[1];
    size_t bloom_words = tables->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *buckets = tables->gnu_hash + 4 + bloom_words;
    const uint32_t *chains = buckets + bucket_count;
    uint32_t last = 0;
    for (uint32_t i = 0; i < bucket_count; i++)
        last = buckets[i] > last ? buckets[i] : last;
    if (last < first)
        return 0;
    while ((chains[last - first] & 1) == 0)
        last++;
    return last + 1;
}

const char *elf_near_symbol(void *handle, const char *name)
{
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    struct tables tables = find_tables(map);
    if (tables.symbols == NULL || tables.strings == NULL)
        return NULL;
    const char *names[SYMBOLS_MAX];
    size_t count = 0;
    uint32_t symbols = symbol_count(&tables);
    for (uint32_t i = 1; i < symbols && count < SYMBOLS_MAX; i++)
        if (tables.symbols[i].st_shndx != SHN_UNDEF)
            names[count++] = tables.strings + tables.symbols[i].st_name;
    return nearest_name(name, names, count);
}
