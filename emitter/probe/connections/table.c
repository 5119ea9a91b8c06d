#include "table.h"

#include "base/say.h"

#include <stdlib.h>
#include <string.h>

static uint32_t bucket_of(const table *all, uint64_t cookie, uint64_t space) {
  uint64_t hash = (cookie + space * 31) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(hash >> 32) & (all->room - 1);
}

static void link_in(table *all, uint32_t index) {
  connection *one = &all->all[index];
  uint32_t *head = &all->buckets[bucket_of(all, one->look.cookie, one->space)];
  one->next = *head;
  *head = index + 1;
}

connection *table_find(const table *all, uint64_t cookie, uint64_t space) {
  if (all->room == 0) return NULL;
  for (uint32_t at = all->buckets[bucket_of(all, cookie, space)]; at != 0; at = all->all[at - 1].next)
    if (all->all[at - 1].look.cookie == cookie && all->all[at - 1].space == space) return &all->all[at - 1];
  return NULL;
}

/* As many buckets as places, a power of two. */
static bool grow(table *all) {
  uint32_t room = all->room ? all->room * 2 : 256;
  if (room > CONNECTIONS_MAX) {
    SAY_ONCE("more than %u connections: the others are not sampled", all->room);
    return false;
  }
  connection *larger = realloc(all->all, room * sizeof *larger);
  if (larger != NULL) all->all = larger;
  uint32_t *buckets = larger != NULL ? calloc(room, sizeof *buckets) : NULL;
  if (buckets == NULL) return false;
  free(all->buckets);
  all->buckets = buckets;
  all->room = room;
  for (uint32_t i = 0; i < all->end; i++)
    link_in(all, i); /* there are no gaps when it is full */
  return true;
}

connection *table_add(table *all, const diag_look *look, uint64_t space) {
  uint32_t index;
  if (all->free != 0) {
    index = all->free - 1;
    all->free = all->all[index].next;
  } else {
    if (all->end == all->room && !grow(all)) return NULL;
    index = all->end++;
  }
  all->all[index] = (connection){.look = *look, .space = space, .used = true};
  link_in(all, index);
  all->count++;
  return &all->all[index];
}

void table_remove(table *all, connection *one) {
  uint32_t index = (uint32_t)(one - all->all);
  uint32_t *link = &all->buckets[bucket_of(all, one->look.cookie, one->space)];
  while (*link != index + 1)
    link = &all->all[*link - 1].next;
  *link = one->next;
  *one = (connection){.next = all->free};
  all->free = index + 1;
  all->count--;
}

void table_free(table *all) {
  free(all->all);
  free(all->buckets);
  *all = (table){NULL, NULL, 0, 0, 0, 0};
}
