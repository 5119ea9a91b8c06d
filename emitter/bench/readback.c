/* bench-readback: reads a run's batches from a file, JetStream or Kafka, checks each, and prints what they hold. */
#include "readback.h"

#include <lifeline/batch.h>

#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] = "Usage: bench-readback --url URL [--program NAME]\n"
                            "\n"
                            "Prints events, batches, bytes and the sum of the events' first field as JSON.\n"
                            "--program passes over batches of other programs.\n";

static bool is_from(const llb_batch *batch, const char *program) {
  return program == NULL ||
         (batch->program.size == strlen(program) && memcmp(batch->program.data, program, batch->program.size) == 0);
}

bool tally_batch(tally *counted, const void *message, size_t bytes) {
  llb_rejection rejection;
  llb_batch *batch = llb_read(message, bytes, &rejection);
  if (batch == NULL) {
    fprintf(stderr, "bench-readback: batch %" PRIu64 " is none: %s\n", counted->batches + 1, rejection.message);
    return false;
  }
  if (is_from(batch, counted->program)) {
    llb_event event;
    for (llb_cursor cursor = llb_events(batch); llb_next(&cursor, &event);)
      counted->sum += (uint64_t)(uint32_t)event.values[0].i32;
    counted->events += batch->event_count;
    counted->batches++;
    counted->bytes += bytes;
    counted->sequences += batch->sequence;
    if (batch->counters[0] > counted->emitted) counted->emitted = batch->counters[0];
    if ((batch->flags & LLB_FINAL) != 0) {
      counted->final = true;
      counted->dropped = 0;
      for (int i = 1; i <= 7; i++)
        counted->dropped += batch->counters[i];
    }
  }
  llb_batch_free(batch);
  return true;
}

bool readback_file(tally *counted, const char *path) {
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) != 0) {
    perror(path);
    return false;
  }
  size_t size = (size_t)status.st_size;
  const uint8_t *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (bytes == MAP_FAILED) {
    perror(path);
    return false;
  }
  bool legal = true;
  for (size_t at = 0, length; legal && at < size; at += length) {
    length = llb_frame_bytes(bytes + at, size - at);
    legal = length != 0 && length <= size - at && tally_batch(counted, bytes + at, length);
  }
  munmap((void *)bytes, size);
  return legal;
}

int main(int argc, char **argv) {
  static const struct option names[] = {{"url", required_argument, NULL, 'u'},
                                        {"program", required_argument, NULL, 'p'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  static const char file[] = "file://";
  const char *url = "";
  tally counted = {0};
  for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
    switch (option) {
    case 'u': url = optarg; break;
    case 'p': counted.program = optarg; break;
    case 'h': fputs(usage, stdout); return 0;
    default: return 2;
    }
  }
  bool read;
  if (strncmp(url, file, strlen(file)) == 0)
    read = readback_file(&counted, url + strlen(file));
  else if (strncmp(url, "nats://", 7) == 0)
    read = readback_nats(&counted, url);
  else if (strncmp(url, "kafka://", 8) == 0)
    read = readback_kafka(&counted, url);
  else {
    fputs("bench-readback: wrong usage (try --help)\n", stderr);
    return 2;
  }
  bool once = counted.sequences == counted.batches * (counted.batches + 1) / 2;
  printf("{\"events\":%" PRIu64 ",\"sum\":%" PRIu64 ",\"batches\":%" PRIu64 ",\"bytes\":%" PRIu64
         ",\"emitted\":%" PRIu64 ",\"dropped\":%" PRIu64 ",\"each_batch_once\":%s,\"final\":%s}\n",
         counted.events, counted.sum, counted.batches, counted.bytes, counted.emitted, counted.dropped,
         once ? "true" : "false", counted.final ? "true" : "false");
  return read ? 0 : 1;
}
