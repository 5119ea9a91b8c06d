#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory) {
  if (memory) return memory;
  fputs("lifeline-activate: out of memory\n", stderr);
  exit(1);
}

void activations_put(activations *all, const char *id, size_t id_bytes, const char *line, size_t line_bytes) {
  if (all->count == all->room) {
    all->room = all->room ? 2 * all->room : 64;
    all->at = or_die(realloc(all->at, all->room * sizeof *all->at));
  }
  all->at[all->count] = (activation){.id = or_die(strndup(id, id_bytes)),
                                     .line = line ? or_die(strndup(line, line_bytes)) : NULL,
                                     .number = all->count};
  all->count++;
}

static int by_id(const void *left, const void *right) {
  const activation *a = left, *b = right;
  int order = strcmp(a->id, b->id);
  return order ? order : (a->number > b->number) - (a->number < b->number);
}

static void discard(activation *one) {
  free(one->id);
  free(one->line);
}

void activations_settle(activations *all) {
  size_t kept = 0;
  if (all->count) qsort(all->at, all->count, sizeof *all->at, by_id);
  for (size_t i = 0; i < all->count; i++) {
    bool last = i + 1 == all->count || strcmp(all->at[i].id, all->at[i + 1].id) != 0;
    if (last && all->at[i].line)
      all->at[kept++] = all->at[i];
    else
      discard(&all->at[i]);
  }
  all->count = kept;
}

void activations_free(activations *all) {
  for (size_t i = 0; i < all->count; i++)
    discard(&all->at[i]);
  free(all->at);
  *all = (activations){0};
}
