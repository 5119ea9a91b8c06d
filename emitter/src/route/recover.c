#include "recover.h"

#include "base/atomics.h"
#include "base/directory.h"
#include "base/log.h"
#include "finish.h"
#include "ring/replace.h"
#include "salvage.h"
#include "sink/destination.h"
#include "spool/spool_give_up.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH_BYTES = 64 << 10, HEX_DIGITS = 32 };

/* <program>-<pid>-<32 hex digits>.rings */
static bool is_file_of(const char *name, const char *program) {
  static const char suffix[] = ".rings";
  size_t length = strlen(name), end = sizeof suffix - 1 + HEX_DIGITS + 1;
  if (length <= end || strcmp(name + length - (sizeof suffix - 1), suffix) != 0) return false;
  if (program == NULL) return true;
  size_t dash = length - end;
  if (name[dash] != '-') return false;
  while (dash > 0 && name[dash - 1] >= '0' && name[dash - 1] <= '9')
    dash--;
  char begin[64];
  ll_store_program(program, begin, sizeof begin);
  return dash > 0 && name[dash - 1] == '-' && strlen(begin) == dash - 1 && strncmp(name, begin, dash - 1) == 0;
}

/* Step 2. */
static void take_over_tails(ll_store *store) {
  for (uint32_t i = 0; i < store->header->slot_count; i++) {
    uint64_t word = store->header->slot_words[i];
    if (ll_slot_state_of(word) != LL_SLOT_SEALED) continue; /* a refused batch was sent, so its tails had moved */
    const ll_slot *slot = ll_slot_at(store, i);
    for (uint32_t t = 0; t < slot->take_count; t++) {
      const ll_take *take = &ll_slot_takes(slot)[t];
      ll_ring *ring = &store->rings[take->ring];
      if (take->to > ring->tail) ring->tail = take->to;
    }
  }
}

static void count_sealed(const ll_store *store, ll_recovered *file) {
  for (uint32_t route = 0; route < store->header->route_count; route++) {
    uint64_t sequence = 0;
    for (const ll_slot *slot; (slot = ll_slot_next_sealed(store, route, &sequence)) != NULL;) {
      file->batches_resent++;
      file->events_resent += slot->event_count;
    }
  }
}

/* Reads host and program, two consecutive str16. Returns NULL, or the fault. */
static const char *read_names(const ll_store *store, char *host, char *program, size_t size) {
  const uint8_t *at = store->identity, *end = at + store->header->names_bytes;
  char *names[] = {host, program};
  for (int i = 0; i < 2; i++) {
    uint16_t count;
    if (end - at < (ptrdiff_t)sizeof count) return "impossible names";
    memcpy(&count, at, sizeof count);
    at += sizeof count;
    if (count >= size || count > end - at) return "impossible names";
    memcpy(names[i], at, count);
    names[i][count] = '\0';
    at += count;
  }
  return NULL;
}

/* A recovery in progress: the routes with something left to deliver. */
typedef struct delivery {
  ll_store *store;
  const ll_types *types;
  char host[256], program[256];
  ll_harvest harvests[LL_ROUTES_MAX];
  ll_route routes[LL_ROUTES_MAX];
  ll_ending endings[LL_ROUTES_MAX];
  uint32_t count;
} delivery;

/* A start of the program may have another URL. lifeline-recover delivers to the one that it is given. */
static bool is_for_another(const ll_recovery *recovery, const char *meant, const char *url) {
  char now[LL_DESTINATION_BYTES];
  ll_destination(url, now);
  return recovery->own != NULL && meant[0] != '\0' && !ll_destination_is_same(meant, now);
}

/* Prepares one route. False with a line in why when its events have to stay. */
static bool begin_route(const ll_recovery *recovery, delivery *work, uint32_t route, char *why, size_t why_bytes) {
  const char *name = work->store->header->routes[route].name,
             *url = ll_routes_url(recovery->routes, name, recovery->url);
  ll_harvest *harvest = &work->harvests[work->count];
  ll_compressor *compressor = ll_compressor_create(LL_COMPRESSION_COMPATIBLE, why, why_bytes); /* for any reader */
  if (compressor == NULL ||
      ll_harvest_start(harvest, work->store, route, work->types, compressor, BATCH_BYTES, false) != 0) {
    snprintf(why, why_bytes, "no memory");
    return false;
  }
  const char *meant = work->store->header->destinations[route];
  ll_route_setup setup = {.url = url, .host = work->host, .program = work->program, .silent = recovery->own != NULL};
  bool good = ll_harvest_is_done(harvest);
  if (!good && url == NULL)
    snprintf(why, why_bytes, "it holds events of route \"%s\", which is not declared here (LIFELINE_ROUTES or --route)",
             name);
  else if (!good && is_for_another(recovery, meant, url))
    snprintf(why, why_bytes,
             "its events are for %s, which is not where this program sends them to now; deliver them with "
             "lifeline-recover",
             meant);
  else if (!good && ll_route_open(&work->routes[work->count], work->store, route, &setup, why, why_bytes)) {
    work->endings[work->count] = (ll_ending){.harvest = harvest, .route = &work->routes[work->count]};
    work->count++;
    return true;
  }
  ll_harvest_free(harvest);
  return good;
}

/* Steps 3 and 4, on a claimed and validated file. */
static bool deliver(const ll_recovery *recovery, delivery *work, ll_recovered *file, char *why, size_t why_bytes) {
  const ll_file_header *header = work->store->header;
  if (header->calibrations[header->calibration_current].count == 0) {
    snprintf(why, why_bytes, "the process died before it had read the clock");
    return false;
  }
  bool all = true;
  for (uint32_t route = 0; route < header->route_count; route++)
    all &= begin_route(recovery, work, route, why, why_bytes);
  uint64_t sequences = 0, events = 0;
  for (uint32_t i = 0; i < work->count; i++) {
    sequences += work->harvests[i].sequence;
    events += work->harvests[i].events;
  }
  if (!ll_finish(work->endings, work->count, LL_BATCH_RECOVERED, recovery->deadline_ns, UINT64_MAX)) {
    if (all) snprintf(why, why_bytes, "the timeout expired before everything was acknowledged; run the recovery again");
    all = false;
  }
  for (uint32_t i = 0; i < work->count; i++) {
    file->batches_new += work->harvests[i].sequence;
    file->events_new += work->harvests[i].events;
    ll_route_close(&work->routes[i]);
    ll_harvest_free(&work->harvests[i]);
  }
  file->batches_new -= sequences;
  file->events_new -= events;
  return all;
}

/* Returns NULL, or why something is left. */
static const char *recover_store(const ll_recovery *recovery, ll_store *store, const ll_types *types,
                                 ll_recovered *file, char *why, size_t why_bytes) {
  delivery *work = calloc(1, sizeof *work);
  if (work == NULL) return "no memory";
  *work = (delivery){.store = store, .types = types};
  const char *fault = read_names(store, work->host, work->program, sizeof work->host);
  if (fault == NULL) count_sealed(store, file);
  for (uint32_t route = 0; fault == NULL && route < store->header->route_count; route++)
    if (!ll_give_up_resolve(store, route, work->program, why, why_bytes)) fault = why;
  if (fault == NULL && !deliver(recovery, work, file, why, why_bytes)) fault = why;
  free(work);
  return fault;
}

typedef enum ending { DELIVERED, LEFT, REPLACED } ending;

/* A claimed and valid file. REPLACED: a copy without what cannot be read is in its place. */
static ending recover_valid(const ll_recovery *recovery, ll_store *store, ll_recovered *file, char *why,
                            size_t why_bytes) {
  ll_types types;
  if (ll_types_create(&types) != 0) {
    snprintf(why, why_bytes, "no memory");
    return LEFT;
  }
  ending outcome = LEFT;
  ll_damage damage;
  ll_types_load(&types, store);
  take_over_tails(store);
  if (!ll_damage_find(store, &types, &damage)) {
    const char *fault = recover_store(recovery, store, &types, file, why, why_bytes);
    if (fault == NULL) outcome = DELIVERED;
    if (fault != NULL && fault != why) snprintf(why, why_bytes, "%s", fault);
  } else if (file->damaged) {
    snprintf(why, why_bytes, "it is still damaged after what cannot be read was left out");
  } else if (ll_salvage(store, &types, why, why_bytes)) {
    file->damaged = true;
    ll_damage_describe(&damage, file->damage, sizeof file->damage);
    outcome = REPLACED;
  }
  ll_types_free(&types);
  return outcome;
}

/* Everything in the file was delivered. That is not everything if the file is a copy. */
static void conclude(ll_recovered *file, ll_store *store, char *why, size_t why_bytes) {
  char kept[PATH_MAX];
  ll_store_remove(store);
  file->complete = !ll_replace_kept(store->path, kept, sizeof kept);
  if (file->complete) return;
  snprintf(why, why_bytes,
           "the file is damaged: %s. The rest was delivered; %.300s is the file as it was, delete it "
           "when nobody will examine it",
           file->damaged ? file->damage : "an earlier recovery found parts that cannot be read", kept);
}

static void recover_file(ll_recovery *recovery, const char *path) {
  char why[768] = "";
  ll_store store;
  ll_recovered file = {.path = path};
  ending outcome;
  do {
    int error = ll_store_attach(&store, path, recovery->other_namespaces, why, sizeof why);
    if (error == EBUSY && !file.damaged) recovery->skipped_live++;
    if (error == EBUSY || error == ENOENT) return; /* another recovery is, or was, faster */
    outcome = error != 0 ? LEFT : recover_valid(recovery, &store, &file, why, sizeof why);
    if (outcome == DELIVERED) conclude(&file, &store, why, sizeof why);
    if (error == 0) ll_store_release(&store);
  } while (outcome == REPLACED);
  if (!file.complete) file.trouble = why;
  recovery->files++;
  recovery->failed += !file.complete;
  if (recovery->report != NULL) recovery->report(recovery->ctx, &file);
}

static bool recover_directory(ll_recovery *recovery, const char *name, char *why, unsigned why_bytes) {
  if (access(name, F_OK) != 0 && errno == ENOENT) return true;
  int fd = ll_directory_open(name, "ring", true, why, why_bytes);
  if (fd < 0) return false;
  DIR *directory = fdopendir(fd);
  if (directory == NULL) {
    snprintf(why, why_bytes, "ring directory %s cannot be read: %s", name, strerror(errno));
    close(fd);
    return false;
  }
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    char path[PATH_MAX];
    if (ll_monotonic_ns() >= load_acquire(recovery->deadline_ns)) break;
    if (!is_file_of(entry->d_name, recovery->program)) continue;
    int length = snprintf(path, sizeof path, "%s/%s", name, entry->d_name);
    if (length < 0 || (size_t)length >= sizeof path) continue;
    if (recovery->own == NULL || strcmp(path, recovery->own) != 0) recover_file(recovery, path);
  }
  closedir(directory);
  return true;
}

bool ll_recover(ll_recovery *recovery, char *why, unsigned why_bytes) {
  const char *other = recovery->session_directory;
  bool read = recover_directory(recovery, recovery->directory, why, why_bytes);
  if (other == NULL || *other == '\0' || strcmp(other, recovery->directory) == 0) return read;
  return recover_directory(recovery, other, why, why_bytes) && read;
}
