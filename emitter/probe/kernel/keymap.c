#include "keymap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

void keymap_init(keymap *made, size_t entry_bytes, uint32_t most) {
  memset(made, 0, sizeof *made);
  made->entry_bytes = entry_bytes;
  made->most = most;
}

void keymap_free(keymap *made) {
  free(made->filled);
  free(made->keys);
  free(made->entries);
  keymap_init(made, made->entry_bytes, made->most);
}

static uint32_t hash(const struct kernel_key *key) {
  uint64_t word = (uint64_t)key->process << 32 | (uint32_t)key->kind << 16 | key->detail;
  word = (word ^ key->device) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(word >> 32);
}

static void *entry_at(const keymap *in, uint32_t at) {
  return in->entries + (size_t)at * in->entry_bytes;
}

/* Where the key is, or the free place where it belongs. There always is a free place. */
static uint32_t place_of(const keymap *in, const struct kernel_key *key) {
  uint32_t at = hash(key) & (in->room - 1);
  while (in->filled[at] && memcmp(&in->keys[at], key, sizeof *key) != 0)
    at = (at + 1) & (in->room - 1);
  return at;
}

static bool grow(keymap *in) {
  keymap larger = {.entry_bytes = in->entry_bytes, .most = in->most, .used = in->used};
  larger.room = in->room == 0 ? FIRST_ROOM : in->room * 2;
  larger.filled = calloc(larger.room, 1);
  larger.keys = calloc(larger.room, sizeof *larger.keys);
  larger.entries = calloc(larger.room, larger.entry_bytes);
  if (larger.filled == NULL || larger.keys == NULL || larger.entries == NULL) {
    keymap_free(&larger);
    return false;
  }
  for (uint32_t i = 0; i < in->room; i++) {
    if (!in->filled[i]) continue;
    uint32_t at = place_of(&larger, &in->keys[i]);
    larger.filled[at] = 1;
    larger.keys[at] = in->keys[i];
    memcpy(entry_at(&larger, at), entry_at(in, i), in->entry_bytes);
  }
  keymap_free(in);
  *in = larger;
  return true;
}

void *keymap_find(keymap *in, const struct kernel_key *key) {
  if (in->used == 0) return NULL;
  uint32_t at = place_of(in, key);
  return in->filled[at] ? entry_at(in, at) : NULL;
}

void *keymap_make(keymap *in, const struct kernel_key *key) {
  void *found = keymap_find(in, key);
  if (found != NULL) return found;
  if (in->used == in->most) return NULL;
  if (in->used + 1 > in->room / 4 * 3 && !grow(in)) return NULL;
  uint32_t at = place_of(in, key);
  in->filled[at] = 1;
  in->keys[at] = *key;
  in->used++;
  return memset(entry_at(in, at), 0, in->entry_bytes);
}

/* Moves entries that lie behind the gap, and would no longer be found beyond it, into it. */
static void remove_at(keymap *from, uint32_t gap) {
  uint32_t mask = from->room - 1;
  for (uint32_t at = (gap + 1) & mask; from->filled[at]; at = (at + 1) & mask) {
    uint32_t home = hash(&from->keys[at]) & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    from->filled[gap] = from->filled[at];
    from->keys[gap] = from->keys[at];
    memcpy(entry_at(from, gap), entry_at(from, at), from->entry_bytes);
    gap = at;
  }
  from->filled[gap] = 0;
  from->used--;
}

void keymap_remove(keymap *from, const struct kernel_key *key) {
  if (from->used == 0) return;
  uint32_t at = place_of(from, key);
  if (from->filled[at]) remove_at(from, at);
}

/* Removals move entries, with their marks: they wait until all have been visited. */
void keymap_keep(keymap *in, int (*visit)(void *ctx, const struct kernel_key *key, void *entry), void *ctx) {
  bool any = false;
  for (uint32_t i = 0; i < in->room; i++) {
    if (!in->filled[i] || visit(ctx, &in->keys[i], entry_at(in, i))) continue;
    in->filled[i] = 2;
    any = true;
  }
  for (uint32_t i = 0; any && i < in->room;) {
    if (in->filled[i] == 2)
      remove_at(in, i);
    else
      i++;
  }
}
