#include "account.h"

#include "out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, NONE = UINT32_MAX };

/* FORMAT.md, section 3.2. */
enum { EMITTED = 0, DROPPED_FIRST = 1, DROPPED_LAST = 5, DROPPED_SPOOL_FULL = 6, DROPPED_SINK = 7 };
static const char *const counter_names[LLB_COUNTERS] = {"emitted",     "ring_full",       "no_ring",    "reentrant",
                                                        "oversize",    "shutdown",        "spool_full", "sink",
                                                        "sampled_out", "below_threshold", "folded",     "spooled"};

/* One route of one emitter. */
typedef struct emitter {
  uint8_t incarnation[16];
  uint16_t route;
  bool final;
  char host[NAME_BYTES], program[NAME_BYTES], route_name[NAME_BYTES];
  uint32_t pid;
  uint64_t batches, events, repeats, conflicts;
  uint64_t highest;                /* sequence */
  uint64_t counters[LLB_COUNTERS]; /* of the batch with the highest sequence */
} emitter;

/* A batch seen before. */
typedef struct known {
  uint64_t sequence; /* 0: none */
  uint32_t emitter;
  uint32_t crc;
} known;

struct account {
  emitter *emitters;
  uint32_t emitter_count, emitter_room;
  uint32_t *places; /* of emitters, by hash: index plus one */
  known *batches;   /* by hash */
  size_t batch_count, batch_room;
  uint64_t damaged_stretches, damaged_bytes;
};

account *account_open(void) {
  return calloc(1, sizeof(account));
}

void account_close(account *books) {
  if (!books) return;
  free(books->emitters);
  free(books->places);
  free(books->batches);
  free(books);
}

/* Incarnations are hashed, since those of forged batches need not be random. */
static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

/* --- emitters --- */

static uint64_t hash_of_emitter(const uint8_t incarnation[16], uint16_t route) {
  uint64_t halves[2];
  memcpy(halves, incarnation, sizeof halves);
  return mix(mix(mix(0, halves[0]), halves[1]), route);
}

/* Both tables are at most half full, so that a search terminates. */
static bool grow_emitters(account *books) {
  if (books->emitter_count < books->emitter_room) return true;
  uint32_t room = books->emitter_room ? 2 * books->emitter_room : 16;
  emitter *emitters = realloc(books->emitters, room * sizeof *emitters);
  if (emitters) books->emitters = emitters;
  uint32_t *places = emitters ? calloc(2 * (size_t)room, sizeof *places) : NULL;
  if (!places) return false;
  for (uint32_t i = 0; i < books->emitter_count; i++) {
    uint64_t at = hash_of_emitter(emitters[i].incarnation, emitters[i].route);
    while (places[at & (2 * room - 1)] != 0)
      at++;
    places[at & (2 * room - 1)] = i + 1;
  }
  free(books->places);
  books->places = places;
  books->emitter_room = room;
  return true;
}

/* Truncates the name, and replaces characters that are harmful in text, in JSON or on a terminal. */
static void copy_name(char to[NAME_BYTES], llb_bytes from) {
  size_t size = 0;
  for (size_t at = 0, length; at < from.size; at += length) {
    const uint8_t *c = from.data + at;
    length = llb_utf8_length(c, from.size - at);
    if (size + length > NAME_BYTES - 1) break;
    bool shown = *c != '\0' && *c != '"' && *c != '\\' && llb_harmful(c, length) == 0;
    memcpy(to + size, shown ? c : (const uint8_t *)"?", shown ? length : 1);
    size += shown ? length : 1;
  }
  to[size] = '\0';
}

/* Returns NONE if out of memory. */
static uint32_t find_emitter(account *books, const llb_batch *batch) {
  if (!grow_emitters(books)) return NONE;
  uint64_t at = hash_of_emitter(batch->incarnation, batch->route), mask = 2 * (uint64_t)books->emitter_room - 1;
  for (; books->places[at & mask] != 0; at++) {
    uint32_t i = books->places[at & mask] - 1;
    if (books->emitters[i].route == batch->route && memcmp(books->emitters[i].incarnation, batch->incarnation, 16) == 0)
      return i;
  }
  emitter *one = &books->emitters[books->emitter_count];
  *one = (emitter){.route = batch->route, .pid = batch->pid};
  memcpy(one->incarnation, batch->incarnation, sizeof one->incarnation);
  copy_name(one->host, batch->host);
  copy_name(one->program, batch->program);
  copy_name(one->route_name, batch->route_name);
  books->places[at & mask] = ++books->emitter_count;
  return books->emitter_count - 1;
}

/* --- batches --- */

static known *place_of(known *batches, size_t room, uint32_t of, uint64_t sequence) {
  uint64_t at = mix(mix(0, of), sequence);
  while (batches[at & (room - 1)].sequence != 0 &&
         (batches[at & (room - 1)].sequence != sequence || batches[at & (room - 1)].emitter != of))
    at++;
  return &batches[at & (room - 1)];
}

static bool grow_batches(account *books) {
  if (books->batch_room > 2 * books->batch_count) return true;
  size_t room = books->batch_room ? 2 * books->batch_room : 1024;
  known *batches = calloc(room, sizeof *batches);
  if (!batches) return false;
  for (size_t i = 0; i < books->batch_room; i++)
    if (books->batches[i].sequence != 0)
      *place_of(batches, room, books->batches[i].emitter, books->batches[i].sequence) = books->batches[i];
  free(books->batches);
  books->batches = batches;
  books->batch_room = room;
  return true;
}

verdict account_add(account *books, const llb_batch *batch) {
  uint32_t of = grow_batches(books) ? find_emitter(books, batch) : NONE;
  if (of == NONE) return VERDICT_NO_MEMORY;
  emitter *one = &books->emitters[of];
  known *place = place_of(books->batches, books->batch_room, of, batch->sequence);
  if (place->sequence != 0) {
    bool same = place->crc == batch->crc;
    one->repeats += same;
    one->conflicts += !same;
    return same ? VERDICT_REPEAT : VERDICT_CONFLICT;
  }
  *place = (known){batch->sequence, of, batch->crc};
  books->batch_count++;
  one->batches++;
  one->events += batch->event_count;
  one->final |= (batch->flags & LLB_FINAL) != 0;
  if (batch->sequence > one->highest) {
    one->highest = batch->sequence;
    memcpy(one->counters, batch->counters, sizeof one->counters);
  }
  return VERDICT_NEW;
}

void account_damage(account *books, uint64_t bytes) {
  books->damaged_stretches++;
  books->damaged_bytes += bytes;
}

/* --- the report --- */

typedef struct sums {
  uint64_t batches, events, repeats, conflicts;
  uint64_t missing_batches, missing_events, dropped;
} sums;

/* Expected events according to the batch with the highest sequence, less those received and those that the emitter gave
 * up. Batches given up leave sequence gaps, too: gaps count as missing only if given-up events do not account for all
 * absent ones, or if there are none. */
static sums sums_of(const emitter *one) {
  sums of = {one->batches, one->events, one->repeats, one->conflicts, 0, 0, 0};
  const uint64_t *counted = one->counters;
  uint64_t in_batches = counted[EMITTED], given_up = counted[DROPPED_SPOOL_FULL] + counted[DROPPED_SINK];
  for (int i = DROPPED_FIRST; i <= DROPPED_LAST; i++) {
    in_batches -= counted[i];
    of.dropped += counted[i];
  }
  of.dropped += given_up;
  uint64_t absent = in_batches > one->events ? in_batches - one->events : 0;
  of.missing_events = absent > given_up ? absent - given_up : 0;
  if (of.missing_events > 0 || given_up == 0) of.missing_batches = one->highest - one->batches;
  return of;
}

static sums sums_of_all(const account *books) {
  sums all = {0};
  for (uint32_t i = 0; i < books->emitter_count; i++) {
    sums of = sums_of(&books->emitters[i]);
    all.batches += of.batches;
    all.events += of.events;
    all.repeats += of.repeats;
    all.conflicts += of.conflicts;
    all.missing_batches += of.missing_batches;
    all.missing_events += of.missing_events;
    all.dropped += of.dropped;
  }
  return all;
}

bool account_is_whole(const account *books) {
  sums all = sums_of_all(books);
  return all.missing_batches == 0 && all.missing_events == 0 && all.conflicts == 0 && books->damaged_stretches == 0;
}

static void print_emitter(const emitter *one, const sums *of, FILE *to) {
  fprintf(to, "  %s pid %" PRIu32 " on %s, route %s (", one->program, one->pid, one->host, one->route_name);
  for (int i = 0; i < 4; i++)
    fprintf(to, "%02x", one->incarnation[i]);
  fprintf(to, "...):");
  const char *separator = " ";
  if (of->missing_batches > 0 || of->missing_events > 0) {
    fprintf(to, "%smissing %" PRIu64 " events in %" PRIu64 " batches", separator, of->missing_events,
            of->missing_batches);
    separator = ", ";
  }
  if (of->repeats > 0) fprintf(to, "%s%" PRIu64 " batches repeated", separator, of->repeats), separator = ", ";
  if (of->conflicts > 0)
    fprintf(to, "%s%" PRIu64 " batches repeated with other bytes", separator, of->conflicts), separator = ", ";
  for (int i = DROPPED_FIRST; i <= DROPPED_SINK; i++)
    if (one->counters[i] > 0)
      fprintf(to, "%sdropped %s %" PRIu64, separator, counter_names[i], one->counters[i]), separator = ", ";
  if (!one->final) fprintf(to, "%sno final batch: there may be more", separator);
  putc('\n', to);
}

void account_print(const account *books, FILE *to) {
  sums all = sums_of_all(books);
  fprintf(to,
          "events=%" PRIu64 " batches=%" PRIu64 " emitters=%" PRIu32 " missing=%" PRIu64 " missing_batches=%" PRIu64
          " repeated_batches=%" PRIu64 " conflicts=%" PRIu64 " dropped=%" PRIu64 " damaged_bytes=%" PRIu64 "\n",
          all.events, all.batches, books->emitter_count, all.missing_events, all.missing_batches, all.repeats,
          all.conflicts, all.dropped, books->damaged_bytes);
  for (uint32_t i = 0; i < books->emitter_count; i++) {
    const emitter *one = &books->emitters[i];
    sums of = sums_of(one);
    bool worth_a_line = of.missing_batches + of.missing_events + of.repeats + of.conflicts + of.dropped > 0;
    if (worth_a_line || !one->final) print_emitter(one, &of, to);
  }
}

static void print_sums(const sums *of, FILE *to) {
  fprintf(to,
          "\"events\":%" PRIu64 ",\"batches\":%" PRIu64 ",\"missing_events\":%" PRIu64 ",\"missing_batches\":%" PRIu64
          ",\"repeated_batches\":%" PRIu64 ",\"conflicts\":%" PRIu64 ",\"dropped\":%" PRIu64,
          of->events, of->batches, of->missing_events, of->missing_batches, of->repeats, of->conflicts, of->dropped);
}

void account_print_json(const account *books, FILE *to) {
  sums all = sums_of_all(books);
  putc('{', to);
  print_sums(&all, to);
  fprintf(to, ",\"damaged_stretches\":%" PRIu64 ",\"damaged_bytes\":%" PRIu64 ",\"emitters\":[",
          books->damaged_stretches, books->damaged_bytes);
  for (uint32_t i = 0; i < books->emitter_count; i++) {
    const emitter *one = &books->emitters[i];
    sums of = sums_of(one);
    fprintf(to, "%s{\"incarnation\":\"", i > 0 ? "," : "");
    for (int j = 0; j < 16; j++)
      fprintf(to, "%02x", one->incarnation[j]);
    fprintf(to, "\",\"route\":%u,\"route_name\":\"%s\",\"host\":\"%s\",\"program\":\"%s\",\"pid\":%" PRIu32 ",",
            one->route, one->route_name, one->host, one->program, one->pid);
    print_sums(&of, to);
    fprintf(to, ",\"final\":%s,\"highest_sequence\":%" PRIu64 ",\"counters\":{", one->final ? "true" : "false",
            one->highest);
    for (int j = 0; j < LLB_COUNTERS; j++)
      fprintf(to, "%s\"%s%s\":%" PRIu64, j > 0 ? "," : "", j >= DROPPED_FIRST && j <= DROPPED_SINK ? "dropped_" : "",
              counter_names[j], one->counters[j]);
    fprintf(to, "}}");
  }
  fprintf(to, "]}\n");
}
