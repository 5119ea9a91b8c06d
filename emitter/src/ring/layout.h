/* Where the parts of a ring file lie: see ringfile.h. */
#ifndef LIFELINE_LAYOUT_H
#define LIFELINE_LAYOUT_H

#include "ringfile.h"

#define LL_FILE_MAGIC UINT64_C(0x31474e5249464c4c) /* "LLFIRNG1" on a little-endian machine */
#define LL_PAGE_BYTES 4096u

static inline uint64_t ll_layout_round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

_Static_assert(sizeof(ll_file_header) <= 14 * LL_PAGE_BYTES, "the layout of versions 4 and 5");

static inline uint64_t ll_layout_identity(void) {
  return ll_layout_round_up(sizeof(ll_file_header), LL_PAGE_BYTES);
}
static inline uint64_t ll_layout_descriptors(void) {
  return ll_layout_identity() + LL_IDENTITY_BYTES;
}
static inline uint64_t ll_layout_rings(void) {
  return ll_layout_descriptors() + LL_DESCRIPTORS_BYTES;
}
static inline uint64_t ll_layout_slots(void) {
  return ll_layout_rings() + LL_RINGS_MAX * sizeof(ll_ring);
}
static inline uint64_t ll_layout_data(uint32_t slot_count) {
  return ll_layout_round_up(ll_layout_slots() + (uint64_t)slot_count * LL_SLOT_BYTES, LL_PAGE_BYTES);
}

static inline void ll_layout_point(ll_store *store) {
  store->header = (ll_file_header *)store->map;
  store->identity = store->map + ll_layout_identity();
  store->descriptors = store->map + ll_layout_descriptors();
  store->rings = (ll_ring *)(store->map + ll_layout_rings());
}

#endif
