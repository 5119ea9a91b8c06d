/* A hash table of fixed-size entries, zero when they are made. Pointers to entries are valid until the next
 * keymap_make or keymap_remove. */
#ifndef KERNEL_KEYMAP_H
#define KERNEL_KEYMAP_H

#include "cells.h"

#include <stddef.h>
#include <stdint.h>

typedef struct keymap {
  size_t entry_bytes;
  uint32_t room, used, most; /* room is a power of two; at most `most` entries */
  uint8_t *filled;
  struct kernel_key *keys;
  char *entries;
} keymap;

void keymap_init(keymap *made, size_t entry_bytes, uint32_t most);
void keymap_free(keymap *made);

/* NULL: there is none. */
void *keymap_find(keymap *in, const struct kernel_key *key);

/* Finds it or makes it. NULL: the table is full, or no memory. */
void *keymap_make(keymap *in, const struct kernel_key *key);

void keymap_remove(keymap *from, const struct kernel_key *key);

/* Calls `visit` for each entry, which may not change the table, and removes those for which it returns 0. */
void keymap_keep(keymap *in, int (*visit)(void *ctx, const struct kernel_key *key, void *entry), void *ctx);

#endif
