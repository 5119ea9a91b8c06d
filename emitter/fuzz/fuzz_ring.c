/* libFuzzer target: whatever is in a ring file, a recovery terminates, touches nothing else, and sends only batches
 * that readers accept; and what it did not send is still there.
 *
 * An input is the contents of a file without its zeros: pieces of `u32 offset / 8, u32 length / 8, bytes`. So it has
 * the size of what the file holds, and mutations hit that. `lifeline-fuzz-ring --pack RINGS SEED` makes one of a real
 * file. The recovery is the whole one, in a directory of its own on tmpfs, with the file sink.
 */
#include "base/clock.h"
#include "base/log.h"
#include "ring/layout.h"
#include "ring/slots.h"
#include "route/recover.h"

#include <lifeline/batch.h>
#include <lifeline/lifeline.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { FILE_MOST = 8 << 20 };

static char directory[64], path[160], out[96], url[112];

static void say_nothing(void *ctx, ll_log_level level, const char *message) {
  (void)ctx, (void)level, (void)message;
}

static void begin(void) {
  if (directory[0] != '\0') return;
  snprintf(directory, sizeof directory, "/dev/shm/lifeline-fuzz-ring-%d", (int)getpid());
  snprintf(path, sizeof path, "%s/x-1-00112233445566778899aabbccddeeff.rings", directory);
  snprintf(out, sizeof out, "%s/out.llb", directory);
  snprintf(url, sizeof url, "file://%s", out);
  ll_log_to(say_nothing, NULL);
  if (mkdir(directory, 0700) != 0) abort();
}

static void remove_file(const char *suffix) {
  char name[200];
  snprintf(name, sizeof name, "%s%s", path, suffix);
  unlink(name);
}

static void end(void) {
  remove_file("");
  remove_file(".damaged");
  remove_file(".copy");
  unlink(out);
  rmdir(directory);
}

static void read_back(const char *name) {
  static uint8_t bytes[2 * FILE_MOST];
  int fd = open(name, O_RDONLY);
  if (fd < 0) return;
  ssize_t count = read(fd, bytes, sizeof bytes);
  close(fd);
  for (size_t at = 0; at < (size_t)count;) {
    size_t length = llb_frame_bytes(bytes + at, (size_t)count - at);
    if (length == 0 || length > (size_t)count - at) abort();
    llb_rejection rejection;
    llb_batch *batch = llb_read(bytes + at, length, &rejection);
    if (batch == NULL) {
      fprintf(stderr, "a recovery sent a batch that readers reject: %s\n", rejection.message);
      abort();
    }
    llb_batch_free(batch);
    at += length;
  }
}

/* Makes the input a file that may be recovered: of the right size, without a living owner. */
static void unpack(const uint8_t *data, size_t size) {
  static uint64_t least;
  if (least == 0) least = ll_layout_data(2 * LL_SLOT_RUN) + LL_RING_BYTES_MIN;
  uint8_t *map = mmap(NULL, FILE_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) abort();
  uint64_t used = least;
  while (size >= 8) {
    uint32_t head[2];
    memcpy(head, data, sizeof head);
    uint64_t offset = (uint64_t)head[0] * 8 % FILE_MOST, bytes = (uint64_t)head[1] * 8;
    data += sizeof head;
    size -= sizeof head;
    if (bytes > size) bytes = size;
    if (bytes > FILE_MOST - offset) bytes = FILE_MOST - offset;
    memcpy(map + offset, data, bytes);
    if (offset + bytes > used) used = offset + bytes;
    data += bytes;
    size -= bytes;
  }
  ll_file_header *header = (ll_file_header *)map;
  header->magic = LL_FILE_MAGIC;
  if (header->version != LL_FILE_VERSION_LARGE) header->version = LL_FILE_VERSION;
  memset(&header->owner, 0, sizeof header->owner);
  memset(&header->recoverer, 0, sizeof header->recoverer);
  memset(header->spool, 0, sizeof header->spool);
  uint64_t bytes = header->file_bytes >= used && header->file_bytes <= FILE_MOST ? header->file_bytes : used;
  bytes = ll_layout_round_up(bytes, LL_PAGE_BYTES);
  header->file_bytes = bytes;
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) abort();
  for (uint64_t at = 0; at < bytes; at += LL_PAGE_BYTES) { /* leaves holes, as real files have them */
    static const uint8_t zeros[LL_PAGE_BYTES];
    if (memcmp(map + at, zeros, sizeof zeros) == 0) continue;
    if (pwrite(fd, map + at, LL_PAGE_BYTES, (off_t)at) != LL_PAGE_BYTES) abort();
  }
  close(fd);
  munmap(map, FILE_MOST);
}

static void note(void *ctx, const ll_recovered *file) {
  *(ll_recovered *)ctx = *file;
}

static bool is_there(const char *suffix) {
  char name[200];
  snprintf(name, sizeof name, "%s%s", path, suffix);
  return access(name, F_OK) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  begin();
  unpack(data, size);
  ll_routes routes = {0};
  uint64_t deadline_ns = ll_monotonic_ns() + UINT64_C(5000000000);
  ll_recovered file = {0};
  ll_recovery recovery = {
      .directory = directory, .url = url, .routes = &routes, .deadline_ns = &deadline_ns, .report = note, .ctx = &file};
  char why[512];
  if (!ll_recover(&recovery, why, sizeof why)) abort();
  read_back(out);
  if (file.complete ? is_there("") || is_there(".damaged") : !is_there("") && !is_there(".damaged")) abort();
  if (is_there(".copy")) abort();
  end();
  directory[0] = '\0';
  return 0;
}

/* --- seeds --- */

static int pack(const char *from, const char *to) {
  struct stat status;
  int fd = open(from, O_RDONLY);
  FILE *seed = fopen(to, "w");
  if (fd < 0 || seed == NULL || fstat(fd, &status) != 0) return 1;
  const uint64_t *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) return 1;
  uint32_t words = (uint32_t)(status.st_size / 8);
  for (uint32_t at = 0; at < words; at++) {
    if (map[at] == 0) continue;
    uint32_t end = at + 1; /* a piece ends where four words are zero */
    for (uint32_t next = end; next < words && next < end + 4; next++)
      if (map[next] != 0) end = next + 1;
    fwrite(&at, sizeof at, 1, seed);
    fwrite(&(uint32_t){end - at}, sizeof end, 1, seed);
    fwrite(&map[at], 8, end - at, seed);
    at = end;
  }
  return fclose(seed);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (*argc == 4 && strcmp((*argv)[1], "--pack") == 0) exit(pack((*argv)[2], (*argv)[3]));
  return 0;
}
