/* Segments of the spool as bytes and files: intact batches are found, whatever happened to the rest. */
#include "support.h"

#include "base/format.h"
#include "batch/crc32c.h"
#include "spool/spool_files.h"
#include "spool/spool_replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORDS = 5, SEGMENT_ROOM = 16384, BATCH_BYTES = 140 };

static ll_segment_identity identity_of(uint8_t seed) {
  ll_segment_identity identity = {.number = 7, .route = 3, .owner = ll_process_self()};
  memset(identity.incarnation, seed, sizeof identity.incarnation);
  strcpy(identity.host, "node");
  strcpy(identity.program, "a program");
  strcpy(identity.route_name, "audit");
  return identity;
}

/* Makes a batch with the header of FORMAT.md and a valid CRC. */
static size_t make_batch(const ll_segment_identity *identity, uint64_t sequence, size_t bytes, uint8_t *batch) {
  for (size_t i = 0; i < bytes; i++)
    batch[i] = (uint8_t)(sequence * 31 + i * 7 + 1);
  memcpy(batch, "\x89LLB\x01\x00", 6);
  memcpy(batch + 16, identity->incarnation, 16);
  memcpy(batch + 32, &sequence, sizeof sequence);
  uint32_t total = (uint32_t)bytes, events = (uint32_t)sequence * 10;
  memcpy(batch + 56, &total, sizeof total);
  memcpy(batch + 72, &events, sizeof events);
  memcpy(batch + 80, &identity->route, sizeof identity->route);
  uint32_t crc = ll_crc32c(batch, bytes - 4);
  memcpy(batch + bytes - 4, &crc, sizeof crc);
  return bytes;
}

/* Makes a segment of RECORDS batches with sequences from 1, followed by zeros. Returns the used size. */
static size_t make_segment(const ll_segment_identity *identity, uint8_t bytes[SEGMENT_ROOM]) {
  memset(bytes, 0, SEGMENT_ROOM);
  ll_segment_header_write(identity, bytes);
  size_t used = LL_SEGMENT_HEADER_BYTES;
  for (uint64_t sequence = 1; sequence <= RECORDS; sequence++) {
    uint8_t *batch = bytes + used + LL_RECORD_HEADER_BYTES;
    size_t size = make_batch(identity, sequence, BATCH_BYTES + sequence, batch);
    ll_record_header_write(identity, sequence, (uint32_t)sequence * 10, batch, size, bytes + used);
    used += ll_record_total(size);
  }
  return used;
}

typedef struct scanned {
  bool found[RECORDS + 1];
  unsigned records, damaged, torn, mended;
} scanned;

/* Every record found must be one of the batches, unchanged. */
static scanned scan_all(const ll_segment_identity *identity, const uint8_t *bytes, size_t size) {
  scanned all = {.records = 0};
  uint8_t expected[BATCH_BYTES + RECORDS];
  ll_segment_scan scan = ll_segment_scan_start(identity, bytes, size);
  ll_scanned_record record;
  for (ll_scanned what; (what = ll_segment_scan_next(&scan, &record)) != LL_SCANNED_END;) {
    all.damaged += what == LL_SCANNED_DAMAGE;
    all.torn += what == LL_SCANNED_TORN;
    if (what != LL_SCANNED_RECORD) continue;
    assert_true(record.sequence >= 1 && record.sequence <= RECORDS);
    assert_false(all.found[record.sequence]);
    assert_int_equal(record.events, record.sequence * 10);
    assert_int_equal(record.bytes, make_batch(identity, record.sequence, BATCH_BYTES + record.sequence, expected));
    assert_memory_equal(bytes + record.offset, expected, record.bytes);
    all.found[record.sequence] = true;
    all.records++;
    all.mended += record.mended;
  }
  return all;
}

static void what_was_written_is_read_again(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1), again;
  uint8_t bytes[SEGMENT_ROOM];
  size_t used = make_segment(&identity, bytes);
  assert_null(ll_segment_header_read(bytes, used, &again));
  assert_memory_equal(&again, &identity, sizeof identity);
  scanned all = scan_all(&again, bytes, SEGMENT_ROOM);
  assert_int_equal(all.records, RECORDS);
  assert_int_equal(all.damaged + all.torn + all.mended, 0);
}

static void a_bit_flipped_anywhere_costs_one_batch_at_most(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1), again;
  uint8_t bytes[SEGMENT_ROOM];
  size_t used = make_segment(&identity, bytes);
  unsigned mended = 0, lost = 0;
  for (size_t bit = 0; bit < used * 8; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    assert_null(ll_segment_header_read(bytes, used, &again));
    assert_memory_equal(&again, &identity, sizeof identity);
    scanned all = scan_all(&again, bytes, used);
    assert_true(all.records >= RECORDS - 1);
    /* Losses are reported: as damage, or as torn if the last bytes look like an interrupted write. */
    assert_int_equal(RECORDS - all.records, all.damaged + all.torn);
    mended += all.mended;
    lost += RECORDS - all.records;
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  assert_true(mended >= RECORDS * (LL_RECORD_HEADER_BYTES - 4) * 8);
  assert_true(lost > 0);
}

static void a_segment_cut_anywhere_gives_all_that_was_whole(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1), again;
  uint8_t bytes[SEGMENT_ROOM];
  size_t used = make_segment(&identity, bytes), end = LL_SEGMENT_HEADER_BYTES;
  unsigned whole = 0;
  for (size_t size = 0; size <= used; size++) {
    uint8_t *copy = malloc(size + 1); /* exact size, so that the sanitizer detects overreads */
    memcpy(copy, bytes, size);
    if (size < LL_SEGMENT_HEADER_BYTES / 2) {
      if (ll_segment_header_read(copy, size, &again) != NULL) {
        free(copy);
        continue;
      }
    }
    assert_null(ll_segment_header_read(copy, size, &again));
    if (whole < RECORDS && size >= end + LL_RECORD_HEADER_BYTES + BATCH_BYTES + whole + 1) {
      end += ll_record_total(BATCH_BYTES + whole + 1);
      whole++;
    }
    scanned all = scan_all(&again, copy, size);
    assert_int_equal(all.records, whole);
    assert_int_equal(all.damaged, 0);
    free(copy);
  }
  assert_int_equal(whole, RECORDS);
}

/* A killed writer leaves the reserved zeros after its last bytes. */
static void a_write_cut_short_is_no_damage(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  uint8_t bytes[SEGMENT_ROOM];
  size_t used = make_segment(&identity, bytes), last = used - ll_record_total(BATCH_BYTES + RECORDS);
  size_t batch_end = last + LL_RECORD_HEADER_BYTES + BATCH_BYTES + RECORDS;
  for (size_t cut = batch_end - 1; cut >= last; cut--) {
    bytes[cut] = 0;
    scanned all = scan_all(&identity, bytes, SEGMENT_ROOM);
    assert_int_equal(all.records, RECORDS - 1);
    assert_int_equal(all.damaged, 0);
  }
}

static void another_sets_batches_are_never_taken_for_ours(void **state) {
  (void)state;
  ll_segment_identity theirs = identity_of(2), ours = identity_of(1);
  uint8_t bytes[SEGMENT_ROOM];
  make_segment(&theirs, bytes);
  ll_segment_header_write(&ours, bytes);
  assert_int_equal(scan_all(&ours, bytes, SEGMENT_ROOM).records, 0);
  theirs = identity_of(1);
  theirs.route = 4;
  make_segment(&theirs, bytes);
  assert_int_equal(scan_all(&ours, bytes, SEGMENT_ROOM).records, 0);
}

/* A batch's head every 96 bytes, each of which claims as much as a batch may have. */
static void a_crafted_segment_is_scanned_in_linear_time(void **state) {
  (void)state;
  enum { SIZE = 4 << 20, STEP = 96 };
  ll_segment_identity identity = identity_of(1);
  uint8_t *bytes = calloc(1, SIZE), batch[BATCH_BYTES];
  assert_non_null(bytes);
  make_batch(&identity, 1, sizeof batch, batch);
  memcpy(batch + 56, &(uint32_t){LL_BATCH_MOST}, sizeof(uint32_t));
  for (size_t at = LL_SEGMENT_HEADER_BYTES; at + STEP <= SIZE; at += STEP)
    memcpy(bytes + at, batch, STEP);
  ll_segment_scan scan = ll_segment_scan_start(&identity, bytes, SIZE);
  ll_scanned_record record;
  assert_int_equal(ll_segment_scan_next(&scan, &record), LL_SCANNED_DAMAGE);
  assert_int_equal(record.bytes, SIZE - LL_SEGMENT_HEADER_BYTES);
  assert_int_equal(ll_segment_scan_next(&scan, &record), LL_SCANNED_END);
  assert_true(scan.checks < LL_BATCH_MOST); /* more would have been checked */
  free(bytes);
}

static void hostile_lengths_lead_nowhere(void **state) {
  (void)state;
  static const uint32_t lengths[] = {0, 1, 99, 960001, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff};
  ll_segment_identity identity = identity_of(1);
  uint8_t bytes[SEGMENT_ROOM];
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    size_t used = make_segment(&identity, bytes);
    uint8_t *second = bytes + LL_SEGMENT_HEADER_BYTES + ll_record_total(BATCH_BYTES + 1);
    memcpy(second + 4, &lengths[i], sizeof lengths[i]);
    memcpy(second + LL_RECORD_HEADER_BYTES + 56, &lengths[i], sizeof lengths[i]);
    scanned all = scan_all(&identity, bytes, used);
    assert_int_equal(all.records, RECORDS - 1);
    assert_int_equal(all.damaged, 1);
  }
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static char directory_path[128];
static int directory;

static int set_up(void **state) {
  (void)state;
  char why[256];
  snprintf(directory_path, sizeof directory_path, "/dev/shm/lifeline-spool-XXXXXX");
  assert_non_null(mkdtemp(directory_path));
  directory = ll_spool_directory_open(directory_path, false, why, sizeof why);
  assert_true(directory >= 0);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  char command[256];
  close(directory);
  snprintf(command, sizeof command, "rm -rf %s", directory_path);
  return system(command);
}

static void put_file(const char *name, const void *bytes, size_t size, mode_t mode) {
  int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC, mode);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, bytes, size), size);
  assert_int_equal(fchmod(fd, mode), 0);
  close(fd);
}

/* Creates a segment of a process of an earlier boot, hence dead. */
static void put_dead_segment(ll_segment_identity *identity, char name[LL_SPOOL_NAME_MAX]) {
  uint8_t bytes[SEGMENT_ROOM];
  memset(identity->owner.boot, 0xee, sizeof identity->owner.boot);
  size_t used = make_segment(identity, bytes);
  ll_spool_name(identity, LL_SPOOL_WAITING, name);
  put_file(name, bytes, used, 0600);
}

static int read_as(const char *name, ll_spool_access access) {
  ll_spool_content content;
  char why[256] = "";
  int error = ll_spool_content_read(directory, name, access, &content, why, sizeof why);
  assert_true((error == 0) == (why[0] == '\0'));
  ll_spool_content_free(&content);
  return error;
}

static void a_living_owners_segment_is_nobody_elses(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  dev_t device;
  ino_t inode;
  char name[LL_SPOOL_NAME_MAX];
  assert_int_equal(ll_spool_segment_create(directory, &identity, 65536, 65536, &device, &inode), 0);
  ll_spool_name(&identity, LL_SPOOL_WAITING, name);
  assert_int_equal(read_as(name, LL_SPOOL_CLAIM), EBUSY);
  assert_int_equal(read_as(name, LL_SPOOL_LOOK), 0);
  assert_int_equal(read_as(name, LL_SPOOL_OWN), 0);
}

static void a_dead_owners_segment_is_claimed_once(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  char name[LL_SPOOL_NAME_MAX];
  put_dead_segment(&identity, name);
  assert_int_equal(read_as(name, LL_SPOOL_CLAIM), 0);
  assert_int_equal(read_as(name, LL_SPOOL_CLAIM), EBUSY);
}

static void a_claim_that_makes_no_sense_is_none(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  char name[LL_SPOOL_NAME_MAX];
  put_dead_segment(&identity, name);
  ll_process self = ll_process_self();
  ll_segment_claim claim = ll_segment_claim_by(&self);
  claim.crc ^= 1;
  int fd = openat(directory, name, O_WRONLY);
  assert_int_equal(pwrite(fd, &claim, sizeof claim, LL_SEGMENT_CLAIM_OFFSET), sizeof claim);
  close(fd);
  assert_int_equal(read_as(name, LL_SPOOL_CLAIM), 0);
}

static void files_that_are_none_of_ours_are_refused(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  char name[LL_SPOOL_NAME_MAX], path[400];
  put_dead_segment(&identity, name);
  assert_int_equal(fchmodat(directory, name, 0620, 0), 0);
  assert_int_equal(read_as(name, LL_SPOOL_CLAIM), EACCES);
  assert_int_equal(fchmodat(directory, name, 0600, 0), 0);
  snprintf(path, sizeof path, "%s/%s", directory_path, name);
  assert_int_equal(symlinkat(path, directory, "link.spool"), 0);
  assert_int_equal(read_as("link.spool", LL_SPOOL_CLAIM), EACCES);
  assert_int_equal(mkfifoat(directory, "pipe.spool", 0600), 0);
  assert_int_equal(read_as("pipe.spool", LL_SPOOL_CLAIM), EACCES);
  put_file("nonsense.spool", "nonsense", 8, 0600);
  assert_int_equal(read_as("nonsense.spool", LL_SPOOL_CLAIM), EINVAL);
  put_file("empty.spool", "", 0, 0600);
  assert_int_equal(read_as("empty.spool", LL_SPOOL_CLAIM), EINVAL);
  assert_int_equal(read_as("nothing.spool", LL_SPOOL_CLAIM), ENOENT);
}

static void strangers_files_are_not_listed(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  char name[LL_SPOOL_NAME_MAX], kept[LL_SPOOL_NAME_MAX];
  put_dead_segment(&identity, name);
  identity.number++;
  put_dead_segment(&identity, name);
  ll_spool_renamed(name, LL_SPOOL_DAMAGED, kept);
  assert_int_equal(renameat(directory, name, directory, kept), 0);
  put_file("README", "", 0, 0600);
  put_file("some.spool", "", 0, 0600);
  put_file("a-1-0123-1-00000001.spool", "", 0, 0600);
  ll_spool_listing listing;
  assert_int_equal(ll_spool_listing_read(directory, NULL, &listing), 0);
  assert_int_equal(listing.count, 2);
  assert_int_equal(listing.files[0].kind, LL_SPOOL_WAITING);
  assert_int_equal(listing.files[1].kind, LL_SPOOL_DAMAGED);
  assert_int_equal(listing.bytes, listing.files[0].bytes + listing.files[1].bytes);
  ll_spool_listing_free(&listing);
  assert_int_equal(ll_spool_listing_read(directory, "a program", &listing), 0);
  assert_int_equal(listing.count, 2);
  ll_spool_listing_free(&listing);
  assert_int_equal(ll_spool_listing_read(directory, "program", &listing), 0);
  assert_int_equal(listing.count, 0);
  ll_spool_listing_free(&listing);
}

static void the_directory_never_holds_more_than_it_may(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1), other = identity_of(2);
  dev_t device;
  ino_t inode;
  assert_int_equal(ll_spool_segment_create(directory, &identity, 65536, 150000, &device, &inode), 0);
  assert_int_equal(ll_spool_segment_create(directory, &other, 65536, 150000, &device, &inode), 0);
  identity.number++;
  assert_int_equal(ll_spool_segment_create(directory, &identity, 65536, 150000, &device, &inode), ENOBUFS);
}

static void a_file_whose_maker_died_at_once_is_rubbish(void **state) {
  (void)state;
  ll_segment_identity identity = identity_of(1);
  char name[LL_SPOOL_NAME_MAX];
  static const uint8_t zeros[LL_SEGMENT_HEADER_BYTES];
  put_file("zeros.spool", zeros, sizeof zeros, 0600);
  put_file("empty.spool", "", 0, 0600);
  put_dead_segment(&identity, name);
  assert_int_equal(ll_spool_remove_unborn(directory, "zeros.spool"), 0);
  assert_int_equal(ll_spool_remove_unborn(directory, "empty.spool"), 0);
  assert_int_equal(ll_spool_remove_unborn(directory, name), EINVAL);
  assert_int_equal(ll_spool_remove_unborn(directory, "nothing.spool"), EINVAL);
}

static void a_directory_that_others_may_write_to_is_no_spool(void **state) {
  (void)state;
  char why[512];
  assert_int_equal(chmod(directory_path, 0770), 0);
  assert_int_equal(ll_spool_directory_open(directory_path, true, why, sizeof why), -1);
  assert_non_null(strstr(why, "not be writable by others"));
  assert_int_equal(chmod(directory_path, 0700), 0);
  char link[160];
  snprintf(link, sizeof link, "%s/link", directory_path);
  assert_int_equal(symlink(directory_path, link), 0);
  assert_int_equal(ll_spool_directory_open(link, true, why, sizeof why), -1);
}

int main(void) {
#define FILES(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_written_is_read_again),
      cmocka_unit_test(a_bit_flipped_anywhere_costs_one_batch_at_most),
      cmocka_unit_test(a_segment_cut_anywhere_gives_all_that_was_whole),
      cmocka_unit_test(a_write_cut_short_is_no_damage),
      cmocka_unit_test(another_sets_batches_are_never_taken_for_ours),
      cmocka_unit_test(hostile_lengths_lead_nowhere),
      cmocka_unit_test(a_crafted_segment_is_scanned_in_linear_time),
      FILES(a_living_owners_segment_is_nobody_elses),
      FILES(a_dead_owners_segment_is_claimed_once),
      FILES(a_claim_that_makes_no_sense_is_none),
      FILES(files_that_are_none_of_ours_are_refused),
      FILES(strangers_files_are_not_listed),
      FILES(the_directory_never_holds_more_than_it_may),
      FILES(a_file_whose_maker_died_at_once_is_rubbish),
      FILES(a_directory_that_others_may_write_to_is_no_spool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
