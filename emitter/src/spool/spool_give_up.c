#include "spool_give_up.h"

#include "base/atomics.h"
#include "base/bytes.h"
#include "base/crash_point.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* From here on a recovery checks whether the discard took place. */
static void announce(ll_spool_books *books, ll_giving_up what, uint64_t which, uint64_t full, uint64_t refused) {
  books->what = which;
  books->full_then = books->dropped_full + full;
  books->sink_then = books->dropped_sink + refused;
  store_release(&books->giving_up, what);
  ll_crash_point("giving-up-announced");
}

static void count(ll_spool_books *books) {
  ll_crash_point("given-up-uncounted");
  store_relaxed(&books->dropped_full, books->full_then);
  store_relaxed(&books->dropped_sink, books->sink_then);
  store_release(&books->giving_up, LL_GIVING_UP_NOTHING);
}

int ll_give_up_segment(ll_spool *spool, int directory, uint32_t number, uint64_t full, uint64_t refused,
                       ll_spool_kind keep) {
  ll_segment_identity identity = spool->identity;
  char waiting[LL_SPOOL_NAME_MAX], gone[LL_SPOOL_NAME_MAX], kept[LL_SPOOL_NAME_MAX];
  identity.number = number;
  ll_spool_name(&identity, LL_SPOOL_WAITING, waiting);
  ll_spool_name(&identity, LL_SPOOL_GIVEN_UP, gone);
  announce(spool->books, LL_GIVING_UP_SEGMENT, number, full, refused);
  if (renameat(directory, waiting, directory, gone) != 0) {
    int error = errno;
    store_release(&spool->books->giving_up, LL_GIVING_UP_NOTHING);
    return error;
  }
  count(spool->books);
  ll_crash_point("given-up-unremoved");
  if (keep == LL_SPOOL_KINDS) {
    unlinkat(directory, gone, 0);
  } else {
    ll_spool_name(&identity, keep, kept);
    renameat(directory, gone, directory, kept);
  }
  return 0;
}

void ll_give_up_slot(ll_spool *spool, uint32_t slot, uint64_t sequence) {
  uint64_t events = ll_slot_at(spool->store, slot)->event_count;
  spool->books->slot = slot;
  announce(spool->books, LL_GIVING_UP_SLOT, sequence, events, 0);
  ll_slot_move(spool->store, slot, sequence, LL_SLOT_SEALED, LL_SLOT_FREE);
  count(spool->books);
}

void ll_give_up_refused(ll_store *store, uint32_t route, uint32_t slot) {
  ll_spool_books *books = &store->header->routes[route].spool;
  uint64_t sequence = ll_slot_sequence(load_acquire(&store->header->slot_words[slot]));
  books->slot = slot;
  announce(books, LL_GIVING_UP_SLOT, sequence, 0, ll_slot_at(store, slot)->event_count);
  ll_slot_move(store, slot, sequence, LL_SLOT_REFUSED, LL_SLOT_FREE);
  count(books);
}

/* A segment was discarded if the .given-up name exists. A missing .spool file alone proves nothing: a drain that was
 * faster removes that, too, after delivering it. False when this cannot be determined. */
static bool settle_segment(const ll_store *store, uint32_t route, int directory, const char *program) {
  ll_segment_identity identity = {.route = (uint16_t)route, .owner = store->header->owner};
  char gone[LL_SPOOL_NAME_MAX];
  struct stat status;
  memcpy(identity.incarnation, store->header->incarnation, sizeof identity.incarnation);
  snprintf(identity.program, sizeof identity.program, "%s", program);
  identity.number = (uint32_t)store->header->routes[route].spool.what;
  ll_spool_name(&identity, LL_SPOOL_GIVEN_UP, gone);
  bool found = fstatat(directory, gone, &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (found) count(&store->header->routes[route].spool);
  return found || errno == ENOENT;
}

static bool slot_is_gone(const ll_store *store, const ll_spool_books *books) {
  if (books->slot >= store->header->slot_count) return false;
  uint64_t word = store->header->slot_words[books->slot];
  return ll_slot_sequence(word) == books->what && ll_slot_state_of(word) == LL_SLOT_FREE;
}

/* Removes the file that a kill between counting and removing leaves. */
static void remove_counted(const ll_store *store, uint32_t route, int directory) {
  ll_spool_listing listing;
  char set[64];
  if (ll_spool_listing_read(directory, NULL, &listing) != 0) return;
  ll_hex(store->header->incarnation, 16, set);
  snprintf(set + 32, sizeof set - 32, "-%u-", (unsigned)route);
  for (size_t i = 0; i < listing.count; i++)
    if (listing.files[i].kind == LL_SPOOL_GIVEN_UP && strstr(listing.files[i].name, set) != NULL)
      unlinkat(directory, listing.files[i].name, 0);
  ll_spool_listing_free(&listing);
}

bool ll_give_up_resolve(ll_store *store, uint32_t route, const char *program, char *why, size_t why_bytes) {
  ll_spool_books *books = &store->header->routes[route].spool;
  if (books->giving_up == LL_GIVING_UP_SLOT && slot_is_gone(store, books)) count(books);
  int directory = -1;
  if (store->header->spool[0] != '\0') {
    directory = ll_spool_directory_open(store->header->spool, false, why, why_bytes);
    if (directory < 0 && errno != ENOENT && books->giving_up == LL_GIVING_UP_SEGMENT) return false;
  }
  bool settled = true;
  if (directory >= 0) {
    if (books->giving_up == LL_GIVING_UP_SEGMENT) settled = settle_segment(store, route, directory, program);
    if (!settled)
      snprintf(why, why_bytes, "spool directory %s cannot be read: %s", store->header->spool, strerror(errno));
    if (settled) remove_counted(store, route, directory);
    close(directory);
  }
  if (settled) books->giving_up = LL_GIVING_UP_NOTHING;
  return settled;
}
