/* The one file that holds all that must outlive the process: rings, sealed slots, and what is needed to read them.
 *
 *   header         who owns the file, its layout, calibrations; each route's share and counters; the slots' words
 *   identity       host, program and context, encoded as they travel
 *   descriptors    of all registered types, encoded as they travel; append-only
 *   ring headers   one for each ring: who may read up to where
 *   slots          sealed batches, each in as many slots as it needs
 *   data           the rings' bytes, handed out once and for ever
 *
 * Routes share no ring and no slot, and half of both is the default route's own: whatever becomes of one route's sink,
 * the others have room. Slots are dealt out by index when the file is made; a ring takes its route with its first event
 * and keeps it, and each route may own rings up to its share of the data.
 *
 * The file is sparse. Each part is allocated (posix_fallocate, and MADV_POPULATE_WRITE once the descriptor is closed)
 * before it is first touched, so that a full filesystem is an error at that moment and never a SIGBUS. Without room for
 * even the start, the same layout lies in anonymous memory: everything works, but does not survive the process.
 *
 * No descriptor is kept open: a program that closes all of its descriptors and reuses their numbers must not find us
 * writing into its files.
 */
#ifndef LIFELINE_RINGFILE_H
#define LIFELINE_RINGFILE_H

#include "base/atomics.h"
#include "base/clock.h"
#include "base/process.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LL_FILE_VERSION 3
#define LL_ROUTES_MAX 16       /* the default one, number 0, and those that are declared */
#define LL_ROUTE_NAME_BYTES 32 /* with the NUL */
#define LL_ROUTE_NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define LL_RINGS_MAX 1024
#define LL_SPOOL_PATH_MAX (PATH_MAX - 512) /* leaves room for a file's name */
#define LL_IDENTITY_BYTES 32768
#define LL_DESCRIPTORS_BYTES (1u << 20)
#define LL_SLOT_BYTES 8192u
#define LL_BATCH_RAW_MAX (256u << 10)
#define LL_BATCH_STORED_MAX (LL_BATCH_RAW_MAX + (56u << 10)) /* with header and descriptors */
#define LL_SLOTS_MAX 5120                                    /* 40 MiB */
#define LL_RING_BYTES_MIN (64u << 10)
#define LL_RING_BYTES_MAX (1u << 20)

/* A ring: its first line is its producer's, its second its consumer's. Bound to its bytes for ever, and to its route
 * from its first taking on; positions are never reset, so that a position names the same byte of history for whoever
 * recovers. Its counters are of all threads that had it, and only its owner writes them. */
typedef struct ll_ring {
  uint64_t head;
  uint64_t thread;
  uint64_t dropped_ring_full;
  uint32_t state;           /* ll_ring_state */
  uint32_t route;           /* number; true of whatever lies between tail and head */
  uint64_t offset;          /* of its bytes in the file */
  uint64_t bytes;           /* a power of two */
  uint64_t sampled_out;     /* left out by sample:N */
  uint64_t below_threshold; /* left out by a threshold */
  uint64_t tail;
  uint64_t pad[7];
} ll_ring;

typedef enum ll_ring_state {
  LL_RING_UNMADE, /* offset and bytes are not set yet */
  LL_RING_FREE,
  LL_RING_OWNED,
  LL_RING_RETIRED, /* its producer left; free once it is drained */
} ll_ring_state;

/* What became of a route's batches in the spool, and what it is giving up at this moment: see spool.h. */
typedef struct ll_spool_books {
  uint64_t spooled;      /* events that went into the spool */
  uint64_t dropped_full; /* events given up, since the spool had no room */
  uint64_t dropped_sink; /* refused by the sink when they came from the spool, or when no slot was left */
  uint32_t giving_up;    /* ll_giving_up */
  uint32_t slot;         /* which one */
  uint64_t what;         /* the slot's sequence, or the segment's number */
  uint64_t full_then;    /* the totals once it is gone */
  uint64_t sink_then;
  uint64_t reserved[9];
} ll_spool_books;

typedef enum ll_giving_up { LL_GIVING_UP_NOTHING, LL_GIVING_UP_SLOT, LL_GIVING_UP_SEGMENT } ll_giving_up;

/* What the file holds of a route besides its rings and slots. Any thread may count; FORMAT.md, section 3.2. */
typedef struct ll_route_books {
  char name[LL_ROUTE_NAME_BYTES];
  uint32_t first_slot, slot_count; /* its own, for ever */
  uint32_t slots_used;             /* those beyond are free: nobody needs to look there */
  uint32_t reserved;
  uint64_t ring_bytes;      /* of its rings, */
  uint64_t ring_bytes_most; /* and its share */
  uint64_t dropped_no_ring;
  uint64_t dropped_reentrant;
  uint64_t dropped_oversize;
  uint64_t dropped_shutdown;
  uint64_t sampled_out; /* by threads without a ring on this route */
  uint64_t below_threshold;
  uint64_t folded;
  ll_spool_books spool;
} ll_route_books;

typedef struct ll_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t clock; /* ll_clock_kind */
  uint64_t file_bytes;
  uint64_t slots_offset;
  uint64_t data_offset;
  uint32_t slot_count;
  uint32_t context_count;
  uint32_t names_bytes; /* of host and program, in front of the context */
  uint32_t context_bytes;
  uint8_t incarnation[16];
  ll_process owner;
  ll_process recoverer;

  uint32_t ring_count; /* rings made so far */
  uint32_t calibration_current;
  uint64_t data_used;
  uint64_t descriptors_used;
  uint32_t route_count; /* declared ones and the default */
  uint32_t reserved;
  ll_route_books routes[LL_ROUTES_MAX];
  uint64_t slot_words[LL_SLOTS_MAX];
  ll_calibrations calibrations[2]; /* one is current while the other is written */
  char spool[LL_SPOOL_PATH_MAX];   /* its directory; empty: there is none */
} ll_file_header;

typedef struct ll_store {
  uint8_t *map;
  size_t bytes;
  bool in_file;    /* the mapping is of a file, and not of memory */
  bool crash_safe; /* and a recovery can find it */
  bool cluttered;  /* by what earlier runs left: that is why there is no file */
  int unnamed_fd;  /* -1 once it has its name */
  char path[PATH_MAX];
  dev_t device, root_device; /* the file's, and those of the root in which its path was made */
  ino_t inode, root_inode;
  ll_file_header *header;
  uint8_t *identity;
  uint8_t *descriptors;
  ll_ring *rings;
  uint64_t slots_ready[LL_SLOTS_MAX / 64]; /* bits: those whose memory this process has made sure of */
  bool full;                               /* the filesystem had no room for the next ones */
} ll_store;

/* The least budget that has room for this many routes beside the default one. */
size_t ll_store_least_budget(uint32_t other_routes);

/* Creates the file of this process in `directory`, or the same layout in memory when the file cannot be had: then
 * crash_safe is false and `why` holds a line. The file has no name yet. Returns 0 or ENOMEM. */
int ll_store_create(ll_store *store, const char *directory, const char *program, size_t budget_bytes,
                    const uint8_t incarnation[16], char *why, size_t why_bytes);

/* Deals slots and data out among the default route and the named ones. A new store is all the default route's; call it
 * before anybody takes a ring. */
void ll_store_deal(ll_store *store, uint32_t other_routes, const char names[][LL_ROUTE_NAME_BYTES]);

/* Gives the file its name, now that whoever finds it can make sense of it. crash_safe turns false, with a line in why,
 * when that fails. */
void ll_store_publish(ll_store *store, char *why, size_t why_bytes);

/* Maps a file that was left behind and checks every number in it. Returns 0; EBUSY when its owner or a recovery is
 * alive, or may be for all that is known, unless those of other pid namespaces are wanted; ENOENT; EACCES for a file
 * that is not ours; EINVAL for one that is no ring file. why says what is wrong. */
int ll_store_attach(ll_store *store, const char *path, bool other_namespaces, char *why, size_t why_bytes);

/* A program's name as it stands in its files' names. */
void ll_store_program(const char *program, char *name, size_t name_bytes);

/* Makes sure that the range may be touched. False: no room on the filesystem. */
bool ll_store_reserve(ll_store *store, uint64_t offset, uint64_t bytes);

/* Gives back what holds nothing, when the file is left behind. Nobody emits any more. */
void ll_store_trim(ll_store *store);

/* To be called now and then: once the file is gone, crash_safe turns false, and a line says so. In another root
 * (chroot) nobody can tell, and the file counts as there. */
void ll_store_look(ll_store *store);

/* Ends a recovery: the file is anybody's again, and unmapped. */
void ll_store_release(ll_store *store);

void ll_store_unmap(ll_store *store);

/* Removes the file, when all that it held was delivered. */
void ll_store_remove(ll_store *store);

/* The mapping went away in a forked child (MADV_DONTFORK): puts harmless memory where an emit, interrupted by the very
 * handler that forked, may still be writing. Async-signal-safe. */
void ll_store_after_fork(ll_store *store);

/* True of no ring that nobody ever had: such a one may still go to any route. */
static inline bool ll_ring_is_of(const ll_ring *ring, uint32_t route) {
  return load_acquire(&ring->thread) != 0 && ring->route == route;
}

static inline uint8_t *ll_ring_base(const ll_store *store, const ll_ring *ring) {
  return store->map + ring->offset;
}

#endif
