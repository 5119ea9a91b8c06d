#include "spool.h"

#include "base/atomics.h"
#include "base/clock.h"
#include "base/crash_point.h"
#include "base/log.h"
#include "base/low.h"
#include "spool_give_up.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum {
  SEGMENT_LEAST = 512 << 10, /* an ordinary batch fits */
  SEGMENT_MOST = 4 << 20,    /* the most that is sent again after a crash, and that a replay holds in memory */
  SEGMENTS_WITHIN_CAP = 16,
  TROUBLE_PAUSE_MS = 1000,
  FULL_PAUSE_MS = 50,
  PASSING_PAUSE_MS = 5,
  SYNC_MS = 1000,
  FLYING_MOST = 16, /* limit of spooled batches that the sink has at a time */
};

_Static_assert(SEGMENT_MOST <= LL_SEGMENT_BYTES_MOST, "a reader takes what a writer makes");

void ll_spool_start(ll_spool *spool, const ll_spool_settings *settings, ll_store *store, uint32_t route,
                    const char *host, const char *program) {
  memset(spool, 0, sizeof *spool);
  if (settings == NULL || settings->directory[0] == '\0') return;
  spool->settings = settings;
  spool->store = store;
  spool->books = &store->header->routes[route].spool;
  uint64_t share = settings->bytes / SEGMENTS_WITHIN_CAP;
  spool->segment_bytes = share < SEGMENT_LEAST ? SEGMENT_LEAST : share > SEGMENT_MOST ? SEGMENT_MOST : (size_t)share;
  spool->identity.route = (uint16_t)route;
  spool->identity.owner = store->header->owner;
  memcpy(spool->identity.incarnation, store->header->incarnation, sizeof spool->identity.incarnation);
  strncpy(spool->identity.host, host, sizeof spool->identity.host - 1);
  strncpy(spool->identity.program, program, sizeof spool->identity.program - 1);
  strncpy(spool->identity.route_name, store->header->routes[route].name, sizeof spool->identity.route_name - 1);
}

size_t ll_spool_batch_most(const ll_spool *spool) {
  if (spool->settings == NULL) return LL_BATCH_MOST;
  size_t room = spool->segment_bytes - LL_SEGMENT_HEADER_BYTES - LL_RECORD_HEADER_BYTES - 7;
  return room < LL_BATCH_MOST ? room : LL_BATCH_MOST;
}

static void end_replay(ll_spool *spool) {
  if (spool->replaying) ll_replay_free(&spool->replay);
  spool->replaying = false;
}

/* The spool is not usable now. Logs one line per state. */
static void in_trouble(ll_spool *spool, int error, const char *why) {
  spool->retry_at_ns = ll_monotonic_ns() + TROUBLE_PAUSE_MS * MS;
  if (spool->trouble == error) return;
  spool->trouble = error;
  ll_log(LL_LOG_WARN, "the spool cannot be used (%s); batches stay in memory meanwhile",
         why != NULL ? why : strerror(error));
}

static void out_of_trouble(ll_spool *spool) {
  if (spool->trouble != 0) ll_log(LL_LOG_INFO, "the spool can be used again");
  spool->trouble = 0;
}

static int open_directory(ll_spool *spool, bool make) {
  char why[512] = "";
  errno = 0;
  int directory = ll_spool_directory_open(spool->settings->directory, make, why, sizeof why);
  if (directory < 0) in_trouble(spool, errno != 0 ? errno : EPERM, why);
  return directory;
}

/* Transient errors: another process had the directory's lock, or the program closed all of its descriptors, including
 * ours, during our work. */
static bool is_passing(int error) {
  return error == EAGAIN || error == EBADF || error == EEXIST;
}

/* Whether the descriptor is still the newest segment that we created. Checked before each write: a program that closes
 * all of its descriptors and reuses their numbers for its own files must not find our batches in them. */
static bool is_newest(const ll_spool *spool, int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && status.st_dev == spool->device && status.st_ino == spool->inode;
}

static void name_of(const ll_spool *spool, uint32_t number, char name[LL_SPOOL_NAME_MAX]) {
  ll_segment_identity identity = spool->identity;
  identity.number = number;
  ll_spool_name(&identity, LL_SPOOL_WAITING, name);
}

static void forget(ll_spool *spool, size_t index) {
  store_relaxed(&spool->batches, spool->batches - spool->segments[index].batches);
  if (index == 0) end_replay(spool);
  if (index + 1 == spool->count) spool->writing = false;
  memmove(&spool->segments[index], &spool->segments[index + 1], (spool->count - index - 1) * sizeof spool->segments[0]);
  spool->count--;
}

/* The segment was removed externally. The fate of its batches is unknown: they are not counted as dropped, and
 * consumers see them as missing. */
static void report_vanished(ll_spool *spool, size_t index) {
  ll_log(LL_LOG_ERROR, "segment %u of the spool was removed from %s, with %u batches of %llu events",
         (unsigned)spool->segments[index].number, spool->settings->directory, (unsigned)spool->segments[index].batches,
         (unsigned long long)spool->segments[index].events);
  forget(spool, index);
}

/* --- Writing ------------------------------------------------------------------------------------------------------ */

/* A burst of writes, with the descriptors open meanwhile. */
typedef struct burst {
  int directory;
  int fd;                         /* the newest segment's, or -1 */
  size_t used_before;             /* its used bytes when it was opened, */
  ll_spool_segment noted_before;  /* and its description */
  uint32_t written[LL_SLOTS_MAX]; /* slots whose batches are written, but that are not yet freed */
  unsigned written_count;
  unsigned freed;
} burst;

/* Closes the newest segment for writing: releases the space reserved for it. */
static void finish_segment(ll_spool *spool, int fd) {
  if (!is_newest(spool, fd) || ftruncate(fd, (off_t)spool->used) != 0)
    return; /* then its zeros remain, which read as its end */
  if (spool->settings->sync != LL_SPOOL_SYNC_NEVER) fdatasync(fd);
}

/* Opens the newest segment as we created it. ENOENT also if the name now refers to another file. */
static int open_newest(ll_spool *spool, int directory, int *fd) {
  char name[LL_SPOOL_NAME_MAX];
  name_of(spool, spool->identity.number, name);
  *fd = ll_openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (*fd < 0) return errno;
  if (is_newest(spool, *fd)) return 0;
  close(*fd);
  *fd = -1;
  return ENOENT;
}

static int make_segment(ll_spool *spool, int directory) {
  if (spool->count == spool->room) {
    size_t room = spool->room == 0 ? 64 : spool->room * 2;
    ll_spool_segment *segments = realloc(spool->segments, room * sizeof *segments);
    if (segments == NULL) return ENOMEM;
    spool->segments = segments;
    spool->room = room;
  }
  ll_segment_identity identity = spool->identity;
  identity.number++;
  int error = ll_spool_segment_create(directory, &identity, spool->segment_bytes, spool->settings->bytes,
                                      &spool->device, &spool->inode);
  if (error == EEXIST) spool->identity.number++; /* left by an interrupted attempt: see is_passing */
  if (error != 0) return error;
  if (spool->settings->sync != LL_SPOOL_SYNC_NEVER) fsync(directory);
  spool->identity.number = identity.number;
  spool->segments[spool->count++] = (ll_spool_segment){.number = identity.number};
  spool->writing = true;
  spool->used = LL_SEGMENT_HEADER_BYTES;
  return 0;
}

static void free_slot(ll_spool *spool, uint32_t index) {
  ll_store *store = spool->store;
  uint64_t sequence = ll_slot_sequence(load_acquire(&store->header->slot_words[index]));
  uint32_t events = ll_slot_at(store, index)->event_count;
  if (ll_slot_move(store, index, sequence, LL_SLOT_SEALED, LL_SLOT_FREE)) add_owned(&spool->books->spooled, events);
}

/* Truncates the newest segment to `used`: a shorter record written there would be followed by the rest of a longer
 * one. */
static void cut_off(ll_spool *spool, burst *now) {
  if (now->fd >= 0 && (!is_newest(spool, now->fd) || ftruncate(now->fd, (off_t)spool->used) != 0))
    spool->writing = false;
}

/* Syncs the written records as the policy requires, and only then frees their slots. */
static void end_burst(ll_spool *spool, burst *now) {
  if (now->fd < 0) return;
  bool safe = spool->settings->sync != LL_SPOOL_SYNC_ALWAYS || now->written_count == 0 || fdatasync(now->fd) == 0;
  if (!safe) {
    if (!is_passing(errno)) in_trouble(spool, errno, NULL);
    spool->used = now->used_before;
    spool->segments[spool->count - 1] = now->noted_before;
    store_relaxed(&spool->batches, spool->batches - now->written_count);
    cut_off(spool, now);
  } else if (now->written_count > 0) {
    ll_crash_point("spooled-unfreed");
    for (unsigned i = 0; i < now->written_count; i++)
      free_slot(spool, now->written[i]);
    now->freed += now->written_count;
    if (!spool->unsynced) spool->sync_at_ns = ll_monotonic_ns() + SYNC_MS * MS;
    spool->unsynced = spool->settings->sync == LL_SPOOL_SYNC_INTERVAL;
    out_of_trouble(spool);
  }
  now->written_count = 0;
  close(now->fd);
  now->fd = -1;
}

static int open_burst(ll_spool *spool, burst *now) {
  int error = open_newest(spool, now->directory, &now->fd);
  if (error != 0) return error;
  now->used_before = spool->used;
  now->noted_before = spool->segments[spool->count - 1];
  return 0;
}

/* Ensures that a segment with room for this record is open. Returns 0 or an errno value; ENOBUFS: the size limit is
 * reached. */
static int open_for(ll_spool *spool, burst *now, size_t record) {
  int error = 0;
  if (spool->writing && now->fd < 0) error = open_burst(spool, now);
  if (error == ENOENT) {
    report_vanished(spool, spool->count - 1);
    error = 0;
  }
  if (error != 0) return error;
  if (spool->writing && spool->used + record > spool->segment_bytes) {
    finish_segment(spool, now->fd);
    end_burst(spool, now);
    spool->writing = false;
  }
  if (spool->writing) return 0;
  error = make_segment(spool, now->directory);
  return error == 0 ? open_burst(spool, now) : error;
}

static int write_record(ll_spool *spool, int fd, const ll_slot *slot, uint64_t sequence) {
  static const uint8_t padding[8];
  uint8_t header[LL_RECORD_HEADER_BYTES];
  ll_record_header_write(&spool->identity, sequence, slot->event_count, slot->batch, slot->bytes, header);
  size_t total = ll_record_total(slot->bytes), done = 0;
  while (done < total) {
    struct iovec parts[3] = {{header, sizeof header},
                             {(void *)(uintptr_t)slot->batch, slot->bytes},
                             {(void *)(uintptr_t)padding, total - sizeof header - slot->bytes}};
    int first = 0;
    for (size_t skip = done; first < 3; first++) {
      if (skip < parts[first].iov_len) {
        parts[first].iov_base = (uint8_t *)parts[first].iov_base + skip;
        parts[first].iov_len -= skip;
        break;
      }
      skip -= parts[first].iov_len;
    }
    if (!is_newest(spool, fd)) return EBADF;
    ssize_t written = pwritev(fd, parts + first, 3 - first, (off_t)(spool->used + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : EIO;
    done += (size_t)written;
  }
  return 0;
}

static void note_record(ll_spool *spool, const ll_slot *slot, uint64_t sequence, bool offered) {
  ll_spool_segment *segment = &spool->segments[spool->count - 1];
  if (segment->batches == 0 || sequence < segment->first_sequence) segment->first_sequence = sequence;
  segment->batches++;
  store_relaxed(&spool->batches, spool->batches + 1);
  segment->events += slot->event_count;
  segment->offered |= offered;
  spool->used += ll_record_total(slot->bytes);
}

/* Makes room by discarding the oldest segment that was never offered to the sink. True: try again. */
static bool give_up_oldest(ll_spool *spool, burst *now) {
  for (size_t i = 0; i < spool->count; i++) {
    if (spool->segments[i].offered || (spool->writing && i + 1 == spool->count)) continue;
    int error = ll_give_up_segment(spool, now->directory, spool->segments[i].number, spool->segments[i].events, 0,
                                   LL_SPOOL_KINDS);
    if (error == 0) {
      forget(spool, i);
      return true;
    }
    if (error != ENOENT) return false;
    report_vanished(spool, i);
    return true;
  }
  return false;
}

static void tell_full(ll_spool *spool) {
  static const char *const consequences[] = {
      [LL_SPOOL_DROP_OLDEST] = "the oldest batches are dropped and counted",
      [LL_SPOOL_DROP_NEWEST] = "the newest batches are dropped and counted",
      [LL_SPOOL_BLOCK] = "batches stay in memory",
  };
  if (!spool->full_told)
    ll_log(LL_LOG_WARN, "the spool %s has reached its limit of %llu bytes: %s", spool->settings->directory,
           (unsigned long long)spool->settings->bytes, consequences[spool->settings->full]);
  spool->full_told = true;
}

typedef enum put_outcome { WRITTEN, GIVEN_UP, HELD } put_outcome;

static put_outcome put_one(ll_spool *spool, burst *now, const ll_spool_candidate *candidate) {
  const ll_slot *slot = ll_slot_at(spool->store, candidate->slot);
  uint64_t sequence = ll_slot_sequence(load_acquire(&spool->store->header->slot_words[candidate->slot]));
  int error;
  while ((error = open_for(spool, now, ll_record_total(slot->bytes))) == ENOBUFS) {
    tell_full(spool);
    spool->retry_at_ns = ll_monotonic_ns() + FULL_PAUSE_MS * MS;
    if (spool->closing || spool->settings->full == LL_SPOOL_BLOCK) return HELD;
    if (spool->settings->full == LL_SPOOL_DROP_OLDEST && give_up_oldest(spool, now)) continue;
    if (candidate->offered) return HELD;
    ll_give_up_slot(spool, candidate->slot, sequence);
    spool->retry_at_ns = 0;
    return GIVEN_UP;
  }
  if (error == 0) error = write_record(spool, now->fd, slot, sequence);
  if (error == 0) {
    note_record(spool, slot, sequence, candidate->offered);
    return WRITTEN;
  }
  if (is_passing(error))
    spool->retry_at_ns = ll_monotonic_ns() + PASSING_PAUSE_MS * MS;
  else
    in_trouble(spool, error, NULL);
  cut_off(spool, now);
  return HELD;
}

unsigned ll_spool_put(ll_spool *spool, const ll_spool_candidate *candidates, unsigned count) {
  if (spool->settings == NULL || count == 0 || ll_monotonic_ns() < spool->retry_at_ns) return 0;
  burst now = {.fd = -1, .directory = open_directory(spool, true)};
  if (now.directory < 0) return 0;
  for (unsigned i = 0; i < count; i++) {
    put_outcome outcome = put_one(spool, &now, &candidates[i]);
    if (outcome == HELD) break;
    if (outcome == WRITTEN)
      now.written[now.written_count++] = candidates[i].slot;
    else
      now.freed++;
  }
  end_burst(spool, &now);
  close(now.directory);
  return now.freed;
}

/* --- Sending ------------------------------------------------------------------------------------------------------ */

/* Counts what the sink refused. Damaged records cannot be counted, since their contents are unknown. */
static void remove_replayed(ll_spool *spool, int directory) {
  const ll_replay *replay = &spool->replay;
  const ll_spool_segment *segment = &spool->segments[0];
  uint64_t refused = ll_replay_events(replay, true);
  uint64_t lost = segment->events - refused - ll_replay_events(replay, false);
  ll_spool_kind keep = replay->damaged > 0 ? LL_SPOOL_DAMAGED : LL_SPOOL_KINDS;
  if (replay->damaged > 0)
    ll_log(LL_LOG_ERROR, "segment %u of the spool is damaged: %llu events are lost, all others were delivered",
           (unsigned)segment->number, (unsigned long long)lost);
  if (refused > 0) {
    int error = ll_give_up_segment(spool, directory, segment->number, 0, refused, keep);
    if (error == 0)
      ll_log(LL_LOG_ERROR, "the sink refused batches from the spool; their events are counted as dropped_sink");
    if (error == 0)
      forget(spool, 0);
    else if (error == ENOENT)
      report_vanished(spool, 0);
    else
      in_trouble(spool, error, NULL);
    return;
  }
  char renamed[LL_SPOOL_NAME_MAX];
  ll_spool_renamed(replay->name, keep == LL_SPOOL_KINDS ? LL_SPOOL_WAITING : keep, renamed);
  if (keep == LL_SPOOL_KINDS)
    unlinkat(directory, replay->name, 0);
  else
    renameat(directory, replay->name, directory, renamed);
  forget(spool, 0);
}

/* FINAL holds the final counters: batches refused after it stay in their file. */
static void finish_replay(ll_spool *spool) {
  if (!spool->replaying || !ll_replay_done(&spool->replay) || ll_monotonic_ns() < spool->retry_at_ns) return;
  if (spool->closing && spool->replay.refused > 0) return;
  int directory = open_directory(spool, false);
  if (directory < 0) return;
  remove_replayed(spool, directory);
  spool->full_told = false;
  close(directory);
}

static bool start_replay(ll_spool *spool) {
  if (spool->count == 0 || ll_monotonic_ns() < spool->retry_at_ns) return false;
  int directory = open_directory(spool, false);
  if (directory < 0) return false;
  if (spool->writing && spool->count == 1) {
    int fd, error = open_newest(spool, directory, &fd);
    if (error == 0) {
      finish_segment(spool, fd);
      close(fd);
    }
    spool->writing = false;
  }
  char name[LL_SPOOL_NAME_MAX], why[256];
  name_of(spool, spool->segments[0].number, name);
  ll_spool_content content;
  int error = ll_spool_content_read(directory, name, LL_SPOOL_OWN, &content, why, sizeof why);
  close(directory);
  if (error == 0 && memcmp(&content.identity.incarnation, spool->identity.incarnation, 16) != 0) {
    ll_spool_content_free(&content);
    error = ENOENT;
  }
  if (error == 0) error = ll_replay_start(&spool->replay, name, &content, ++spool->round);
  spool->replaying = error == 0;
  if (error == ENOENT || error == EINVAL)
    report_vanished(spool, 0);
  else if (error != 0)
    in_trouble(spool, error, why);
  return error == 0;
}

ll_replayed ll_spool_send(ll_spool *spool, const ll_sink_plugin *plugin, ll_sink *sink) {
  if (spool->settings == NULL) return LL_REPLAY_NOTHING;
  finish_replay(spool);
  if (!spool->replaying && !start_replay(spool)) return LL_REPLAY_NOTHING;
  if (load_acquire(&spool->replay.flying) >= FLYING_MOST) return LL_REPLAY_NOTHING;
  ll_replayed replayed = ll_replay_send(&spool->replay, plugin, sink);
  if (replayed == LL_REPLAYED) spool->segments[0].offered = true;
  return replayed;
}

bool ll_spool_answer(ll_spool *spool, uint64_t token, ll_sink_outcome outcome) {
  return spool->settings != NULL && ll_replay_answer(&spool->replay, token, outcome);
}

void ll_spool_tick(ll_spool *spool) {
  if (spool->settings == NULL) return;
  finish_replay(spool);
  if (!spool->unsynced || ll_monotonic_ns() < spool->sync_at_ns) return;
  spool->unsynced = false;
  int fd, directory = spool->writing ? open_directory(spool, false) : -1;
  if (directory < 0) return;
  if (open_newest(spool, directory, &fd) == 0) {
    if (fdatasync(fd) != 0) in_trouble(spool, errno, NULL);
    close(fd);
  }
  close(directory);
}

bool ll_spool_settled(const ll_spool *spool, uint64_t sequence) {
  for (size_t i = 0; i < spool->count; i++)
    if (spool->segments[i].batches > 0 && spool->segments[i].first_sequence <= sequence) return false;
  return true;
}

uint32_t ll_spool_batches(const ll_spool *spool) {
  return load_relaxed(&spool->batches);
}

/* Releases the space reserved for the newest segment. */
void ll_spool_stop(ll_spool *spool) {
  if (spool->settings == NULL) return;
  int directory = spool->writing ? open_directory(spool, false) : -1, fd;
  if (directory >= 0) {
    if (open_newest(spool, directory, &fd) == 0) {
      finish_segment(spool, fd);
      close(fd);
    }
    close(directory);
  }
  end_replay(spool);
  free(spool->segments);
  spool->segments = NULL;
  spool->count = spool->room = 0;
  store_relaxed(&spool->batches, 0);
  spool->settings = NULL;
}
