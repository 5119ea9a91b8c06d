/* The ring file holds everything that must survive the process: rings, sealed slots, and the data needed to read them.
 *
 *   header         owner, layout, calibrations, session; each route's share and counters; the slots' words
 *   identity       host, program and the fixed part of the context, in wire format
 *   descriptors    of all registered types, in wire format; append-only
 *   ring headers   one per ring: its positions, state and counters
 *   slots          sealed batches, each in as many slots as it needs
 *   data           the rings' bytes, assigned permanently
 *
 * Routes share no ring and no slot, and half of both is reserved for the default route: if one route's sink fails, the
 * others still have room. Slots are assigned by index when the file is created; a ring gets its route with its first
 * event and keeps it, and each route may own rings up to its share of the data.
 *
 * The file is sparse. Each part is allocated before it is first touched (posix_fallocate, or MADV_POPULATE_WRITE once
 * the descriptor is closed), so that a full filesystem causes an error at that point and never a SIGBUS. If there is no
 * room even for the first part, the same layout is placed in anonymous memory: everything works, but does not survive
 * the process.
 *
 * No descriptor is kept open: a program that closes all of its descriptors and reuses their numbers must not find its
 * files overwritten by us.
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

#define LL_FILE_VERSION 4       /* of a new file */
#define LL_FILE_VERSION_LARGE 5 /* since it holds or has held a batch of more than LL_BATCH_ORDINARY bytes */
#define LL_ROUTES_MAX 16        /* the default route, number 0, and the declared ones */
#define LL_ROUTE_NAME_BYTES 32  /* with the NUL */
#define LL_ROUTE_NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"
#define LL_RINGS_MAX 1024
#define LL_SPOOL_PATH_MAX (PATH_MAX - 512) /* leaves room for a file name */
#define LL_IDENTITY_BYTES 32768
#define LL_DESTINATION_BYTES 192
#define LL_CONTEXTS 6      /* changes of the context kept: the current one, and those that follow */
#define LL_CONTEXT_PAIRS 3 /* of such a context */
#define LL_DESCRIPTORS_BYTES (1u << 20)
#define LL_SLOT_BYTES 8192u
#define LL_BATCH_RAW_MAX (896u << 10)  /* with header and descriptors at most LL_BATCH_MOST */
#define LL_BATCH_ORDINARY (312u << 10) /* the largest that versions of Lifeline with file version 4 accept */
#define LL_SLOTS_MAX 5120              /* 40 MiB */
#define LL_RING_BYTES_MIN (64u << 10)
#define LL_RING_BYTES_MAX (1u << 20)

/* A ring: its first cache line belongs to the producer, its second to the consumer. Its bytes are assigned permanently,
 * its route with the first thread that takes it. Positions are never reset, so that a recovery can identify each byte
 * of the history by its position. The counters cover all threads that had the ring; only its owner writes them. */
typedef struct ll_ring {
  uint64_t head;
  uint64_t thread;
  uint64_t dropped_ring_full;
  uint32_t state;           /* ll_ring_state */
  uint32_t route;           /* number; applies to everything between tail and head */
  uint64_t offset;          /* of its bytes in the file */
  uint64_t bytes;           /* a power of two */
  uint64_t sampled_out;     /* left out by sample:N */
  uint64_t below_threshold; /* left out by a threshold */
  uint64_t tail;
  uint64_t boundaries[LL_CONTEXTS]; /* see context.h */
  uint64_t since; /* a full tick shortly before its first record, see batch.h. 0 in files of earlier versions */
} ll_ring;

typedef enum ll_ring_state {
  LL_RING_UNMADE, /* offset and bytes are not set yet */
  LL_RING_FREE,
  LL_RING_OWNED,
  LL_RING_RETIRED, /* its producer left; becomes free when drained */
} ll_ring_state;

/* The fate of a route's batches in the spool, and the discard in progress: see spool.h. */
typedef struct ll_spool_books {
  uint64_t spooled;      /* events written to the spool */
  uint64_t dropped_full; /* events discarded because the spool was full */
  uint64_t dropped_sink; /* refused by the sink after spooling, or with no slot left */
  uint32_t giving_up;    /* ll_giving_up */
  uint32_t slot;         /* slot to be discarded */
  uint64_t what;         /* the slot's sequence, or the segment's number */
  uint64_t full_then;    /* the totals after the discard */
  uint64_t sink_then;
  uint64_t reserved[9];
} ll_spool_books;

typedef enum ll_giving_up { LL_GIVING_UP_NOTHING, LL_GIVING_UP_SLOT, LL_GIVING_UP_SEGMENT } ll_giving_up;

/* A route's data in the file besides its rings and slots. Any thread may count; FORMAT.md, section 3.2. */
typedef struct ll_route_books {
  char name[LL_ROUTE_NAME_BYTES];
  uint32_t first_slot, slot_count; /* assigned permanently */
  uint32_t slots_used;             /* slots beyond these are free and need not be scanned */
  uint32_t context_lost;           /* 1: not so those of its events that precede the change `context` */
  uint64_t ring_bytes;             /* current size of its rings, */
  uint64_t ring_bytes_most;        /* and its limit */
  uint64_t dropped_no_ring;
  uint64_t dropped_reentrant;
  uint64_t dropped_oversize;
  uint64_t dropped_shutdown;
  uint64_t sampled_out; /* by threads without a ring on this route */
  uint64_t below_threshold;
  uint64_t folded;
  uint64_t context; /* changes of the context that its next batch has: see context.h */
  ll_spool_books spool;
} ll_route_books;

/* The part of a context that can change: key/value pairs in wire format. */
typedef struct ll_context {
  uint32_t count, bytes;
  uint8_t at[184];
} ll_context;

typedef struct ll_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t clock; /* ll_clock_kind */
  uint64_t file_bytes;
  uint64_t slots_offset;
  uint64_t data_offset;
  uint32_t slot_count;
  uint32_t context_count;
  uint32_t names_bytes; /* of host and program, which precede the context */
  uint32_t context_bytes;
  uint8_t incarnation[16];
  ll_process owner;
  ll_process recoverer;

  uint32_t ring_count; /* rings made so far */
  uint32_t calibration_current;
  uint64_t data_used;
  uint64_t descriptors_used;
  uint32_t route_count; /* declared routes and the default */
  uint32_t reserved;
  uint64_t context_changes; /* published so far: see context.h */
  ll_context contexts[LL_CONTEXTS];
  ll_route_books routes[LL_ROUTES_MAX];
  uint64_t slot_words[LL_SLOTS_MAX];
  ll_calibrations calibrations[2]; /* one is current while the other is written */
  char spool[LL_SPOOL_PATH_MAX];   /* the spool directory; empty: none */
  /* Where each route's events are delivered: see sink/destination.h. Empty in files of earlier builds, which end this
   * page with zeros. */
  char destinations[LL_ROUTES_MAX][LL_DESTINATION_BYTES];
} ll_file_header;

typedef enum ll_lack { LL_LACKS_NOTHING, LL_LACKS_SPACE, LL_LACKS_MEMORY, LL_LACKS_PERMISSION } ll_lack;

typedef struct ll_store {
  uint8_t *map;
  size_t bytes;
  bool in_file;    /* the mapping is of a file, not of anonymous memory */
  bool crash_safe; /* and a recovery can find it */
  bool cluttered;  /* files of earlier runs take too much room: that is why there is no file */
  int unnamed_fd;  /* -1 once the file has a name */
  char path[PATH_MAX];
  dev_t device, root_device; /* of the file, and of the root directory when its path was made */
  ino_t inode, root_inode;
  ll_file_header *header;
  uint8_t *identity;
  uint8_t *descriptors;
  ll_ring *rings;
  uint64_t slots_ready[LL_SLOTS_MAX / 64]; /* bitmap: slots whose memory this process has allocated */
  ll_lack full;                            /* why there is no room for the next slots */
  int denied;          /* errno of the system call that refused to allocate room, although there may be some */
  bool inherited;      /* a fork copies the mapping, since MADV_DONTFORK is refused */
  bool limited;        /* a control group limits the memory */
  uint64_t summarised; /* changes of the context whose earlier summaries are reported; only the harvester uses it */
} ll_store;

/* The smallest budget that has room for this many routes besides the default one. */
size_t ll_store_least_budget(uint32_t other_routes);

/* At most a quarter of the memory limit, but no less than the smallest budget. */
size_t ll_store_budget_within(uint64_t memory_limit, size_t budget_bytes, uint32_t other_routes);

/* Creates this process's file in `directory`. If that fails, creates the same layout in memory, sets crash_safe to
 * false and writes a line to `why`. The file has no name yet. Returns 0 or ENOMEM. */
int ll_store_create(ll_store *store, const char *directory, const char *program, size_t budget_bytes,
                    const uint8_t incarnation[16], char *why, size_t why_bytes);

/* Divides slots and data between the default route and the named ones. In a new store everything belongs to the default
 * route. Must be called before any ring is taken. */
void ll_store_deal(ll_store *store, uint32_t other_routes, const char names[][LL_ROUTE_NAME_BYTES]);

/* Gives the file its name, once a recovery can read it. On failure sets crash_safe to false and writes a line to
 * why. */
void ll_store_publish(ll_store *store, char *why, size_t why_bytes);

/* Maps an existing file and validates it (validate.h). Returns 0; EBUSY when its owner or a recovery is or may be
 * alive (with other_namespaces, processes of other pid namespaces count as dead); ENOENT; EACCES for a file that is not
 * ours; EINVAL for an invalid ring file. why holds the reason. */
int ll_store_attach(ll_store *store, const char *path, bool other_namespaces, char *why, size_t why_bytes);

/* A program's name as used in file names. */
void ll_store_program(const char *program, char *name, size_t name_bytes);

/* Allocates this range of the file. Returns 0 or an error number. */
int ll_store_allocate(int fd, uint64_t offset, uint64_t bytes);

/* The kernel would end a program that makes a file of that size. */
bool ll_store_exceeds_limit(uint64_t bytes);

/* Allocates the range, so that it may be touched. False: no room on the filesystem. */
bool ll_store_reserve(ll_store *store, uint64_t offset, uint64_t bytes);

/* Releases the pages of the range, which is unused. */
void ll_store_give_back(ll_store *store, uint64_t offset, uint64_t bytes);

/* Releases unused pages of a file that will be left behind. No emit may be in progress. */
void ll_store_trim(ll_store *store);

/* Called periodically: when the file was removed, sets crash_safe to false and logs a line. In another root (chroot)
 * this cannot be determined, and the file counts as present. */
void ll_store_look(ll_store *store);

/* Ends a recovery: releases the claim and unmaps the file. */
void ll_store_release(ll_store *store);

void ll_store_unmap(ll_store *store);

/* Removes the file, after all of its contents were delivered. */
void ll_store_remove(ll_store *store);

typedef struct ll_extent {
  uint8_t *at;
  size_t bytes;
} ll_extent;

/* In a forked child, where the mapping is absent (MADV_DONTFORK): maps anonymous memory in its place, since an emit
 * interrupted by the signal handler that forked may still read and write there. Where a limit leaves no memory for all
 * of it, only what precedes the slots and those `rings` can be written, as that emit may do. Async-signal-safe. */
void ll_store_after_fork(ll_store *store, const ll_extent *rings, unsigned count);

/* False for a never-used ring, which may still be assigned to any route. */
static inline bool ll_ring_is_of(const ll_ring *ring, uint32_t route) {
  return load_acquire(&ring->thread) != 0 && ring->route == route;
}

static inline uint8_t *ll_ring_base(const ll_store *store, const ll_ring *ring) {
  return store->map + ring->offset;
}

#endif
