#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory) {
  if (memory) return memory;
  fputs("lifeline-activate: out of memory\n", stderr);
  exit(1);
}

static activation *find(activations *all, const char *id, size_t bytes) {
  for (size_t i = 0; i < all->count; i++)
    if (strlen(all->at[i].id) == bytes && memcmp(all->at[i].id, id, bytes) == 0) return &all->at[i];
  return NULL;
}

static void take_out(activations *all, activation *one) {
  free(one->id);
  free(one->line);
  *one = all->at[--all->count];
}

void activations_put(activations *all, const char *id, size_t id_bytes, const char *line, size_t line_bytes) {
  activation *one = find(all, id, id_bytes);
  if (!line) {
    if (one) take_out(all, one);
    return;
  }
  if (!one) {
    all->at = or_die(realloc(all->at, (all->count + 1) * sizeof *all->at));
    one = &all->at[all->count++];
    *one = (activation){.id = or_die(strndup(id, id_bytes))};
  }
  free(one->line);
  one->line = or_die(strndup(line, line_bytes));
}

void activations_free(activations *all) {
  while (all->count)
    take_out(all, &all->at[all->count - 1]);
  free(all->at);
  *all = (activations){0};
}
