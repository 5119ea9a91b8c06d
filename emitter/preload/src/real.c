#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static long missing(void) {
  errno = ENOSYS;
  return -1;
}

/* --- the next object's symbol, without a lock: dlsym waits for the loader, which a constructor may hold up --- */

/* Objects that the program was started with, which are never unloaded, in the order in which RTLD_NEXT searches them.
 */
static const struct link_map *first, *last;

static void find_objects(void) {
  const struct link_map *at = _r_debug.r_map;
  while (at != NULL && at->l_ld != _DYNAMIC)
    at = at->l_next;
  if (at == NULL) return;
  const struct link_map *next = at->l_next;
  while (at->l_next != NULL)
    at = at->l_next;
  __atomic_store_n(&last, at, __ATOMIC_RELAXED);
  __atomic_store_n(&first, next, __ATOMIC_RELEASE);
}

typedef struct symbols {
  const ElfW(Sym) * table;
  const char *names;
  const ElfW(Half) * versions; /* NULL: none */
  const uint32_t *hash;
} symbols;

static symbols symbols_of(const struct link_map *object) {
  symbols found = {0};
  for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
    uintptr_t at = entry->d_un.d_ptr;
    const void *there = (const void *)(at < object->l_addr ? at + object->l_addr : at); /* glibc has relocated most */
    if (entry->d_tag == DT_SYMTAB) found.table = there;
    if (entry->d_tag == DT_STRTAB) found.names = there;
    if (entry->d_tag == DT_VERSYM) found.versions = there;
    if (entry->d_tag == DT_GNU_HASH) found.hash = there;
  }
  return found;
}

static uint32_t hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; name++)
    hash = hash * 33 + (uint8_t)*name;
  return hash;
}

/* A version with this bit is for programs that were linked with an earlier libc. */
static bool is_defined(const symbols *in, uint32_t index) {
  const ElfW(Sym) *symbol = &in->table[index];
  bool older = in->versions != NULL && (in->versions[index] & 0x8000) != 0;
  return !older && symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
}

/* NULL: it is not there. */
static const ElfW(Sym) * find_in(const symbols *in, const char *name, uint32_t hash) {
  enum { BUCKETS, FIRST, WORDS, SHIFT, HEADER };
  if (in->table == NULL || in->names == NULL || in->hash == NULL) return NULL;
  const ElfW(Addr) *bloom = (const void *)(in->hash + HEADER);
  const uint32_t *buckets = (const void *)(bloom + in->hash[WORDS]), *chains = buckets + in->hash[BUCKETS];
  ElfW(Addr) word = bloom[hash / __ELF_NATIVE_CLASS & (in->hash[WORDS] - 1)];
  bool maybe = (word >> hash % __ELF_NATIVE_CLASS & word >> (hash >> in->hash[SHIFT]) % __ELF_NATIVE_CLASS & 1) != 0;
  uint32_t index = maybe ? buckets[hash % in->hash[BUCKETS]] : 0;
  if (index < in->hash[FIRST]) return NULL;
  for (;; index++) {
    uint32_t known = chains[index - in->hash[FIRST]];
    if (((known ^ hash) >> 1) == 0 && strcmp(in->names + in->table[index].st_name, name) == 0 && is_defined(in, index))
      return &in->table[index];
    if ((known & 1) != 0) return NULL;
  }
}

/* NULL as well for one whose address a function of its library chooses. */
static void *find(const char *name) {
  const struct link_map *at = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  if (at == NULL) find_objects();
  at = __atomic_load_n(&first, __ATOMIC_ACQUIRE);
  uint32_t hash = hash_of(name);
  for (; at != NULL; at = at != last ? at->l_next : NULL) {
    symbols in = symbols_of(at);
    const ElfW(Sym) *found = find_in(&in, name, hash);
    if (found == NULL) continue;
    unsigned type = ELF64_ST_TYPE(found->st_info);
    return type == STT_FUNC || type == STT_NOTYPE ? (void *)(at->l_addr + found->st_value) : NULL;
  }
  return NULL;
}

/* The one wrapped library that may be loaded after us, by a plugin whose names RTLD_NEXT does not search. */
static void *in_libseccomp(const char *name) {
  void *library = dlopen("libseccomp.so.2", RTLD_LAZY | RTLD_NOLOAD);
  return library != NULL ? dlsym(library, name) : NULL;
}

/* What is missing may be loaded later, so only what is there is kept. */
void *real_find(real_call *call) {
  int error = errno;
  void *address = find(call->name);
  if (address == NULL) address = dlsym(RTLD_NEXT, call->name);
  if (address == NULL) address = in_libseccomp(call->name);
  __atomic_store_n(&call->address, address, __ATOMIC_RELAXED);
  errno = error;
  return address != NULL ? address : (void *)missing;
}

__attribute__((constructor(101))) static void begin(void) {
  find_objects();
}
